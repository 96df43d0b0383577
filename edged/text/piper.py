"""Text -> phoneme ids of a Piper voice, in the layout of the reference implementation.

    start, pad, p1, pad, p2, pad, … pn, pad, end

A pad follows the start, too: without it the first phoneme is swallowed. Used by the synth thread only
(and by the loader before the voice is handed over). `python -m edged.text.piper FOLDER` serves the
installer: a JSON list of texts or of {"phonemes": …} on standard input, their ids on standard output.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import logging
import re
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from edged.errors import EdgedError, VoiceError
from edged.text.cache import LruBytes
from edged.text.marks import PHONEMES as PHONEMES_MARK
from edged.text.marks import plain, split
from edged.types import PhonemeIds

PHONEMES = "phonemes.json"
"""In the folder of a version: phoneme type, voice of espeak, ids by phoneme, vowel clusters."""

_log = logging.getLogger(__name__)

_MEND = "pip install 'edged[piper]'"
_START, _PAD, _END = "^", "_", "$"
_ENTRY_BYTES = 400  # the objects of one cache entry beside its characters and ids
_LANGUAGE_FLAG = re.compile(r"\([^)]+\)")  # around words that espeak reads in another language
_LARGEST_ID = 2**31 - 1
_CLAUSE_ENDS = (",", ":", ";")

# Where a voice lacks a sound: the nearest one that most voices have. Both forms of g are in use.
_NEAREST = {
    "ɡ": "g", "g": "ɡ", "ɝ": "ɜ", "ɚ": "ə", "ᵻ": "ɪ", "ɐ": "ə", "ɫ": "l", "ʦ": "ts", "ʍ": "w", "ɹ": "r",
    "r": "ɹ", "ɾ": "t", "ʔ": "t", "ɬ": "l", "ʁ": "r", "χ": "x", "β": "v", "ɸ": "f", "ʎ": "l", "ɲ": "n",
    "ŋ": "n", "ɱ": "m", "ɛ": "e", "ɔ": "o", "ɑ": "a", "ʊ": "u", "ɪ": "i", "ε": "ɛ", "…": ".", "—": "-",
}  # fmt: skip

_HEART_LETTERS = str.maketrans({
    "A": "eɪ", "I": "aɪ", "W": "aʊ", "Y": "ɔɪ", "O": "oʊ", "Q": "əʊ", "ʤ": "dʒ", "ʧ": "tʃ", "T": "ɾ",
    "ᵊ": "ə",
})  # fmt: skip
"""The user's phonemes may be written for the voice heart, which has single letters for these."""
_STAND_IN = "zuzu"  # for a word of the user's among the others: alone they would be read otherwise
_STRESS = "ˈˌ"

Phonemizer = Callable[[str], Iterator[str]]
"""Text -> its phonemes, one code point each, punctuation kept."""


class PiperFrontEnd:
    """Sentence -> ids, through a cache bounded in bytes (`cache` has its counts)."""

    def __init__(self, folder: Path, cache_bytes: int) -> None:
        """`folder` holds PHONEMES. Raises VoiceError when it cannot be used, or espeak is not installed."""
        self._table = PhonemeTable(folder)
        self._phonemizer = self._table.phonemizer()
        self.reader = self._table.reader
        self.cache: LruBytes[str, PhonemeIds] = LruBytes(cache_bytes, _entry_bytes)
        self._kind = PHONEMES_MARK if self._table.is_ipa else ""

    def __call__(self, text: str) -> PhonemeIds:
        """One sentence to ids. Without a sound in it only start and end. Never raises.

        The user's phonemes (`edged.text.marks`) are said as they are, by a voice whose phonemes are IPA.
        """
        known = self.cache.get(text)
        if known is not None:
            return known
        parts = list(split(plain(text, self._kind)))
        given = [sounds.translate(_HEART_LETTERS) for _, sounds in parts if sounds]
        phonemes = self._around(parts, given) if given else self._read("".join(part for part, _ in parts))
        result = self._table.ids(phonemes.strip())
        self.cache.put(text, result)
        return result

    def _read(self, text: str) -> str:
        return "".join(self._phonemizer(_speakable(text)))

    def _around(self, parts: list[tuple[str, str | None]], given: list[str]) -> str:
        """Phonemes of a text with the given ones in the places of the user's words."""
        said = self._read("".join(_STAND_IN if sounds else part for part, sounds in parts))
        own = "".join(sound for sound in self._read(_STAND_IN).strip() if sound not in _STRESS)
        places = re.compile(f"[{_STRESS}]?".join(("", *map(re.escape, own))))
        if len(places.findall(said)) == len(given):
            following = iter(given)
            return places.sub(lambda _: next(following), said)
        following = iter(given)  # the text has such a word of its own, or the language joins words
        return "".join(next(following) if sounds else self._between(part) for part, sounds in parts)

    def _between(self, text: str) -> str:
        """Phonemes of what stands between words with given ones, with the marks that it begins with."""
        words = text.lstrip(" ,.;:!?")
        return f"{text[: len(text) - len(words)]}{self._read(words).strip()}{' ' if text[-1:] == ' ' else ''}"


