"""Normalized Chinese text -> syllables with the tones as they are said.

Words by `segment`, readings from the table and `polyphones`, tones by `sandhi`. Letters are spelled out
with Chinese syllables, as a Chinese voice must. Never raises on text; used by the thread that owns it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from edged.text.scripts import is_han
from edged.text.zh.polyphones import reading, repeated
from edged.text.zh.sandhi import one_and_not, third_tones
from edged.text.zh.segment import segment
from edged.text.zh.table import Table, Word
from edged.text.zh.text import PAUSES

INSIDE, WORD, PHRASE, PAUSE = 0, 1, 2, 3
"""How far apart a syllable and the next one are: in one word, words, phrases, at a comma."""

_LONG_PHRASE = 7  # syllables after which a breath is looked for
_DIGIT_CHARS = "零一二三四五六七八九幺"
_DIGIT_RUN = re.compile(f"[{_DIGIT_CHARS}]{{6,}}")
_NUMERAL = re.compile(
    "(?=[零一二两三四五六七八九十])(?:[零一二两三四五六七八九]*[十百千万亿])+[一二三四五六七八九]?"
)
_NUMERAL_PART = re.compile("零?[一二两三四五六七八九]?[十百千万亿]+|零?[一二三四五六七八九]|.")
_DIGIT_GROUPS = {6: (3, 3), 7: (3, 4), 8: (4, 4), 10: (3, 3, 4), 11: (3, 4, 4)}
_FULL_CHILD = frozenset("女婴幼孤胎健少托育产患生宠血弃男侄孙妻小娇病死")  # 儿 after these is a child
_CLITIC = frozenset("的了着过吗呢吧啊呀啦地得们个")
_LETTERS = {
    "a": "ei1", "b": "bi4", "c": "sei1", "d": "di4", "e": "yi4", "f": "ai2 fu5", "g": "ji4", "h": "ei2 chi5",
    "i": "ai4", "j": "zhei4", "k": "kei4", "l": "ai2 lou5", "m": "ai2 mu5", "n": "en1", "o": "ou1",
    "p": "pi4", "q": "kiu4", "r": "a4 er5", "s": "ai2 si5", "t": "ti4", "u": "you1", "v": "wei1",
    "w": "da2 bu5 liu5", "x": "ai2 ke5 si5", "y": "wai4", "z": "zei4",
}  # fmt: skip
_LATIN_WORDS = {"wi": "wai1", "fi": "fai1"}
_PIECES = re.compile(r"[a-zA-Z]+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Syllable:
    """One syllable: `hanzi` as written (two characters with 儿), `pinyin` with its surface tone."""

    hanzi: str
    pinyin: str
    """Letters, ü as v, and the tone 1 to 5 (5: none); with 儿: 'dianr3'."""
    after: int
    """INSIDE, WORD, PHRASE or PAUSE: what separates it from the next one."""


class Reader:
    """Reads by one mapped table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def syllables(self, text: str) -> list[Syllable]:
        """The syllables of normalized text; what has no reading is left out."""
        found: list[Syllable] = []
        simplified = self._table.simplified(text)
        clause: list[str] = []
        start = 0
        for piece in _PIECES.finditer(text):
            char = piece.group()
            if len(char) == 1 and is_han(char) and self._table.word(simplified[piece.start()]) is not None:
                if not clause:
                    start = piece.start()
                clause.append(char)
                continue
            if clause:
                found += self._clause(simplified[start : start + len(clause)], "".join(clause))
                clause = []
            if char[0].isascii() and char[0].isalpha():
                found += _spelled(char)
            elif char in PAUSES and found:
                found[-1] = _separated(found[-1], PHRASE if char == "、" else PAUSE)
        if clause:
            found += self._clause(simplified[start:], "".join(clause))
        return found

    def words(self, chars: str) -> list[Word]:
        """A stretch of Chinese characters, simplified, as words; '五十五' is two."""
        found: list[Word] = []
        start = 0
        for numeral in _NUMERAL.finditer(chars):
            known = self._table.word(numeral.group())
            if len(numeral.group()) > 1 and (known is None or known.tag == "m"):
                found += segment(self._table, chars[start : numeral.start()])
                found += map(self._numeral, _NUMERAL_PART.findall(numeral.group()))
                start = numeral.end()
        return found + segment(self._table, chars[start:])

    def _numeral(self, part: str) -> Word:
        readings = (self._table.word(char) for char in part)
        return Word(part, 0, "m", tuple(word.syllables[0] for word in readings if word is not None))

    def _clause(self, chars: str, written: str) -> list[Syllable]:
        """A stretch of characters between pauses."""
        words = self.words(chars)
        lexical = [syllable for own in _lexical(words) for syllable in own]
        for at, said in repeated(chars):
            lexical[at] = said
        word_at = [word for word in words for _ in word.text]
        tones = [syllable[-1] for syllable in lexical]
        one_and_not(chars, tones, word_at)
        bases = [syllable[:-1] for syllable in lexical]
        separators = _separators(chars, words)
        colours = _colouring(written, bases, separators)
        self._raise_third_tones(words, tones, colours)
        return _joined(written, bases, tones, separators, colours)

    def _raise_third_tones(self, words: list[Word], tones: list[str], colours: frozenset[int]) -> None:
        """In place; a 儿 that is no syllable of its own stands between none: '有点儿冷'."""
        spoken: list[Word] = []
        places: list[list[int]] = []
        start = 0
        for word in words:
            end = start + len(word.text)
            own = [at for at in range(start, end) if at not in colours]
            if own:
                spoken.append(replace(word, text="".join(word.text[at - start] for at in own)))
                places.append(own)
            start = end
        by_word = [[tones[at] for at in own] for own in places]
        third_tones(self._table, spoken, by_word)
        for own, raised in zip(places, by_word, strict=True):
            for at, tone in zip(own, raised, strict=True):
                tones[at] = tone


