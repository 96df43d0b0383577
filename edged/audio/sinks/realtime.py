"""SCHED_FIFO for threads that are made while it is asked for: they inherit it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

log = logging.getLogger(__name__)

TASKS = Path("/proc/self/task")


class Obtained:
    """What came of the request; known after the block."""

    realtime = False


@contextmanager
def fifo_for_new_threads(wanted: bool, priority: int) -> Iterator[Obtained]:
    """Give SCHED_FIFO to the calling thread, and so to threads it makes, until the block ends.

    A refusal is logged with its mend and the block runs without. `Obtained.realtime` tells whether a
    thread that was made in the block really runs under SCHED_FIFO.
    """
    obtained = Obtained()
    before = _threads()
    asked = wanted and _ask(priority)
    try:
        yield obtained
    finally:
        if asked:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    obtained.realtime = any(_is_fifo(thread) for thread in _threads() - before)


def _ask(priority: int) -> bool:
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except OSError as error:
        log.info(
            "process.realtime: SCHED_FIFO %d refused (%s); raise LimitRTPRIO of the unit, or set it to false",
            priority,
            error.strerror,
        )
        return False
    return True


def _threads() -> set[int]:
    return {int(task.name) for task in TASKS.iterdir()}


def _is_fifo(thread: int) -> bool:
    try:
        return os.sched_getscheduler(thread) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO
    except ProcessLookupError:
        return False  # ended since it was listed
