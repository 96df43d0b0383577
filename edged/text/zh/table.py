"""Words, their readings and their traditional forms: one file that is mapped, not loaded."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import marisa_trie

from edged.errors import VoiceError
from edged.text.scripts import is_han

FILE = Path(__file__).parent / "data" / "zh.marisa"
"""Made by `edged.text.zh.build`, which describes it."""
SYLLABLES = "\n"
TRADITIONAL = "\t"
COST_STEP = 16
"""Costs are stored as round(−ln(probability) × COST_STEP)."""
LONGEST_WORD = 10

_NO_KEY = re.compile("[\0\ud800-\udfff]")
"""The trie's keys are UTF-8, and it reads on behind a zero byte."""
_HEAD = struct.Struct("<Hc")
_CACHED_WORDS = 4096


@dataclass(frozen=True, slots=True)
class Word:
    """One entry: `cost` is −ln(probability) × COST_STEP, `tag` one letter for its part of speech."""

    text: str
    cost: int
    tag: str
    syllables: tuple[str, ...]


class Table:
    """Lookups in the mapped file."""

    def __init__(self, file: Path = FILE) -> None:
        """Raises VoiceError when the file is missing or damaged."""
        try:
            self._trie = marisa_trie.BytesTrie().mmap(str(file))
        except (OSError, RuntimeError) as error:
            raise VoiceError(f"{file}: cannot be mapped ({error}); reinstall edged") from error
        self.syllables: list[str] = self._trie[SYLLABLES][0].decode().split(" ")
        self.word = lru_cache(maxsize=_CACHED_WORDS)(self._word)

    def words_from(self, text: str, start: int) -> list[str]:
        """All words of the table that begin at `start`, the shortest first."""
        found: list[str] = self._trie.prefixes(text[start : start + LONGEST_WORD])
        return found

    def simplified(self, text: str) -> str:
        """`text` with its traditional characters replaced, of the same length."""
        text = _NO_KEY.sub("\ufffd", text)
        out: list[str] = []
        at = 0
        while at < len(text):
            window = text[at : at + LONGEST_WORD]
            found = self._trie.prefixes(TRADITIONAL + window) if is_han(text[at]) else ()
            out.append(self._trie[found[-1]][0].decode() if found else text[at])
            at += len(out[-1])
        return "".join(out)

    def _word(self, text: str) -> Word | None:
        """The entry of a word, or None."""
        found = self._trie.get(text) if is_han(text[:1]) else None
        if not found:
            return None
        cost, tag = _HEAD.unpack_from(found[0])
        numbers = memoryview(found[0][_HEAD.size :]).cast("H")
        return Word(text, cost, tag.decode(), tuple(self.syllables[n] for n in numbers))


def pack(cost: float, tag: str, numbers: Iterable[int]) -> bytes:
    """The value of a word: `cost` as −ln(probability), its syllables by number."""
    values = list(numbers)
    return _HEAD.pack(min(round(cost * COST_STEP), 0xFFFF), tag.encode()) + struct.pack(
        f"<{len(values)}H", *values
    )


def save(file: Path, items: Iterable[tuple[str, bytes]]) -> None:
    """Write a table of such items."""
    marisa_trie.BytesTrie(items).save(str(file))
