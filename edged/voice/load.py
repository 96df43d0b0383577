"""From the store to a voice that is ready to speak.

`load_voice` runs before READY on the main thread, later on the loader thread; what it returns belongs
to the synth thread from then on.
"""

from __future__ import annotations

import json
import os
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from edged.errors import BadAudioError, VoiceError
from edged.types import Engine, PhonemeIds
from edged.voice import store as voice_store
from edged.voice.engines import fastspeech2, hibari, scripted, vits
from edged.voice.engines._ort import Network
from edged.voice.manifest import Manifest, check_sizes
from edged.voice.processor import usual_level

SpellingNet = Callable[[NDArray[np.int64]], NDArray[np.int64]]


class Counts(Protocol):
    """Of a cache."""

    hits: int
    misses: int


class FrontEnd(Protocol):
    """The text room's part of a voice."""

    @property
    def cache(self) -> Counts:
        """Its cache of sentences."""
        ...

    @property
    def reader(self) -> str:
        """Whose dictionaries and rules give the readings, with their version."""
        ...

    def __call__(self, text: str) -> PhonemeIds:
        """One sentence to ids. Never raises on text."""
        ...


FrontEndFactory = Callable[[Path, SpellingNet | None, int], FrontEnd]
"""(folder of the version, its net for unknown words, cache in bytes) -> sentence to ids. A version
without such a net is a Piper voice, or what the engine in its voice.json says."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How a voice is run."""

    level: str
    threads: int
    chunks: tuple[int, ...] | None = None
    """Frames of the first chunks, the last number repeats; None: the engine's own."""


Choice = Callable[[Manifest], Setting]

_OPENERS: dict[str, Callable[[Manifest, str, int], Engine]] = {
    "vits": vits.open_engine,
    "fastspeech2": fastspeech2.open_engine,
    "scripted": scripted.open_engine,
}
_WITH_CHUNKS = (hibari.HibariEngine, fastspeech2.FastSpeech2Engine, scripted.ScriptedEngine)

# Long enough for every size of chunk; its last word is in no dictionary.
_WARM_UP = "The voice is loaded and ready to speak, here and now, for edged."
_WARM_UPS = {"zh": "语音已经准备好了，现在可以在这里为您播报消息。"}
_PHONEMES = "phonemes.json"  # of a Piper voice, see edged.text.piper
_LEAST_S, _LEAST_PEAK = 0.3, 0.01


class LoadedVoice:
    """See `edged.types.Voice`. Its version stays in the store as long as this object lives."""

    def __init__(self, manifest: Manifest, engine: Engine, front_end: FrontEnd, setting: Setting) -> None:
        self.name = manifest.name
        self.version = manifest.version
        self.language = manifest.language
        self.levels = manifest.levels
        self.manifest = manifest
        self.reader = front_end.reader
        self.engine = engine
        self.setting = setting
        self.rtf: float | None = None
        """Of the sentence that it was tried with."""
        self.distance_db = float(manifest.options["levels"][setting.level].get("distance_db", 0.0))
        self.phonemize = front_end

    def use_chunks(self, chunks: tuple[int, ...]) -> None:
        """From the next utterance on: frames of the first chunks, the last number repeats."""
        if isinstance(self.engine, vits.VitsEngine):
            self.engine.schedule = vits.Schedule(chunks)
        elif isinstance(self.engine, _WITH_CHUNKS):
            self.engine.chunks = chunks
        self.setting = replace(self.setting, chunks=chunks)


def load_voice(
    store: Path, name: str, ids_cache_bytes: int, front_end: FrontEndFactory, choice: Choice
) -> LoadedVoice:
    """Load, warm and try the current version of a voice; its files are mapped, so they must not be changed.

    Raises VoiceError, in one line: not installed (with what is), a file missing or damaged, another
    engine, a level that it does not have, a network that does not run or gives no sound.
    """
    manifest, hold = voice_store.hold(store, name)
    try:
        voice = _load(manifest, ids_cache_bytes, front_end, choice(manifest))
    except BaseException:
        os.close(hold)
        raise
    weakref.finalize(voice, os.close, hold)
    return voice


def first_level(threads: int) -> Choice:
    """The level that is usual on this processor."""
    return lambda manifest: Setting(usual_level(manifest), threads)


def _load(
    manifest: Manifest, ids_cache_bytes: int, front_end: FrontEndFactory, setting: Setting
) -> LoadedVoice:
    check_sizes(manifest)
    if setting.level not in manifest.levels:
        have = ", ".join(manifest.levels)
        raise VoiceError(f"voice {manifest.name} has no level {setting.level!r}; there is {have}")
    engine: Engine
    if manifest.engine == "hibari":
        engine = hibari.open_engine(manifest, setting.level, setting.threads)
        net = Network(manifest.folder / hibari.SPELLING, setting.threads)
        phonemize = front_end(manifest.folder, lambda chars: net(chars=chars)[0], ids_cache_bytes)
    else:
        engine = _OPENERS[manifest.engine](manifest, setting.level, setting.threads)
        phonemize = front_end(manifest.folder, None, ids_cache_bytes)
    voice = LoadedVoice(manifest, engine, phonemize, setting)
    if setting.chunks:
        voice.use_chunks(setting.chunks)
    _try(voice, trial_text(manifest))
    return voice


def trial_text(manifest: Manifest) -> str:
    """A sentence that the voice can say: of its language, or for a voice of letters those that it knows."""
    if manifest.engine == "vits":
        raw = json.loads((manifest.folder / _PHONEMES).read_text(encoding="utf-8"))
        if raw.get("type") == "text":
            return " ".join(letter for letter in raw["ids"] if letter.isalpha())
    return _WARM_UPS.get(manifest.language, _WARM_UP)


def _try(voice: LoadedVoice, text: str) -> None:
    """Speak a real sentence: touches what will be used, and proves that it is a voice."""
    samples, peak = 0, 0.0
    begun_s = time.monotonic()
    for chunk in voice.engine.stream(voice.phonemize(text), 1.0, 0):
        samples += chunk.samples.size
        peak = max(peak, float(np.abs(chunk.samples).max()))
    spent_s = time.monotonic() - begun_s
    length_s = samples / voice.engine.sample_rate_hz
    if length_s < _LEAST_S or peak < _LEAST_PEAK:
        raise BadAudioError(
            f"voice {voice.name}: a sentence came out as {length_s:.2f} s with a peak of {peak:.3f};"
            " install the voice again"
        )
    voice.rtf = spent_s / length_s
