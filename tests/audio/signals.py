"""Sounds that show what became of them: noise in which every stretch is found again, and plain levels."""

from __future__ import annotations

import numpy as np

from edged.types import Int16


def noise(frames: int, seed: int) -> Int16:
    """int16 [frames] of white noise; no 32 frames of it are alike, none of it is zero."""
    values = np.random.default_rng(seed).integers(1, 20000, frames)
    return (values * np.where(values % 2, 1, -1)).astype(np.int16)


def level(frames: int, value: int) -> Int16:
    """int16 [frames] of one value."""
    return np.full(frames, value, np.int16)
