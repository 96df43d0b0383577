"""Samples of a voice to samples of a device."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.audio.pcm import PcmStream, to_int16
from edged.types import Float32, Int16

RATES = [(24000, 24000), (24000, 48000), (24000, 44100), (22050, 48000), (24000, 16000)]


def tone(frames: int, rate_hz: int, amplitude: float = 0.5) -> Float32:
    """A sine of 440 Hz, float32 [frames]."""
    return (amplitude * np.sin(2 * np.pi * 440 * np.arange(frames) / rate_hz)).astype(np.float32)


def convert(samples: Float32, rates: tuple[int, int], cuts: list[int], gain: float = 1.0) -> Int16:
    """All of it, cut at the frames `cuts`."""
    stream = PcmStream(*rates)
    pieces = [stream.push(piece, gain) for piece in np.split(samples, sorted(cuts))]
    return np.concatenate([*pieces, stream.flush()])


@pytest.mark.parametrize("rates", RATES)
@given(cuts=st.lists(st.integers(0, 12000), max_size=8))
def test_chunks_equal_the_whole(rates: tuple[int, int], cuts: list[int]) -> None:
    samples = np.random.default_rng(1).normal(0, 0.2, 12000).astype(np.float32)
    assert np.array_equal(convert(samples, rates, cuts), convert(samples, rates, []))


@pytest.mark.parametrize("rates", RATES)
def test_a_tone_stays_what_it_is_in_time_and_height(rates: tuple[int, int]) -> None:
    heard = convert(tone(rates[0], rates[0]), rates, [4800, 9600])
    assert heard.size == rates[1]
    middle = slice(rates[1] // 10, -rates[1] // 10)
    expected = tone(rates[1], rates[1]) * 32767
    assert np.abs(heard[middle] - expected[middle]).max() < 12


@pytest.mark.parametrize("rates", RATES)
def test_loud_samples_saturate_and_never_wrap(rates: tuple[int, int]) -> None:
    heard = convert(tone(rates[0], rates[0], 1.5), rates, [1000])
    middle = slice(rates[1] // 10, -rates[1] // 10)
    expected = np.clip(tone(rates[1], rates[1], 1.5) * 32767.0, -32768, 32767)
    assert np.abs(heard[middle] - expected[middle]).max() < 40
    assert heard.max() == 32767
    assert heard.min() == -32768


def test_equal_rates_only_round() -> None:
    samples = np.array([0.0, 1.0, -1.0, 0.5 / 32767, 1.6 / 32767, -1.6 / 32767, 2.0, -2.0], np.float32)
    assert PcmStream(24000, 24000).push(samples, 1.0).tolist() == [0, 32767, -32767, 0, 2, -2, 32767, -32768]
    assert to_int16(samples).dtype == np.int16


@pytest.mark.parametrize("rates", RATES)
def test_gain(rates: tuple[int, int]) -> None:
    samples = tone(6000, rates[0])
    half, whole = convert(samples, rates, [100], 0.5), convert(samples, rates, [100])
    assert np.abs(2 * half.astype(int) - whole).max() <= 2
    assert not convert(samples, rates, [100], 0.0).any()


@pytest.mark.parametrize("rates", RATES)
def test_silence_is_exact(rates: tuple[int, int]) -> None:
    assert not convert(np.zeros(6000, np.float32), rates, [7]).any()
