"""A voice whose samples tell where they come from: lost, repeated or reordered ones show."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from edged.errors import BadAudioError
from edged.types import AudioChunk, PhonemeIds
from edged.voice.speakers import Speakers

RATE_HZ = 24000
FRAMES_PER_CHAR = 600


def samples_of(text: str) -> np.ndarray:
    """int16 samples of one sentence: a ramp that begins at a value made of the text."""
    start = 100 + sum(map(ord, text)) % 1000
    return (start + np.arange(len(text) * FRAMES_PER_CHAR) % 20000).astype(np.int16)


class RampEngine:
    """Chunks of 2400 frames; raises BadAudioError for its first `failures` chunks."""

    sample_rate_hz = RATE_HZ
    level = "ramp"

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.failures = 0
        self.steps = 0
        self._speakers = Speakers("ramp", ("low", "high"))

    def stream(
        self, ids: PhonemeIds, speed: float, seed: int | None = None, speaker: int | str | None = None
    ) -> Iterator[AudioChunk]:
        self._speakers.choose(speaker)
        self.texts.append(ids.phonemes)
        samples = samples_of(ids.phonemes)
        for at in range(0, samples.size, 2400):
            self.steps += 1
            if self.failures:
                self.failures -= 1
                raise BadAudioError("bad audio: NaN")
            yield AudioChunk(samples[at : at + 2400].astype(np.float32) / np.float32(32767), RATE_HZ)


class RampVoice:
    name = "ramp"
    version = "0" * 16
    language = "en-us"
    reader = "letters"
    levels = ("ramp",)
    rtf = None

    def __init__(self) -> None:
        self.engine = RampEngine()

    def phonemize(self, text: str) -> PhonemeIds:
        return PhonemeIds(np.arange(len(text) + 2, dtype=np.int64), text)
