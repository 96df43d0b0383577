"""Signals that end the benchmark."""

from __future__ import annotations

import os
import signal

import pytest

from edged.bench.interrupts import NUMBERS, Interrupts


def test_ctrl_c_raises_at_once() -> None:
    with Interrupts(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_polite_end_is_an_exit_with_its_number(number: signal.Signals) -> None:
    with Interrupts(), pytest.raises(SystemExit) as left:
        os.kill(os.getpid(), number)
    assert left.value.code == 128 + number


def test_what_is_begun_is_finished_first() -> None:
    done = []
    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt), interrupts.held():  # noqa: PT012
        os.kill(os.getpid(), signal.SIGINT)
        done.append("finished")
    assert done == ["finished"]


def test_only_the_first_one_counts() -> None:
    with Interrupts() as interrupts:
        with pytest.raises(SystemExit):
            os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        with interrupts.held():
            os.kill(os.getpid(), signal.SIGINT)


def test_afterwards_signals_mean_what_they_meant() -> None:
    before = [signal.getsignal(number) for number in NUMBERS]
    with Interrupts():
        assert [signal.getsignal(number) for number in NUMBERS] != before
    assert [signal.getsignal(number) for number in NUMBERS] == before
