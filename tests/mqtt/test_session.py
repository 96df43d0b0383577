from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edged.mqtt.acks import Verdict
from edged.mqtt.outbox import Notice
from edged.mqtt.session import Session
from edged.mqtt.wire import Delivery
from edged.queue.journal import Journal
from edged.types import Event, EventKind, Receipt

MESSAGE = Delivery("base/say", b"text", mid=7, qos=1, dup=False, retain=False)
AGAIN = replace(MESSAGE, dup=True)


class Kept:
    """A session on a real journal that counts its wake-ups."""

    def __init__(self, folder: Path) -> None:
        self.wakes = 0
        self.journal = Journal(folder / "journal")
        self.session = Session(self.journal, self._wake)
        self._items: list[tuple[int, Event | Notice]] = []
        self._due: list[tuple[int, str]] = []

    def _wake(self) -> None:
        self.wakes += 1

    def numbered(self) -> list[tuple[int, Event | Notice]]:
        self._take()
        items, self._items = self._items, []
        return items

    def outgoing(self) -> list[Event | Notice]:
        return [item for _, item in self.numbered()]

    def due(self) -> list[tuple[int, str]]:
        self._take()
        due, self._due = self._due, []
        return due

    def _take(self) -> None:
        items, due = self.session.take()
        self._items += items
        self._due += due

    def admit(self, delivery: Delivery = MESSAGE) -> Receipt:
        verdict, receipt = self.session.admit(delivery, None, None)
        assert verdict is Verdict.NEW
        return receipt


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def finished(receipt: Receipt) -> Event:
    return Event(EventKind.FINISHED, "x", receipt=receipt)


def test_a_final_event_is_journaled_and_the_message_due(kept: Kept) -> None:
    receipt = kept.admit()
    kept.session.emit(Event(EventKind.STARTED, "x", receipt=receipt))
    assert kept.due() == []
    kept.session.emit(finished(receipt))
    assert kept.journal.is_done(receipt.key)
    assert kept.due() == [(7, receipt.key)]
    assert [event.kind.value for event in kept.outgoing() if isinstance(event, Event)] == [
        "started",
        "finished",
    ]
    assert kept.outgoing() == []
    assert kept.wakes == 2


def test_another_text_or_topic_under_the_same_packet_id_is_another_message(kept: Kept) -> None:
    keys = {
        kept.admit(each).key
        for each in (MESSAGE, replace(MESSAGE, payload=b"t"), replace(MESSAGE, topic="b"))
    }
    assert len(keys) == 3


def test_qos_0_is_always_new_and_owed_nothing(kept: Kept) -> None:
    receipt = kept.admit(replace(MESSAGE, mid=0, qos=0))
    kept.admit(replace(MESSAGE, mid=0, qos=0))
    kept.session.emit(finished(receipt))
    assert kept.due() == []
    assert not kept.journal.is_done(receipt.key)


def test_a_new_session_clears_the_journal(kept: Kept) -> None:
    receipt = kept.admit()
    kept.session.emit(finished(receipt))
    kept.session.connected(session_present=True)
    assert kept.journal.is_done(receipt.key)
    kept.session.connected(session_present=False)
    assert not kept.journal.is_done(receipt.key)
    assert kept.session.admit(AGAIN, None, None)[0] is Verdict.NEW


def test_the_end_of_a_message_of_an_earlier_session_marks_nothing(kept: Kept) -> None:
    old = kept.admit()
    kept.session.connected(session_present=False)
    new = kept.admit()
    assert old.key == new.key
    kept.session.emit(finished(old))
    assert not kept.journal.is_done(new.key)
    assert kept.due() == []


def test_a_fresh_message_makes_what_is_kept_of_its_packet_id_void(kept: Kept) -> None:
    first = kept.admit()
    kept.journal.begin(first.key)
    kept.session.emit(finished(first))
    kept.due()
    second = kept.admit()
    assert not kept.journal.is_done(second.key)
    assert kept.journal.begin(second.key) == 1


def test_a_redelivery_keeps_the_count_of_attempts(tmp_path: Path) -> None:
    before = Kept(tmp_path)
    assert before.journal.begin(before.admit().key) == 1
    after = Kept(tmp_path)
    after.session.connected(session_present=True)
    assert after.journal.begin(after.admit(AGAIN).key) == 2


def test_what_the_broker_has_not_answered_goes_out_again_in_order(kept: Kept) -> None:
    notices = [Notice("what", str(number)) for number in range(6)]
    for notice in notices[:4]:
        kept.session.notice(notice)
    serials = [serial for serial, _ in kept.numbered()]
    kept.session.published(serials[0])
    kept.session.published(serials[2])
    kept.session.notice(notices[4])
    kept.session.connected(session_present=True)
    kept.session.notice(notices[5])
    assert kept.outgoing() == [notices[1], *notices[3:]]
    kept.session.published(serials[0])
    assert kept.outgoing() == []


def test_events_in_flight_count_against_the_bound_and_the_loss_is_logged_once(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(1000):
        kept.session.notice(Notice("what", str(number)))
    assert len(kept.outgoing()) == 1000
    for number in range(1000, 1100):
        kept.session.notice(Notice("what", str(number)))
    kept.session.connected(session_present=True)
    taken = kept.numbered()
    assert [item for _, item in taken] == [Notice("what", str(number)) for number in range(76, 1100)]
    assert len(caplog.messages) == 1
    for serial, _ in taken:
        kept.session.published(serial)
    for number in range(1025):
        kept.session.notice(Notice("what", str(number)))
    assert caplog.messages == ["1024 events wait for the broker: the oldest are given up"] * 2


def test_the_outbox_is_bounded_and_acknowledgements_are_not_lost_with_it(kept: Kept) -> None:
    receipt = kept.admit()
    kept.session.emit(finished(receipt))
    for number in range(3000):
        kept.session.notice(Notice("what", str(number)))
    taken = kept.outgoing()
    assert len(taken) == 1024
    assert taken[-1] == Notice("what", "2999")
    assert kept.due() == [(7, receipt.key)]


def test_what_is_sent_again_by_its_id_after_a_lost_session_is_owed_until_the_first_is_said(
    kept: Kept,
) -> None:
    kept.session.connected(session_present=False)
    first = kept.admit()
    kept.session.emit(Event(EventKind.ACCEPTED, "a", receipt=first))
    kept.session.connected(session_present=False)
    again = kept.admit(replace(MESSAGE, mid=1))
    kept.session.emit(Event(EventKind.DUPLICATE, "a", receipt=again))
    assert kept.due() == []
    assert not kept.journal.is_done(again.key)
    kept.session.emit(Event(EventKind.FAILED, "a", receipt=kept.admit(replace(MESSAGE, mid=2))))
    assert kept.due() == []
    kept.session.emit(Event(EventKind.FINISHED, "a", receipt=first))
    assert [mid for mid, _ in kept.due()] == [1, 2]
    assert kept.journal.is_done(again.key)


def test_a_duplicate_beside_a_first_one_that_the_broker_holds_is_done_at_once(kept: Kept) -> None:
    kept.session.connected(session_present=False)
    first = kept.admit()
    kept.session.emit(Event(EventKind.ACCEPTED, "a", receipt=first))
    again = kept.admit(replace(MESSAGE, mid=8))
    kept.session.emit(Event(EventKind.DUPLICATE, "a", receipt=again))
    assert kept.due() == []  # in order of receipt
    kept.session.emit(Event(EventKind.FINISHED, "a", receipt=first))
    assert [mid for mid, _ in kept.due()] == [7, 8]
