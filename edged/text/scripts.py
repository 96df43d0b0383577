"""Which script a character is of, where more than one language's rules ask."""

from __future__ import annotations

_HAN = (("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U000323af"))


def is_han(char: str) -> bool:
    """True for a Chinese character (and for the zero 〇)."""
    return char == "〇" or any(first <= char <= last for first, last in _HAN)
