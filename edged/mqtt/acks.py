"""The order-of-receipt acknowledgement ledger. Pure, not thread-safe: its owner holds a lock.

PUBACKs must leave in the order in which the PUBLISH packets came (MQTT 5, 4.6), therefore a message
that is done waits for those before it. A message is known by its key (packet id and hash) and by
the epoch: the count of broker sessions, since packet ids mean something in one session only. Over
connections of one session an open message is bound anew when the broker sends it again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum

from edged.types import Receipt


class Verdict(Enum):
    """What a received QoS 1 message is."""

    NEW = "new"
    OPEN = "open"
    """Sent again while we hold it, waiting or playing: nothing to do but acknowledge in the end."""
    DONE = "done"
    """Sent again although it is done: its acknowledgement was lost."""


@dataclass(slots=True)
class _Entry:
    mid: int
    key: str
    done: bool = False


class AckLedger:
    """Which messages are owed an acknowledgement on the present connection, and which may have it."""

    def __init__(self) -> None:
        self.epoch = 1
        self._order: deque[_Entry] = deque()
        self._open: dict[str, _Entry] = {}

    def connected(self, session_present: bool) -> None:
        """A connection begins: what the last one owed will be sent again, or is void with its session."""
        self._order.clear()
        if not session_present:
            self.epoch += 1
            self._open.clear()

    def receive(self, mid: int, key: str, dup: bool, already_done: bool) -> Verdict:
        """Notes one QoS 1 delivery. `already_done`: the journal holds the key as done.

        A redelivery is DUP and known, nothing less: anything else is a new message.
        """
        known = self._open.get(key)
        if dup and known is not None:
            self._order.append(known)
            return Verdict.OPEN
        entry = _Entry(mid, key, done=dup and already_done)
        self._order.append(entry)
        if entry.done:
            return Verdict.DONE
        self._open[key] = entry
        return Verdict.NEW

    def settle(self, receipt: Receipt) -> bool:
        """The message is done; False for a receipt of an earlier session, which is void."""
        if receipt.epoch != self.epoch:
            return False
        entry = self._open.pop(receipt.key, None)
        if entry is not None:
            entry.done = True
        return True

    def due(self) -> list[tuple[int, str]]:
        """Packet ids and keys that may be acknowledged now, in order; each is returned once."""
        ready: list[tuple[int, str]] = []
        while self._order and self._order[0].done:
            entry = self._order.popleft()
            ready.append((entry.mid, entry.key))
        return ready

    @property
    def owed(self) -> int:
        """Messages received on this connection and not yet acknowledged."""
        return len(self._order)
