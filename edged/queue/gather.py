"""The events of the parts of an announcement for all zones -> the events of the announcement.

It starts where its first part starts and ends when the last one has ended, in one final event. Used by
the mqtt thread and the synth thread; a lock guards what has been gathered.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from edged.queue.announcements import ALL
from edged.types import Event, EventKind

_WORST_FIRST = (
    EventKind.FAILED,
    EventKind.FINISHED,
    EventKind.DROPPED,
    EventKind.EXPIRED,
    EventKind.DUPLICATE,
)
"""Spoken in one zone and too late in another is finished, with a reason; a fault anywhere is a failure."""


class Gather:
    """One for the life of the process: the numbers of announcements come from one queue."""

    def __init__(self) -> None:
        self._started: set[int] = set()
        self._ended: dict[int, list[Event]] = {}
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> Event | None:
        """The event to publish, or None where others of the same announcement are to come first."""
        part = event.part
        if part is None:
            return event
        with self._lock:
            if not event.kind.is_final:
                is_first = part.whole not in self._started
                self._started.add(part.whole)
                return replace(event, part=None, zone=ALL) if is_first else None
            ended = self._ended.setdefault(part.whole, [])
            ended.append(event)
            if len(ended) < part.parts:
                return None
            del self._ended[part.whole]
            self._started.discard(part.whole)
        return _together(ended)


def _together(ended: list[Event]) -> Event:
    """One final event; figures are those of the zone that was last to start, said longest, ran short most."""
    worst = min(ended, key=lambda event: _WORST_FIRST.index(event.kind))
    others = [
        f"{event.part.zone}: {event.kind.value}" + (f" ({event.reason})" if event.reason else "")
        for event in ended
        if event.part and (event.kind is not EventKind.FINISHED or event.reason)
    ]
    alike = {(event.kind, event.reason) for event in ended}
    return replace(
        worst,
        part=None,
        zone=ALL,
        reason=worst.reason if len(alike) == 1 else "; ".join(others),
        first_audio_ms=_most(ended, lambda event: event.first_audio_ms),
        first_sample_ns=_most(ended, lambda event: event.first_sample_ns),
        zones_ms={e.part.zone: e.first_audio_ms for e in ended if e.part and e.first_audio_ms is not None}
        or None,
        audio_s=_most(ended, lambda event: event.audio_s),
        underfills=_most(ended, lambda event: event.underfills),
    )


_Number = TypeVar("_Number", int, float)


def _most(ended: list[Event], value: Callable[[Event], _Number | None]) -> _Number | None:
    return max((one for one in map(value, ended) if one is not None), default=None)
