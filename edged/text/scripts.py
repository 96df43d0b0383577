"""Which script characters are of, where more than one language's rules ask. Every scan runs inside `re`:
a text of thousands of characters is asked before its first sentence is spoken."""

from __future__ import annotations

import re

HAN = "〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
"""Chinese characters (and the zero 〇), as the inside of a set in a regular expression."""
_ONE = re.compile(f"[{HAN}]")


def is_han(char: str) -> bool:
    """True for a Chinese character."""
    return _ONE.match(char) is not None


def has_han(text: str) -> bool:
    """True for a text with a Chinese character in it."""
    return not text.isascii() and _ONE.search(text) is not None


def han_as_spaces(text: str) -> tuple[str, int]:
    """A text with a space for each Chinese character, and how many there were."""
    return (text, 0) if text.isascii() else _ONE.subn(" ", text)
