"""Characters in many forms -> the few that the rules know, before any number is read.

Full-width letters, digits and signs, circled and Roman numerals, other scripts' digits, the squared
units of East Asian fonts, minus signs and dashes. Idempotent.
"""

from __future__ import annotations

import re
import unicodedata

_FIXED = {
    **dict.fromkeys("−‐‑‒﹣－⁻˗", "-"),
    **dict.fromkeys("–", "-"),
    **dict.fromkeys("～〜∼˜", "~"),
    **dict.fromkeys("，﹐", "，"),
    **dict.fromkeys("：︰﹕", ":"),
    **dict.fromkeys("；﹔", "；"),
    **dict.fromkeys("！﹗", "！"),
    **dict.fromkeys("？﹖", "？"),
    **dict.fromkeys("。｡", "。"),
    **dict.fromkeys("、､", "、"),
    **dict.fromkeys("￥¥", "¥"),
    **dict.fromkeys("µ", "μ"),
    "Ω": "Ω",
    "K": "K",
    "Å": "埃",
    "½": " 1/2",
    "⅓": " 1/3",
    "⅔": " 2/3",
    "¼": " 1/4",
    "¾": " 3/4",
    "⅕": " 1/5",
    "⅛": " 1/8",
    "⅖": " 2/5",
    "⅗": " 3/5",
    "⅘": " 4/5",
    "⅙": " 1/6",
    "⅜": " 3/8",
    "⅝": " 5/8",
    "⅞": " 7/8",
    "⁄": "/",
    "℃": "°C",
    "℉": "°F",
    "№": "No.",
    "º": "°",
    "˚": "°",
    "㎡": "m²",
    "㎥": "m³",
    "㎜": "mm",
    "㎝": "cm",
    "㎞": "km",
    "㎎": "mg",
    "㎏": "kg",
    "㎖": "ml",
    "ℓ": "L",
    "㏄": "cc",
    "㎐": "Hz",
    "㎾": "kW",
    "㎢": "km²",
    "㎠": "cm²",
    "㎤": "cm³",
    "㎍": "μg",
    "㏈": "dB",
    "㎸": "kV",
    "㎰": "ps",
    "㎳": "ms",
    "㎲": "μs",
    "㎱": "ns",
    "㎚": "nm",
    "㎛": "μm",
    "㎅": "KB",
    "㎆": "MB",
    "㎇": "GB",
    "㎈": "cal",
    "㎉": "kcal",
    "㎑": "kHz",
    "㎒": "MHz",
    "㎓": "GHz",
    "㎩": "Pa",
    "㎪": "kPa",
    "㎫": "MPa",
    "㎶": "μV",
    "㎷": "mV",
    "㎽": "mW",
    "㎿": "MW",
    "㏒": "log",
    "㏑": "ln",
    "㏎": "KM",
    "㏕": "mil",
    "㏖": "mol",
    "²": "²",
    "³": "³",
    "℅": "c/o",
    "٪": "%",
    "…": "…",
    "㈠": "一",
    "\u3000": " ",
}
_ROMAN = "ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅺⅻ"
_ZERO_INSIDE = re.compile("[0-9]+(?:[〇○零]+[0-9]+)+〇*|[0-9]+〇+")
_ZERO = re.compile("〇|(?<=[一二三四五六七八九零])○")
_LATIN = {
    "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ð": "d",
    "Ð": "D", "þ": "th", "Þ": "TH", "ł": "l", "Ł": "L", "ı": "i", "ħ": "h", "Ħ": "H", "ŋ": "ng", "Ŋ": "NG",
}  # fmt: skip
"""Letters that have no parts."""
_KEPT = frozenset("²³·…")


def fold(text: str) -> str:
    """`text` with such characters replaced; all others as they are."""
    if text.isascii():
        return text
    table = {ord(char): _folded(char) for char in set(text) if not char.isascii()}
    folded = _ZERO_INSIDE.sub(_with_zeros, text.translate(table))  # '2〇24年'
    return _ZERO.sub("零", folded)


def _with_zeros(match: re.Match[str]) -> str:
    return re.sub("[〇○零]", "0", match.group())


def _folded(char: str) -> str:
    fixed = _FIXED.get(char)
    if fixed is not None or char in _KEPT:
        return fixed or char
    digit = _digit(char)
    if digit:
        return digit
    if "\uff01" <= char <= "\uff5e":
        return chr(ord(char) - 0xFEE0)
    category = unicodedata.category(char)
    if _is_a_form(char):
        return unicodedata.normalize("NFKC", char)
    if category == "No" or "\u3300" <= char <= "\u33ff" or "\uf900" <= char <= "\ufaff":
        return unicodedata.normalize("NFKC", char)
    return (_without_accents(char) if category in ("Ll", "Lu", "Lt") else "") or char


def _is_a_form(char: str) -> bool:
    """Small signs ('﹪') and those of vertical text ('︵')."""
    return "\ufe50" <= char <= "\ufe6f" or "\ufe10" <= char <= "\ufe19" or "\ufe35" <= char <= "\ufe48"


def _digit(char: str) -> str:
    """The number that one character stands for, in any script; nothing for other characters."""
    if char in _ROMAN:
        return str(_ROMAN.index(char) % 12 + 1)
    digit = unicodedata.digit(char, None)
    return "" if digit is None else str(digit)


def _without_accents(char: str) -> str:
    """'é' -> 'e', 'ﬁ' -> 'fi', 'ß' -> 'ss', 'ώ' -> 'ω'; nothing for a letter of another script."""
    if char in _LATIN:
        return _LATIN[char]
    parts = unicodedata.normalize("NFKD", char)
    return "".join(part for part in parts if (part.isascii() and part.isalpha()) or "Α" <= part <= "ω")
