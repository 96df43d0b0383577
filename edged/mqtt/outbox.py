"""Events and notices on their way to the broker, kept until it has answered for them.

Pure, not thread-safe: its owner holds a lock. What a lost connection left unanswered goes out again
on the next one, in the order in which it happened: each reaches the broker at least once.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass
from itertools import count

from edged.types import Event

_log = logging.getLogger(__name__)

_BOUND = 1024
"""Kept at most, waiting and unanswered together; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A report that belongs to no announcement."""

    what: str
    reason: str


class Outbox:
    """Items are known by serial numbers, which rise for ever."""

    def __init__(self) -> None:
        self._serials = count(1)
        self._waiting: deque[tuple[int, Event | Notice]] = deque()
        self._unanswered: dict[int, Event | Notice] = {}
        self._overflowed = False

    def add(self, item: Event | Notice) -> None:
        """Waits to be taken; over the bound the oldest of all is given up, told once until it drains."""
        self._waiting.append((next(self._serials), item))
        if len(self) <= _BOUND:
            return
        if self._unanswered:
            del self._unanswered[next(iter(self._unanswered))]
        else:
            self._waiting.popleft()
        if not self._overflowed:
            self._overflowed = True
            _log.warning("%d events wait for the broker: the oldest are given up", _BOUND)

    def take(self) -> list[tuple[int, Event | Notice]]:
        """What is to be sent now, in order."""
        taken = list(self._waiting)
        self._waiting.clear()
        self._unanswered.update(taken)
        return taken

    def answered(self, serial: int) -> None:
        """The broker has it, or refuses it for good."""
        self._unanswered.pop(serial, None)
        self._overflowed = self._overflowed and len(self) > 0

    def connected(self) -> None:
        """A connection begins: what the last one left unanswered comes first again."""
        self._waiting.extendleft(reversed(self._unanswered.items()))
        self._unanswered.clear()

    def __len__(self) -> int:
        return len(self._waiting) + len(self._unanswered)
