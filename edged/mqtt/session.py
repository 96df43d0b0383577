"""What is owed to the broker and its clients: acknowledgements and events.

Shared by the mqtt thread, which receives, publishes and acknowledges, and by every thread that
emits events. One lock guards the ledger, the outbox and their agreement with the journal: a final
event is in the journal before its message can be acknowledged.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Protocol

from edged.mqtt.acks import AckLedger, Verdict
from edged.mqtt.outbox import Notice, Outbox
from edged.mqtt.wire import Delivery
from edged.types import Event, EventKind, Receipt, Utterance


class Journal(Protocol):
    """What outlives a crash; see edged.queue.journal."""

    def received(self, key: str, now_ns: int) -> int:
        """When it came first."""

    def done(self, key: str) -> None:
        """Finished for good."""

    def is_done(self, key: str) -> bool:
        """Finished, not yet known to be acknowledged."""

    def acked(self, key: str) -> None:
        """The broker has the acknowledgement."""

    def reused(self, mid: int) -> None:
        """The packet id belongs to a new message."""

    def clear(self) -> None:
        """The broker's session is gone."""

    def filters(self) -> tuple[str, ...]:
        """Filters the broker's session may hold."""

    def remember_filters(self, filters: Iterable[str]) -> None:
        """Filters subscribed now."""


class Session:
    """The broker session seen from here. `wake` rouses the mqtt thread; it is called under the lock."""

    def __init__(self, journal: Journal, wake: Callable[[], None]) -> None:
        self._journal = journal
        self._wake = wake
        self._lock = threading.RLock()
        self._ledger = AckLedger()
        self._outbox = Outbox()
        self._open: dict[str, Receipt] = {}
        """Ids of what is accepted and has not ended."""
        self._heirs: dict[str, list[Receipt]] = {}
        """Of those whose own receipt is void: what was sent again with the same id."""

    def emit(self, event: Event) -> None:
        """Any thread: journals a final event at once, leaves the rest to the mqtt thread."""
        with self._lock:
            self._settle(event)
            self._outbox.add(event)
            self._wake()

    def _settle(self, event: Event) -> None:
        """A final event settles its message, and those sent again for it while it was still to be said."""
        receipt, name = event.receipt, event.id or ""
        if receipt is None:
            return
        if event.kind is EventKind.ACCEPTED:
            self._open[name] = receipt
        elif event.kind is EventKind.DUPLICATE and self._is_void(name):
            self._heirs.setdefault(name, []).append(receipt)
        elif event.kind.is_final:
            self.discharge(receipt)
            if self._open.get(name) == receipt:  # not one refused that has its id
                del self._open[name]
                for heir in self._heirs.pop(name, ()):
                    self.discharge(heir)

    def _is_void(self, announcement_id: str) -> bool:
        """Still to be said, with nothing at the broker to bring it back after a crash."""
        held = self._open.get(announcement_id)
        return held is not None and (not held.qos or held.epoch != self._ledger.epoch)

    def notice(self, notice: Notice) -> None:
        """Any thread: to be published when the broker is there."""
        with self._lock:
            self._outbox.add(notice)
            self._wake()

    def offer(self, offer: Callable[[Utterance], list[Event]], utterance: Utterance) -> list[Event]:
        """Offers and emits under one lock: `accepted` always goes out before `started`.

        The speaking thread may take the utterance at once, but its events wait for the lock.
        """
        with self._lock:
            events = offer(utterance)
            for event in events:
                self.emit(event)
            return events

    def first_received_ns(self, receipt: Receipt, now_ns: int) -> int:
        """When this message came for the first time, which may have been before a crash."""
        return self._journal.received(receipt.key, now_ns)

    def discharge(self, receipt: Receipt) -> None:
        """The message needs nothing more than its acknowledgement."""
        with self._lock:
            if receipt.qos and self._ledger.settle(receipt):
                self._journal.done(receipt.key)

    def connected(self, session_present: bool) -> None:
        """A connection begins. Without its session every handle and every journaled key is void."""
        with self._lock:
            self._ledger.connected(session_present)
            self._outbox.connected()
            if not session_present:
                self._journal.clear()

    def admit(
        self, delivery: Delivery, response_topic: str | None, correlation: bytes | None
    ) -> tuple[Verdict, Receipt]:
        """Enters a delivery in the ledger. QoS 0 is always new and owed nothing."""
        with self._lock:
            epoch, answer = self._ledger.epoch, (response_topic, correlation)
            if delivery.qos == 0:
                return Verdict.NEW, Receipt(epoch, 0, 0, "", *answer)
            key = f"{delivery.mid}:{_digest(delivery)}"
            already_done = self._journal.is_done(key)
            verdict = self._ledger.receive(delivery.mid, key, delivery.dup, already_done)
            if not delivery.dup:
                self._journal.reused(delivery.mid)
            return verdict, Receipt(epoch, delivery.mid, delivery.qos, key, *answer)

    def take(self) -> tuple[list[tuple[int, Event | Notice]], list[tuple[int, str]]]:
        """Takes what is to be published, in order, each under the number that `published` wants, and
        what may be acknowledged after that, in order of receipt: packet id and key.

        Both at one instant: an acknowledgement that left before its own final event would be proven
        by that very event, and the event lost with a crash between the two.
        """
        with self._lock:
            return self._outbox.take(), self._ledger.due()

    def published(self, serial: int) -> None:
        """The broker has answered for it; what it has not goes out again on the next connection."""
        with self._lock:
            self._outbox.answered(serial)

    def proven(self, keys: Iterable[str]) -> None:
        """The broker has taken these acknowledgements for certain."""
        with self._lock:
            for key in keys:
                self._journal.acked(key)

    @property
    def waiting(self) -> int:
        """Events and notices that the broker has not answered for."""
        with self._lock:
            return len(self._outbox)

    @property
    def owed(self) -> int:
        """Messages received on this connection and not yet acknowledged."""
        with self._lock:
            return self._ledger.owed


def _digest(delivery: Delivery) -> str:
    return blake2b(delivery.topic.encode() + b"\0" + delivery.payload, digest_size=8).hexdigest()
