"""One input -> another one near it. Works on characters; bytes are taken as Latin-1.

Equal random states give equal results on every Python, so a run in the tests is always the same one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_NUMBERS = (
    "0", "-0", "1", "-1", "2", "07", "9", "10", "12", "60", "100", "255", "256", "1000", "2024", "65536",
    "1e9", "1e999", "-1e999", "0.5", ".5", "5.", "2147483648", "9223372036854775808", "1" * 40,
    "9" * 310, "9" * 4400, "NaN", "Infinity", "0x10", "1_000", "١٢", "½", "²",
)  # fmt: skip
_ODD = (
    "\0", "\x1b[31m", "\x7f", "\x85", "\xa0", "\xad", "\u0301", "\u0301" * 50, "\u200b", "\u200d",
    "\u202e", "\u2028", "\ufeff", "\ufffd", "\ufe0f", "\ue000", "\ue002", "\ue003", "\ud800", "\udfff",
    "\uffff", "\U000f0000", "\U000f1000", "\U0010ffff", "👨‍👩‍👧", "👍🏽", "🇩🇪", "1️⃣", "שלום", "مرحبا",
    "ไทย", "한국어", "かな", "Ω", "ﷺ", "ﬁ", "İ", "ß", "ǅ", "Ⅳ", "㎏", "㍿", "\r\n", "\n", "\t", " ", '"',
    "'", "\\", "{", "}", "[", "]", "<", ">", "&", "%", "#", "*", "-", "—", ":", ",", ".", "/", "|", "~",
    "…", "。", "，",
)  # fmt: skip
_DIGITS = re.compile("[0-9]+")

Change = Callable[[str, random.Random], str]


def mutate(text: str, tokens: Sequence[str], others: Sequence[str], chance: random.Random, limit: int) -> str:
    """`text` with one to five changes, at most `limit` characters long.

    `tokens` are pieces that the target knows, `others` inputs to take pieces from.
    """

    def piece() -> str:
        kind = chance.random()
        if kind < 0.5 and tokens:
            return chance.choice(tokens)
        if kind < 0.7:
            return chance.choice(_ODD)
        if kind < 0.8:
            return chance.choice(_NUMBERS)
        if kind < 0.95 and others:
            return _slice(chance.choice(others), chance)
        return chr(
            chance.choice((chance.randrange(128), chance.randrange(0x3000), chance.randrange(0x110000)))
        )

    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5))):
        text = _changed(text, piece, others, chance)[:limit]
    return text


def _changed(text: str, piece: Callable[[], str], others: Sequence[str], chance: random.Random) -> str:
    start, end = _span(text, chance)
    kind = chance.randrange(10)
    if kind <= 2:
        return text[:start] + piece() + text[start:]
    if kind == 3:
        return text[:start] + text[end:]
    if kind <= 5:
        return text[:start] + piece() + text[end:]
    if kind == 6:
        return text[:end] + text[start:end] * chance.choice((1, 1, 2, 3, 30, 300)) + text[end:]
    if kind == 7:
        at = chance.randrange(len(text) + 1)
        return (text[:start] + text[end:])[:at] + text[start:end] + (text[:start] + text[end:])[at:]
    if kind == 8 and others:
        other = chance.choice(others)
        return text[:start] + other[chance.randrange(len(other) + 1) :]
    numbers = list(_DIGITS.finditer(text))
    if not numbers:
        return text[:start] + piece()
    found = chance.choice(numbers)
    return text[: found.start()] + chance.choice(_NUMBERS) + text[found.end() :]


def _span(text: str, chance: random.Random) -> tuple[int, int]:
    """Two places, mostly near each other."""
    start = chance.randrange(len(text) + 1)
    length = chance.choice((1, 1, 2, 4, 8, 16, 64, len(text)))
    return start, min(len(text), start + length)


def _slice(text: str, chance: random.Random) -> str:
    start, end = _span(text, chance)
    return text[start:end]
