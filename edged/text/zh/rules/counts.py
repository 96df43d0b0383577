"""What numbers are left: with measure words, behind letters, alone."""

from __future__ import annotations

import re

from edged.text.zh.numbers import cardinal, number, one_by_one
from edged.text.zh.rules.pattern import SIGNED, SIGNS, digits, rule
from edged.text.zh.units import MEASURES

_LONGEST_COUNT = 12
"""Longer rows of digits are codes: an order, a parcel."""


def _after_letter(match: re.Match[str]) -> str:
    """A letter's number: a short one as a cardinal, a long one digit by digit."""
    text = match["digits"]
    is_short = len(text.partition(".")[0]) <= 2 and not (text.startswith("0") and text[1:2] != ".")
    return match["letter"] + (number(text) if is_short else one_by_one(text).replace(".", "点"))


RULES = (
    rule("number sign", r"(?:No\.|NO\.|#)\s?(?P<n>\d+)号?", lambda match: f"{cardinal(match['n'])}号"),
    rule("number sign", r"(?<=\d)#", "号"),
    rule("key", r"\*(?=号?键)", "星号"),
    rule("code", r"(?<=@)\d+", digits),
    rule("count", rf"(?<![\d.,第到+±-])2(?=到\d+(?:\.\d+)?\s?(?:{MEASURES}))", "两"),
    rule("count", rf"(?<![\d.,第到A-Za-z:-])2\s?(?!年级|季度|点\d)(?=(?:{MEASURES})(?!级|季度))", "两"),
    rule("count", r"(?<![\d.,第到A-Za-z+±-])2(?=点)", "两"),
    rule("count", rf"(?<![A-Za-z0-9)%°])-2\s?(?![度点])(?=(?:{MEASURES})(?!级|季度))", "负两"),
    rule("code", r"(?P<letter>[A-Za-z])[-_ ]?(?P<digits>\d+(?:\.\d+)*)", _after_letter),
    rule("code", r"(?<![\d.,])\d{3,}(?=[A-Za-z])", digits),
    rule("tidy number", r"(?<!\d)\.(?=\d)", "0."),
    rule(
        "code",
        rf"(?<![\d.,])(?!\d+0{{6}}(?!\d))\d{{{_LONGEST_COUNT + 1},}}(?!\.?\d|,\d|[元人次个吨米])",
        digits,
    ),
    rule("number", SIGNED, lambda match: SIGNS[match["sign"]] + number(match["n"])),
    rule("number", r"\d+", digits),
)
