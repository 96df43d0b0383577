"""A Chinese sentence -> the words that are said: no digit, no sign, only characters, letters and pauses.

`fold` brings characters to few forms; then rules (`rules`) replace what is written in digits and signs,
one kind after another, each rule's result being characters that no later rule touches; then Latin words,
marks and what has no reading. Everything is linear in the length of the sentence.
"""

from __future__ import annotations

import functools
import re

from edged.text.normalized import Normalized
from edged.text.scripts import is_han
from edged.text.zh.fold import fold
from edged.text.zh.rules import RULES
from edged.text.zh.table import Table
from edged.text.zh.text import PAUSES

_WARNED_CHARACTERS = 8

_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΦΨΩς",
        [
            "阿尔法",
            "贝塔",
            "伽马",
            "德尔塔",
            "艾普西隆",
            "泽塔",
            "伊塔",
            "西塔",
            "约塔",
            "卡帕",
            "兰姆达",
            "缪",
            "纽",
            "克西",
            "奥密克戎",
            "派",
            "柔",
            "西格玛",
            "陶",
            "宇普西隆",
            "斐",
            "希",
            "普西",
            "欧米伽",
            "伽马",
            "德尔塔",
            "西塔",
            "兰姆达",
            "克西",
            "派",
            "西格玛",
            "斐",
            "普西",
            "欧米伽",
            "西格玛",
        ],
        strict=True,
    )
)
_SIGNS = {
    "=": "等于",
    "≈": "约等于",
    "≠": "不等于",
    "≥": "大于等于",
    "≤": "小于等于",
    "±": "正负",
    "×": "乘",
    "÷": "除以",
    "√": "根号",
    "∞": "无穷大",
    "%": "百分号",
    "‰": "千分号",
    "°": "度",
    "²": "的平方",
    "³": "的立方",
    "&": "和",
    "＆": "和",
    "@": " at ",
    "+": "加",
    "#": "井号",
    "$": "美元",
    "¥": "元",
    "€": "欧元",
    "£": "英镑",
    "→": "到",
    "∶": "比",
    "₩": "韩元",
    "§": "第",
    "©": "版权所有",
    "®": "",
    "™": "",
    **{letter.upper(): said for letter, said in _GREEK.items()},
    **_GREEK,
}
_MARKS = {
    **dict.fromkeys("()[]{}<>〔〕【】〖〗〈〉「」『』（）［］｛｝—–…|\\~^*•●○■□◆◇▲△▶★☆※`,，", "，"),
    **dict.fromkeys("/、", "、"),
    **dict.fromkeys(";；", "；"),
    **dict.fromkeys(":：", "："),
    **dict.fromkeys("!！", "！"),
    **dict.fromkeys("?？", "？"),
    "。": "。",
    **dict.fromkeys('"“”‘’《》〝〞„‟«»‹›', ""),
    **dict.fromkeys("_\t\n", " "),
}
_RANK = {"、": 0, "，": 1, "：": 2, "；": 3, "。": 4, "！": 5, "？": 5}

_DOTS = re.compile(r"\.{2,}|。{2,}|…+")
_FULL_STOP = re.compile(r"\.(?=[\s\"”』」’)）]|$|[^\x00-\x7f])")
_HYPHEN_RUN = re.compile(r"(?<=\s)-+(?=\s)|-{2,}|(?<=[^\x00-\x7f])-+(?![ a-z])|-+(?=[^\x00-\x7f])")
_LATIN = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)*")
_TITLE_DOT = re.compile(r"(?<=\b[MD]r)\.|(?<=\bMrs)\.|(?<=\bMs)\.")
_DOTTED = re.compile(r"(?<=[A-Za-z])\.(?=[A-Za-z])")
_ACRONYMS = frozenset(
    {"NASA", "NATO", "OPEC", "FIFA", "SARS", "AIDS", "APEC", "OPPO", "VIVO", "SONY", "IKEA", "NIKE", "LEGO"}
)
"""Said as words."""
_INSERTED = dict(
    zip(
        "两万亿点负摄华时钟转顷欧韩币号减约于穷无热单贝节",
        "兩萬億點負攝華時鐘轉頃歐韓幣號減約於窮無熱單貝節",
        strict=True,
    )
)
"""Characters that rules put in, as a traditional text has them."""
_UNSPELLED = frozenset({"mr", "mrs", "ms", "dr"})
_JOINED = re.compile("(?<=[A-Za-z0-9])-+(?=[A-Za-z])")
_SPACED = re.compile("(?<=[\u3400-\u9fff]) {1,9}(?=[\u3400-\u9fff])")
_STRAY_APOSTROPHE = re.compile("(?<![A-Za-z])'|'(?![A-Za-z])")
_EMPTY_BRACKETS = re.compile(r"[(（〔\[【「『<《]\s*[)）〕\]】」』>》]")
_BETWEEN_CHARACTERS = re.compile("(?<=[^\x00-\x7f]) (?=[^\x00-\x7f])")
_NUMERALS = "零一二两三四五六七八九十百千万亿幺"
_BETWEEN_NUMBERS = re.compile(f"(?<=[{_NUMERALS}]) (?=[{_NUMERALS}])")  # '五一三七 十八点' is two
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_VOWEL = re.compile("[aeiouyAEIOUY]")
_PAUSE_RUN = re.compile(f" ?[{PAUSES}][ {PAUSES}]*")
_SPACES = re.compile(" +")
_NAME_DOT = re.compile(r"(?<=\w)[·‧・](?=\w)")


