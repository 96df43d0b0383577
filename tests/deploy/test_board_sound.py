"""How the board test tells a whole recording from one that is not."""

import numpy as np
import pytest

from tests.board.sound import compare

SPEECH = np.random.default_rng(1).integers(1, 9000, 24000).astype(np.int16)
PAUSE = np.zeros(4000, np.int16)
SAID = np.concatenate([SPEECH[:12000], PAUSE, SPEECH[12000:]])


def heard(*parts: np.ndarray) -> np.ndarray:
    return np.concatenate([PAUSE, PAUSE, *parts, PAUSE])


def test_the_same_with_silence_around_it_is_the_same():
    agreement = compare(SAID, heard(SAID))
    assert (agreement.equal, agreement.missing_frames, agreement.gaps) == (1.0, 0, 0)


def test_a_gap_is_counted_and_the_rest_is_still_whole():
    agreement = compare(SAID, heard(SAID[:5000], np.zeros(576, np.int16), SAID[5000:]))
    assert (agreement.equal, agreement.missing_frames, agreement.gaps) == (1.0, 0, 1)


def test_a_lost_end_is_missing():
    assert compare(SAID, heard(SAID[:-500])).missing_frames == 500
    assert compare(SAID, PAUSE).missing_frames == SPEECH.size


@pytest.mark.parametrize("at", [100, 9000, 20000])
def test_a_lost_period_in_the_middle_is_no_agreement(at):
    agreement = compare(SAID, heard(SAID[:at], SAID[at + 576 :]))
    assert agreement.missing_frames == 576
    assert agreement.signal_to_difference_db < 10


def test_other_samples_are_measured():
    agreement = compare(SAID, heard(SAID + (SAID > 0)))
    assert agreement.equal == 0.0
    assert 60 < agreement.signal_to_difference_db < 90
