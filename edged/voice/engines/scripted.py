"""A voice without a network: a ramp for each sentence, made as slowly as a file says.

For tests and boards on trial. Lost, repeated or reordered samples show in the ramp; the cost can be changed
while the daemon speaks, so that a board that is too slow can be played on one that is not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from edged.errors import VoiceError
from edged.types import AudioChunk, Int16, PhonemeIds
from edged.voice.manifest import MANIFEST, Manifest

RATE_HZ = 24000
HOP = 300
"""Samples of a frame: 12.5 ms."""
FRAMES_PER_ID = 2
CHUNK_FRAMES = (16, 32, 64)
_LOWEST, _STARTS, _LENGTH = 100, 1000, 20000
"""Of a ramp: no sample is zero, each sentence begins at a value of its own, and it begins anew in time."""


def samples_of(ids: PhonemeIds, speed: float = 1.0) -> Int16:
    """What the voice says, int16 [n] at RATE_HZ."""
    frames = round(ids.ids.size * FRAMES_PER_ID / speed)
    start = _LOWEST + int(ids.ids.sum()) % _STARTS
    return (start + np.arange(frames * HOP) % _LENGTH).astype(np.int16)


class ScriptedEngine:
    """A loaded voice (see `edged.types.Engine`)."""

    sample_rate_hz = RATE_HZ

    def __init__(self, level: str, cost_file: Path) -> None:
        """`cost_file`: a JSON object with the RTF of each level, read anew for every chunk; {}: no cost."""
        self.level = level
        self.chunks = CHUNK_FRAMES
        """Frames of the first chunks; the last number repeats."""
        self._cost_file = cost_file

    def stream(
        self, ids: PhonemeIds, speed: float, seed: int | None = None, speaker: int | str | None = None
    ) -> Iterator[AudioChunk]:
        """One sentence; `seed` and `speaker` change nothing. Raises VoiceError for a broken cost file."""
        samples = samples_of(ids, speed)
        sizes = iter(self.chunks)
        at = 0
        while at < samples.size:
            begun_s = time.monotonic()
            chunk = samples[at : at + HOP * next(sizes, self.chunks[-1])]
            at += chunk.size
            due_s = begun_s + self._rtf() * chunk.size / RATE_HZ
            time.sleep(max(0.0, due_s - time.monotonic()))
            yield AudioChunk(chunk.astype(np.float32) / np.float32(32767), RATE_HZ)

    def _rtf(self) -> float:
        try:
            return float(json.loads(self._cost_file.read_text(encoding="utf-8")).get(self.level, 0.0))
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise VoiceError(f"{self._cost_file}: not the cost of a scripted voice ({error})") from error


def open_engine(manifest: Manifest, level: str, _threads: int) -> ScriptedEngine:
    """The engine of an installed version in one of its levels. Raises VoiceError."""
    try:
        return ScriptedEngine(level, Path(manifest.options["cost_file"]))
    except (KeyError, TypeError) as error:
        raise VoiceError(f"{manifest.folder / MANIFEST}: {error} is missing; make the voice again") from error
