"""Whatever was received -> plain text that may be split and spoken.

Every step is linear in the length of the text, so that a long or hostile message costs no more than
its size. Nothing here is particular to a language; numbers and abbreviations are left as they are.
"""

from __future__ import annotations

import html
import re
import unicodedata

LINE_BREAK = "\n"
PAUSE_LIMIT_MS = 10_000
_PAUSE_BASE = 0xF0000  # a private plane: such characters are removed from what is received

_ANSI = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # control sequence: colours, cursor
    "|\x1b[\\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?"  # string with its terminator: window titles
    "|\x1b[ -/]*[0-~]?"
)
# Attributes must look like attributes, and none holds a '<': so 'a < b and c > d' is no tag, and no
# scan runs past the next '<'.
_TAG = re.compile(
    r"<(/?)([A-Za-z][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'))*)\s*/?>"
    r"|<\?[^<>]*\?>|<![A-Za-z][^<>]*>|<!\[CDATA\[|\]\]>"
)
_ATTRIBUTE = re.compile(r"([\w.:-]+)\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)')")
_DURATION = re.compile(r"\+?(\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})\s*(ms|s)")
_STRENGTH_MS = {"none": 0, "x-weak": 100, "weak": 200, "medium": 400, "strong": 700, "x-strong": 1000}
_BLOCK_TAGS = frozenset({"br", "p", "s", "li", "div"})
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_MARK = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_MARK_RUN = re.compile(f"({_MARK}{{3}}){_MARK}+")  # stacked accents: composing them is quadratic
_KEYCAP = re.compile("[0-9#*]\ufe0f?\u20e3")  # an emoji, though it is made of a digit
_SPACES = re.compile(" {2,}")
_LINES = re.compile(" ?\n[ \n]*")

_LINE_SEPARATORS = frozenset("\n\r\v\f\x85\u2028\u2029")
_SPOKEN_SYMBOLS = frozenset("°©®™№℃℉℗℠")
_DROPPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Me"})


def pause_marker(ms: float) -> str:
    """One character that stands for so many milliseconds of silence, 0 to PAUSE_LIMIT_MS."""
    return chr(_PAUSE_BASE + round(min(max(ms, 0.0), PAUSE_LIMIT_MS)))


def marked_pause_ms(text: str) -> int:
    """Milliseconds of all the pause markers in `text` together, at most PAUSE_LIMIT_MS."""
    total = sum(ord(c) - _PAUSE_BASE for c in text if is_pause_marker(c))
    return min(total, PAUSE_LIMIT_MS)


def is_pause_marker(char: str) -> bool:
    """True for a character made by `pause_marker`."""
    return _PAUSE_BASE <= ord(char) <= _PAUSE_BASE + PAUSE_LIMIT_MS


def clean(text: str) -> str:
    """Text without control, format, zero-width and emoji characters, ANSI escapes and tags.

    Inner text of tags is kept, entities (`&amp;`) are decoded once, a bare `&` or `<` survives.
    White space is folded: single spaces inside a line, one line feed between lines. `<break>`
    becomes a pause marker (`pause_marker`). May return the empty string; never raises.
    """
    if "\x1b" in text or "\x9b" in text:
        text = _ANSI.sub("", text)
    if "\u20e3" in text:
        text = _KEYCAP.sub(" ", text)
    text = _filter(text)
    if "<" in text:
        text = _TAG.sub(_tag, _without_comments(text))
    if "&" in text:
        text = _ENTITY.sub(lambda match: _filter(html.unescape(match.group())), text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", _MARK_RUN.sub(r"\1", text))
    return _LINES.sub(LINE_BREAK, _SPACES.sub(" ", text)).strip(" \n")


def _filter(text: str) -> str:
    """Apply `_replacement` to each character that needs it; plain ASCII text passes untouched."""
    table = {ord(c): _replacement(c) for c in set(text) if not (c.isascii() and c.isprintable())}
    return text.translate(table) if table else text


def _replacement(char: str) -> str:
    """What one character becomes: itself, a space, a line feed, or nothing."""
    if char in _LINE_SEPARATORS:
        return LINE_BREAK
    category = unicodedata.category(char)
    if char == "\t" or category == "Zs":
        return " "
    if category in _DROPPED_CATEGORIES or "\ufe00" <= char <= "\ufe0f":  # variation selectors
        return ""
    if category in ("So", "Sk") and char not in _SPOKEN_SYMBOLS and not "㍱" <= char <= "㏟":  # ㎡, ㎞
        return "" if "\U0001f3fb" <= char <= "\U0001f3ff" else " "  # skin tones belong to an emoji
    return char


def _without_comments(text: str) -> str:
    """Text without `<!-- … -->`; one that is never closed is left alone."""
    parts = []
    position = 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[position:start])
        position = end + 3
    parts.append(text[position:])
    return "".join(parts)


def _tag(match: re.Match[str]) -> str:
    """What stands in the place of one tag."""
    closing, name, attributes = match.group(1, 2, 3)
    name = (name or "").lower()
    if name == "break" and not closing:
        return pause_marker(_break_ms(attributes))
    return LINE_BREAK if name in _BLOCK_TAGS else ""


def _break_ms(attributes: str) -> float:
    values = {m.group(1).lower(): m.group(2) or m.group(3) or "" for m in _ATTRIBUTE.finditer(attributes)}
    duration = _DURATION.fullmatch(values.get("time", "").strip())
    if duration:
        return float(duration.group(1)) * (1000.0 if duration.group(2) == "s" else 1.0)
    return _STRENGTH_MS.get(values.get("strength", "medium"), _STRENGTH_MS["medium"])
