"""The governor's decisions: by example, and by any course that a board may take."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edged.config.model import GovernorConfig
from edged.health.governor import (
    COOLER_C,
    GAPS_S,
    NS_PER_S,
    RECENT_S,
    REFUGE_S,
    RISE_S,
    STEP_S,
    Governor,
    Memory,
    Snapshot,
    decide,
)
from edged.types import Level

LIMITS = GovernorConfig()
COSTS = (0.4, 0.2, 0.1)
START = Memory()


class Course:
    """A board's life, a second a look; `levels` is what was decided after each."""

    def __init__(self, limits: GovernorConfig = LIMITS, costs: tuple[float | None, ...] = COSTS) -> None:
        self.limits = limits
        self.costs = costs
        self.memory = START
        self.now_s = 1000
        self.levels: list[int] = []

    def go(self, seconds: float, **reading: object) -> Memory:
        for _ in range(round(seconds)):
            self.now_s += 1
            snapshot = Snapshot(self.now_s * NS_PER_S, **reading)  # type: ignore[arg-type]
            self.memory = decide(snapshot, self.memory, self.limits, self.costs)
            self.levels.append(self.memory.level)
        return self.memory


SLOW = {"rtf": 1.2, "rtf_recent": 1.3}
FAST = {"rtf": 0.1, "rtf_recent": 0.1}


@pytest.mark.parametrize(
    ("reading", "reason"),
    [
        (SLOW, "RTF 1.20 over a minute, limit 0.80"),
        ({"temp_c": 76.0}, "temperature 76.0 °C, soft limit 75.0 °C"),
        ({"throttled": True}, "the processor is slowed down (heat or power supply)"),
        ({"gaps": 3}, "3 gaps in the sound within a minute"),
        ({"pressure_percent": 90.0, "rtf": 0.5, "rtf_recent": 0.5}, "CPU pressure 90 %, RTF 0.50"),
        ({"temp_c": 85.0}, "temperature 85.0 °C, hard limit 85.0 °C"),
    ],
)
def test_each_cause_is_told_at_the_first_look(reading: dict[str, object], reason: str) -> None:
    course = Course()
    memory = course.go(1, **reading)
    assert memory.level == (2 if "hard" in reason else 1)
    assert memory.reason == reason


@pytest.mark.parametrize(
    "reading",
    [
        {},
        {"temp_c": 74.9, "throttled": False},
        {"rtf": 0.79, "rtf_recent": 0.79},
        {"rtf": 1.5, "rtf_recent": None},  # long ago, and silent since
        {"rtf": 1.5, "rtf_recent": 0.1},  # no more
        {"pressure_percent": 100.0, "rtf": 0.1, "rtf_recent": 0.1},  # others wait, speech does not
        {"pressure_percent": 100.0},
        {"gaps": 2},
    ],
)
def test_what_is_no_cause(reading: dict[str, object]) -> None:
    assert Course().go(1, **reading).level == 0


def test_steps_down_come_one_at_a_time_and_end_at_the_last_level() -> None:
    course = Course()
    course.go(5 * STEP_S, **SLOW)
    assert course.levels == [1] * 10 + [2] * 40


def test_steps_up_come_one_at_a_time_when_the_calm_period_is_over() -> None:
    course = Course()
    course.go(STEP_S + 1, **SLOW)
    course.go(80, **FAST)
    assert course.levels[11:] == [2] * 59 + [1] * 5 + [0] * 16


def test_what_comes_now_and_then_adds_up_within_a_minute() -> None:
    course = Course()
    course.go(1, gaps=2)
    course.go(GAPS_S / 2)
    assert course.go(1, gaps=1).level == 1
    course = Course()
    course.go(1, gaps=2)
    course.go(GAPS_S)
    assert course.go(1, gaps=1).level == 0


def test_at_the_hard_limit_it_jumps_and_then_falls_silent_until_it_is_cooler() -> None:
    course = Course()
    course.go(REFUGE_S + 1, temp_c=90.0)
    assert course.levels[:30] == [2] * 30
    assert course.memory.level == 3
    assert course.go(LIMITS.calm_s + 2, temp_c=LIMITS.hard_c - COOLER_C).level == 2, "warm, and speaks"
    assert course.go(600, temp_c=LIMITS.soft_c).level == 2
    assert course.go(600, temp_c=LIMITS.soft_c - 1).level == 2, "between the two edges"
    assert course.go(LIMITS.calm_s + RISE_S, temp_c=60.0).level == 0


def test_no_step_up_where_the_level_above_would_be_too_slow() -> None:
    course = Course()
    course.go(1, **SLOW)
    assert course.go(600, rtf=0.4, rtf_recent=0.4).level == 1, "0.4 here is 0.8 there"
    assert course.go(LIMITS.calm_s + 2, rtf=0.2, rtf_recent=0.2).level == 0


