"""Where a long stretch of Chinese may be parted: after a clause, else between two words.

A character is a syllable and takes about a fifth of a second, so units are shorter than in scripts with
letters. The text is as written, before its numbers are read.
"""

from __future__ import annotations

import re

from edged.text.zh.normalize import shared_table
from edged.text.zh.segment import segment
from edged.text.zh.table import LONGEST_WORD

UNIT_CHARS = 60
"""About twelve seconds of speech: no unit needs to be longer."""
FIRST_UNIT_CHARS = 20
_FIRST_MIN_CHARS = 6  # a shorter first unit would end before the second one can be ready on a slow board

_CLAUSE = re.compile(r"(?!(?<=\d)[：，]\d)[，；：、。！？…—]+[」』”’）】》]*|[,;:](?=\s)")
_LONG_SIGNS = frozenset("%℃°‰")
_PIECES = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+|[A-Za-z0-9.:%/°+-]+|.", re.DOTALL)
_LEANING = frozenset("的了着过吗呢吧啊呀啦们个得地里上下中℃%，；：、。！？」』”’）】》)]")
"""What follows its word so closely that no part begins with it."""


def cut(text: str, limit: int = UNIT_CHARS, is_first: bool = False) -> int:
    """Characters of `text` that make its first part, at most `limit`; all of them where they fit.

    Digits and signs count as what they become. `is_first`: the part sounds first, so where it has to be
    cut it ends at the earliest clause of a fair length. At least 1, and 0 for an empty text.
    """
    limit = _affordable(text, limit)
    if limit == len(text):
        return limit
    ends = [mark.end() for mark in _CLAUSE.finditer(text, 0, limit) if mark.end() <= limit]
    if is_first and (early := [end for end in ends if end >= min(_FIRST_MIN_CHARS, limit)]):
        return early[0]
    if ends and ends[-1] >= limit // 2:
        return ends[-1]
    return _between_words(text[: limit + LONGEST_WORD], limit)


def _affordable(text: str, limit: int) -> int:
    """How many characters of `text` are said with about `limit` syllables; at least one, if there is any."""
    at = syllables = 0
    while at < len(text):
        syllables += 2 if text[at].isdigit() else 3 if text[at] in _LONG_SIGNS else 1
        if syllables > limit and at:
            break
        at += 1
    return at


def _between_words(window: str, limit: int) -> int:
    """The last place up to `limit` between two words; `limit` itself where there is none."""
    best = at = 0
    for piece in _PIECES.findall(window):
        for word in _words(piece):
            at += len(word)
            # A number stays with the unit or the measure word behind it.
            is_apart = window[at : at + 1] not in _LEANING and not window[at - 1].isdigit()
            if at <= limit and is_apart:
                best = at
    return best or limit


def _words(piece: str) -> list[str]:
    table = shared_table()
    simplified = table.simplified(piece)
    if all(table.word(char) is not None for char in simplified):
        return [word.text for word in segment(table, simplified)]
    return [piece]
