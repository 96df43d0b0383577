from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from edged.mqtt.acks import AckLedger, Verdict
from edged.types import Receipt


def receipt(ledger: AckLedger, mid: int, key: str | None = None) -> Receipt:
    return Receipt(ledger.epoch, mid, 1, key or f"{mid}:h")


def receive(ledger: AckLedger, *mids: int) -> list[Receipt]:
    for mid in mids:
        assert ledger.receive(mid, f"{mid}:h", dup=False, already_done=False) is Verdict.NEW
    return [receipt(ledger, mid) for mid in mids]


def mids(ledger: AckLedger) -> list[int]:
    return [mid for mid, _ in ledger.due()]


def test_acknowledged_in_the_order_of_receipt() -> None:
    ledger = AckLedger()
    first, second, third = receive(ledger, 5, 2, 9)
    assert ledger.settle(third)
    assert ledger.settle(second)
    assert mids(ledger) == []
    assert ledger.settle(first)
    assert mids(ledger) == [5, 2, 9]
    assert mids(ledger) == []
    assert ledger.owed == 0


def test_settled_twice_is_acknowledged_once() -> None:
    ledger = AckLedger()
    (first,) = receive(ledger, 1)
    ledger.settle(first)
    ledger.settle(first)
    assert mids(ledger) == [1]


def test_an_open_message_sent_again_is_bound_to_the_new_connection() -> None:
    ledger = AckLedger()
    first, second = receive(ledger, 1, 2)
    ledger.connected(session_present=True)
    assert ledger.receive(1, "1:h", dup=True, already_done=False) is Verdict.OPEN
    assert ledger.receive(2, "2:h", dup=True, already_done=False) is Verdict.OPEN
    ledger.settle(second)
    assert mids(ledger) == []
    ledger.settle(first)
    assert mids(ledger) == [1, 2]


def test_done_while_away_is_acknowledged_when_it_comes_again() -> None:
    ledger = AckLedger()
    first, _ = receive(ledger, 1, 2)
    ledger.connected(session_present=True)
    ledger.settle(first)
    assert mids(ledger) == [], "not before the broker sends it again"
    assert ledger.receive(1, "1:h", dup=True, already_done=True) is Verdict.DONE
    assert mids(ledger) == [1]


def test_a_redelivery_that_is_done_waits_its_turn() -> None:
    ledger = AckLedger()
    assert ledger.receive(1, "1:h", dup=True, already_done=False) is Verdict.NEW
    assert ledger.receive(2, "2:h", dup=True, already_done=True) is Verdict.DONE
    assert mids(ledger) == []
    ledger.settle(receipt(ledger, 1))
    assert mids(ledger) == [1, 2]


def test_dup_but_unknown_and_known_but_not_dup_are_new() -> None:
    ledger = AckLedger()
    receive(ledger, 1)
    ledger.connected(session_present=True)
    assert ledger.receive(1, "1:other", dup=True, already_done=False) is Verdict.NEW
    assert ledger.receive(2, "2:h", dup=False, already_done=True) is Verdict.NEW
    assert ledger.receive(3, "3:h", dup=False, already_done=False) is Verdict.NEW
    assert ledger.receive(3, "3:h", dup=False, already_done=False) is Verdict.NEW


def test_what_was_open_in_an_earlier_session_is_not_known_in_a_new_one() -> None:
    ledger = AckLedger()
    receive(ledger, 1)
    ledger.connected(session_present=False)
    assert ledger.receive(1, "1:h", dup=True, already_done=False) is Verdict.NEW


def test_a_new_session_voids_what_was_open() -> None:
    ledger = AckLedger()
    (old,) = receive(ledger, 1)
    ledger.connected(session_present=False)
    (new,) = receive(ledger, 1)
    assert not ledger.settle(old)
    assert mids(ledger) == [], "the end of the old one does not acknowledge the new one"
    assert ledger.settle(new)
    assert mids(ledger) == [1]


class Exchange(RuleBasedStateMachine):
    """The ledger against a broker that resends what it has no acknowledgement for, and may lose some."""

    @initialize()
    def start(self) -> None:
        self.ledger = AckLedger()
        self.journal: set[str] = set()
        self.next_mid = 0
        self.in_flight: list[tuple[int, bool]] = []
        self.delivered: list[int] = []
        self.acked: list[int] = []
        self.playing: dict[tuple[int, int], Receipt] = {}
        self.spoken: list[tuple[int, int]] = []
        self.session = 0
        self.ledger.connected(session_present=True)

    @rule()
    def publish(self) -> None:
        self.next_mid += 1
        self.deliver(self.next_mid, dup=False)
        self.in_flight.append((self.next_mid, True))

    def deliver(self, mid: int, dup: bool) -> None:
        key = f"{mid}:h"
        self.delivered.append(mid)
        verdict = self.ledger.receive(mid, key, dup, key in self.journal)
        if verdict is Verdict.NEW:
            assert (self.ledger.epoch, mid) not in self.playing
            self.playing[self.ledger.epoch, mid] = receipt(self.ledger, mid)

    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        if self.playing:
            epoch, mid = data.draw(st.sampled_from(sorted(self.playing)))
            done = self.playing.pop((epoch, mid))
            if self.ledger.settle(done):
                self.journal.add(done.key)
            self.spoken.append((epoch, mid))

    @rule(heard=st.booleans())
    def acknowledge(self, heard: bool) -> None:
        for mid, key in self.ledger.due():
            self.acked.append(mid)
            assert key in self.journal
            if heard:
                self.in_flight = [(each, sent) for each, sent in self.in_flight if each != mid]

    @rule()
    def drop_connection(self) -> None:
        self.acked.clear()
        self.delivered.clear()
        self.ledger.connected(session_present=True)
        for mid, _ in list(self.in_flight):
            self.deliver(mid, dup=True)

    @rule()
    def lose_session(self) -> None:
        self.acked.clear()
        self.delivered.clear()
        self.in_flight.clear()
        self.journal.clear()
        self.next_mid = 0
        self.ledger.connected(session_present=False)

    @invariant()
    def acks_leave_in_the_order_of_receipt(self) -> None:
        if hasattr(self, "ledger"):
            assert self.acked == self.delivered[: len(self.acked)]

    @invariant()
    def nothing_is_spoken_twice(self) -> None:
        if hasattr(self, "ledger"):
            assert len(self.spoken) == len(set(self.spoken))


TestExchange = Exchange.TestCase
TestExchange.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
