"""The signal processing gives, block by block, what hibari's gives for the whole."""

import numpy as np
import pytest
from hibari import dsp

from edged.types import Float32
from edged.voice.engines.source_filter import Complex64, FrameShape, Noise, SourceFilter, white_noise
from tests.voice.sound import agreement_db

SHAPE = FrameShape(24_000, 1200, 300)


class GivenNoise:
    """Stands for the generator that hibari draws its noise from: bins first, then frames."""

    def __init__(self, noise: Complex64) -> None:
        self._noise = noise

    def standard_normal(self, shape: tuple[int, int], dtype: type) -> Float32:
        drawn: Float32 = np.ascontiguousarray(self._noise.T).view(np.float32)
        assert drawn.shape == shape
        return drawn


def replay(noise: Complex64) -> Noise:
    position = 0

    def draw(frames: int) -> Complex64:
        nonlocal position
        position += frames
        drawn: Complex64 = noise[position - frames : position].copy()
        return drawn

    return draw


def utterance(frames: int) -> tuple[Float32, Float32]:
    """Parts [frames, 5 * bins] in our order, and a pitch that glides and pauses."""
    chance = np.random.default_rng(frames)
    parts = chance.normal(size=(frames, 5 * SHAPE.bins)).astype(np.float32)
    parts[:, : 3 * SHAPE.bins] -= 3
    f0_hz = (160 + 60 * np.sin(np.arange(frames) / 9)).astype(np.float32)
    f0_hz[frames // 3 : frames // 2] = 0
    f0_hz[-3:] = 39.0
    return parts, f0_hz


def hibari_whole(parts: Float32, f0_hz: Float32, noise: Complex64) -> Float32:
    lh, ln, lr, theta, phi = np.split(parts.T, 5)
    samples: Float32 = dsp.synth(lh, theta, ln, lr, phi, f0_hz, GivenNoise(noise))
    return samples


@pytest.mark.parametrize("frames", [3, 4, 5, 17, 130, 401])
@pytest.mark.parametrize("blocks", [(1,), (2, 3), (16, 32, 64), (7,), (1000,)], ids=str)
def test_blocks_equal_hibaris_whole(frames: int, blocks: tuple[int, ...]) -> None:
    parts, f0_hz = utterance(frames)
    noise = white_noise(SHAPE, 1)(frames)
    made = SourceFilter(SHAPE, f0_hz, 0, frames, replay(noise))
    samples = []
    done = 0
    for i in range(frames):
        size = blocks[min(i, len(blocks) - 1)]
        samples.append(made.push(parts[done : done + size].copy()))
        done += size
        if done >= frames:
            break
    whole = hibari_whole(parts, f0_hz, noise)
    assert agreement_db(whole, np.concatenate(samples)) > 100


def test_a_span_continues_the_phase_of_the_whole() -> None:
    parts, f0_hz = utterance(200)
    noise = white_noise(SHAPE, 1)(200)
    whole = SourceFilter(SHAPE, f0_hz, 0, 200, replay(noise)).push(parts.copy())
    span = SourceFilter(SHAPE, f0_hz, 120, 180, replay(noise[120:180])).push(parts[120:180].copy())
    inside = slice(4 * 300, -4 * 300)
    assert agreement_db(whole[120 * 300 : 180 * 300][inside], span[inside]) > 100


def test_look_ahead_is_two_frames() -> None:
    parts, f0_hz = utterance(100)
    made = SourceFilter(SHAPE, f0_hz, 0, 100, white_noise(SHAPE, 0))
    assert [made.push(p.copy()).size // 300 for p in np.split(parts, [16, 48])] == [14, 32, 54]


def test_noise_is_the_same_in_blocks_of_any_length() -> None:
    whole = white_noise(SHAPE, 5)(50)
    draw = white_noise(SHAPE, 5)
    blocks = np.concatenate([draw(1), draw(16), draw(33)])
    assert np.array_equal(whole, blocks)
    assert not np.array_equal(whole, white_noise(SHAPE, 6)(50))
    assert not np.array_equal(white_noise(SHAPE, None)(5), white_noise(SHAPE, None)(5))


def test_noise_is_white_and_normal() -> None:
    noise = white_noise(SHAPE, 2)(500)
    for part in (noise.real, noise.imag):
        assert abs(part.mean()) < 0.01
        assert part.std() == pytest.approx(1, abs=0.01)
        assert (part**4).mean() == pytest.approx(3, abs=0.05)
    assert abs((noise.real * noise.imag).mean()) < 0.01
    assert np.isfinite(noise).all()
