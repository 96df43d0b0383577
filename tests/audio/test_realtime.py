"""SCHED_FIFO for the threads that are made while it is asked for, and for no others."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from edged.audio.sinks.realtime import fifo_for_new_threads
from tests.audio.harness import Studio


@contextmanager
def running_thread() -> Iterator[int]:
    """A thread that waits; its kernel id."""
    ready, end = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (ready.set(), end.wait()))
    thread.start()
    ready.wait()
    try:
        yield thread.native_id or 0
    finally:
        end.set()
        thread.join()


def test_threads_made_inside_have_it_and_the_caller_gives_it_back() -> None:
    with fifo_for_new_threads(True, 7) as obtained, running_thread() as inside:
        assert os.sched_getscheduler(inside) == os.SCHED_FIFO
        assert os.sched_getparam(inside).sched_priority == 7
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
    assert not obtained.realtime  # that thread has ended
    with running_thread() as outside:
        assert os.sched_getscheduler(outside) == os.SCHED_OTHER


def test_not_wanted_or_refused_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with fifo_for_new_threads(False, 7) as obtained:
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
    assert not obtained.realtime
    assert not caplog.records
    with fifo_for_new_threads(True, 0) as obtained:  # no such priority: refused as a lack of rights is
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
    assert not obtained.realtime
    assert "process.realtime: SCHED_FIFO 0 refused" in caplog.text


def test_the_audio_thread_has_it(studio: Studio) -> None:
    assert studio.play("alsa", "plain").report["info"]["realtime"]
