"""Roman numerals, where they are numerals."""

from __future__ import annotations

import re

from edged.text.en.numbers import cardinal, ordinal
from edged.text.en.scan import LETTER, Match, Rule, after
from edged.text.en.tables import CHAPTERS, REGNAL

_ROMAN = r"(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"


_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def roman_value(numeral: str) -> int:
    """'XIV' -> 14; the numeral must be well formed."""
    total = 0
    for at, char in enumerate(numeral):
        value = _ROMAN_VALUES[char]
        following = _ROMAN_VALUES[numeral[at + 1]] if at + 1 < len(numeral) else 0
        total += -value if following > value else value
    return total


def _roman(found: Match) -> str | None:
    """A numeral behind a name ('Anne II') or a word that counts ('Chapter IV')."""
    numeral, cue = found["r"], found["cue"]
    if not numeral:
        return None
    value, key = roman_value(numeral), cue.lower()
    if (
        key == "mark"
        and not cue[0].isupper()
        or re.match(r"(?:st|nd|rd|th)? (?:century|centuries)", after(found))
    ):
        return None
    lead = f"{cue} "
    rest = after(found)
    if key in REGNAL and cue[0].isupper():
        if numeral == "I" and not _I_IS_NUMBER.match(rest):
            return None
        if len(numeral) == 1 and numeral in "CDLM":
            return None
        return f"{lead}the {ordinal(value)}"
    if key == "war":
        return lead + cardinal(value)
    is_counted = key in CHAPTERS
    if is_counted and (
        numeral != "I"
        or cue[0].isupper()
        and not re.match(r" [a-z]+(?<!of)(?<!is)(?<!and)(?<!was)\b", rest)
        or not rest.strip(" .,:;!?")
    ):
        return lead + cardinal(value)
    is_plain = len(numeral) >= 2 and set(numeral) <= {"I", "V", "X"} and cue[0].isupper()
    if (
        is_plain
        and numeral not in ("IV", "XX", "VI", "XI", "IX", "XV", "XXX")
        or (is_plain and numeral in ("VI", "XI", "IX", "IV", "XV") and not re.match(r" [a-z]", rest))
    ):
        return lead + cardinal(value)
    return None


_I_IS_NUMBER = re.compile(
    r"(?:'s|’s)? ?(?:$|[.,;:!?)]|(?:was|is|of|ruled|reigned|died|and|became|in|from)\b|['’]s)"
)


def _roman_century(found: Match) -> str:
    return ordinal(roman_value(found["r"])) + found["rest"]


def _roman_alone(found: Match) -> str | None:
    numeral = found["r"]
    if (
        len(numeral) < 2
        or not set(numeral) <= {"I", "V", "X"}
        or numeral in ("IV", "XX", "XXX", "IX", "XI", "VI", "XV")
    ):
        return None
    return cardinal(roman_value(numeral))


RULES = (
    Rule(
        "roman numeral",
        (LETTER,),
        rf"(?P<cue>[^\W\d_]{{2,16}}) (?P<r>{_ROMAN})(?:(?=['’]s\b)|(?!\w|['’.]\w|-[a-z]))",
        _roman,
    ),
    Rule(
        "roman numeral",
        (LETTER,),
        rf"(?P<r>[XVI]{{1,6}})(?P<rest>(?:st|nd|rd|th)? (?:century|centuries|dynasty|arrondissement))",
        lambda f: _roman_century(f) if re.fullmatch(_ROMAN, f["r"]) else None,
    ),
    Rule("roman numeral", (LETTER,), rf"(?P<r>{_ROMAN})(?![\w]|['’.]\w|-[a-z])", _roman_alone),
)
