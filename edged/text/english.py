"""English text -> phoneme ids, by hibari's phonemizer over mapped tables.

The readings are those of `hibari.g2p.G2P`; what differs is where the dictionaries lie. Used by the
synth thread only (and by the loader before the voice is handed over).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from hibari.g2p import G2P
from hibari.g2p.lexicon import Lexicon
from hibari.g2p.oov import OOV
from hibari.g2p.tagger import Tagger
from hibari.g2p.tokenize import Tokenizer
from numpy.typing import NDArray

from edged.text.cache import LruBytes
from edged.text.marks import PHONEMES, plain, split
from edged.text.normalized import LETTER_A
from edged.text.tables import PHONEME_IDS, SPELLING, TOKENIZER, Tables, read_json
from edged.types import PhonemeIds

SpellingNet = Callable[[NDArray[np.int64]], NDArray[np.int64]]
"""Letters int64 [1, n] -> sounds int64 [1, m] of a word that no dictionary has."""

_log = logging.getLogger(__name__)

_PAD = 0
_ENTRY_BYTES = 400  # the objects of one cache entry beside its characters and ids
_LETTER_A = re.compile(rf"\b{LETTER_A}\b")  # by its sound 'eh' is in the dictionary
_DIGITS = re.compile(r"(?<=\d)(?=\d)")
# The rules try every way to join the parts of a word, which takes a second for 200 characters of 'a/b/…'.
_LONG_WORD = re.compile(r"\S{41,}")
_IPA = (
    ("tʃ", "ʧ"), ("dʒ", "ʤ"), ("eɪ", "A"), ("aɪ", "I"), ("aʊ", "W"), ("ɔɪ", "Y"), ("oʊ", "O"), ("əʊ", "O"),
    ("ɝ", "ɜɹ"), ("ɚ", "əɹ"), ("r", "ɹ"), ("g", "ɡ"), ("ɾ", "T"), ("ɫ", "l"),
)  # fmt: skip
"""Sounds that hibari writes as one letter, or as another one."""
_SPACE = "_"  # within the sounds of one word of the user's
_JOINT = re.compile(
    r"(?<=[^\w\s.,])|(?<=[.,])(?!\d)|(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)|(?<=[a-z])(?=[A-Z])"
)


class EnglishFrontEnd:
    """Sentence -> ids, through a cache bounded in bytes (`cache` has its counts)."""

    reader = f"hibari-tts {version('hibari-tts')}"

    def __init__(self, folder: Path, spelling_net: SpellingNet, cache_bytes: int) -> None:
        """`folder` holds the compiled tables. Raises VoiceError when one cannot be used."""
        self._g2p = _MappedG2P(folder, spelling_net)
        self._ids: dict[str, int] = read_json(folder / PHONEME_IDS)
        self.cache: LruBytes[str, PhonemeIds] = LruBytes(cache_bytes, _entry_bytes)
        self._has_warned = False

    def __call__(self, text: str) -> PhonemeIds:
        """One normalized sentence to ids, a pad at each end; only these without a sound. Never raises.

        The user's phonemes (`edged.text.marks`) are said as they are; those the voice lacks are left out.
        """
        known = self.cache.get(text)
        if known is not None:
            return known
        phonemes = self._phonemes(text)
        spoken = any(map(str.isalpha, phonemes))
        ids = [self._ids[p] for p in phonemes if p in self._ids] if spoken else []
        result = PhonemeIds(np.array([_PAD, *ids, _PAD], np.int64), phonemes)
        self.cache.put(text, result)
        return result

    def _phonemes(self, text: str) -> str:
        parts = split(plain(text, PHONEMES))
        text = "".join(self._link(sounds) if sounds else _readable(part) for part, sounds in parts)
        try:
            phonemes = self._read(text)
        except Exception:  # rules for numbers and symbols meet what they were not made for
            phonemes = " ".join(filter(None, map(self._word, text.split())))
        return phonemes.replace(_SPACE, " ")

    def _link(self, sounds: str) -> str:
        """The user's phonemes as hibari takes them, so that the words around know what they stand beside."""
        for ipa, letter in _IPA:
            sounds = sounds.replace(ipa, letter)
        unknown = sorted({sound for sound in sounds if sound not in self._ids})
        if unknown and not self._has_warned:
            self._has_warned = True
            _log.warning("the lexicon has phonemes that this voice does not: %s; left out", " ".join(unknown))
        known = "".join(sound for sound in sounds if sound in self._ids)
        return f"[word](/{known.replace(' ', _SPACE)}/)"

    def _word(self, word: str) -> str:
        """A single word, numbers digit by digit; nothing where it cannot be read."""
        try:
            return self._read(_DIGITS.sub(" ", word))
        except Exception:  # one unreadable word must not silence its sentence
            return ""

    def _read(self, text: str) -> str:
        # hibari's own normalizer would read 'no.' at the end of a sentence as 'number'.
        return str(self._g2p(text, normalize_text=False))


def _readable(text: str) -> str:
    text = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    text = _LONG_WORD.sub(lambda word: _JOINT.sub(" ", word.group()), text)
    return _LETTER_A.sub("eh", text)


class _MappedTagger(Tagger):  # type: ignore[misc]
    def __init__(self, tables: Tables) -> None:
        self.tags = tables.tags
        self.tagdict = tables.word_tags
        self.vocab = tables.tagger_words
        self.weights = tables.weights


class _MappedG2P(G2P):  # type: ignore[misc]
    def __init__(self, folder: Path, spelling_net: SpellingNet) -> None:
        tables = Tables(folder)
        self.lexicon = Lexicon(tables.gold, tables.silver)
        self.tokenizer = Tokenizer(read_json(folder / TOKENIZER))
        self.tagger = _MappedTagger(tables)
        self.unk = ""
        self.british = False
        # hibari finds the alphabet of its net beside the path of the graph, with the ending .json.
        self._oov = OOV(str((folder / SPELLING).with_suffix(".onnx")), _Session(spelling_net))


class _Session:
    """The one method of an onnxruntime session that hibari's spelling net uses."""

    def __init__(self, net: SpellingNet) -> None:
        self._net = net

    def run(self, _outputs: None, inputs: dict[str, Any]) -> list[NDArray[np.int64]]:
        return [self._net(inputs["chars"])]


def _entry_bytes(text: str, ids: PhonemeIds) -> int:
    return _ENTRY_BYTES + 4 * len(text) + 2 * len(ids.phonemes) + ids.ids.nbytes
