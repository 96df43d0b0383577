"""What a rule is, and the pieces of patterns that several kinds of rules share."""

from __future__ import annotations

import re
from collections.abc import Callable

from edged.text.zh.numbers import one_by_one

Rule = tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]]
"""Name, what it takes, and what is said for it."""

NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d+)?"
SIGN = r"(?P<sign>(?<![A-Za-z0-9)%°])[-+±])?"
SIGNED = rf"{SIGN}(?<!\d)(?<!\d\.)(?P<n>{NUMBER})"
SIGNS = {"-": "负", "+": "正", "±": "正负", None: ""}
DASH = r"\s*(?:[-~]|—{1,2}|--(?=\d))\s*"


NUMERALS = "零一二两三四五六七八九十百千万亿"
"""Characters of numbers that are written out."""


def rule(name: str, pattern: str, say: Callable[[re.Match[str]], str] | str) -> Rule:
    """A rule that says what `say` makes of a match, or always the same."""
    if isinstance(say, str):
        constant = say
        return name, re.compile(pattern), lambda _match: constant
    return name, re.compile(pattern), say


def digits(match: re.Match[str]) -> str:
    """The match with its digits one by one."""
    return one_by_one(match.group())
