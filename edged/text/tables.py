"""The dictionaries of the English phonemizer as files that are mapped, not loaded.

As Python dicts they take 98 MB and 300 ms; as tries 3 MB of file pages, shared by all processes, and
no time. `compile_tables` writes them once, when a voice is installed (`python -m edged.text.tables
FOLDER`); the classes here answer lookups as the dicts would, to the last bit.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import shutil
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import marisa_trie

from edged.errors import EdgedError, VoiceError

_GOLD, _SILVER = "gold.marisa", "silver.marisa"
_TAGS, _WORD_TAGS, _TAGGER_WORDS, _WEIGHTS = (
    "tags.json", "word_tags.marisa", "tagger_words.marisa", "weights.marisa",
)  # fmt: skip
TOKENIZER, PHONEME_IDS, SPELLING = "tokenizer.json", "phoneme_ids.json", "oov.json"
_WEIGHT = struct.Struct("<Bh")  # index of the tag, tenths of its weight


class Readings:
    """Word -> its phonemes, or its phonemes by part of speech (as `dict.get`)."""

    def __init__(self, file: Path) -> None:
        self._trie = _mapped(marisa_trie.BytesTrie(), file)

    def get(self, word: str) -> str | dict[str, str | None] | None:
        """As `dict.get`."""
        found = self._trie.get(word)
        if not found:
            return None
        value: str = found[0].decode()
        if value[0] != "{":
            return value
        by_tag: dict[str, str | None] = json.loads(value)
        return by_tag


class WordTags:
    """Word -> the one part of speech it nearly always has (as `dict.get`)."""

    def __init__(self, file: Path, tags: list[str]) -> None:
        self._trie = _mapped(marisa_trie.BytesTrie(), file)
        self._tags = tags

    def get(self, word: str) -> str | None:
        """As `dict.get`."""
        found = self._trie.get(word)
        return self._tags[found[0][0]] if found else None


class Weights:
    """Feature of a word in its sentence -> weights by part of speech (as `dict.get`)."""

    def __init__(self, file: Path, tags: list[str]) -> None:
        self._trie = _mapped(marisa_trie.BytesTrie(), file)
        self._tags = tags

    def get(self, feature: str) -> dict[str, float] | None:
        """As `dict.get`. Tenths divide back to the very float they were read from."""
        found = self._trie.get(feature)
        if not found:
            return None
        return {self._tags[tag]: tenths / 10 for tag, tenths in _WEIGHT.iter_unpack(found[0])}


class Tables:
    """All that the English phonemizer reads, opened from one folder."""

    def __init__(self, folder: Path) -> None:
        """Raises VoiceError for a file that is missing or damaged."""
        self.tags: list[str] = read_json(folder / _TAGS)
        self.gold = Readings(folder / _GOLD)
        self.silver = Readings(folder / _SILVER)
        self.word_tags = WordTags(folder / _WORD_TAGS, self.tags)
        self.tagger_words = _mapped(marisa_trie.Trie(), folder / _TAGGER_WORDS)
        self.weights = Weights(folder / _WEIGHTS, self.tags)


def read_json(file: Path) -> Any:
    """A file's JSON value. Raises VoiceError in one line."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise VoiceError(f"{file}: cannot be read ({error}); install the voice again") from error


def compile_tables(folder: Path) -> None:
    """Write the tables of the installed hibari package into `folder`.

    Raises VoiceError when the package is missing or holds other things than expected.
    """
    spec = importlib.util.find_spec("hibari")
    if spec is None or not spec.submodule_search_locations:
        raise VoiceError("the package hibari-tts is not installed; pip install hibari-tts==0.2.1")
    assets = Path(spec.submodule_search_locations[0]) / "assets"
    try:
        _compile(assets, folder)
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise VoiceError(f"{assets}: cannot be compiled ({error}); reinstall hibari-tts") from error


def _compile(assets: Path, folder: Path) -> None:
    gold = _packed_json(assets / "lexicon_us_gold.json.gz")
    silver = _packed_json(assets / "lexicon_us_silver.json.gz")
    tagger = _packed_json(assets / "tagger.json.gz")
    _save_bytes(folder / _GOLD, ((word, _reading(value)) for word, value in gold.items()))
    _save_bytes(folder / _SILVER, ((word, _reading(value)) for word, value in silver.items()))

    index = {tag: i for i, tag in enumerate(tagger["tags"])}
    (folder / _TAGS).write_text(json.dumps(tagger["tags"]), encoding="utf-8")
    _save_bytes(folder / _WORD_TAGS, ((word, bytes([index[tag]])) for word, tag in tagger["tagdict"].items()))
    marisa_trie.Trie(tagger["vocab"]).save(str(folder / _TAGGER_WORDS))
    _save_bytes(
        folder / _WEIGHTS,
        ((feature, _packed_weights(weights, index)) for feature, weights in tagger["weights"].items()),
    )
    shutil.copyfile(assets / "tokenizer_exceptions.json", folder / TOKENIZER)
    shutil.copyfile(assets / "vocab.json", folder / PHONEME_IDS)
    shutil.copyfile(assets / "oov.json", folder / SPELLING)


def _reading(value: str | dict[str, str | None]) -> bytes:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False).encode()
    if not value or value[0] == "{":
        raise ValueError(f"a reading that is {value!r}")
    return value.encode()


def _packed_weights(weights: dict[str, float], index: dict[str, int]) -> bytes:
    packed = b""
    for tag, weight in weights.items():
        tenths = round(weight * 10)
        if tenths / 10 != weight:
            raise ValueError(f"a weight finer than tenths, {weight}")
        packed += _WEIGHT.pack(index[tag], tenths)
    return packed


def _packed_json(file: Path) -> Any:
    with gzip.open(file, "rt", encoding="utf-8") as text:
        return json.load(text)


def _save_bytes(file: Path, items: Iterable[tuple[str, bytes]]) -> None:
    marisa_trie.BytesTrie(items).save(str(file))


def _mapped(trie: Any, file: Path) -> Any:
    """A trie of marisa_trie, its file mapped."""
    try:
        return trie.mmap(str(file))
    except (OSError, RuntimeError) as error:
        raise VoiceError(f"{file}: cannot be mapped ({error}); install the voice again") from error


if __name__ == "__main__":
    try:
        compile_tables(Path(sys.argv[1]))
    except EdgedError as fault:
        sys.exit(str(fault))