class PhonemeTable:
    """Phonemes -> ids of one voice; a phoneme that it does not have is replaced, with one warning."""

    def __init__(self, folder: Path) -> None:
        """`folder` holds PHONEMES. Raises VoiceError when it cannot be used."""
        raw = _read(folder / PHONEMES)
        try:
            self._type, self._espeak_voice = str(raw["type"]), str(raw["espeak_voice"])
            self._ids = {phoneme: _numbers(ids) for phoneme, ids in raw["ids"].items()}
            self._clusters = _clusters(raw["vowel_clusters"])
            self._start, self._pad, self._end = (self._ids[p] for p in (_START, _PAD, _END))
        except KeyError as error:
            raise VoiceError(f"{folder / PHONEMES}: {error} is missing; install the voice again") from error
        except (TypeError, AttributeError, ValueError) as error:
            raise VoiceError(f"{folder / PHONEMES}: is damaged ({error}); install the voice again") from error
        self._name = folder.parent.name
        self._has_warned = False

    @property
    def is_ipa(self) -> bool:
        """False for a voice whose phonemes are the letters of its language."""
        return self._type == "espeak"

    @property
    def reader(self) -> str:
        """Who makes the phonemes: the version matters, for readings change with it."""
        return f"piper-tts {version('piper-tts')}" if self.is_ipa else self._type

    def phonemizer(self) -> Phonemizer:
        """What makes phonemes of text for this voice. Raises VoiceError where it is not installed."""
        return _phonemizer(self._type, self._espeak_voice)

    def ids(self, phonemes: str) -> PhonemeIds:
        """Phonemes to ids. Without a sound only start and end."""
        ids = [i for phoneme in self._merged(phonemes) for i in self._ids_of(phoneme)]
        if not ids or not any(map(str.isalnum, phonemes)):
            return PhonemeIds(np.array([self._start[0], self._end[0]], np.int64), phonemes)
        whole = [*self._start, *self._pad, *ids, *self._end]
        return PhonemeIds(np.array(whole, np.int64), phonemes)

    def _merged(self, phonemes: str) -> Iterator[str]:
        """Single code points, but for the clusters that are one phoneme in this voice."""
        at = 0
        while at < len(phonemes):
            found = next((c for c in self._clusters if phonemes.startswith(c, at)), phonemes[at])
            yield found
            at += len(found)

    def _ids_of(self, phoneme: str) -> Iterator[int]:
        """Ids of a phoneme, each phoneme followed by the pad."""
        known = self._ids.get(phoneme)
        for ids in (known,) if known is not None else self._substitute(phoneme):
            yield from ids
            yield from self._pad

    def _substitute(self, phoneme: str) -> Iterator[tuple[int, ...]]:
        """What stands for a phoneme that the voice does not have; nothing where nothing is near."""
        candidates = (_NEAREST.get(phoneme, ""), phoneme.casefold(), unicodedata.normalize("NFKD", phoneme))
        near = next((c for c in candidates if c and all(p in self._ids for p in c)), "")
        if not self._has_warned:
            self._has_warned = True
            taken = f"taken as {near!r}" if near else "left out"
            _log.warning("voice %s has no phoneme %r: %s; others alike", self._name, phoneme, taken)
        return (self._ids[p] for p in near)


