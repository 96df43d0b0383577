"""Tones as they are said: 一 and 不, third tones, by words and their structure.

Rules as grammars of Standard Chinese give them (Y. R. Chao, "A Grammar of Spoken Chinese", 1968; for the
domains of the third tone M. Y. Chen, "Tone Sandhi", 2000, ch. 9). A tone is the last digit of a syllable.
"""

from __future__ import annotations

from edged.text.zh.segment import segment
from edged.text.zh.table import Table, Word

_DIGITS = frozenset("零〇一二三四五六七八九幺")
_NUMERALS = _DIGITS | frozenset("十百千万亿两")
_COUNTING = frozenset("十比加减乘除到至月号楼级班期")  # after 一 as a number or a rank
_RANKS = (
    *("年级", "季度", "等奖", "等于", "等品", "等舱", "等座", "流", "线城", "线员", "线工"),
    *("把手", "中全会", "战期", "审", "区", "单元", "单词"),
)
_WHOLE = frozenset("这那每某另又任有头再来过看想说试等问用按从")  # '这一' is not the name of a number
_COMPLEMENTS = frozenset(
    "见到了起及住开下上来去动完清着出过好懂掉成满够进走透准稳定倒尽全高通响断破坏光死活惯散拢牢紧"
)
_ADVERBS = frozenset(
    "毫绝从并决也要无再就都还很太最更又才只倒可却总岂何若既而因所除莫且非凡皆均永暂偏仍尚本原根"
    "此每我你他她它这那谁们人是"
)
_VERBS = frozenset("连记接关开打看听按推拉停充登收发退取存付修洗穿喝")  # some have another tag
_SUFFIXES = frozenset("场馆厂法者酒稿库所")  # after a word of two characters
_KIN = frozenset("姐奶姥嫂婶宝")
_ENCLITICS = frozenset("里点")  # one word with what is before them
_FUSING = frozenset("dp")  # adverbs and prepositions lean on what follows


def one_and_not(chars: str, tones: list[str], word_at: list[Word]) -> None:
    """Set the tones of 一 and 不 in one clause, in place.

    `chars`, `tones` ('1' to '5') and `word_at` (the word each character belongs to) are equally long.
    """
    for at, char in enumerate(chars):
        if char == "一":
            tones[at] = _one(chars, tones, at, word_at[at].text)
        elif char == "不":
            tones[at] = _not(chars, tones, at, word_at)


def _one(chars: str, tones: list[str], at: int, word: str) -> str:
    before, after = chars[at - 1 : at], chars[at + 1 : at + 2]
    if not after or chars.startswith("数一数二", max(0, at - 1)):
        return "1"
    if before and before == after and before not in _NUMERALS and chars[at - 2 : at - 1] not in _NUMERALS:
        return "5"
    if _is_number(chars, at, word):
        return "1"
    return "2" if tones[at + 1] == "4" or after == "个" else "4"


def _is_number(chars: str, at: int, word: str) -> bool:
    """True where 一 is said as the name of a number or of a rank."""
    before, after = chars[at - 1 : at], chars[at + 1]
    if before in ("第", "初", "十") or after in _DIGITS or after in _COUNTING:
        return True
    is_last = len(word) > 1 and word[-1] == "一" and before not in _WHOLE
    return is_last or chars.startswith(_RANKS, at + 1) or _is_in_number(chars, at)


def _is_in_number(chars: str, at: int) -> bool:
    """True where 一 is a digit of a longer number: '百一十', '零点一米', '百分之一点五', '月一日'."""
    before, after = chars[at - 1 : at], chars[at + 1]
    earlier = chars[at - 2 : at - 1]
    if before in _DIGITS or (before == "百" and after == "十"):
        return after not in "百千万亿" or earlier in _DIGITS
    if before == "点":
        return earlier in _NUMERALS and after not in "刻下些直起个"
    return (before == "之" and earlier == "分") or (before == "月" and after == "日")


def _not(chars: str, tones: list[str], at: int, word_at: list[Word]) -> str:
    before, after = chars[at - 1 : at], chars[at + 1 : at + 2]
    if not after:
        return "4"
    if before and (before == after or (at > 1 and chars[at - 2 : at] == chars[at + 1 : at + 3])):
        return "5"
    word = word_at[at].text
    is_inside = len(word) == 3 and word[1] == "不" and word[0] not in _ADVERBS
    verb = word_at[at - 1] if at else None
    is_complement = verb is not None and after in _COMPLEMENTS and _is_verb(verb) and word_at[at] is not verb
    if is_inside or (is_complement and _ends_clause_part(chars, at + 2)):
        return "5"
    return "2" if tones[at + 1] == "4" else "4"


def _is_verb(word: Word) -> bool:
    return len(word.text) == 1 and (word.tag == "v" or word.text in _VERBS) and word.text not in _ADVERBS


def _ends_clause_part(chars: str, at: int) -> bool:
    """A complement is not the beginning of another verb: '听不清' but '说不上班'."""
    return at >= len(chars) or chars[at] in "了的吗呢啊吧就我你他她它这那" or at == len(chars)


def third_tones(table: Table, words: list[Word], tones: list[list[str]]) -> None:
    """Raise third tones before third tones in one clause, in place; `tones` by word.

    Inside a word by its parts first ('小·老虎', '展览·馆'), then between words from right to left where
    one of the two is a single syllable; two longer words keep their tones, except after an adverb.
    """
    for word, own in zip(words, tones, strict=True):
        if own.count("3") > 1 or _is_doubled_verb(word, own):
            own[:] = _inside(table, word, own)
    for at in range(len(words) - 2, -1, -1):
        left, right = tones[at], tones[at + 1]
        if left[-1] == right[0] == "3" and _lean(words[at], words[at + 1]):
            left[-1] = "2"


def _lean(left: Word, right: Word) -> bool:
    if left.text in _ENCLITICS:
        return len(right.text) == 1
    return len(left.text) == 1 or len(right.text) == 1 or left.tag in _FUSING or left.text == "可以"


def _is_doubled_verb(word: Word, tones: list[str]) -> bool:
    return tones == ["3", "5"] and word.text[0] == word.text[1] and word.text[0] not in _KIN


def _inside(table: Table, word: Word, tones: list[str]) -> list[str]:
    if _is_doubled_verb(word, tones):
        return ["2", "5"]
    if len(tones) == 2:
        return ["2", "3"] if tones == ["3", "3"] else tones
    parts = _parts(table, word.text)
    split: list[list[str]] = []
    at = 0
    for part in parts:
        own = tones[at : at + len(part.text)]
        split.append(_inside(table, part, own) if len(own) > 1 else own)
        at += len(part.text)
    for at in range(len(parts) - 2, -1, -1):
        left, right = split[at], split[at + 1]
        if left[-1] == right[0] == "3" and (len(left) == 1 or len(right) == 1):
            left[-1] = "2"
    return [tone for own in split for tone in own]


def _parts(table: Table, text: str) -> list[Word]:
    if len(text) == 3 and text[2] in _SUFFIXES and text[0] not in "小老大好":
        return segment(table, text[:2]) + segment(table, text[2])
    return segment(table, text, len(text) - 1)
