"""Normalized Chinese text with the user's words in it -> syllables; their pinyin is said as it is."""

from __future__ import annotations

from dataclasses import replace

from edged.text.marks import PINYIN, plain, split
from edged.text.zh.g2p import INSIDE, PAUSE, PHRASE, WORD, Reader, Syllable
from edged.text.zh.text import PAUSES


def syllables(reader: Reader, text: str) -> list[Syllable]:
    """Syllables of `text` as `reader` has them, and those the user gave (`edged.text.marks`)."""
    found: list[Syllable] = []
    for part, pinyin in split(plain(text, PINYIN)):
        if found and part[:1] in PAUSES:
            found[-1] = replace(found[-1], after=PHRASE if part[0] == "、" else PAUSE)
        if pinyin is None:
            found += reader.syllables(part)
        elif own := _own(part, pinyin.split()):
            if found and found[-1].after != PAUSE:
                found[-1] = _before(found[-1], own[0].pinyin[-1])
            found += own
    return found


def _own(word: str, pinyin: list[str]) -> list[Syllable]:
    """The user's syllables, a character each where there are as many."""
    hanzi = list(word) if len(word) == len(pinyin) else [word, *[""] * (len(pinyin) - 1)]
    return [
        Syllable(char, said, INSIDE if at < len(pinyin) else WORD)
        for at, (char, said) in enumerate(zip(hanzi, pinyin, strict=True), 1)
    ]


def _before(syllable: Syllable, tone: str) -> Syllable:
    """With the tone it takes before a word that begins in `tone`: 不 before a fourth, third tones."""
    is_changed = (syllable.hanzi == "不" and tone == "4") or syllable.pinyin[-1] == tone == "3"
    return replace(syllable, pinyin=f"{syllable.pinyin[:-1]}2") if is_changed else syllable
