"""What the daemon costs while nothing is said, and how long it takes to start."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from edged.bench.daemon import caller
from edged.bench.rows import Figure
from edged.bench.surroundings import Surroundings
from edged.bench.texts import texts
from edged.types import EventKind

SETTLE_S = 4.0
"""After the last announcement: housekeeping is done after one second."""
SPEECH = ((30, 5), (100, 2), (3000, 3))
"""(characters, announcements) said before the memory is read; the long ones are stopped at their start."""
EVENT_LIMIT_S = 90.0
LOOKS = 5
LOOK_S = 0.5
PERIOD_MS = 12


@dataclass(frozen=True, slots=True)
class Obtained:
    """What the daemon got of what it asks for."""

    memory_lock: bool
    fifo: bool


def start_figures(around: Surroundings, n: int, progress: Callable[[str], None]) -> Iterator[Figure]:
    """Row start_ready_ms: from the start of the process to READY=1, the voice installed before."""
    measured = []
    for number in range(n + 1):  # the first start fills the page cache
        daemon = around.daemon(around.audio(PERIOD_MS))
        daemon.stop()
        measured.append(daemon.ready_ms)
        progress(f"start_ready_ms: {number} of {n}")
    yield Figure("start_ready_ms", "warm", measured[1:], "ms")


def figures(
    around: Surroundings, seconds: float, note: Callable[[Obtained], None], progress: Callable[[str], None]
) -> Iterator[Figure]:
    """Rows rss_idle_mb, private_dirty_mb and idle_cpu_percent, of a daemon that has spoken.

    Configured as in production: caches on, memory locked where that is permitted, stream open.
    """
    daemon = around.daemon(around.audio(PERIOD_MS))
    try:
        with caller(around.broker_port()) as client:
            for chars, count in SPEECH:
                for text in islice(texts(chars), count):
                    progress(f"rss_idle_mb: speaking {chars} characters")
                    sent = client.say(text)
                    for event in client.events_of({sent.id}, EVENT_LIMIT_S):
                        if event.kind is EventKind.STARTED and chars > 300:
                            client.stop(sent.id)
        note(Obtained(daemon.locks_memory(), daemon.has_fifo_thread()))
        time.sleep(SETTLE_S)
        progress(f"idle_cpu_percent: {seconds:.0f} s")
        started_s, cpu_s, sound_s = time.monotonic(), daemon.cpu_s(), daemon.sound_threads_cpu_s()
        time.sleep(seconds)
        percent, of_sound = (
            100 * spent_s / (time.monotonic() - started_s)
            for spent_s in (daemon.cpu_s() - cpu_s, daemon.sound_threads_cpu_s() - sound_s)
        )
        looks = []
        for _ in range(LOOKS):
            looks.append(daemon.memory_mib())
            time.sleep(LOOK_S)
    finally:
        daemon.stop()
    yield Figure("rss_idle_mb", "idle", [rss for rss, _ in looks], "MiB")
    yield Figure("private_dirty_mb", "idle", [dirty for _, dirty in looks], "MiB")
    yield Figure("idle_cpu_percent", "idle", [percent], "%")
    yield Figure("idle_cpu_percent", "idle-sound", [of_sound], "%")
