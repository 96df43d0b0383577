"""The reader thread of a sink without PortAudio: takes blocks from a ring and puts them somewhere.

One thread per open output, started by the sink's `open`, ended by its `close`, both on the keeper's
thread. It alone reads the ring and writes the place the sound goes to; it leaves `fault` behind when
that place fails, and the callbacks of its ring stand still from then on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from edged.audio.sinks.base import CLOSE_LIMIT_S, HungError

LATE_LIMIT_S = 0.5
"""Further behind than this, time is given up instead of being caught up with a burst."""


class ReaderThread:
    """Calls `turn` until it is stopped or `turn` raises."""

    def __init__(self, name: str, turn: Callable[[], None]) -> None:
        """`turn` must return within a fraction of a second."""
        self.fault: str | None = None
        self._turn = turn
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it. Raises HungError when it does not end."""
        self._stopping.set()
        self._thread.join(CLOSE_LIMIT_S)
        if self._thread.is_alive():
            raise HungError(f"{self._thread.name} does not end; only a restart of the daemon helps")

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._turn()
        except Exception as error:  # whatever it is, the output is dead and says why
            self.fault = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"


class Pace:
    """Lets a thread do something every `period_s`, on average exactly."""

    def __init__(self, period_s: float) -> None:
        self._period_s = period_s
        self._next_s = time.monotonic() + period_s

    def wait(self) -> None:
        """Sleep to the end of the period; not at all where the thread is late."""
        now_s = time.monotonic()
        if now_s > self._next_s + LATE_LIMIT_S:
            self._next_s = now_s
        if now_s < self._next_s:
            time.sleep(self._next_s - now_s)
        self._next_s += self._period_s
