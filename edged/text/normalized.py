"""What every normalizer gives: the text as it will be said, and how it came about.

A normalizer is particular to a language; what it gives is not.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from edged.text.marks import plain

LETTER_A = "eigh"
"""The letter A on its own, for every phonemizer: they take 'A' for the article in many places."""

_INNER = frozenset("'’")  # of a word, where a letter stands on both sides


@dataclass(frozen=True, slots=True)
class Normalized:
    """One sentence ready for a phonemizer."""

    text: str
    """Words and the punctuation that makes pauses; no digit. Case is kept where a phonemizer needs it."""
    rules: tuple[str, ...] = ()
    """Names of the rules that fired, in order of the text."""
    warnings: tuple[str, ...] = ()
    """One line each, for people: what could not be read, and what was done with it."""


def spoken_words(text: str) -> str:
    """The words of `Normalized.text` in lower case, single spaces between them, no punctuation.

    Letters, their marks and digits stay, an apostrophe inside a word, too; all else separates words.
    LETTER_A is given back as 'a', a word of the user's as it is written.
    """
    text = plain(text)
    kept = []
    for at, char in enumerate(text):
        if char in _INNER:
            is_inside = text[at - 1 : at].isalpha() and text[at + 1 : at + 2].isalpha()
            kept.append("'" if is_inside else " ")
        else:
            kept.append(char if unicodedata.category(char)[0] in "LMN" else " ")
    return " ".join("a" if word == LETTER_A else word for word in "".join(kept).lower().split())
