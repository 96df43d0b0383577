"""The yardstick of the audio tests: it finds what is there, and sees what is not."""

from __future__ import annotations

import numpy as np

from tests.audio.signals import noise
from tests.pulse import align

SAID = noise(2000, 1)
QUIET = np.zeros(777, np.int16)


def test_whole() -> None:
    found = align(SAID, np.concatenate([QUIET, SAID, QUIET]))
    assert (found.offset, found.exact, found.gaps, found.lost_frames) == (777, True, (), 0)


def test_a_gap_anywhere_loses_nothing() -> None:
    for at in (320, 333, 351):
        found = align(SAID, np.concatenate([QUIET, SAID[:at], QUIET, SAID[at:]]))
        assert not found.exact
        assert [frames for _, frames in found.gaps] == [777]
        assert found.lost_frames == 0


def test_missing_frames_are_seen() -> None:
    for missing in (1, 40, 500):
        found = align(SAID, np.concatenate([QUIET, SAID[:500], SAID[500 + missing :], QUIET]))
        assert not found.exact
        assert missing <= found.lost_frames <= missing + 64


def test_a_changed_sample_is_seen() -> None:
    changed = SAID.copy()
    changed[999] += 1
    assert not align(SAID, changed).exact
    assert align(SAID, changed).lost_frames == 32


def test_something_else_is_not_found() -> None:
    found = align(SAID, noise(5000, 2))
    assert found.offset is None
    assert found.lost_frames == 2000
