"""The locked hand-off between the threads that receive announcements and the one that speaks them.

The mqtt thread (and the supervisor, for stop) puts in; the synth thread takes out and waits here.
One lock guards the queue; nothing is called while it is held, and no method blocks but `wait`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from edged.queue.announcements import Announcements
from edged.types import Event, Utterance


class Mailbox:
    """Announcements for several threads. The verbs and their events are those of Announcements."""

    def __init__(self, announcements: Announcements) -> None:
        self._announcements = announcements
        self._changed = threading.Condition()
        self._woken = False

    def offer(self, utterance: Utterance, now_ns: int, dedup_window_s: float) -> list[Event]:
        """Takes one in and wakes the waiting thread; returns ACCEPTED or what became of it."""
        with self._changed:
            events = self._announcements.offer(utterance, now_ns, dedup_window_s)
            self._notify()
            return events

    def take(self, zone: str, now_ns: int) -> tuple[Utterance | None, list[Event]]:
        """Removes the next to be spoken in `zone` (None when there is none), with EXPIRED events."""
        with self._changed:
            return self._announcements.take(zone, now_ns)

    def expire(self, now_ns: int) -> list[Event]:
        """Removes what is past its deadline; returns the EXPIRED events."""
        with self._changed:
            return self._announcements.expire(now_ns)

    def put_back(self, utterance: Utterance) -> None:
        """An interrupted one waits again, at the head of its priority."""
        with self._changed:
            self._announcements.put_back(utterance)

    def forget(self, utterance_id: str) -> None:
        """Its sender may try again with the same id."""
        with self._changed:
            self._announcements.forget(utterance_id)

    def give_up(self, whole: int, zones: Sequence[str], reason: str) -> list[Event]:
        """Ends what is left of an announcement for all zones where only `zones` have not said it."""
        with self._changed:
            return self._announcements.give_up(whole, zones, reason)

    def cancel(self, utterance_id: str | None, until_ns: int) -> list[Event]:
        """Removes the one with this id, or all (None); returns the DROPPED events."""
        with self._changed:
            return self._announcements.cancel(utterance_id, until_ns)

    def interrupts(self, zone: str, playing: Utterance) -> bool:
        """Something waits in `zone` that must not wait for `playing` to end."""
        with self._changed:
            return self._announcements.interrupts(zone, playing)

    def __len__(self) -> int:
        with self._changed:
            return len(self._announcements)

    def wait(self, timeout_s: float) -> bool:
        """Waits for an offer or a wake-up since the last wait; False when the time is over.

        A wake-up that came before the call ends it at once, so none is lost. One waiting thread.
        """
        with self._changed:
            woken = self._changed.wait_for(lambda: self._woken, timeout_s)
            self._woken = False
            return woken

    def wake(self) -> None:
        """Ends the present wait, or the next one."""
        with self._changed:
            self._notify()

    def _notify(self) -> None:
        self._woken = True
        self._changed.notify()
