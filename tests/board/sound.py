"""Is a recording what was synthesized? Samples are int16, mono."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Int16 = NDArray[np.int16]

GAP_FRAMES = 240
"""Zeros in a row that no voice of ours makes within a sentence: 10 ms at 24 kHz."""
TAIL_FRAMES = 96
"""The loopback card's capture side holds back so many at the end."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of a recording with what it should hold."""

    equal: float
    """Share of samples that are the same, of those that should be there."""
    signal_to_difference_db: float
    missing_frames: int
    gaps: int
    """Silences in the recording that are none in the original."""

    def __str__(self) -> str:
        how = "bit for bit" if self.equal == 1.0 else f"{self.signal_to_difference_db:.0f} dB"
        gaps = f", {self.gaps} gaps" if self.gaps else ", no gap"
        return f"{how}{gaps}, {self.missing_frames} frames missing"


def compare(original: Int16, recording: Int16) -> Agreement:
    """Both are freed from silence first, so that gaps are counted and do not shift the rest."""
    wanted, wanted_gaps = _sounding(original)
    got, got_gaps = _sounding(recording)
    if not wanted.size or not got.size:
        return Agreement(0.0, 0.0, wanted.size, 0)
    length = min(wanted.size, got.size)
    missing = max(0, wanted.size - got.size)
    one, two = wanted[:length].astype(np.float64), got[:length].astype(np.float64)
    difference = max(float(np.square(one - two).sum()), 1e-9)
    decibels = 10 * np.log10(max(float(np.square(one).sum()), 1e-9) / difference)
    equal = float(np.mean(wanted[:length] == got[:length]))
    return Agreement(equal, float(decibels), missing, max(0, got_gaps - wanted_gaps))


def _sounding(samples: Int16) -> tuple[Int16, int]:
    """What is left without runs of zeros, and how many such runs lay between sounds."""
    inside = np.flatnonzero(samples)
    if not inside.size:
        return samples[:0], 0
    samples = samples[inside[0] : inside[-1] + 1]
    edges = np.flatnonzero(np.diff(np.concatenate([[0], samples == 0, [0]]).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    long = ends - starts >= GAP_FRAMES
    keep = np.ones(samples.size, bool)
    for start, end in zip(starts[long], ends[long], strict=True):
        keep[start:end] = False
    return samples[keep], int(long.sum())


def whole(agreement: Agreement, decibels: float) -> None:
    """Nothing is missing, and what is there is right."""
    assert agreement.missing_frames <= TAIL_FRAMES, f"not whole: {agreement}"
    assert agreement.equal == 1.0 or agreement.signal_to_difference_db >= decibels, f"not equal: {agreement}"
