"""Sounds that need no voice: the chimes, and the alert tone that is the last resort."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from edged.audio.pcm import FULL_SCALE
from edged.audio.wavfile import read_at
from edged.errors import SinkError
from edged.types import Int16

_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,39}")  # as in the configuration; it comes in messages, too
PEAK = 0.3
_STRIKE_S = 0.004
"""Rise of a struck note: short enough for a strike, long enough not to click."""

CHIMES: dict[str, tuple[float, Sequence[float]]] = {
    "ding": (0.6, (1046.5,)),
    "dong": (0.35, (784.0, 659.3)),
    "gong": (0.4, (659.3, 523.3, 392.0)),
    "alarm": (0.14, (988.0, 784.0, 988.0, 784.0, 988.0, 784.0)),
}
"""Name -> seconds from note to note, pitches in Hz (equal temperament, A = 440)."""


def chime(name: str, rate_hz: int, folder: Path | None) -> Int16:
    """A chime of the user's folder, or else one of ours, int16 [n] mono.

    Raises SinkError where there is none of the name, or the user's file cannot be used.
    """
    if not _NAME.fullmatch(name):
        raise SinkError(f"{name!r} is no name of a chime: letters, digits, - and _")
    file = folder / f"{name}.wav" if folder else None
    if file is not None and file.is_file():
        return _from_file(file, file.stat().st_mtime_ns, rate_hz)
    if name not in CHIMES:
        where = f" and no {file}" if file else "; your own go into chime.folder"
        raise SinkError(f"no chime {name!r} (there are {', '.join(CHIMES)}){where}")
    return _struck(name, rate_hz)


@lru_cache(maxsize=4)
def _from_file(file: Path, _changed_ns: int, rate_hz: int) -> Int16:
    return read_at(file, rate_hz)


@lru_cache(maxsize=4)
def _struck(name: str, rate_hz: int) -> Int16:
    """Bells: partials at 1, 2, 3 and 4.2 times the pitch, the higher the sooner they die away."""
    step_s, pitches_hz = CHIMES[name]
    ring_s = max(0.5, step_s)
    sound = np.zeros(int((step_s * (len(pitches_hz) - 1) + ring_s) * rate_hz))
    t_s = np.arange(int(ring_s * rate_hz)) / rate_hz
    edges = np.minimum(1.0, np.minimum(t_s / _STRIKE_S, (ring_s - t_s) / 0.05))
    for number, pitch_hz in enumerate(pitches_hz):
        note = sum(
            weight * np.sin(2 * np.pi * ratio * pitch_hz * t_s) * np.exp(-t_s * (3.0 + 2.0 * ratio))
            for ratio, weight in ((1.0, 1.0), (2.0, 0.5), (3.0, 0.25), (4.2, 0.12))
        )
        start = int(number * step_s * rate_hz)
        sound[start : start + t_s.size] += note * edges
    sound *= PEAK * FULL_SCALE / np.abs(sound).max()
    return sound.astype(np.int16)


def alert_tone(sample_rate_hz: int) -> Int16:
    """Two falling notes of 0.2 s (880 and 660 Hz), int16 [n] mono, edges faded, a third of full scale."""
    notes = []
    for frequency_hz in (880.0, 660.0):
        t_s = np.arange(sample_rate_hz // 5) / sample_rate_hz
        edge = np.minimum(1.0, np.minimum(t_s, t_s[::-1]) / 0.01)
        notes.append(10000.0 * np.sin(2 * np.pi * frequency_hz * t_s) * edge)
    return np.concatenate(notes).astype(np.int16)
