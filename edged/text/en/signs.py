"""What is done to a sentence before and after the rules: one form of each sign, then pauses and spaces."""

from __future__ import annotations

import re
import unicodedata

from edged.text.en.tables import GREEK

_FOLDED = {ord(a): b for a, b in {
    "‘": "'", "’": "'", "ʼ": "'", "＇": "'", "‐": "-", "‑": "-", "‒": "-", "―": "—", "−": "−", "…": "…",
    "\u00a0": " ",
    "，": ",", "。": ".", "！": "!", "？": "?", "；": ";", "：": ":", "、": ",", "（": "(", "）": ")",
    "％": "%",
    "＄": "$", "￥": "¥", "￡": "£", "￠": "¢", "￦": "₩", "〜": "~",
    "℃": "°C", "℉": "°F", "㎡": "m²", "㎏": "kg", "㎞": "km", "㎝": "cm", "㎜": "mm", "μ": "µ", "∕": "/",
    "∶": ":",
    "Ω": "Ω", "‼": "!", "⁇": "?", "⁈": "?", "⁉": "!",
}.items()}  # fmt: skip
_COMPATIBLE = re.compile("[\uff01-\uff5e\U0001d400-\U0001d7ffﬀ-ﬆ₀-₉]")
_ENCLOSED = re.compile("[Ⅰ-ⅿ]+|[①-⓿❶-➓]")
_GREEK_WORD = re.compile("[Ͱ-Ͽἀ-῿]{2,}")
_DOUBLE_STAR = re.compile(r"(?<=\d) ?\*\* ?(?=\d)")
_COMPARISONS = ((">=", "≥"), ("<=", "≤"), ("!=", "≠"), ("==", "="), ("+/-", "±"))
_KEPT_LETTERS = frozenset("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýÿŒœ") - frozenset(
    "ÐðÞþß"
)
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3})(?=\S)([^*_\n]{1,200}?)(?<=\S)\1(?![\w*])")
_HEADING = re.compile(r"^ *(?:#{1,6} +|[-*•] +|> +(?=[^\d\s]))+")
_ARROW = re.compile(" ?(?:<?-{1,2}>|=>|<-{1,2}(?![-.0-9])|[←-⇿⟵-⟿]) ?")
_ENDS_AMOUNT = re.compile("(?:[0-9]|[0-9] ?[A-Za-zµ°%€$£¥/²³]{1,5})$")
_BEGINS_AMOUNT = re.compile("[-−+]?[$€£¥₹]?[-−]?[0-9]")
_MULTIPLIED_UNITS = re.compile(r"(?<=[0-9 ])([kMm]?[NWVA])[·⋅∙•]([mhA])(?![\w²³])")
_DOUBLED = re.compile("([&%])\\1+")
_NOT_SPOKEN = re.compile("[^A-Za-zÀ-ÖØ-öø-ÿŒœ ',.?!;:-]")
_SPACED_DASH = re.compile(r" ?(?:[—–―]|--+| [-−](?= |$)|(?<= )-+ ) ?")
_LONE_HYPHEN = re.compile(r"(?<![^\W\d_])-+|-+(?![^\W\d_])")
_LONE_QUOTE = re.compile(r"(?<![^\W\d_])'+|'+(?![^\W\d_])")
_DOTS = re.compile(r"\.{2,}|…")
_SPACE_BEFORE = re.compile(r" +(?=[,.?!;:])")
_PAUSES = re.compile(r"[,;:]+(?=[,.?!;:])|(?<=[.?!])[,;:]+")
_REPEATED = re.compile(r"([,.?!;:])\1+")
_GLUED = re.compile(r"(?<=[,?!;:])(?=[^\W\d_])")
_FULL_STOP_GLUED = re.compile(r"(?<=[a-z]{2}\.)(?=[^\W\d_])")
_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:-[^\W\d_]+){2,}")
_SPACES = re.compile(" {2,}")


