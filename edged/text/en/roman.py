"""Roman numerals, where they are numerals."""

from __future__ import annotations

import re

from edged.text.en.numbers import cardinal, ordinal, year
from edged.text.en.scan import LETTER, Match, Rule, after
from edged.text.en.tables import CHAPTERS, REGNAL, words

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
    numeral, cue, rest = found["r"], found["cue"], after(found)
    if not numeral or _CENTURY.match(rest):
        return None
    if cue.lower() in REGNAL and cue[0].isupper():
        is_letter = numeral in ("C", "D", "L", "M") or (numeral == "I" and not _I_IS_NUMBER.match(rest))
        return None if is_letter else f"{cue} the {ordinal(roman_value(numeral))}"
    if _counts(cue, numeral, rest) or _stands_by_name(cue, numeral, rest):
        return f"{cue} {cardinal(roman_value(numeral))}"
    return None


def _counts(cue: str, numeral: str, rest: str) -> bool:
    """'Chapter IV', 'World War I'; 'the part I like' has the pronoun, 'question mark X' a letter."""
    key = cue.lower()
    if key not in CHAPTERS or (key == "mark" and cue.islower()):
        return False
    if numeral != "I" or key == "war" or not rest.strip(" .,:;!?"):
        return True
    return cue[0].isupper() and not _PRONOUN_VERB.match(rest)


def _stands_by_name(cue: str, numeral: str, rest: str) -> bool:
    """'Windsor III', 'Nikon Z II': what is also an initialism, like IV, only where no noun follows."""
    if len(numeral) < 2 or not set(numeral) <= set("IVX") or not cue[0].isupper():
        return False
    return numeral not in _ALSO_LETTERS or (numeral not in ("XX", "XXX") and not re.match(" [a-z]", rest))


_ALSO_LETTERS = words("IV XX VI XI IX XV XXX")
_CENTURY = re.compile("(?:st|nd|rd|th)? (?:century|centuries)")
_PRONOUN_VERB = re.compile(
    " (?:am|will|have|had|can|like|think|do|did|want|see|saw|know|read|wrote|need|could|would|should"
    "|play|never"
    "|also|just|really|love|bought|made|got|get)\\b"
)


_I_IS_NUMBER = re.compile(
    r"(?:'s|’s)? ?(?:$|[.,;:!?)]|(?:was|is|of|ruled|reigned|died|and|became|in|from)\b|['’]s)"
)


def _roman_century(found: Match) -> str:
    return ordinal(roman_value(found["r"])) + found["rest"]


def _small(found: Match) -> str | None:
    """'page xii', 'scene iv'."""
    numeral = found["r"].upper()
    return f"{found['cue']} {cardinal(roman_value(numeral))}" if re.fullmatch(_ROMAN, numeral) else None


def _roman_alone(found: Match) -> str | None:
    numeral = found["r"]
    if len(numeral) >= 5 and numeral[0] == "M" and 1000 < roman_value(numeral) < 2200:
        return year(roman_value(numeral))
    is_numeral = len(numeral) > 1 and set(numeral) <= set("IVX") and numeral not in _ALSO_LETTERS
    return cardinal(roman_value(numeral)) if is_numeral else None


RULES = (
    Rule(
        "roman numeral",
        (LETTER,),
        r"(?P<cue>[Pp]ages?|[Ss]cene|[Cc]hapter|[Aa]ct|[Vv]olume) (?P<r>[ivxl]{1,6})(?![\w'’-])",
        _small,
    ),
    Rule(
        "roman numeral",
        (LETTER,),
        rf"(?P<cue>[^\W\d_]{{2,16}}) (?P<r>{_ROMAN})(?:(?=['’]s\b)|(?!\w|['’.]\w|-[a-z]))",
        _roman,
    ),
    Rule(
        "roman numeral",
        (LETTER,),
        r"(?P<r>[XVI]{1,6})(?P<rest>(?:st|nd|rd|th)? (?:century|centuries|dynasty|arrondissement))",
        lambda f: _roman_century(f) if re.fullmatch(_ROMAN, f["r"]) else None,
    ),
    Rule("roman numeral", (LETTER,), rf"(?P<r>{_ROMAN})(?![\w]|['’.]\w|-[a-z])", _roman_alone),
)