def _numbers(ids: object) -> tuple[int, ...]:
    """Ids of one phoneme. Raises TypeError or ValueError."""
    if not isinstance(ids, list) or not ids or not all(type(i) is int and 0 <= i <= _LARGEST_ID for i in ids):
        raise ValueError("ids that are no list of numbers")
    return tuple(ids)


def _clusters(raw: object) -> list[str]:
    """The longest first. Raises TypeError or ValueError."""
    if not isinstance(raw, list) or not all(isinstance(cluster, str) and cluster for cluster in raw):
        raise ValueError("vowel clusters that are no list of sounds")
    return sorted(raw, key=len, reverse=True)


class _Espeak:
    """The espeak of the wheel piper-tts. It has one state per process, so calls take turns."""

    def __init__(self) -> None:
        spec = importlib.util.find_spec("piper")
        folders = list(spec.submodule_search_locations or ()) if spec is not None else []
        # The package itself would import its whole synthesizer; only the binding is wanted.
        found = [file for folder in folders for file in Path(folder).glob("espeakbridge*.so")]
        if not found:
            raise VoiceError(f"the phonemizer of Piper's voices is not installed; {_MEND}")
        binding = importlib.util.spec_from_file_location("piper.espeakbridge", found[0])
        if binding is None or binding.loader is None:
            raise VoiceError(f"{found[0]}: cannot be loaded; {_MEND} --force-reinstall")
        try:
            self._bridge: Any = importlib.util.module_from_spec(binding)
            binding.loader.exec_module(self._bridge)
            self._bridge.initialize(str(found[0].parent / "espeak-ng-data"))
        except (ImportError, RuntimeError) as error:
            raise VoiceError(f"{found[0]}: cannot be loaded ({error}); {_MEND} --force-reinstall") from error
        self._lock = threading.Lock()

    def check(self, voice: str) -> None:
        """Raises VoiceError for a voice that espeak does not have."""
        with self._lock:
            try:
                self._bridge.set_voice(voice)
            except (RuntimeError, ValueError) as error:  # the latter for what is no name at all
                raise VoiceError(f"espeak has no voice {voice[:40]!r}; {_MEND} --upgrade") from error

    def clauses(self, voice: str, text: str) -> list[tuple[str, str, bool]]:
        """Phonemes, closing punctuation, and whether a sentence ends, for each clause."""
        with self._lock:
            self._bridge.set_voice(voice)
            return list(self._bridge.get_phonemes(text))


@functools.cache
def _espeak() -> _Espeak:
    return _Espeak()


def _phonemizer(kind: str, voice: str) -> Phonemizer:
    if kind == "text":
        return lambda text: iter(unicodedata.normalize("NFD", text))
    espeak = _espeak()
    espeak.check(voice)

    def phonemes(text: str) -> Iterator[str]:
        for clause, end, is_sentence in espeak.clauses(voice, text):
            yield from unicodedata.normalize("NFD", _LANGUAGE_FLAG.sub("", clause))
            yield from end
            if is_sentence or end in _CLAUSE_ENDS:
                yield " "

    return phonemes


def _speakable(text: str) -> str:
    """Text that espeak takes: no NUL, no half of a surrogate pair."""
    return "".join(c if c.isprintable() else " " for c in text)


def _read(file: Path) -> dict[str, Any]:
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise VoiceError(f"{file}: cannot be read ({error}); install the voice again") from error
    if not isinstance(raw, dict):
        raise VoiceError(f"{file}: not the phonemes of a voice; install the voice again")
    return raw


def _entry_bytes(text: str, ids: PhonemeIds) -> int:
    return _ENTRY_BYTES + 4 * len(text) + 2 * len(ids.phonemes) + ids.ids.nbytes


def main(folder: str) -> int:
    """Exit code 0, or 1 with one line on standard error."""
    try:
        table = PhonemeTable(Path(folder))
        items = json.load(sys.stdin)
        given = [i["phonemes"] for i in items if isinstance(i, dict)]
        front = PiperFrontEnd(Path(folder), 0) if len(given) < len(items) else table.ids
        made = [table.ids(i["phonemes"]) if isinstance(i, dict) else front(i) for i in items]
    except EdgedError as error:
        print(error, file=sys.stderr)
        return 1
    json.dump([ids.ids.tolist() for ids in made], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
