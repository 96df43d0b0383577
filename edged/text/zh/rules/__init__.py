"""What is written in digits and signs -> characters: rules by name, applied one after another.

Order matters: what looks like several things is taken by the narrowest rule first (an address before a
decimal, a date before a range, a telephone number before a cardinal). A rule's result is characters, which
no later rule touches; only rules named `tidy …` bring one way of writing into another.
"""

from edged.text.zh.rules import addresses, amounts, codes, counts, dates, ranges, times
from edged.text.zh.rules.pattern import Rule

RULES: tuple[Rule, ...] = (
    *addresses.RULES,
    *dates.RULES,
    *codes.RULES,
    *times.RULES,
    *ranges.RULES,
    *amounts.RULES,
    *counts.RULES,
)
