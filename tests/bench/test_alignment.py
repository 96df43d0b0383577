"""A recording compared with what was played."""

from __future__ import annotations

import numpy as np

from edged.bench.alignment import compare
from edged.types import Int16

SOURCE = np.random.default_rng(3)
SILENCE = np.zeros(500, np.int16)


def noise(frames: int) -> Int16:
    return SOURCE.integers(-9000, 9000, frames).astype(np.int16)


FIRST, SECOND = noise(5000), noise(4000)
PAUSED = np.concatenate([noise(2000), SILENCE, noise(2000)])


def test_utterances_apart_from_each_other_are_equal() -> None:
    found = compare([FIRST, PAUSED], np.concatenate([SILENCE, FIRST, SILENCE[:77], PAUSED, SILENCE]))
    assert found.equal
    assert (found.gaps, found.gap_frames, found.lost_frames) == (0, 0, 0)


def test_silence_put_in_is_a_gap() -> None:
    found = compare([FIRST], np.concatenate([FIRST[:1234], SILENCE[:288], FIRST[1234:]]))
    assert (found.equal, found.gaps, found.gap_frames, found.lost_frames) == (False, 1, 288, 0)


def test_a_longer_pause_is_a_gap_too() -> None:
    found = compare([PAUSED], np.concatenate([PAUSED[:2200], SILENCE[:144], PAUSED[2200:]]))
    assert (found.equal, found.gaps, found.gap_frames, found.lost_frames) == (False, 1, 144, 0)


def test_samples_left_out_are_lost() -> None:
    found = compare([FIRST], np.concatenate([FIRST[:1000], FIRST[1640:]]))
    assert (found.equal, found.gaps, found.lost_frames) == (False, 1, 640)


def test_a_changed_sample_is_not_equal() -> None:
    changed = FIRST.copy()
    changed[2500] += 1
    assert not compare([FIRST], changed).equal


def test_an_utterance_that_is_not_there_is_lost_whole() -> None:
    found = compare([FIRST, SECOND], np.concatenate([SECOND, SILENCE]))
    assert (found.equal, found.gaps, found.lost_frames) == (False, 1, FIRST.size)


def test_an_utterance_cut_off_is_not_equal() -> None:
    found = compare([FIRST], FIRST[:3000])
    assert (found.equal, found.lost_frames) == (False, 2000)


def test_a_quiet_beginning_is_not_lost() -> None:
    quiet = np.zeros(300, np.int16)
    quiet[::20] = 1
    found = compare([np.concatenate([quiet, FIRST])], np.concatenate([SILENCE, quiet, FIRST]))
    assert (found.equal, found.lost_frames) == (True, 0)
