"""What cutting a long sentence does to its melody and its rhythm, beside what the voice's own noise does.

The parts of a sentence are said one after the other and compared, sound by sound, with the sentence said as
a whole in one go: durations as the front end gives them, pitch as it is in the samples.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from edged.bench.levels import LevelFigure, Tell
from edged.bench.piper import PiperVoice
from edged.bench.rows import Figure
from edged.bench.texts import texts
from edged.text.sentences import HARD_LIMIT_CHARS, units
from edged.types import Float32

LIMITS_CHARS = (40, 60, 100, 150)
"""Longest first unit, as text.first_unit_chars."""
CHARS = 190
"""Of the sentences: as long as a unit may be, so that the whole is one."""
SENTENCES = 8
LEVEL = "fp32"
PITCH_HZ = (60.0, 400.0)
_FRAME_S, _VOICED = 0.04, 0.5
"""Frame of the pitch estimate; least normalized autocorrelation of a voiced one (Boersma 1993 uses 0.45)."""


@dataclass(frozen=True, slots=True)
class _Said:
    """Sounds of a text in order: ids [n], their durations in ms [n], their pitch in Hz [n], NaN unvoiced."""

    ids: tuple[int, ...]
    ms: NDArray[np.float64]
    hz: NDArray[np.float64]


def cuts(voice: PiperVoice, tell: Tell) -> Iterator[LevelFigure]:
    """Rows cut_duration_ratio, cut_duration_ms and cut_pitch_semitones, a case for each limit, and noise."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for number, given in enumerate(islice(texts(CHARS), SENTENCES)):
        tell(f"cut sentences: {number} of {SENTENCES}")
        text = given[:HARD_LIMIT_CHARS].replace(".", ",").rstrip(", ") + "."
        whole = _said(voice, [text], number)
        cases = {"noise": [text]}
        for limit in LIMITS_CHARS:
            cases[str(limit)] = [unit.text for unit in units(text, limit, 0)]
        for case, parts in cases.items():
            seed = number + SENTENCES if case == "noise" else number
            found.setdefault(case, []).append(_differences(whole, _said(voice, parts, seed)))
    for case, rows in found.items():
        ratio, ms, semitones = (list(column) for column in zip(*rows, strict=True))
        yield LEVEL, Figure("cut_duration_ratio", case, ratio, "")
        yield LEVEL, Figure("cut_duration_ms", case, ms, "ms")
        yield LEVEL, Figure("cut_pitch_semitones", case, semitones, "")


def _said(voice: PiperVoice, parts: list[str], seed: int) -> _Said:
    engine = voice.engines[LEVEL]
    rate_hz, hop = voice.manifest.sample_rate_hz, engine.network.options.hop
    ids: list[int] = []
    ms: list[float] = []
    hz: list[float] = []
    for text in parts:
        sounds = voice.ids(text).ids
        prior = engine.network.prior(sounds, 1.0, seed, voice.speaker)
        samples = voice.streamed(LEVEL, prior)
        ends = np.cumsum(prior.repeats) * hop
        ids += sounds.tolist()
        ms += (1000 * prior.repeats * hop / rate_hz).tolist()
        spans = zip(ends - prior.repeats * hop, ends, strict=True)
        hz += [_pitch_hz(samples, int(begin), int(end), rate_hz) for begin, end in spans]
    return _Said(tuple(ids), np.array(ms), np.array(hz))


def _differences(whole: _Said, cut: _Said) -> tuple[float, float, float]:
    """(duration of all against the whole, mean difference of a sound's duration in ms, of its pitch)."""
    ours: list[int] = []
    theirs: list[int] = []
    for block in difflib.SequenceMatcher(None, whole.ids, cut.ids, autojunk=False).get_matching_blocks():
        ours += range(block.a, block.a + block.size)
        theirs += range(block.b, block.b + block.size)
    durations_ms = np.abs(np.subtract(whole.ms[ours], cut.ms[theirs]))
    semitones = 12 * np.abs(np.log2(whole.hz[ours] / cut.hz[theirs]))
    return float(cut.ms.sum() / whole.ms.sum()), float(durations_ms.mean()), float(np.nanmedian(semitones))


def _pitch_hz(samples: Float32, begin: int, end: int, rate_hz: int) -> float:
    """Pitch in the middle of a sound by autocorrelation; NaN where it is not voiced."""
    half = int(_FRAME_S * rate_hz / 2)
    middle = (begin + end) // 2
    frame = samples[max(0, middle - half) : middle + half].astype(np.float64)
    if frame.size < 2 * half or end <= begin:
        return float("nan")
    frame -= frame.mean()
    energy = np.correlate(frame, frame, "full")[frame.size - 1 :]
    low, high = int(rate_hz / PITCH_HZ[1]), int(rate_hz / PITCH_HZ[0])
    if energy[0] <= 0:
        return float("nan")
    window = energy[low:high] / energy[0] * frame.size / (frame.size - np.arange(low, high))
    lag = low + int(window.argmax())
    return rate_hz / lag if window.max() > _VOICED else float("nan")
