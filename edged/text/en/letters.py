"""Initialisms against acronyms, and the form in which letters are given to a phonemizer.

Letters are joined by dots, 'U.S.B': hibari and espeak both read that as names of letters without a
pause, and the A in it never as the article. A letter alone stands as a capital, but for A.
"""

from __future__ import annotations

import re

from edged.text.en.tables import INITIALISMS, SHORT_WORDS, SPOKEN_CAPS
from edged.text.normalized import LETTER_A

_HARD_TO_SAY = re.compile(
    "^(?:[BCDFGHJKLMNPQRSTVWXZ]{4}|[^AEIOUYS][BCDFGJKMPQTVXZ]|[AEIOUY]?[BCDFGHJKLMNPQRSTVWXZ]{4})"
    "|[BCDFGHJKLMNPQRSTVWXZ]{5}|Q[^U]|[BCDFGHJKMNPQTVWXZ][JQVWXZ]$"
)


def spell(letters: str) -> str:
    """'USB' -> 'U.S.B', 'b' -> 'B', 'A' -> the spelling that sounds as the letter."""
    if len(letters) == 1:
        return LETTER_A if letters in "aA" else letters.upper()
    return ".".join(letters.upper())


def spell_plural(letters: str) -> str:
    """'LED' of 'LEDs' -> "L E D's": dots and an ending do not go together in espeak."""
    return " ".join(spell(c) for c in letters) + "'s"


def is_spelled(word: str) -> bool:
    """Whether a word in capitals, two letters or more, is read letter by letter."""
    if word in INITIALISMS:
        return True
    if word in SPOKEN_CAPS or word in SHORT_WORDS:
        return False
    if not re.search("[AEIOUY]", word):
        return True
    return len(word) <= 3 or bool(_HARD_TO_SAY.search(word))


def read_caps(word: str) -> str:
    """A word in capitals in a sentence that is not: letters, or the word in small letters."""
    if not word.isascii():
        return word.lower()
    if is_spelled(word):
        return spell(word)
    return word if word in SPOKEN_CAPS else word.lower()
