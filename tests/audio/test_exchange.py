"""A sink takes another one's place: only in silence, and only when it may."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from edged.audio.keeper import SILENT_S, Keeper
from edged.audio.sinks import NullSink
from edged.config.model import AudioConfig

RATE_HZ = 24000


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    sink = NullSink(AudioConfig(sink="null", period_ms=12))
    keeper = Keeper({"zone": sink}, on_change=lambda: None, on_hang=lambda: None, beat=lambda: None)
    keeper.start()
    assert keeper.wait_known(5)
    yield keeper
    keeper.stop()


def period_ms(keeper: Keeper) -> float:
    output = keeper.current("zone")
    return 1000 * output.info.period_frames / RATE_HZ if output else 0.0


def wait(condition: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.005)


def test_what_sounds_is_played_to_its_end_on_the_old_one(keeper: Keeper) -> None:
    output = keeper.current("zone")
    assert output is not None
    output.ring.feeding(True)
    output.ring.write(np.ones(RATE_HZ * 6 // 10, np.int16))
    output.ring.feeding(False)
    keeper.exchange("zone", NullSink(AudioConfig(sink="null", period_ms=24)), lambda: True)
    wait(lambda: keeper.current("zone") is not output)
    counters = output.ring.counters()
    assert counters.frames_played == RATE_HZ * 6 // 10
    assert time.monotonic_ns() - counters.last_sound_ns >= SILENT_S * 1e9
    wait(lambda: period_ms(keeper) == 24)


def test_not_before_it_may(keeper: Keeper) -> None:
    asked: list[bool] = []

    def may() -> bool:
        asked.append(len(asked) >= 2)
        return asked[-1]

    output = keeper.current("zone")
    keeper.exchange("zone", NullSink(AudioConfig(sink="null", period_ms=6)), may)
    wait(lambda: len(asked) == 2)
    assert keeper.current("zone") is output
    wait(lambda: period_ms(keeper) == 6)
    assert asked == [False, False, True]
