"""How much must be ready: played against the clock, no course of chunks runs dry."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.audio.pacing import CHUNK_S, MEASURED_S, Pacing

CHAR_S = 0.06


def test_a_fast_or_unknown_voice_needs_nothing() -> None:
    for rtf in (None, 0.0, 0.5, 0.89):
        pacing = Pacing(2000, rtf, 1.0)
        pacing.begin(200)
        assert not pacing.is_slow
        assert pacing.needed_s() == 0.0


def test_it_is_what_is_left_times_what_is_missing_and_a_chunk() -> None:
    pacing = Pacing(500, 1.5, 1.0)
    pacing.begin(250)
    left_s = 500 * 0.08
    assert pacing.needed_s() == pytest.approx(left_s * (1.5 * 1.15 - 1) + CHUNK_S)
    pacing = Pacing(500, 1.5, 2.0)
    pacing.begin(250)
    assert pacing.needed_s() == pytest.approx(left_s / 2 * (1.5 * 1.15 - 1) + CHUNK_S), "spoken twice as fast"


def test_what_is_measured_takes_the_place_of_what_was_known() -> None:
    pacing = Pacing(500, 3.0, 1.0)
    pacing.begin(500)
    pacing.made(0.1, MEASURED_S - 0.1)
    assert pacing.is_slow
    assert pacing.rtf is None
    pacing.made(0.1, 0.1)
    assert pacing.rtf == pytest.approx(0.2 / MEASURED_S)
    assert not pacing.is_slow
    pacing = Pacing(500, None, 1.0)
    pacing.begin(500)
    pacing.made(3.0, MEASURED_S)
    assert pacing.is_slow


@given(
    rtf=st.floats(0.91, 4),
    sentences=st.lists(st.integers(5, 200), min_size=1, max_size=6),
    chunks=st.lists(st.floats(0.05, CHUNK_S), min_size=1, max_size=5),
)
def test_nothing_runs_dry_in_mid_sentence(rtf: float, sentences: list[int], chunks: list[float]) -> None:
    """Sound as it is made at this RTF; what was released is played in real time and never ends early."""
    pacing = Pacing(sum(sentences), rtf, 1.0)
    now_s = ready_s = 0.0
    is_playing = False
    sizes = iter(chunks)
    for chars in sentences:
        pacing.begin(chars)
        if is_playing and ready_s < pacing.needed_s():
            is_playing = False
            ready_s = 0.0  # at the worst: all of it was heard before the next sentence's first sample
        left_s = chars * CHAR_S
        while left_s > 0:
            size_s = min(left_s, next(sizes, chunks[-1]))
            left_s -= size_s
            now_s += size_s * rtf
            if is_playing:
                ready_s -= size_s * rtf
                assert ready_s > 0
            ready_s += size_s
            pacing.made(size_s * rtf, size_s)
            is_playing = is_playing or ready_s >= pacing.needed_s()