def _lexical(words: list[Word]) -> list[tuple[str, ...]]:
    """Readings by word, before tones change."""
    found: list[tuple[str, ...]] = []
    for at, word in enumerate(words):
        if len(word.text) > 1:
            found.append(word.syllables)
        else:
            before = words[at - 1] if at else None
            after = words[at + 1] if at + 1 < len(words) else None
            found.append((reading(word, before, after),))
    return found


def _separators(chars: str, words: list[Word]) -> list[int]:
    """What follows each character of a clause."""
    separators = [INSIDE] * len(chars)
    at = since = 0
    for number, word in enumerate(words):
        at += len(word.text)
        since += len(word.text)
        following = words[number + 1].text if number + 1 < len(words) else ""
        is_clitic = following[:1] in _CLITIC
        is_breath = since >= _LONG_PHRASE and len(following) > 1 and len(chars) - at >= 4
        separators[at - 1] = INSIDE if is_clitic else PHRASE if is_breath else WORD
        if separators[at - 1] == PHRASE:
            since = 0
    for run in _DIGIT_RUN.finditer(chars):
        separators[run.start() : run.end() - 1] = [INSIDE] * (run.end() - run.start() - 1)
        for end in _group_ends(run):
            separators[end - 1] = PHRASE
    return separators


def _group_ends(run: re.Match[str]) -> list[int]:
    """Where a long row of digits is divided, as people say telephone numbers."""
    size = run.end() - run.start()
    groups = _DIGIT_GROUPS.get(size, (4,) * (size // 4))
    ends: list[int] = []
    end = run.start()
    for group in groups:
        end += group
        ends.append(end)
    return [end for end in ends if end < run.end()]


def _colouring(written: str, bases: list[str], separators: list[int]) -> frozenset[int]:
    """Places of each 儿 that only colours the syllable before it."""
    found: set[int] = set()
    for at in range(1, len(written)):
        is_suffix = written[at] in "儿兒" and separators[at - 1] <= WORD and at - 1 not in found
        if is_suffix and bases[at - 1][-1] != "r" and _colours(written, at, separators):
            found.add(at)
    return frozenset(found)


def _joined(
    written: str, bases: list[str], tones: list[str], separators: list[int], colours: frozenset[int]
) -> list[Syllable]:
    """Syllables of a clause, each 儿 that only colours its syllable drawn into it."""
    found: list[Syllable] = []
    for at, char in enumerate(written):
        if at in colours:
            last = found[-1]
            found[-1] = Syllable(last.hanzi + char, f"{last.pinyin[:-1]}r{last.pinyin[-1]}", separators[at])
        else:
            found.append(Syllable(char, bases[at] + tones[at], separators[at]))
    return found


def _colours(written: str, at: int, separators: list[int]) -> bool:
    """False where 儿 means a child: '女儿', '儿童'."""
    begins_word = separators[at] == INSIDE and written[at + 1 : at + 2] not in ("", *_CLITIC)
    return not (written[at - 1] in _FULL_CHILD or (begins_word and separators[at - 1] != INSIDE))


def _spelled(letters: str) -> list[Syllable]:
    """A Latin word, letter by letter."""
    lower = letters.lower()
    known = _LATIN_WORDS.get(lower)
    if known is not None:
        return [Syllable(letters, known, WORD)]
    found = [Syllable(char, said, INSIDE) for char in lower for said in _LETTERS[char].split()]
    found[-1] = _separated(found[-1], WORD)
    return found


def _separated(syllable: Syllable, after: int) -> Syllable:
    return Syllable(syllable.hanzi, syllable.pinyin, max(after, syllable.after))
