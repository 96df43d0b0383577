"""Compiles the tables of the Chinese front end into one file that is mapped, not loaded.

Run by hand when a source changes, in an environment with pypinyin and jieba:

    python -m edged.text.zh.build OPENCC_DATA_FOLDER

Sources: readings of characters and phrases from pypinyin (MIT), words with their frequencies and parts
of speech from jieba (MIT), traditional forms from OpenCC's TSCharacters and TSPhrases (Apache-2.0), and
our own `readings.txt` and `neutral.txt`, which come before all of them. Licence texts lie beside the file.

The file is one trie, keys -> bytes:
    word (simplified)   cost, part of speech, then two bytes a syllable (`table.Table`)
    TRADITIONAL + text  the simplified text, as long as the traditional one
    SYLLABLES           all syllables, separated by spaces; a syllable's number is its place
"""

from __future__ import annotations

import importlib.util
import json
import math
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from edged.text.scripts import is_han
from edged.text.zh.table import SYLLABLES, TRADITIONAL, Table, pack, save

WORDS = 60_000

_DATA = Path(__file__).parent / "data"
_TONE_MARKS = "\u0304\u0301\u030c\u0300"
_PARTS_OF_SPEECH = {
    "a": "a", "b": "a", "z": "a", "c": "c", "d": "d", "f": "f", "m": "m", "n": "n", "s": "n", "t": "t",
    "p": "p", "q": "q", "r": "r", "u": "u", "v": "v", "y": "y",
}  # fmt: skip
_UNKNOWN_SHARE = 0.3  # of one occurrence: for characters that jieba does not count


class Sources:
    """What the tables are made from, as read."""

    def __init__(self, opencc: Path) -> None:
        pypinyin = _package("pypinyin")
        chars = json.loads((pypinyin / "pinyin_dict.json").read_text(encoding="utf-8"))
        self.chars = {chr(int(code)): numbered(first.split(",")[0]) for code, first in chars.items()}
        phrases = json.loads((pypinyin / "phrases_dict.json").read_text(encoding="utf-8"))
        self.phrases = {
            word: [numbered(syllable[0]) for syllable in syllables]
            for word, syllables in phrases.items()
            if len(word) == len(syllables) and all(map(is_han, word))
        }
        self.counts: dict[str, int] = {}
        self.tags: dict[str, str] = {}
        for line in (_package("jieba") / "dict.txt").read_text(encoding="utf-8").splitlines():
            word, count, tag = line.split()
            if all(map(is_han, word)):
                self.counts[word] = int(count)
                self.tags[word] = _PARTS_OF_SPEECH.get(tag[0], "n" if tag[0] in "nislj" else "x")
        self.traditional = dict(_opencc(opencc / "TSCharacters.txt"))
        self.traditional.update(_opencc(opencc / "TSPhrases.txt"))
        self.usual, self.own = _own_readings()
        self.neutral, self.full = _own_neutral()


def numbered(syllable: str) -> str:
    """'hǎo' -> 'hao3', 'lǜ' -> 'lv4'; no mark gives 5."""
    tone, letters = 5, ""
    for char in unicodedata.normalize("NFD", syllable):
        if char in _TONE_MARKS:
            tone = _TONE_MARKS.index(char) + 1
        elif char == "\u0308":
            letters = letters[:-1] + "v"
        elif char == "\u0302":  # the rare ê
            continue
        else:
            letters += char
    return f"{letters}{tone}"


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"the package {name} is not installed; pip install {name}")
    return Path(spec.submodule_search_locations[0])


def _opencc(file: Path) -> Iterator[tuple[str, str]]:
    for line in file.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            traditional, simplified = line.split("\t")[:2]
            first = simplified.split()[0]
            if len(first) == len(traditional) and first != traditional:
                yield traditional, first


