"""The waiting announcements: order, bound, expiry, duplicates. Pure: no thread, no clock of its own.

Every change returns the events it causes; whoever called publishes them, and by that acknowledges
the messages. Order of speaking: priority, then those that ask to interrupt, then what was
interrupted and put back, then arrival.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from edged.types import Event, EventKind, Part, Priority, Utterance

ALL = "all"
"""The zone that stands for every one: such an announcement waits in each of them on its own."""
_IDS_KEPT = 4096
"""Given ids remembered at most, so that a flood of them cannot grow the process."""
_S = 1_000_000_000


@dataclass(frozen=True, slots=True, eq=False)  # one is itself alone: texts need not be compared
class _Waiting:
    utterance: Utterance
    zone: str
    arrival: int
    """Ascending in order of arrival, the same for the parts of an announcement for all zones; below zero
    for what was put back, the latest first."""
    eager: bool
    """Asks to interrupt. What was itself interrupted does not: two such would alternate for ever."""

    @property
    def order(self) -> tuple[int, bool, int]:
        """Smallest is spoken first."""
        return (-self.utterance.announcement.priority, not self.eager, self.arrival)

    @property
    def worth(self) -> tuple[int, int]:
        """Smallest is dropped first: the lowest priority, in it the oldest."""
        return (self.utterance.announcement.priority, self.arrival)


class Announcements:
    """Utterances waiting to be spoken, at most `bound` of them, for the zones of this board.

    `zones` names the players; an announcement without a zone goes to the first, one for ALL to each, as
    parts whose events `edged.queue.gather` puts together. Not thread-safe: see Mailbox.
    """

    def __init__(self, bound: int, zones: Sequence[str]) -> None:
        self._bound = bound
        self._zones = tuple(zones)
        self._waiting: list[_Waiting] = []
        self._arrivals = 0
        self._put_backs = 0
        self._ids: dict[str, int] = {}

    def __len__(self) -> int:
        """Announcements waiting; one for all zones counts once."""
        return len({waiting.arrival for waiting in self._waiting})

    def offer(self, utterance: Utterance, now_ns: int, dedup_window_s: float) -> list[Event]:
        """Takes one in: ACCEPTED, or a final event for it, and DROPPED for what it pushed out.

        Over the bound the oldest of the lowest priority goes, which may be the new one itself; the
        id of a dropped one is forgotten, so that its sender may try again.
        """
        zone = utterance.announcement.zone
        if zone not in (None, ALL, *self._zones):
            known = ", ".join((*self._zones, ALL))
            return [_event(EventKind.FAILED, utterance, f"no zone {zone!r} here; zones: {known}")]
        duplicate = self._duplicate(utterance, now_ns, dedup_window_s)
        if duplicate is not None:
            return [duplicate]
        self._arrivals += 1
        new = [
            _Waiting(part, zone, self._arrivals, utterance.announcement.interrupt)
            for zone, part in self._parts(utterance)
        ]
        self._waiting += new
        events = self.expire(now_ns) if len(self) > self._bound else []
        while len(self) > self._bound:
            events += self._drop_one()
        accepted = [_event(EventKind.ACCEPTED, utterance)] if new[0] in self._waiting else []
        return accepted + events

    def take(self, zone: str, now_ns: int) -> tuple[Utterance | None, list[Event]]:
        """The next to be spoken in `zone`, removed from the queue; EXPIRED for the too old."""
        events = self.expire(now_ns)
        candidates = [waiting for waiting in self._waiting if waiting.zone == zone]
        if not candidates:
            return None, events
        best = min(candidates, key=lambda waiting: waiting.order)
        self._waiting.remove(best)
        return best.utterance, events

    def expire(self, now_ns: int) -> list[Event]:
        """Removes what is past its deadline."""
        late = [waiting.utterance for waiting in self._waiting if waiting.utterance.deadline_ns <= now_ns]
        if not late:
            return []
        self._waiting = [waiting for waiting in self._waiting if waiting.utterance.deadline_ns > now_ns]
        for utterance in late:
            self.forget(utterance.id)
        return [_event(EventKind.EXPIRED, utterance, _too_old(utterance, now_ns)) for utterance in late]

    def put_back(self, utterance: Utterance) -> None:
        """An interrupted one waits at the head of its priority; it may exceed the bound."""
        self._put_backs += 1
        zone = utterance.zone or self._zones[0]
        self._waiting.append(_Waiting(utterance, zone, -self._put_backs, eager=False))

    def forget(self, utterance_id: str) -> None:
        """It was not said after all: its sender may try again with the same id."""
        self._ids.pop(utterance_id, None)

    def give_up(self, whole: int, zones: Sequence[str], reason: str) -> list[Event]:
        """Ends the parts of an announcement for all zones where only parts in `zones` are left waiting."""
        left = [w for w in self._waiting if w.utterance.part and w.utterance.part.whole == whole]
        if any(waiting.zone not in zones for waiting in left):
            return []
        self._waiting = [waiting for waiting in self._waiting if waiting not in left]
        return [_event(EventKind.EXPIRED, waiting.utterance, reason) for waiting in left]

    def cancel(self, utterance_id: str | None, until_ns: int) -> list[Event]:
        """Removes the one with this id, or all (None), of those received until then."""
        gone = [
            waiting
            for waiting in self._waiting
            if utterance_id in (None, waiting.utterance.id) and waiting.utterance.received_ns <= until_ns
        ]
        self._waiting = [waiting for waiting in self._waiting if waiting not in gone]
        return [_event(EventKind.DROPPED, waiting.utterance, "stopped") for waiting in gone]

    def interrupts(self, zone: str, playing: Utterance) -> bool:
        """Something waits in `zone` that must not wait for `playing` to end."""
        return any(
            waiting.zone == zone and _outranks(waiting, playing.announcement.priority)
            for waiting in self._waiting
        )

    def _parts(self, utterance: Utterance) -> list[tuple[str, Utterance]]:
        """The zones that speak it, each with its share."""
        zone = utterance.announcement.zone
        if zone != ALL:
            return [(zone or self._zones[0], utterance)]
        count = len(self._zones)
        return [(zone, replace(utterance, part=Part(zone, self._arrivals, count))) for zone in self._zones]

    def _duplicate(self, utterance: Utterance, now_ns: int, window_s: float) -> Event | None:
        """The event for a given id seen within the window; otherwise the id is remembered."""
        if not utterance.announcement.id_given:
            return None
        oldest_ns = now_ns - int(window_s * _S)
        while self._ids and next(iter(self._ids.values())) <= oldest_ns:
            del self._ids[next(iter(self._ids))]
        seen_ns = self._ids.get(utterance.id)
        if seen_ns is not None:
            ago_s = (now_ns - seen_ns) / _S
            return _event(EventKind.DUPLICATE, utterance, f"the same id came {ago_s:.0f} s ago")
        self._ids[utterance.id] = now_ns
        if len(self._ids) > _IDS_KEPT:
            del self._ids[next(iter(self._ids))]
        return None

    def _drop_one(self) -> list[Event]:
        victim = min(self._waiting, key=lambda waiting: waiting.worth)
        gone = [waiting for waiting in self._waiting if waiting.arrival == victim.arrival]
        self._waiting = [waiting for waiting in self._waiting if waiting.arrival != victim.arrival]
        self.forget(victim.utterance.id)
        reason = f"queue full ({self._bound} waiting): the oldest of the lowest priority goes"
        return [_event(EventKind.DROPPED, waiting.utterance, reason) for waiting in gone]


def _outranks(waiting: _Waiting, playing: Priority) -> bool:
    priority = waiting.utterance.announcement.priority
    if priority is Priority.URGENT and playing < Priority.URGENT:
        return True
    return waiting.eager and priority >= playing


def _too_old(utterance: Utterance, now_ns: int) -> str:
    waited_s = (now_ns - utterance.received_ns) / _S
    limit_s = (utterance.deadline_ns - utterance.received_ns) / _S
    return f"too old: waited {waited_s:.1f} s, the limit is {limit_s:g} s"


def _event(kind: EventKind, utterance: Utterance, reason: str | None = None) -> Event:
    return Event(
        kind, utterance.id, reason, receipt=utterance.receipt, zone=utterance.zone, part=utterance.part
    )
