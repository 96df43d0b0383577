"""Words with sounds of the user's, as they stand in normalized text between private characters:

    U+E000 word U+E002 phonemes U+E003        U+E001 word U+E002 pinyin U+E003

`edged.text.clean` removes such characters from what is received. A front end says the sounds of the kind
that it knows, and takes the word for the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PHONEMES, PINYIN = "\ue000", "\ue001"
"""What a marked word begins with, by the kind of its sounds."""
MARKED = re.compile("([\ue000\ue001])([^\ue002]*)\ue002([^\ue003]*)\ue003")
"""A marked word: kind, word, sounds."""


def marked(kind: str, word: str, sounds: str) -> str:
    """A word with its sounds, PHONEMES or PINYIN."""
    return f"{kind}{word}\ue002{sounds}\ue003"


def plain(text: str, but: str = "") -> str:
    """Text with its marked words as they are written; those that begin with `but` stay marked."""
    if PHONEMES not in text and PINYIN not in text:
        return text
    return MARKED.sub(lambda mark: mark.group() if mark[1] == but else mark[2], text)


def split(text: str) -> Iterator[tuple[str, str | None]]:
    """Stretches of a text in order: a marked word and its sounds, or what lies between and None."""
    place = 0
    for mark in MARKED.finditer(text):
        if mark.start() > place:
            yield text[place : mark.start()], None
        yield mark[2], mark[3]
        place = mark.end()
    if place < len(text):
        yield text[place:], None
