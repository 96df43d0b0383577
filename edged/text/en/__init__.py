"""English sentences -> the words that are said. No file, no network, no model.

    signs, shouting: one form of each sign, sentences in capitals; at the end only what makes pauses
    scan: over the sentence once, from left to right; the first rule that fits reads on
    addresses, money, clock, when, phones, codes, roman, words, measures, amounts: the rules, in this order
    numbers, letters, tables: what they say

US style: month before day, no "and" inside a cardinal. Readings repeat: equal text, equal words, and
normalizing what came out changes nothing. Used by any thread; the rules are compiled at the first call.
"""

from __future__ import annotations

import functools

from edged.text.en import (
    addresses,
    amounts,
    clock,
    codes,
    measures,
    money,
    phones,
    roman,
    shouting,
    signs,
    when,
    words,
)
from edged.text.en.scan import Scanner
from edged.text.normalized import Normalized

_MOST_PASSES = 4  # nearly always one that reads and one that finds nothing more to read

__all__ = ["normalize"]


@functools.cache
def _scanner() -> Scanner:
    order = (
        *addresses.RULES,
        *money.RULES,
        *clock.RULES,
        *when.RULES,
        *phones.RULES,
        *measures.EARLY_RULES,
        *codes.RULES,
        *roman.RULES,
        *words.RULES,
        *measures.RULES,
        *amounts.RULES,
        *codes.LATE_RULES,
        *amounts.PLAIN_RULES,
        *money.LATE_RULES,
        *words.LATE_RULES,
    )
    return Scanner(order)


def normalize(sentence: str) -> Normalized:
    """One sentence, cleaned, as it will be said: words and , . ? ! ; : only. Never raises.

    Takes any length in linear time; letters of other scripts are left out with one warning.
    """
    text, warnings = signs.folded(sentence)
    text, shouted = shouting.calmed(text)
    rules = ["capitals"] if shouted else []
    for _ in range(_MOST_PASSES):
        said, fired = _scanner().read(text)
        rules += fired
        said = signs.tidied(said)
        if said == text:
            break
        text = said
    return Normalized(text, tuple(rules), warnings)
