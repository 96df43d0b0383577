"""Float samples of a voice to int16 samples of a device: gain, resampling, saturation."""

from __future__ import annotations

from typing import Any

import numpy as np
import soxr

from edged.types import Float32, Int16

FULL_SCALE = 32767
"""int16 of 1.0; the same factor both ways round zero, so that silence and symmetry survive."""


class PcmStream:
    """One stretch of sound from the voice's rate to the device's, chunk by chunk.

    Chunks give the same samples as the whole at once. Equal rates: no resampler at all.
    """

    def __init__(self, voice_rate_hz: int, device_rate_hz: int) -> None:
        self._resampler: Any = None
        if voice_rate_hz != device_rate_hz:
            self._resampler = soxr.ResampleStream(voice_rate_hz, device_rate_hz, 1, dtype="float32")

    def push(self, samples: Float32, gain: float) -> Int16:
        """Convert float32 [n] mono in [-1, 1]; louder ones saturate. Returns int16 [m].

        With resampling m lags behind n by the filter's delay; `flush` gives the rest.
        """
        scaled = samples if gain == 1.0 else samples * np.float32(gain)
        if self._resampler is not None:
            scaled = self._resampler.resample_chunk(np.ascontiguousarray(scaled, np.float32))
        return to_int16(scaled)

    def flush(self) -> Int16:
        """The rest, int16 [m]; nothing may be pushed afterwards."""
        if self._resampler is None:
            return np.zeros(0, np.int16)
        return to_int16(self._resampler.resample_chunk(np.zeros(0, np.float32), last=True))


def to_int16(samples: Float32) -> Int16:
    """float32 [n] to int16 [n]: rounded to nearest, saturated, never wrapped."""
    scaled = np.rint(samples * np.float32(FULL_SCALE))
    saturated: Int16 = np.clip(scaled, -FULL_SCALE - 1, FULL_SCALE).astype(np.int16)
    return saturated
