"""Distances between sounds."""

import numpy as np
from numpy.typing import NDArray

from edged.types import Float32


def agreement_db(reference: Float32, result: Float32) -> float:
    """Signal to difference."""
    assert reference.shape == result.shape
    difference = np.square(reference.astype(np.float64) - result).sum()
    return float(10 * np.log10(np.square(reference.astype(np.float64)).sum() / max(difference, 1e-30)))


def log_mel(samples: Float32, rate_hz: int = 24_000) -> NDArray[np.float64]:
    """80 mel bands in dB, windows of 1024 samples every 256, floor at -60 dB."""
    size, hop, bands = 1024, 256, 80
    padded = np.pad(samples.astype(np.float64), size // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop] * np.hanning(size)
    power = np.square(np.abs(np.fft.rfft(frames, axis=1)))
    top = 2595 * np.log10(1 + rate_hz / 2 / 700)
    edges = 700 * (10 ** (np.linspace(0, top, bands + 2) / 2595) - 1)
    bins = np.fft.rfftfreq(size, 1 / rate_hz)
    rising = (bins - edges[:-2, None]) / (edges[1:-1, None] - edges[:-2, None])
    falling = (edges[2:, None] - bins) / (edges[2:, None] - edges[1:-1, None])
    weights = np.maximum(0, np.minimum(rising, falling))
    decibels: NDArray[np.float64] = 10 * np.log10(np.maximum(power @ weights.T, 1e-6))
    return decibels


def log_mel_distance_db(one: Float32, other: Float32) -> float:
    """Mean difference of the log-mel spectra."""
    assert one.shape == other.shape
    return float(np.abs(log_mel(one) - log_mel(other)).mean())