def _own_readings() -> tuple[dict[str, str], dict[str, dict[int, str]]]:
    """Usual reading by character; word -> reading by place of the character it is listed for."""
    usual: dict[str, str] = {}
    own: dict[str, dict[int, str]] = {}
    for line in (_DATA / "readings.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        head, *groups = (part.split() for part in line.split("|"))
        char, usual[char] = head[0], head[1]
        for reading, *words in groups:
            for word in words:
                places = own.setdefault(word, {})
                # A word with the character twice is listed for its first one, or for both alike.
                for at, other in enumerate(word):
                    if other == char and (at == word.index(char) or word.count(char) == len(word)):
                        places.setdefault(at, reading)
    return usual, own


def _own_neutral() -> tuple[dict[str, set[int]], set[str]]:
    """Word -> places of its syllables without a tone; words that keep all their tones (marked '=')."""
    words: dict[str, set[int]] = {}
    full: set[str] = set()
    for line in (_DATA / "neutral.txt").read_text(encoding="utf-8").splitlines():
        for marked in line.split() if not line.startswith("#") else ():
            plain = marked.replace("·", "")
            if plain.startswith("="):
                full.add(plain[1:])
                continue
            places = {at - n for n, at in enumerate(i for i, c in enumerate(marked) if c == "·")}
            words[plain] = places or {len(plain) - 1}
    return words, full


class Compiler:
    """Words with their readings and costs, each from the best source that has it."""

    def __init__(self, sources: Sources) -> None:
        self._from = sources
        self._total = sum(sources.counts.values())
        self._longest = 10
        self.readings: dict[str, list[str]] = {}
        self.costs: dict[str, float] = {}

    def compile(self) -> None:
        """Fill `readings` and `costs`: characters, then words from short to long."""
        s = self._from
        for char, reading in s.chars.items():
            if is_han(char):
                self.readings[char] = [s.usual.get(char, reading)]
                self.costs[char] = self._cost(s.counts.get(char, _UNKNOWN_SHARE))
        frequent = sorted(s.counts, key=lambda word: -s.counts[word])[:WORDS]
        words = {*frequent, *s.own, *s.neutral, *s.full, *(w for w in s.phrases if len(w) <= self._longest)}
        for word in sorted((w for w in words if len(w) > 1), key=lambda w: (len(w), w)):
            self._add(word, is_frequent=word in s.counts)

    def _add(self, word: str, is_frequent: bool) -> None:
        """Register a word, unless it would say the same as its parts and is no word of its own."""
        if any(char not in self.readings for char in word):
            return
        parts, parts_cost = self.split(word)
        composed = [syllable for part in parts for syllable in self.readings[part]]
        reading = self._reading(word, composed)
        count = self._from.counts.get(word, 0)
        is_own = word in self._from.own or word in self._from.neutral or word in self._from.full
        if not is_own and not is_frequent and reading == composed:
            return
        cost = self._cost(count) if count else parts_cost
        if is_own or reading != composed:
            cost = min(cost, parts_cost - 0.7)  # else it would never be chosen before its own parts
        self.readings[word] = reading
        self.costs[word] = cost

    def _reading(self, word: str, composed: list[str]) -> list[str]:
        s = self._from
        if word in s.full:
            composed = [self.readings[char][0] for char in word]
        reading = list(composed)
        listed = s.phrases.get(word) if word not in s.full else None
        if listed:
            for at, (char, syllable) in enumerate(zip(word, listed, strict=True)):
                is_neutral_already = composed[at] == syllable[:-1] + "5"
                if char not in "一不" and not is_neutral_already:
                    reading[at] = syllable
        if word[-1] == "子" and len(word) > 1:
            is_full = any(word.endswith(full) for full in s.full if full[-1] == "子")
            reading[-1] = "zi3" if is_full else "zi5"
        for at, syllable in s.own.get(word, {}).items():
            is_lost_tone = composed[at] == syllable[:-1] + "5" and not s.usual[word[at]].endswith("5")
            if not is_lost_tone:
                reading[at] = syllable
        for at in s.neutral.get(word, ()):
            reading[at] = reading[at][:-1] + "5"
        return reading

    def split(self, word: str) -> tuple[list[str], float]:
        """The cheapest way to write `word` with the shorter words registered so far."""
        best: list[tuple[float, int]] = [(0.0, 0)]
        for end in range(1, len(word) + 1):
            best.append(
                min(
                    (best[start][0] + self.costs[word[start:end]], start)
                    for start in range(end)
                    if word[start:end] in self.costs
                )
            )
        parts: list[str] = []
        end = len(word)
        while end:
            start = best[end][1]
            parts.insert(0, word[start:end])
            end = start
        return parts, best[-1][0]

    def _cost(self, count: float) -> float:
        return -math.log(max(count, _UNKNOWN_SHARE) / self._total)


def build(opencc: Path, target: Path) -> None:
    """Write the tables to `target`."""
    sources = Sources(opencc)
    compiler = Compiler(sources)
    compiler.compile()
    syllables = sorted({s for reading in compiler.readings.values() for s in reading})
    number = {syllable: at for at, syllable in enumerate(syllables)}
    items = [(SYLLABLES, " ".join(syllables).encode())]
    for word, reading in compiler.readings.items():
        tag = sources.tags.get(word, "x")
        items.append((word, pack(compiler.costs[word], tag, (number[s] for s in reading))))
    items += [(TRADITIONAL + old, new.encode()) for old, new in sources.traditional.items()]
    save(target, items)
    Table(target)
    print(f"{target}: {len(compiler.readings)} words, {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    build(Path(sys.argv[1]), _DATA / "zh.marisa")
