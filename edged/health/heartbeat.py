"""Heartbeats: every thread that must not stand still says so; the supervisor asks who is silent.

Each name is written by one thread only (`synth`, `mqtt`, `keeper`, `stream <name>`); the main thread
reads. A thread whose waiting is legitimate (a broker that is absent, a device that is closed) is
taken off the list with `forget` and comes back with its next beat.
"""

from __future__ import annotations

import time

from edged.types import Clock

NS_PER_S = 1_000_000_000


class Heartbeats:
    """Last sign of life per name; `clock` in nanoseconds."""

    def __init__(self, clock: Clock = time.monotonic_ns) -> None:
        self._clock = clock
        self._last_ns: dict[str, int] = {}

    def beat(self, name: str) -> None:
        """Called by the thread that owns `name`, at least every few seconds."""
        self._last_ns[name] = self._clock()

    def forget(self, name: str) -> None:
        """`name` may be silent from now on, until it beats again."""
        self._last_ns.pop(name, None)

    def stale(self, limit_s: float) -> list[str]:
        """Names whose last beat is older than `limit_s`, in the order of their first beat."""
        oldest_ns = self._clock() - int(limit_s * NS_PER_S)
        # A copy first: another thread may add its name while this one iterates.
        return [name for name, last_ns in self._last_ns.copy().items() if last_ns < oldest_ns]
