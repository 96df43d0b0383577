"""A sentence wholly in capitals is ordinary words: small letters, but initialisms stay."""

from __future__ import annotations

import re

from edged.text.en.tables import (
    DAYS,
    INITIALISMS,
    MONTH_NAMES,
    MONTHS,
    SHOUTED_WORDS,
    SPOKEN_CAPS,
    STREETS,
    TITLES,
    UNITS,
)

_WORD = re.compile(r"(?<![^\W_])[^\W\d_]+(?:['’][^\W\d_]+)*(?![^\W_])")
_ANY_LOWER = re.compile(r"[^\W\d_A-Z]")
_NUMBER_BEFORE = re.compile(r"\d ?[^\W\d_/]{0,4}/?$")
_ROMAN = re.compile(r"[IVX]+")
_KEPT_CASE = frozenset(
    {
        *(m.upper() for m in MONTH_NAMES),
        *(m.upper() for m in MONTHS),
        *(d.upper() for d in DAYS),
        *(d.upper() for d in DAYS.values()),
    }
) - {"SUN", "SAT", "WED", "MAR", "MAY"}
_NAMED = frozenset(t.upper() for t in (*TITLES, *STREETS)) - {"REP", "GEN", "FT", "HON", "SR", "ST"}


def calmed(text: str) -> tuple[str, bool]:
    """The sentence with its shouting taken out, and whether there was any."""
    words = [w for w in _WORD.finditer(text) if not _is_unit(text, w) and text[w.end() : w.end() + 1] != "$"]
    if len(words) < 2 or any(_ANY_LOWER.search(w.group()) and w.group().upper() != w.group() for w in words):
        return text, False
    if not any(len(w.group()) > 1 and not _is_initialism(w.group()) for w in words):
        return text, False
    return _WORD.sub(
        lambda w: w.group() if _is_unit(text, w) or text[w.end() : w.end() + 1] == "$" else _calm(text, w),
        text,
    ), True


def _is_unit(text: str, word: re.Match[str]) -> bool:
    """'5 KM', '7 PM', '9 A.M.': what stands behind a number keeps its case."""
    if not _NUMBER_BEFORE.search(text[max(0, word.start() - 8) : word.start()]):
        return False
    return _is_behind_number(word.group())


def _is_behind_number(written: str) -> bool:
    is_half = written in ("AM", "PM", "A", "P")
    return is_half or written in UNITS or (len(written) > 1 and written.lower() in UNITS)


def _is_initialism(word: str) -> bool:
    if word in SHOUTED_WORDS:
        return False
    return word in INITIALISMS or word in SPOKEN_CAPS or not re.search("[AEIOUY]", word)


def _calm(text: str, word: re.Match[str]) -> str:
    """One word of a sentence in capitals as it stands in an ordinary one."""
    written, following = word.group(), text[word.end() : word.end() + 4]
    is_title = written in _NAMED and following.startswith((". ", " "))
    if len(written) == 1:
        return "a" if written == "A" and _is_article(text, word) else written
    if written in _KEPT_CASE or is_title or (written == "ST" and following[:1] == "."):
        return written.capitalize()
    if written == "CO" and _is_company(text, word):
        return "Co"
    base, ending = _split_ending(written)
    is_the_us = written == "US" and text[: word.start()].endswith("THE ")
    if is_the_us or _ROMAN.fullmatch(written) or _is_initialism(base):
        return base + ending
    lowered = written.lower()
    return lowered.capitalize() if _follows_title(text, word) or lowered.startswith(("i'", "i’")) else lowered


def _is_article(text: str, word: re.Match[str]) -> bool:
    """'A CAT', but not 'PLAN A IS' and 'GATE A 5'."""
    is_alone = text[word.start() - 1 : word.start()] in ("", " ")
    return is_alone and re.match(r" (?!(?:IS|AND|OR|TO)\b)[^\W\d]", text[word.end() :]) is not None


def _is_company(text: str, word: re.Match[str]) -> bool:
    """'SMITH & CO', 'ACME CO. IS', 'CO-OP'; elsewhere CO is the gas."""
    is_abbreviated = re.match(r"\. ?\w|-[A-Z]", text[word.end() : word.end() + 3]) is not None
    return is_abbreviated or text[: word.start()].endswith("& ")


def _split_ending(written: str) -> tuple[str, str]:
    """'TV'S' -> 'TV' and "'s", 'PCS' -> 'PC' and 's'."""
    base = re.sub(r"['’]S$", "", written)
    if base != written:
        return base, "'s"
    is_plural = len(written) > 2 and written[-1] == "S" and written[:-1] in INITIALISMS
    return (written[:-1], "s") if is_plural and not re.search("[AEIOUY]", written) else (written, "")


def _follows_title(text: str, word: re.Match[str]) -> bool:
    last = re.search(r"([A-Z]+)\.? $", text[max(0, word.start() - 8) : word.start()])
    return last is not None and (last.group(1) in _NAMED or last.group(1) == "ST")