def folded(text: str) -> tuple[str, tuple[str, ...]]:
    """One form of every sign, letters of other scripts left out; and the warnings about those."""
    text = _SPACES.sub(" ", text.replace("\n", " ").replace("\t", " "))
    if text.isascii():
        return _markup(text), ()
    text = text.replace("zł", "PLN")
    text = _MULTIPLIED_UNITS.sub(r"\1\2", text)
    text = _ENCLOSED.sub(lambda m: f" {unicodedata.normalize('NFKC', m.group()).upper()} ", text)
    text = _COMPATIBLE.sub(lambda m: unicodedata.normalize("NFKC", m.group()), text).translate(_FOLDED)
    kept: list[str] = []
    unknown: dict[str, None] = {}
    for word in _GREEK_WORD.findall(text):
        unknown.update(dict.fromkeys(word))
    text = _GREEK_WORD.sub(" ", text)
    for char in unicodedata.normalize("NFC", text):
        if (
            char.isascii()
            or char in _KEPT_LETTERS
            or not (char.isalpha() or unicodedata.category(char)[0] in "MN")
        ):
            kept.append(char)
        else:
            kept.append(_latin(char, unknown))
    warnings: tuple[str, ...] = ()
    if unknown:
        shown = ", ".join(f"U+{ord(c):04X}" for c in list(unknown)[:8])
        more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
        warnings = (f"no English reading for {shown}{more}: left out",)
    return _markup(_SPACES.sub(" ", "".join(kept))), warnings


def _latin(char: str, unknown: dict[str, None]) -> str:
    """The nearest Latin letter or ASCII digit; a space for what has none."""
    if char in "µΩ²³¹⁰⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞ªº" or char.lower() in GREEK:
        return char
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    base = "".join(c for c in unicodedata.normalize("NFKD", char) if not unicodedata.combining(c))
    base = _LETTERS_WITHOUT_PARTS.get(char, base)
    if base.isascii() and base.isalnum():
        return base
    if unicodedata.category(char)[0] != "M":
        unknown[char] = None
    return " "


_LETTERS_WITHOUT_PARTS = {
    "ł": "l",
    "Ł": "L",
    "đ": "d",
    "Đ": "D",
    "ı": "i",
    "ħ": "h",
    "Ħ": "H",
    "ŋ": "ng",
    "ẞ": "SS",
    "ſ": "s",
    "ß": "ss",
    "þ": "th",
    "ð": "d",
    "Þ": "Th",
    "Ð": "D",
}


def _markup(text: str) -> str:
    """Without the marks of headings, lists and emphasis."""
    text = _HEADING.sub("", text)
    text = _DOUBLED.sub(r"\1", _DOUBLE_STAR.sub("^", text))
    for written, sign in _COMPARISONS:
        text = text.replace(written, sign)
    if "*" in text or "_" in text:
        text = _EMPHASIS.sub(r"\2", text)
    return _ARROW.sub(_arrow, text).strip()


def _arrow(found: re.Match[str]) -> str:
    """'100→80%' goes from one to the other; between words an arrow is a break."""
    text = found.string
    is_change = (
        found.group().strip()[0] not in "<←"
        and _ENDS_AMOUNT.search(text[max(0, found.start() - 8) : found.start()])
        and _BEGINS_AMOUNT.match(text, found.end())
    )
    return " to " if is_change else ", "


def tidied(text: str) -> str:
    """Only words and the signs that make pauses, each once, with the spaces where they belong."""
    text = _SPACED_DASH.sub(", ", text.replace("|", ","))
    text = text.replace("(", ", ").replace(")", ", ")
    text = _DOTS.sub(".", text)
    text = _NOT_SPOKEN.sub(" ", text)
    text = _COMPOUND.sub(lambda m: m.group().replace("-", " "), text)
    text = _LONE_QUOTE.sub(" ", _LONE_HYPHEN.sub(" ", text))
    text = _SPACE_BEFORE.sub("", _SPACES.sub(" ", text))
    text = _REPEATED.sub(r"\1", _PAUSES.sub("", text))
    text = _FULL_STOP_GLUED.sub(" ", _GLUED.sub(" ", text))
    return _SPACES.sub(" ", text).strip(" ,;:-")