def test_switched_off_it_stays_on_top() -> None:
    course = Course(replace(LIMITS, enabled=False))
    assert course.go(100, temp_c=100.0, **SLOW).level == 0
    course = Course()
    course.go(1, temp_c=100.0)
    course.limits = replace(LIMITS, enabled=False)
    assert course.go(1, temp_c=100.0).level == 0


def test_a_ladder_of_one_level_and_one_that_became_shorter() -> None:
    course = Course(costs=(None,))
    assert course.go(20, temp_c=80.0, **SLOW).level == 0
    assert course.go(REFUGE_S + 1, temp_c=90.0).level == 1, "nothing is synthesized"
    course = Course()
    course.go(20, **SLOW)
    course.costs = (0.4,)
    assert course.go(1).level <= 1


READINGS = st.fixed_dictionaries(
    {
        "rtf": st.none() | st.floats(0.01, 4),
        "rtf_recent": st.none() | st.floats(0.01, 4),
        "temp_c": st.none() | st.floats(20, 110),
        "throttled": st.none() | st.booleans(),
        "gaps": st.just(0) | st.integers(0, 5),
        "pressure_percent": st.none() | st.floats(0, 100),
    }
)
EASY = {"rtf": 0.05, "rtf_recent": 0.05, "temp_c": 50.0, "throttled": False, "pressure_percent": 5.0}
STRETCHES = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 10, 45, 125]), READINGS | st.just(EASY) | st.just({**EASY, "temp_c": 76.0})
    ),
    max_size=25,
)
LADDERS = st.lists(st.none() | st.floats(0.01, 2), min_size=1, max_size=6).map(tuple)
LIMITS_ANY = st.builds(
    GovernorConfig,
    soft_c=st.floats(30, 120),
    hard_c=st.floats(30, 125),
    rtf_limit=st.floats(0.25, 1),
    gaps=st.integers(1, 10),
    pressure_percent=st.floats(16, 100),
    calm_s=st.floats(1, 120),
)


@settings(max_examples=150, deadline=None)
@given(limits=LIMITS_ANY, costs=LADDERS, stretches=STRETCHES)
def test_whatever_happens(
    limits: GovernorConfig,
    costs: tuple[float | None, ...],
    stretches: list[tuple[int, dict[str, object]]],
) -> None:
    """Never up within the calm period after down; low enough while hot; on top again once all is well."""
    course = Course(limits, costs)
    last_down_s: int | None = None
    for seconds, reading in stretches:
        for _ in range(seconds):
            before = course.memory.level
            level = course.go(1, **reading).level
            temp_c = reading.get("temp_c")
            if isinstance(temp_c, float) and temp_c >= max(limits.hard_c, limits.soft_c):
                assert level >= len(costs) - 1
            if level > before:
                last_down_s = course.now_s
            elif level < before:
                assert level == before - 1
                assert last_down_s is None or course.now_s - last_down_s >= limits.calm_s
    well = {"rtf": 0.001, "rtf_recent": None, "temp_c": 20.0, "pressure_percent": 0.0}
    assert course.go(limits.calm_s + RECENT_S + RISE_S + 2, **well).level == 0
    assert RECENT_S + RISE_S + 2 < 30, "the calm period plus half a minute"


def test_once_a_second_it_looks_and_has_it_done() -> None:
    top, low = Level("fp32", 2, (8, 16), 12, 0.4), Level("int8", 1, None, 24, None)
    applied: list[tuple[int, Level | None]] = []
    lines: list[str] = []
    readings = iter([90.0, 90.0, 20.0])

    def look(now_ns: int) -> Snapshot:
        return Snapshot(now_ns, temp_c=next(readings))

    governor = Governor(look, lambda: (top, low), lambda *what: applied.append(what), lines.append)
    governor.tick(LIMITS, 0)
    governor.tick(LIMITS, NS_PER_S // 2)
    governor.tick(LIMITS, NS_PER_S)
    assert applied == [(1, low), (1, low)], "said again, so that what failed is done later"
    assert lines == [
        "down to level 1 of 1 (int8, 1 thread, period 24 ms): temperature 90.0 °C, hard limit 85.0 °C"
    ]
    assert governor.state() == {
        "level": 1,
        "levels": 2,
        "level_reason": "temperature 90.0 °C, hard limit 85.0 °C",
    }
    governor.tick(replace(LIMITS, enabled=False), 2 * NS_PER_S)
    assert applied[-1] == (0, top)
    assert lines[-1] == "up to level 0 of 1 (fp32, 2 threads, period 12 ms): switched off"