@functools.cache
def shared_table() -> Table:
    """The mapped table, opened once. Raises VoiceError when it cannot be."""
    return Table()


def normalize(sentence: str) -> Normalized:
    """One cleaned sentence as it will be said; letters in lower case, a lone letter by its name.

    What has no reading is left out, with one warning that names the code points. Never raises on text.
    """
    text = _SPACED.sub("，", fold(sentence))
    text, traditional = _simplified(text)
    rules: list[str] = []
    for name, pattern, say in RULES:
        text, count = pattern.subn(say, text)
        if count:
            rules.append(name)
    text = _JOINED.sub(" ", _DOTTED.sub("点", _TITLE_DOT.sub(" ", _NAME_DOT.sub("", text))))
    text, unread = _marked(_latin(text))
    warnings = (f"no reading for {_named(unread)}: left out",) if unread else ()
    return Normalized(_tidy(text).translate(traditional), tuple(rules), warnings)


def _simplified(text: str) -> tuple[str, dict[int, str]]:
    """`text` in simplified characters, which the rules know, and what turns them back (nothing: no need)."""
    simplified = shared_table().simplified(text)
    forms: dict[str, set[str]] = {}
    for new, old in zip(simplified, text, strict=True):
        if is_han(new):
            forms.setdefault(new, set()).add(old)
    if all(old == {new} for new, old in forms.items()):
        return text, {}
    # A character that stands for two of the sentence's stays simplified: it is read alike.
    back = {new: min(old) if len(old) == 1 else new for new, old in forms.items()}
    return simplified, {ord(new): old for new, old in (_INSERTED | back).items()}


def _latin(text: str) -> str:
    """Latin words in lower case with spaces around, initialisms as single letters."""
    return _LATIN.sub(lambda word: f" {' '.join(map(_word, _CAMEL.split(word.group())))} ", text)


def _word(word: str) -> str:
    if word.upper() == "WIFI":
        return "wi fi"
    if word in _ACRONYMS:
        return word.lower()
    is_initialism = word.isupper() and (len(word) <= 4 or not _VOWEL.search(word))
    is_unsayable = len(word) <= 4 and not _VOWEL.search(word) and word.lower() not in _UNSPELLED
    if (is_initialism or is_unsayable) and word.isalpha():
        return " ".join(word.lower())
    return word.lower()


def _marked(text: str) -> tuple[str, list[str]]:
    """`text` with its signs said and its marks as pauses, and the characters that have no reading."""
    unread = [char for char in dict.fromkeys(text) if not _is_known(char)]
    if unread:
        text = text.translate(dict.fromkeys(map(ord, unread), ""))
    text = _EMPTY_BRACKETS.sub("", _DOTS.sub("，", text))
    text = _FULL_STOP.sub("。", text)
    text = _HYPHEN_RUN.sub("，", text)
    text = _STRAY_APOSTROPHE.sub("", text)
    table = {ord(char): said for char in set(text) if (said := _said(char)) is not None}
    return text.translate(table), unread


def _is_known(char: str) -> bool:
    return (
        char in PAUSES
        or char in " '-."
        or char in _MARKS
        or char in _SIGNS
        or _is_letter(char)
        or _has_reading(char)
    )


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _said(char: str) -> str | None:
    """What a sign or a mark becomes; None for what stays."""
    if char in "-.":
        return " "
    return _SIGNS.get(char, _MARKS.get(char))


def _has_reading(char: str) -> bool:
    table = shared_table()
    return is_han(char) and table.word(table.simplified(char)) is not None


def _named(unread: list[str]) -> str:
    shown = ", ".join(f"U+{ord(char):04X}" for char in unread[:_WARNED_CHARACTERS])
    more = len(unread) - _WARNED_CHARACTERS
    return f"{shown} and {more} more" if more > 0 else shown


def _tidy(text: str) -> str:
    """One mark where several met, none at the beginning, no space beside a mark or between characters."""
    text = _SPACES.sub(" ", text)
    text = _PAUSE_RUN.sub(lambda run: max(run.group().replace(" ", ""), key=_RANK.__getitem__), text)
    text = text.strip(" ，、：；")
    text = _BETWEEN_NUMBERS.sub("，", text)
    return _BETWEEN_CHARACTERS.sub("", text).lstrip("。！？")
