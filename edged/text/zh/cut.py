"""Where a long stretch of Chinese may be parted: after a clause, else between two words.

A character is a syllable and takes about a fifth of a second, so units are shorter than in scripts with
letters. The text is normalized; one as written is parted as well, its digits counted as what they become.
"""

from __future__ import annotations

import re

from edged.text.zh.normalize import shared_table
from edged.text.zh.rules.pattern import NUMERALS
from edged.text.zh.segment import segment
from edged.text.zh.table import LONGEST_WORD
from edged.text.zh.units import MEASURES, UNITS

UNIT_CHARS = 60
"""About twelve seconds of speech: no unit needs to be longer."""
FIRST_UNIT_CHARS = 20
_FIRST_MIN_CHARS = 6  # a shorter first unit would end before the second one can be ready on a slow board

_CLAUSE = re.compile(r"(?!(?<=\d)[：，]\d)[，；：、。！？…—]+[」』”’）】》]*|[,;:](?=\s)")
_LONG_SIGNS = frozenset("%℃°‰")
_PIECES = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+|[A-Za-z0-9.:%/°+-]+|.", re.DOTALL)
_LEANING = frozenset("的了着过吗呢吧啊呀啦们个得地里上下中℃%，；：、。！？」』”’）】》)]")
"""What follows its word so closely that no part begins with it."""
_ROW = f"[{NUMERALS}幺]+"
_OF_A_NUMBER = "|".join(sorted({*UNITS.values(), "摄氏度", "华氏度"}, key=len, reverse=True))
_UNIT_WORD = (
    f"(?:{_OF_A_NUMBER}|年级|年代|个(?:半)?(?:小时|钟头|月|星期)"
    f"|[年月日号点时分秒度楼层室级档元块角]|{MEASURES})"
)
_DAY_PART = "(?:上午|下午|中午|早上|晚上|凌晨|傍晚)?"
_NUMBER = re.compile(
    r"(?:(?<![a-z])(?:[a-z] )*[a-z] ?)?"  # 'p m 二点五'
    rf"{_DAY_PART}(?:第|正?负|正(?=[{NUMERALS}])|零下)?{_ROW}"
    rf"(?:(?:分之|[年月日号点时分秒又比元块角、]|(?:{_UNIT_WORD})?到{_DAY_PART})负?{_ROW})*"
    rf"(?:[整半多余几]?{_UNIT_WORD}(?:[整半钟]|(?:的)?[平立]方)?)?(?:每(?:{_ROW})?{_UNIT_WORD})?"
)
"""A number with its sign, its parts and what it counts: no part ends inside of it."""
_SPELLED = re.compile("(?<![a-z])[a-z](?: [a-z])+(?![a-z])")


def cut(text: str, limit: int = UNIT_CHARS, is_first: bool = False) -> int:
    """Characters of `text` that make its first part, at most `limit`; all of them where they fit.

    Digits and signs count as what they become. `is_first`: the part sounds first, so where it has to be
    cut it ends at the earliest clause of a fair length. At least 1, and 0 for an empty text.
    """
    limit = _affordable(text, limit)
    if limit == len(text):
        return limit
    inside = _inside_numbers(text[: limit + LONGEST_WORD])
    marks = _CLAUSE.finditer(text, 0, limit)
    ends = [mark.end() for mark in marks if mark.end() <= limit and mark.end() not in inside]
    if is_first and (early := [end for end in ends if end >= min(_FIRST_MIN_CHARS, limit)]):
        return early[0]
    if ends and ends[-1] >= limit // 2:
        return ends[-1]
    return _between_words(text[: limit + LONGEST_WORD], limit, inside)


def _affordable(text: str, limit: int) -> int:
    """How many characters of `text` are said with about `limit` syllables; at least one, if there is any."""
    at = syllables = 0
    while at < len(text):
        syllables += 2 if text[at].isdigit() else 3 if text[at] in _LONG_SIGNS else 1
        if syllables > limit and at:
            break
        at += 1
    return at


def _between_words(window: str, limit: int, inside: set[int]) -> int:
    """The last place up to `limit` between two words; `limit` itself where there is none."""
    best = at = 0
    for piece in _PIECES.findall(window):
        for word in _words(piece):
            at += len(word)
            # A number stays with the unit or the measure word behind it.
            is_apart = window[at : at + 1] not in _LEANING and not window[at - 1].isdigit()
            if at <= limit and is_apart and at not in inside:
                best = at
    return best or limit


def _inside_numbers(window: str) -> set[int]:
    """Places inside of numbers and of what is spelled."""
    simplified = shared_table().simplified(window)
    spans = (*_NUMBER.finditer(simplified), *_SPELLED.finditer(simplified))
    return {at for span in spans for at in range(span.start() + 1, span.end())}


def _words(piece: str) -> list[str]:
    table = shared_table()
    simplified = table.simplified(piece)
    if all(table.word(char) is not None for char in simplified):
        return [word.text for word in segment(table, simplified)]
    return [piece]
