"""Readings of single characters by their neighbours, where no word of the table decides.

Each rule sees the word before and the word after (None at the edge of a clause) with jieba's parts of
speech: n noun, v verb, a adjective, d adverb, m number, q measure, r pronoun, p preposition, x unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from edged.text.zh.table import Word

_NUMBERS = frozenset("零一二三四五六七八九十百千万亿两几半多数")
_COUNTED = _NUMBERS | frozenset("这那哪每某各该")
_BEFORE_A_DEED = frozenset("在把给让跟对向从先再多少早快不去来赶马")
_DEGREE = frozenset(
    {"很", "太", "最", "更", "较", "挺", "真", "好", "有点", "非常", "十分", "比较", "不", "特别"}
)


def _tag(word: Word | None) -> str:
    return word.tag if word is not None else ""


def _counts(word: Word | None) -> bool:
    """True after a number or a word that points: what follows is a measure word."""
    return word is not None and (word.text[-1] in _COUNTED or word.tag == "m")


def _degree(word: Word | None) -> bool:
    return word is not None and word.text in _DEGREE


def _de(before: Word | None, after: Word | None) -> str:
    if before is not None and (before.tag in "vax" or _degree(before)) and before.text not in ("都", "也"):
        return "de5"
    has_to = after is not None and (after.tag in "vdpa" or after.text[0] in _BEFORE_A_DEED)
    return "dei3" if has_to else "de2"


def _di(before: Word | None, after: Word | None) -> str:
    if before is None or after is None or before.tag in "mrp" or after.tag in "nfq":
        return "di4"
    return "de5" if len(before.text) > 1 or before.tag in "ad" else "di4"


def _le(before: Word | None, _after: Word | None) -> str:
    return "liao3" if before is not None and before.text[-1] in "不得" and before.text != "不" else "le5"


def _hai(before: Word | None, after: Word | None) -> str:
    is_done = before is not None and before.text in ("已", "已经", "未", "待", "代", "按时", "及时", "如期")
    is_last = after is None or after.text in ("了", "的", "不")
    return "huan2" if is_done or (is_last and _tag(before) not in ("r", "")) else "hai2"


def _wei(before: Word | None, after: Word | None) -> str:
    if _tag(after) == "m" or _tag(before) in ("v", "a", "d") or after is None:
        return "wei2"
    return "wei4" if before is None or after.tag == "r" else "wei2"


def _shu(before: Word | None, after: Word | None) -> str:
    if after is None or after.text[0] in "十百千万亿" or after.tag in "nq":
        return "shu4"
    return "shu3" if before is None or before.tag in "rdv" else "shu4"


def _zhong(before: Word | None, after: Word | None) -> str:
    """重: again before a verb, else heavy."""
    is_again = after is not None and (after.tag == "v" or after.text in ("按", "拨", "跑", "进"))
    return "chong2" if is_again and not _degree(before) else "zhong4"


def _la(before: Word | None, after: Word | None) -> str:
    """落: left behind by somebody, unless it falls by itself."""
    falls = before is not None and before.text[-1] in "雨雪叶花光灰尘鸟果球箭瓣石弹水"
    return "la4" if after is not None and after.text == "在" and not falls else "luo4"


def _san(before: Word | None, after: Word | None) -> str:
    """散: come apart, where it is a thing that is said to; people and clouds part."""
    is_thing = (
        _tag(before) == "n" and before is not None and before.text[-1] not in "人会群客戏雾云烟味众气队"
    )
    return "san3" if is_thing and after is not None and after.text == "了" else "san4"


def _gan(before: Word | None, after: Word | None) -> str:
    """干: dry as an adjective or a result, else to do."""
    is_dry = _degree(before) or (_tag(before) in ("v", "n") and (after is None or after.text == "了"))
    return "gan1" if is_dry else "gan4"


def _if_counted(measure: str, otherwise: str) -> Callable[[Word | None, Word | None], str]:
    return lambda before, _after: measure if _counts(before) else otherwise


def _always(reading: str) -> Callable[[Word | None, Word | None], str]:
    return lambda _before, _after: reading


_RULES: dict[str, Callable[[Word | None, Word | None], str]] = {
    "得": _de,
    "地": _di,
    "了": _le,
    "还": _hai,
    "为": _wei,
    "数": _shu,
    "重": _zhong,
    "干": _gan,
    "只": _if_counted("zhi1", "zhi3"),
    "行": _if_counted("hang2", "xing2"),
    "种": _if_counted("zhong3", "zhong4"),
    "扇": _if_counted("shan4", "shan1"),
    "担": _if_counted("dan4", "dan1"),
    "缝": _if_counted("feng4", "feng2"),
    "卷": _if_counted("juan3", "juan4"),
    "量": lambda before, _after: "liang2" if before is None or before.tag in "rdp" else "liang4",
    "空": lambda before, _after: (
        "kong4" if before is not None and before.text in ("有", "没", "没有") else "kong1"
    ),
    "教": _always("jiao1"),
    "划": _always("hua4"),
    "落": _la,
    "盛": _always("cheng2"),
    "撒": _always("sa3"),
    "剥": _always("bao1"),
    "钻": _always("zuan1"),
    "散": _san,
    "吐": lambda _before, after: "tu4" if after is None or after.text[0] in "了得" else "tu3",
    "倒": lambda _before, after: "dao4" if _tag(after) in ("n", "q", "m") else "dao3",
}

_TRIED = {
    "数": "shu3", "量": "liang2", "背": "bei1", "转": "zhuan4", "种": "zhong4", "称": "cheng1",
    "扇": "shan1", "卷": "juan3", "倒": "dao4", "教": "jiao1", "调": "tiao2", "弹": "tan2",
    "晃": "huang4", "磨": "mo2", "冲": "chong1", "扫": "sao3", "挑": "tiao1", "缝": "feng2",
    "切": "qie1", "钻": "zuan1", "吐": "tu3", "撒": "sa3", "盛": "cheng2", "剥": "bao1",
    "抹": "mo3", "涨": "zhang3", "喝": "he1", "铺": "pu1", "折": "zhe2", "圈": "quan1",
    "压": "ya1", "看": "kan4",
}  # fmt: skip
"""Verbs with several readings, as they are in '数一数' and '转了转', both times."""
_TRIED_TWICE = re.compile(f"(?<![一二两三四五六七八九十几])([{''.join(_TRIED)}])[一了]\\1(?!二)")


def repeated(chars: str) -> Iterator[tuple[int, str]]:
    """Places of verbs said twice around 一 or 了, with their reading."""
    for found in _TRIED_TWICE.finditer(chars):
        yield from ((at, _TRIED[found[1]]) for at in (found.start(), found.end() - 1))


def reading(word: Word, before: Word | None, after: Word | None) -> str:
    """The syllable of a word of one character."""
    rule = _RULES.get(word.text)
    return rule(before, after) if rule is not None else word.syllables[0]
