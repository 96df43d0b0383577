"""What every engine does to its samples before it lets them out."""

from __future__ import annotations

import numpy as np

from edged.errors import BadAudioError
from edged.types import Float32

FADE = 64
"""Samples at either end of a sentence: 3 ms at 22,050 Hz."""

KNEE = 0.9
"""Samples below it (-0.9 dBFS) are not touched by the limiter."""


def checked(samples: Float32) -> Float32:
    """The samples, if they may reach a speaker. Raises BadAudioError."""
    if not samples.size:
        raise BadAudioError("the voice gave no samples; install it again")
    peak = float(np.max(np.abs(samples)))  # NaN when any sample is NaN
    if not np.isfinite(peak):
        raise BadAudioError("the voice gave samples that are not numbers; install it again")
    if peak == 0.0:
        raise BadAudioError("the voice gave only silence; install it again")
    return samples


def faded(samples: Float32, length: int, *, begins: bool, ends: bool) -> Float32:
    """The samples, raised from zero where a sentence begins and lowered to zero where it ends.

    `length` samples are changed, at most all; so that blocks agree with the whole, no block is shorter.
    """
    if begins or ends:
        samples = samples.copy()
        ramp = np.linspace(0, 1, min(length, samples.size), dtype=np.float32)
        if begins:
            samples[: ramp.size] *= ramp
        if ends:
            samples[samples.size - ramp.size :] *= ramp[::-1]
    return samples


def limited(samples: Float32) -> Float32:
    """Samples in (-1, 1): those beyond KNEE are bent, sample by sample, so blocks agree with the whole."""
    level = np.abs(samples)
    if float(level.max(initial=0.0)) <= KNEE:
        return samples
    room = np.float32(1 - KNEE)
    bent = KNEE + room * np.tanh((level - np.float32(KNEE)) / room)
    return np.where(level <= KNEE, samples, np.copysign(bent, samples)).astype(np.float32, copy=False)
