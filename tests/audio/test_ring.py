"""The ring, one thread: every number of it is known, so every sample is."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.audio import _rt_core
from edged.audio.ring import Ring
from edged.types import Int16
from tests.audio.signals import level, noise

ffi, lib = _rt_core.ffi, _rt_core.lib
RATE_HZ = 24000
EDGE = RATE_HZ // 500


def make(capacity_frames: int = 4800, channels: int = 1, tap_frames: int = 0) -> Ring:
    return Ring(288, channels, RATE_HZ, capacity_frames, tap_frames)


def tags(ring: Ring) -> list[int]:
    return [mark.tag for mark in ring.taken()]


def test_takes_what_there_is_room_for() -> None:
    ring = make(100)
    assert (ring.fill_frames, (ring.capacity_frames - ring.fill_frames)) == (0, 100)
    assert ring.write(noise(70, 1)) == 70
    assert ring.write(noise(70, 2)) == 30
    assert ring.write(noise(70, 3)) == 0
    assert (ring.fill_frames, (ring.capacity_frames - ring.fill_frames)) == (100, 0)
    assert np.array_equal(ring.render(100), np.concatenate([noise(70, 1), noise(70, 2)[:30]]))
    assert (ring.capacity_frames - ring.fill_frames) == 100


@pytest.mark.parametrize("sizes", [(0, 1, 24000, 10), (10, 0, 24000, 10), (10, 1, 0, 10), (10, 1, 24000, 0)])
def test_a_size_below_one_is_refused(sizes: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Ring(*sizes)


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), max_size=30))
def test_what_goes_in_comes_out(steps: list[tuple[int, int]]) -> None:
    """Any writes and reads: the same samples, in order; a tap shows the same."""
    ring = make(256, tap_frames=16384)
    source = noise(12000, 1)
    written, heard = 0, [np.zeros(0, np.int16)]
    for write, read in steps:
        written += ring.write(source[written : written + write])
        block = ring.render(read)
        heard.append(block[: ring.sounding_frames])
        assert not block[ring.sounding_frames :].any()
    heard.append(ring.render(256)[: ring.sounding_frames])
    assert np.array_equal(np.concatenate(heard), source[:written])
    assert np.array_equal(ring.read_tap(), source[:written])
    assert ring.counters().underfills == 0


def test_samples_that_are_not_contiguous_or_writable_go_in() -> None:
    ring = make()
    samples = noise(100, 1)
    samples.flags.writeable = False
    ring.write(samples[::-2])
    ring.write(np.zeros(0, np.int16))
    assert np.array_equal(ring.render(50), samples[::-2])


@pytest.mark.parametrize("channels", [1, 2, 3, 8])
def test_channels(channels: int) -> None:
    ring = make(channels=channels)
    ring.write(noise(1000, 1))
    block = ring.render(1000).reshape(1000, channels)
    for channel in range(channels):
        assert np.array_equal(block[:, channel], noise(1000, 1) if channel < 2 else np.zeros(1000))


def test_extreme_samples_pass_unchanged_at_full_volume() -> None:
    ring = make()
    extreme = np.array([-32768, 32767, -1, 0, 1] * 20, np.int16)
    ring.set_gain(0.3, 0)
    ring.set_gain(1.0, 0)
    ring.write(extreme)
    assert np.array_equal(ring.render(100), extreme)


def test_gain_scales_rounds_and_is_bounded() -> None:
    ring = make()
    ring.set_gain(0.5, 0)
    ring.write(np.array([-32768, 32767, 3, -3, 1], np.int16))
    assert ring.render(5).tolist() == [-16384, 16384, 2, -2, 0]
    for wrong in (5.0, float("inf")):
        ring.set_gain(wrong, 0)
        ring.write(level(10, 32767))
        assert (ring.render(10) == 32767).all()
    for wrong in (-1.0, float("nan"), 0.0):
        ring.set_gain(wrong, 0)
        ring.write(level(10, 32767))
        assert not ring.render(10).any()


def test_gain_ramp_takes_its_time_and_ends_exactly() -> None:
    ring = make()
    ring.render(10)
    ring.set_gain(0.0, 10.0)
    ring.write(level(480, 10000))
    heard = np.concatenate([ring.render(100) for _ in range(4)]).astype(int)
    assert heard[0] < 10000
    assert (np.diff(heard[:240]) < 0).all()
    assert np.abs(np.diff(heard[:240]) + 10000 / 240).max() < 1.5
    assert not heard[240:].any()
    ring.set_gain(1.0, 0.0)
    assert (ring.render(80) == 10000).all()


# -- underfills ----------------------------------------------------------------------------------
def test_an_empty_ring_is_silence_and_no_underfill_unless_fed() -> None:
    ring = make()
    assert not ring.render(288).any()
    ring.write(noise(100, 1))
    ring.render(288)
    ring.feeding(True)
    ring.render(288)  # nothing of what is fed has come yet
    ring.feeding(False)
    ring.render(288)
    assert ring.counters().underfills == 0
    assert ring.counters().underfill_frames == 0


def test_a_gap_in_what_is_fed_is_counted_once_with_its_frames() -> None:
    ring = make()
    ring.feeding(True)
    ring.write(noise(100, 1))
    ring.render(150)
    assert ring.sounding_frames == 150
    ring.render(288)
    assert ring.sounding_frames == 288
    counters = ring.counters()
    assert (counters.underfills, counters.underfill_frames) == (1, 50 + 288)
    ring.write(noise(300, 2))
    ring.render(300)
    ring.render(10)
    assert ring.counters().underfills == 2
    ring.feeding(False)
    block = ring.render(288)
    assert not block.any()
    assert ring.sounding_frames == 0
    assert ring.counters().underfills == 2
    assert ring.counters().underfill_frames == 50 + 288 + 10


def test_the_edges_of_a_gap_slope_and_the_rest_is_untouched() -> None:
    ring = make(tap_frames=4096)
    ring.feeding(True)
    ring.write(level(100, 9000))
    before = ring.render(400)
    assert (before[:100] == 9000).all()
    fall = before[99 : 100 + EDGE + 1].astype(int)
    assert (np.diff(fall) < 0).all()
    assert np.abs(np.diff(fall)).max() <= 9000 / EDGE + 1
    assert not before[100 + EDGE :].any()
    ring.write(level(400, 9000))
    after = ring.render(400).astype(int)
    assert np.abs(np.diff(after, prepend=0)).max() <= 9000 / EDGE + 1
    assert (after[EDGE:] == 9000).all()
    assert (ring.read_tap() == 9000).all()


def test_an_utterance_after_one_that_ended_in_a_gap_is_untouched() -> None:
    ring = make()
    ring.feeding(True)
    ring.write(noise(100, 1))
    ring.render(288)
    ring.write(noise(10, 1))
    ring.render(10)
    ring.feeding(False)
    ring.render(288)
    ring.write(noise(500, 2))
    assert np.array_equal(ring.render(500), noise(500, 2))


# -- marks ---------------------------------------------------------------------------------------
def test_a_mark_comes_with_the_block_that_takes_the_next_frame() -> None:
    ring = make()
    ring.mark(1)
    ring.render(288)
    assert tags(ring) == []
    ring.write(noise(300, 1))
    ring.mark(2)
    before_ns = time.monotonic_ns()
    ring.render(288)
    [mark] = ring.taken()
    assert (mark.tag, mark.device_latency_ms) == (1, 0.0)
    assert before_ns <= mark.taken_ns <= time.monotonic_ns()
    ring.render(12)
    assert tags(ring) == []
    ring.write(noise(1, 1))
    ring.render(1)
    assert tags(ring) == [2]
    assert tags(ring) == []


def test_a_mark_at_the_end_of_what_is_fed_comes_with_the_last_frame() -> None:
    ring = make()
    ring.feeding(True)
    ring.write(noise(300, 1))
    ring.mark(1)
    ring.feeding(False)
    ring.mark(2)  # of what is fed next
    ring.render(299)
    assert tags(ring) == []
    ring.render(1)
    assert tags(ring) == [1]
    ring.render(288)
    assert tags(ring) == []
    ring.feeding(True)
    ring.write(noise(1, 1))
    ring.render(288)
    assert tags(ring) == [2]


def test_a_mark_at_an_end_that_was_already_taken_comes_with_the_next_block() -> None:
    ring = make()
    ring.write(noise(10, 1))
    ring.render(288)
    ring.mark(1)
    ring.feeding(False)
    ring.render(288)
    assert tags(ring) == [1]


def test_too_many_marks_are_refused_and_none_is_lost() -> None:
    ring = make()
    for tag in range(1024):
        ring.mark(tag)
    with pytest.raises(OverflowError):
        ring.mark(1024)
    ring.write(noise(1, 1))
    ring.render(1)
    for tag in range(1024, 1500):
        ring.mark(tag)
    ring.write(noise(1, 1))
    ring.render(1)
    first = tags(ring)
    ring.render(1)
    assert first + tags(ring) == list(range(1500))


# -- skip ----------------------------------------------------------------------------------------
def test_skip_fades_drops_the_rest_and_its_marks() -> None:
    ring = make(tap_frames=8192)
    ring.feeding(True)
    ring.mark(1)
    ring.write(level(4000, 10000))
    assert (ring.render(288) == 10000).all()
    ring.mark(2)
    ring.skip(10.0)
    ring.mark(3)
    ring.write(noise(500, 2))
    heard = ring.render(1000)
    fade, rest = heard[:240].astype(int), heard[240:]
    assert np.abs(np.diff(fade, prepend=10000)).max() <= 10000 / 240 + 1
    assert 0 < fade[-1] <= 10000 / 240 + 1
    assert np.array_equal(rest[:500], noise(500, 2))
    assert not rest[500:].any()
    assert tags(ring) == [1, 3]
    counters = ring.counters()
    assert counters.skipped_frames == 4000 - 288 - 240
    assert counters.underfills == 0
    assert np.array_equal(ring.read_tap(), np.concatenate([level(288 + 240, 10000), noise(500, 2)]))


@pytest.mark.parametrize("block", [1, 7, 100, 256, 300])
def test_a_fade_is_the_same_in_blocks_of_any_size(block: int) -> None:
    heard = []
    for size in (block, 1200):
        ring = make()
        ring.write(level(2000, 10000))
        ring.skip(20.0)
        ring.write(noise(300, 2))
        heard.append(np.concatenate([ring.render(size) for _ in range(-(-1200 // size))])[:1200])
    assert np.array_equal(heard[0], heard[1])


def test_skip_of_less_than_the_fade_or_of_nothing() -> None:
    ring = make()
    ring.skip(10.0)
    assert not ring.render(10).any()
    ring.write(level(5, 10000))
    ring.skip(10.0)
    heard = ring.render(10).astype(int)
    assert (np.diff(heard[:6]) < 0).all()
    assert not heard[5:].any()
    ring.write(level(50, 10000))
    ring.skip(0.0)
    assert not ring.render(10).any()
    assert ring.fill_frames == 0
    assert ring.counters().skipped_frames == 50


def test_a_second_skip_in_the_fade_of_the_first() -> None:
    ring = make()
    ring.write(level(2000, 10000))
    ring.skip(20.0)
    ring.render(100)
    ring.write(level(2000, -10000))
    ring.skip(20.0)
    ring.write(noise(100, 3))
    heard = ring.render(600)
    assert (heard[:380] > 0).all()
    assert np.array_equal(heard[380:480], noise(100, 3))


# -- the device's side ---------------------------------------------------------------------------
def call_back(ring: Ring, frames: int, latency_s: float, flags: int = 0) -> Int16:
    """What PortAudio does."""
    block = np.zeros(frames * ring.channels, np.int16)
    when = ffi.new("rt_time_info *", (0.0, 100.0, 100.0 + latency_s))
    output = ffi.cast("void *", ffi.from_buffer(block))
    assert lib.rt_callback(ffi.NULL, output, frames, when, flags, ring.user_data) == 0
    return block


def test_the_callback_counts_and_tells_the_latency() -> None:
    ring = make(channels=2)
    ring.mark(1)
    ring.write(noise(600, 1))
    before_ns = time.monotonic_ns()
    assert np.array_equal(call_back(ring, 600, 0.025, flags=0x4).reshape(-1, 2)[:, 1], noise(600, 1))
    [mark] = ring.taken()
    assert mark.device_latency_ms == pytest.approx(25.0, abs=0.001)
    counters = ring.counters()
    assert (counters.callbacks, counters.frames_played, counters.device_underflows) == (1, 600, 1)
    assert before_ns <= counters.last_callback_ns == counters.last_sound_ns <= time.monotonic_ns()
    call_back(ring, 600, 0.025, flags=0x10)
    later = ring.counters()
    assert (later.callbacks, later.device_underflows) == (2, 1)
    assert later.last_callback_ns > later.last_sound_ns == counters.last_sound_ns


@pytest.mark.parametrize("latency_s", [-1.0, 0.0, float("nan"), 1e9])
def test_a_latency_that_is_nonsense_is_told_as_zero(latency_s: float) -> None:
    ring = make()
    ring.mark(1)
    ring.write(noise(10, 1))
    call_back(ring, 10, latency_s)
    assert ring.taken()[0].device_latency_ms == 0.0


def test_a_full_tap_loses_frames_and_says_so() -> None:
    ring = make(tap_frames=1024)
    ring.write(noise(1500, 1))
    ring.render(1500)
    assert np.array_equal(ring.read_tap(), noise(1500, 1)[: 256 * 4])
    assert ring.counters().tap_lost_frames == 1500 - 1024
