"""The alert tone: the last resort when there is no speech."""

from __future__ import annotations

import numpy as np

from edged.types import Int16


def alert_tone(sample_rate_hz: int) -> Int16:
    """Two falling notes of 0.2 s (880 and 660 Hz), int16 [n] mono, edges faded, a third of full scale."""
    notes = []
    for frequency_hz in (880.0, 660.0):
        t_s = np.arange(sample_rate_hz // 5) / sample_rate_hz
        edge = np.minimum(1.0, np.minimum(t_s, t_s[::-1]) / 0.01)
        notes.append(10000.0 * np.sin(2 * np.pi * frequency_hz * t_s) * edge)
    return np.concatenate(notes).astype(np.int16)
