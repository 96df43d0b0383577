from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.mqtt.rate import Passage, RateLimit

FREE, FIRST, OVER = Passage.FREE, Passage.FIRST_OVER, Passage.OVER


@dataclass
class Clock:
    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_burst_passes_and_of_the_rest_the_first_is_told(clock: Clock) -> None:
    limit = RateLimit(lambda: (2.0, 3), clock)
    assert [limit.take("a") for _ in range(6)] == [FREE] * 3 + [FIRST, OVER, OVER]
    clock.now_s = 0.5
    assert [limit.take("a") for _ in range(2)] == [FREE, OVER], "the same flood"
    clock.now_s = 2.0
    assert [limit.take("a") for _ in range(4)] == [FREE] * 3 + [FIRST], "another one"


def test_keys_do_not_share(clock: Clock) -> None:
    limit = RateLimit(lambda: (1.0, 1), clock)
    assert [limit.take(key) for key in ("a", "b", "a", "b")] == [FREE, FREE, FIRST, FIRST]


def test_limits_are_read_for_every_message(clock: Clock) -> None:
    limits = [1.0, 2]
    limit = RateLimit(lambda: (limits[0], int(limits[1])), clock)
    assert [limit.take("a") for _ in range(3)] == [FREE, FREE, FIRST]
    limits[:] = [100.0, 5]
    clock.now_s = 1.0
    assert [limit.take("a") for _ in range(6)] == [FREE] * 5 + [FIRST]
    limits[:] = [1.0, 1]
    clock.now_s = 9.0
    assert [limit.take("a") for _ in range(2)] == [FREE, FIRST]


def test_a_backlog_passes_in_its_time_and_number(clock: Clock) -> None:
    limit = RateLimit(lambda: (1.0, 1), clock)
    limit.expect_backlog(4)
    assert [limit.take("a") for _ in range(6)] == [FREE] * 5 + [FIRST]
    limit.expect_backlog(100)
    clock.now_s = 10.0
    assert [limit.take("a") for _ in range(2)] == [FREE, FIRST]


def test_topics_without_number_take_no_memory_without_bound(clock: Clock) -> None:
    limit = RateLimit(lambda: (1.0, 1), clock)
    for number in range(10_000):
        limit.take(number)
    assert len(limit._buckets) == 256
    assert limit.take(9999) is FIRST, "the last used are kept"


@given(
    st.floats(1, 50),
    st.integers(1, 20),
    st.lists(st.floats(0, 3), max_size=200),
)
def test_never_more_than_burst_and_rate_and_never_less(
    per_s: float, size: int, pauses_s: list[float]
) -> None:
    clock = Clock()
    limit = RateLimit(lambda: (per_s, size), clock)
    free = 0
    for pause_s in pauses_s:
        clock.now_s += pause_s
        free += limit.take("a") is FREE
        assert free <= size + per_s * clock.now_s + 1e-6
    assert free >= min(len(pauses_s), size)
