from __future__ import annotations

import random

from edged.mqtt.backoff import Backoff


def longest() -> Backoff:
    return Backoff(lambda: 0.0)


def test_waits_double_from_half_a_second_to_a_minute() -> None:
    backoff = longest()
    waits = [backoff.failed() for _ in range(10)]
    assert waits == [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_ten_thousand_failures_are_no_overflow() -> None:
    backoff = longest()
    assert {backoff.failed() for _ in range(10000)} == {0.5, 1, 2, 4, 8, 16, 32, 60}


def test_jitter_takes_off_up_to_a_half() -> None:
    assert Backoff(lambda: 0.999).failed() == 0.5 * (1 - 0.4995)
    waits = {Backoff(random.Random(seed).random).failed() for seed in range(50)}
    assert len(waits) > 40
    assert all(0.25 <= wait <= 0.5 for wait in waits)


def test_after_a_good_connection_the_first_wait_is_short() -> None:
    backoff = longest()
    for _ in range(8):
        backoff.failed()
    assert backoff.lost(lasted_s=31, taken_over=False) == 0.5
    assert not backoff.clash


def test_short_connections_in_a_row_are_a_clash_of_ids() -> None:
    backoff = longest()
    assert [backoff.lost(6, False) for _ in range(2)] == [0.5, 1]
    assert not backoff.clash
    assert backoff.lost(6, False) == 2
    assert backoff.clash


def test_what_looks_like_a_takeover_doubles_the_wait_from_the_first_loss() -> None:
    assert [longest().lost(4.9, False), longest().lost(3600, True)] == [1, 1]
    backoff = longest()
    assert [backoff.lost(1, False) for _ in range(5)] == [1, 4, 16, 60, 60]


def test_taken_over_is_a_clash_at_once() -> None:
    backoff = longest()
    backoff.lost(1, taken_over=True)
    assert backoff.clash


def test_two_that_throw_each_other_out_come_to_a_minute_and_stay_there() -> None:
    """At a minute's wait each connection lasts up to a minute: that is no good connection."""
    backoff = longest()
    for _ in range(8):
        backoff.lost(1, taken_over=True)
    assert [backoff.lost(59, taken_over=True) for _ in range(5)] == [60] * 5


def test_a_clash_is_over_after_a_long_connection() -> None:
    backoff = longest()
    for _ in range(8):
        backoff.lost(1, taken_over=True)
    assert backoff.lost(301, taken_over=False) == 0.5
    assert not backoff.clash
