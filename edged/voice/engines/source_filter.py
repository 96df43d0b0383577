"""The signal processing behind a source-filter network: spectra per frame -> waveform, block by block.

The network gives five values per frame and frequency bin. The spectrum of a frame is

    S = exp(lh) e^(i pi tanh(theta)) P  +  exp(ln) Z  +  exp(lr) e^(i phi)

with P the spectrum of a pulse train that follows the pitch, and Z complex white noise. The waveform
is the inverse short-time Fourier transform of S with a periodic Hann window. All of it runs in
float32; only the phase of the pulse train is summed up in float64.

Blocks of any length give the same samples as the whole at once: the state carried from one to the
next is the phase, the part of the pulse train still under a window, and the overlap of the frames.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edged.types import Float32

Complex64 = NDArray[np.complex64]
Noise = Callable[[int], Complex64]
"""Number of frames n -> complex noise [n, bins]; called once per block, in order."""

_LOG_LIMIT = 7.0  # the network was trained with its log magnitudes clamped here
_VOICED_HZ = 40.0  # a pitch below is no pitch: no pulses
_TOP_HARMONIC_HZ = 11_000.0
_NEAR_ZERO = 2e-3  # of 2 sin(t/2): there the closed form of the pulse train has its limit


@dataclass(frozen=True, slots=True)
class FrameShape:
    """Lengths in samples; `fft` is four times `hop`."""

    sample_rate_hz: int
    fft: int
    hop: int

    @property
    def bins(self) -> int:
        """Frequencies of a frame, from 0 Hz to half the sample rate."""
        return self.fft // 2 + 1


def white_noise(shape: FrameShape, seed: int | None) -> Noise:
    """Noise drawn frame by frame, so that the same seed gives the same noise in blocks of any length."""
    generator = np.random.default_rng(seed)

    def draw(frames: int) -> Complex64:
        # Box and Muller's normal variates: a third of the time of the generator's own.
        uniform = generator.random((frames, 2, shape.bins), dtype=np.float32)
        radius = np.sqrt(-2 * np.log1p(-uniform[:, 0]))  # of 1 - u: u may be 0, never 1
        angle = uniform[:, 1]
        angle *= np.float32(2 * np.pi)
        noise = np.empty(radius.shape, np.complex64)
        np.multiply(np.cos(angle), radius, out=noise.real)
        np.multiply(np.sin(angle), radius, out=noise.imag)
        return noise

    return draw


class SourceFilter:
    """One utterance being turned into samples. Its memory is that of one block."""

    def __init__(self, shape: FrameShape, f0_hz: Float32, begin: int, end: int, noise: Noise) -> None:
        """`f0_hz` float32 [frames]: the pitch of every frame of the utterance, 0 where unvoiced.

        Samples are made of the frames from `begin` to `end`.
        """
        self._shape = shape
        self._noise = noise
        self._frames = end - begin
        self._pulses = PulseTrain(shape, f0_hz, begin, end)
        turn = 2 * np.pi * np.arange(shape.fft) / shape.fft
        self._window = (0.5 - 0.5 * np.cos(turn)).astype(np.float32)
        # A unit cosine peaks at half the window's sum; so scaled, exp(lh) is a harmonic's magnitude.
        self._source_window = self._window / np.float32(shape.fft / 4)
        self._whole_gain = 1 / np.square(self._window).reshape(4, -1).sum(axis=0)
        self._source: Float32 = np.zeros(0, np.float32)
        self._overlap: Float32 = np.zeros((3, shape.hop), np.float32)
        self._done = 0

    def push(self, parts: Float32) -> Float32:
        """Take the next frames, give the samples they complete.

        `parts` float32 [n, 5 * bins], in the order lh, ln, lr, theta, phi; it is overwritten. Returns
        float32 [hop * m]: m is n, less two for the first block, plus two for the last one.
        """
        with np.errstate(all="ignore"):  # what is not finite is reported by the engine, once
            frames: Float32 = np.fft.irfft(self._spectrum(parts), self._shape.fft, axis=1).astype(
                np.float32,
                copy=False,  # numpy < 2 computes in float64
            )
            frames *= self._window
            return self._overlap_add(frames.reshape(len(frames), 4, self._shape.hop))

    def _spectrum(self, parts: Float32) -> Complex64:
        """Complex64 [n, bins]."""
        n = len(parts)
        bins = self._shape.bins
        magnitude = parts[:, : 3 * bins]
        np.minimum(magnitude, _LOG_LIMIT, out=magnitude)
        np.exp(magnitude, out=magnitude)
        theta = parts[:, 3 * bins : 4 * bins]
        np.tanh(theta, out=theta)
        theta *= np.float32(np.pi)
        rotation = np.empty((n, 2 * bins), np.complex64)
        np.cos(parts[:, 3 * bins :], out=rotation.real)
        np.sin(parts[:, 3 * bins :], out=rotation.imag)

        spectrum = np.fft.rfft(self._source_frames(n), axis=1).astype(np.complex64, copy=False)
        spectrum *= rotation[:, :bins]
        spectrum *= magnitude[:, :bins]
        noise = self._noise(n)
        noise *= magnitude[:, bins : 2 * bins]
        spectrum += noise
        free = rotation[:, bins:]
        free *= magnitude[:, 2 * bins :]
        spectrum += free
        return spectrum

    def _source_frames(self, n: int) -> Float32:
        """The next n windowed frames of the pulse train, mirrored at both ends. float32 [n, fft]."""
        fft, hop = self._shape.fft, self._shape.hop
        is_first, is_last = self._done == 0, self._done + n >= self._frames
        made = self._pulses.up_to(self._done + n + 1)
        if is_first:
            made = np.pad(made, (fft // 2, 0), mode="reflect")
        self._source = np.concatenate((self._source, made))
        if is_last:
            self._source = np.pad(self._source, (0, fft // 2), mode="reflect")
        views = np.lib.stride_tricks.sliding_window_view(self._source, fft)[: n * hop : hop]
        frames: Float32 = views * self._source_window
        self._source = self._source[n * hop :]
        return frames

    def _overlap_add(self, frames: Float32) -> Float32:
        """Samples completed by windowed frames [n, 4, hop]: block p of them lies under frames p-3 to p."""
        n = len(frames)
        first, self._done = self._done, self._done + n
        is_last = self._done >= self._frames
        sums = np.zeros((n + 3, self._shape.hop), np.float32)
        sums[:3] = self._overlap
        for k in range(4):
            sums[k : k + n] += frames[:, k]
        self._overlap = sums[n:]
        begin = max(first, 2)  # the first two blocks and the last one lie in the mirrored margins
        end = self._frames + 2 if is_last else self._done
        samples = sums[begin - first : end - first]
        for i in range(end - begin):
            block = begin + i
            whole = 3 <= block < self._frames
            samples[i] *= self._whole_gain if whole else self._gain(block)
        return samples.reshape(-1)

    def _gain(self, block: int) -> Float32:
        """1 / the squared windows that lie over a block: four inside, fewer at the two ends."""
        squared = np.square(self._window).reshape(4, self._shape.hop)
        under = slice(max(0, block - self._frames + 1), min(3, block) + 1)
        total: Float32 = squared[under].sum(axis=0)
        gain: Float32 = np.float32(1) / np.maximum(total, np.float32(1e-11))
        return gain


class PulseTrain:
    """All harmonics below 11 kHz at unit amplitude, following the pitch; zero where unvoiced.

    The sum of cos(h t) for h = 1..H is sin((H + 1/2) t) / (2 sin(t/2)) - 1/2.
    """

    def __init__(self, shape: FrameShape, f0_hz: Float32, begin: int, end: int) -> None:
        """The train of the frames from `begin` to `end`, its phase counted from frame 0."""
        self._shape = shape
        self._f0_hz = np.pad(f0_hz.astype(np.float32), 1, mode="edge")
        # Sample j of a frame lies between the middles of two frames: the weight of the later one.
        self._later = (((np.arange(shape.hop) + 0.5) / shape.hop - 0.5) % 1.0).astype(np.float32)

        self._begin, self._end = begin, end
        self._turns = 0.0
        self._next = 0
        self._advance(begin)

    def up_to(self, frame: int) -> Float32:
        """Samples from where the last call ended up to `frame` of those to be made. float32 [hop * n]."""
        pitch_hz, turns = self._advance(min(self._begin + frame, self._end))
        voiced = pitch_hz > _VOICED_HZ
        np.maximum(pitch_hz, _VOICED_HZ, out=pitch_hz)
        phase = (turns * (2 * np.pi)).astype(np.float32)
        harmonics = np.floor(_TOP_HARMONIC_HZ / pitch_hz) + np.float32(0.5)
        divisor = 2 * np.sin(phase * np.float32(0.5))
        at_limit = np.abs(divisor) <= _NEAR_ZERO
        divisor[at_limit] = 1
        pulses: Float32 = np.sin(harmonics * phase) / divisor
        pulses[at_limit] = harmonics[at_limit]
        pulses -= np.float32(0.5)
        pulses[~voiced] = 0
        return pulses

    def _advance(self, end: int) -> tuple[Float32, NDArray[np.float64]]:
        """Pitch in Hz, and phase in turns, at every sample up to frame `end`."""
        pitch_hz = self._pitch(self._next, end)
        self._next = end
        held = np.maximum(pitch_hz, _VOICED_HZ)  # the phase goes on where there is no pitch
        turns = self._turns + np.cumsum(held, dtype=np.float64) / self._shape.sample_rate_hz
        turns -= np.floor(turns)
        if turns.size:
            self._turns = float(turns[-1])
        return pitch_hz, turns

    def _pitch(self, begin: int, end: int) -> Float32:
        """The pitch at every sample of some frames, interpolated between their middles."""
        half = self._shape.hop // 2
        near = self._f0_hz[begin : end + 2, None]
        pitch_hz = np.empty((end - begin, self._shape.hop), np.float32)
        later, earlier = self._later, 1 - self._later
        pitch_hz[:, :half] = near[:-2] * earlier[:half] + near[1:-1] * later[:half]
        pitch_hz[:, half:] = near[1:-1] * earlier[half:] + near[2:] * later[half:]
        return pitch_hz.reshape(-1)
