"""How far apart two renderings of one sentence are, and the noise a voice has by itself as the yardstick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from edged.types import Float32
from edged.voice.engines.vits import USUAL_SCHEDULE, Prior, VitsNetwork

_FFT, _HOP, _BANDS = 1024, 256, 80
_FLOOR = 1e-6  # -60 dB of a full-scale window's power: what lies lower is not heard
_SEED = 20

Sentences = Sequence[tuple[NDArray[np.int64], int | None]]
"""Ids int64 [n] and the speaker, None where the voice has one."""


class Yardstick:
    """Renderings of some sentences by the reference, and the distances of others to them."""

    def __init__(self, reference: VitsNetwork, sentences: Sentences, rate_hz: int) -> None:
        """Renders each sentence twice, with equal durations and other noise."""
        self._reference = reference
        self._sentences = sentences
        self._rate_hz = rate_hz
        self._log_mel: list[NDArray[np.float64]] = []
        self._repeats: list[NDArray[np.int64]] = []
        natural = []
        timing = []
        for ids, speaker in sentences:
            one = reference.prior(ids, 1.0, _SEED, speaker)
            other = reference.prior(ids, 1.0, _SEED + 1, speaker)
            self._repeats.append(one.repeats)
            timing.append(_apart(one.repeats, other.repeats))
            self._log_mel.append(self._rendered(reference, one, speaker))
            redrawn = self._rendered(reference, replaced(other, one, one.repeats), speaker)
            natural.append(_mean_difference(self._log_mel[-1], redrawn))
        self.natural_db = float(np.mean(natural))
        """Between two draws of the noise on the prior with equal durations, log-mel."""
        self.natural_timing = float(np.mean(timing))
        """Between two draws of the noise on the durations: share of the frames that move."""

    def distance_db(self, network: VitsNetwork) -> float:
        """Mean difference of the log-mel spectra with equal durations and equal noise."""
        distances = []
        for i, (ids, speaker) in enumerate(self._sentences):
            own = network.prior(ids, 1.0, _SEED, speaker)
            prior = replaced(own, own, self._repeats[i])
            distances.append(_mean_difference(self._log_mel[i], self._rendered(network, prior, speaker)))
        return float(np.mean(distances))

    def timing(self, network: VitsNetwork) -> float:
        """Share of the frames that move because the durations differ, with equal noise."""
        own = (network.prior(ids, 1.0, _SEED, speaker).repeats for ids, speaker in self._sentences)
        return float(np.mean([_apart(a, b) for a, b in zip(self._repeats, own, strict=True)]))

    def _rendered(self, network: VitsNetwork, prior: Prior, speaker: int | None) -> NDArray[np.float64]:
        samples = np.concatenate(list(network.samples(prior, USUAL_SCHEDULE, speaker)))
        return log_mel(samples * np.float32(self._reference.options.gain), self._rate_hz)


def replaced(noise_of: Prior, statistics_of: Prior, repeats: NDArray[np.int64]) -> Prior:
    """A prior with the noise of one, mean and deviation of another, and given durations."""
    return replace(noise_of, mean=statistics_of.mean, logs=statistics_of.logs, repeats=repeats)


def log_mel(samples: Float32, rate_hz: int) -> NDArray[np.float64]:
    """80 mel bands in dB, float64 [frames, 80]; windows of 1024 samples every 256."""
    padded = np.pad(samples.astype(np.float64), _FFT // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::_HOP] * np.hanning(_FFT)
    power = np.square(np.abs(np.fft.rfft(frames, axis=1)))
    top = 2595 * np.log10(1 + rate_hz / 2 / 700)
    edges = 700 * (10 ** (np.linspace(0, top, _BANDS + 2) / 2595) - 1)
    bins = np.fft.rfftfreq(_FFT, 1 / rate_hz)
    rising = (bins - edges[:-2, None]) / (edges[1:-1, None] - edges[:-2, None])
    falling = (edges[2:, None] - bins) / (edges[2:, None] - edges[1:-1, None])
    bands = np.maximum(0, np.minimum(rising, falling))
    decibels: NDArray[np.float64] = 10 * np.log10(np.maximum(power @ bands.T, _FLOOR))
    return decibels


def agreement_db(reference: Float32, result: Float32) -> float:
    """Signal to difference; minus infinity where the lengths differ."""
    if reference.shape != result.shape:
        return -np.inf
    difference = float(np.square(reference - result, dtype=np.float64).sum())
    return 10 * np.log10(float(np.square(reference).sum()) / difference) if difference else np.inf


def _mean_difference(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.abs(one - other).mean())


def _apart(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    return float(np.abs(one - other).sum()) / float(one.sum())
