from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from edged.queue.announcements import Announcements
from edged.queue.gather import Gather
from edged.types import Announcement, Event, EventKind, Part, Priority, Receipt, Utterance

S = 1_000_000_000
KINDS = EventKind

FOR_EVER_NS = 2**63
WINDOW_S = 30


def say(text_id: str, received_s: float = 0, ttl_s: float = 120, **fields: Any) -> Utterance:
    received_ns = int(received_s * S)
    receipt = Receipt(1, hash(text_id) % 65535 + 1, 1, f"1:{text_id}")
    return Utterance(
        Announcement(text_id, f"text of {text_id}", **fields),
        received_ns,
        received_ns + int(ttl_s * S),
        receipt,
    )


def queue(bound: int = 8, zones: tuple[str, ...] = ("main", "attic")) -> Announcements:
    return Announcements(bound, zones)


def offer(waiting: Announcements, *utterances: Utterance, now_s: float = 0) -> list[Event]:
    events: list[Event] = []
    for utterance in utterances:
        events += waiting.offer(utterance, int(now_s * S), dedup_window_s=600)
    return events


def taken(waiting: Announcements, zone: str = "main", now_s: float = 0) -> str | None:
    utterance, _ = waiting.take(zone, int(now_s * S))
    return utterance.id if utterance else None


def brief(events: list[Event]) -> list[tuple[EventKind, str | None]]:
    return [(event.kind, event.id) for event in events]


def test_spoken_by_priority_then_arrival() -> None:
    waiting = queue()
    offer(
        waiting,
        say("a"),
        say("low", priority=Priority.LOW),
        say("b"),
        say("urgent", priority=Priority.URGENT),
        say("high", priority=Priority.HIGH),
    )
    assert [taken(waiting) for _ in range(6)] == ["urgent", "high", "a", "b", "low", None]


def test_accepted_event_carries_the_receipt() -> None:
    utterance = say("a")
    (event,) = offer(queue(), utterance)
    assert (event.kind, event.id, event.receipt) == (KINDS.ACCEPTED, "a", utterance.receipt)


def test_over_the_bound_the_oldest_of_the_lowest_priority_goes() -> None:
    waiting = queue(bound=3)
    offer(waiting, say("n1"), say("l1", priority=Priority.LOW), say("l2", priority=Priority.LOW))
    assert brief(offer(waiting, say("n2"))) == [(KINDS.ACCEPTED, "n2"), (KINDS.DROPPED, "l1")]
    assert brief(offer(waiting, say("n3"))) == [(KINDS.ACCEPTED, "n3"), (KINDS.DROPPED, "l2")]
    (event,) = offer(waiting, say("l3", priority=Priority.LOW))
    assert (event.kind, event.id) == (KINDS.DROPPED, "l3")
    assert event.reason is not None
    assert "queue full (3 waiting)" in event.reason
    assert [taken(waiting) for _ in range(4)] == ["n1", "n2", "n3", None]


def test_the_too_old_make_room_before_anything_is_dropped() -> None:
    waiting = queue(bound=2)
    offer(waiting, say("fresh"), say("old", ttl_s=5))
    events = offer(waiting, say("new", received_s=10), now_s=10)
    assert brief(events) == [(KINDS.ACCEPTED, "new"), (KINDS.EXPIRED, "old")]
    assert events[1].reason == "too old: waited 10.0 s, the limit is 5 s"


def test_expired_at_the_deadline_and_not_before() -> None:
    waiting = queue()
    offer(waiting, say("a", ttl_s=5))
    assert waiting.expire(5 * S - 1) == []
    assert brief(waiting.expire(5 * S)) == [(KINDS.EXPIRED, "a")]
    assert len(waiting) == 0


def test_take_reports_what_expired_in_any_zone() -> None:
    waiting = queue()
    offer(waiting, say("attic", ttl_s=5, zone="attic"), say("b"))
    utterance, events = waiting.take("main", 6 * S)
    assert utterance is not None
    assert utterance.id == "b"
    assert brief(events) == [(KINDS.EXPIRED, "attic")]


def test_a_given_id_within_the_window_is_a_duplicate() -> None:
    waiting = queue()
    offer(waiting, say("bell", id_given=True))
    assert taken(waiting) == "bell"
    (event,) = offer(waiting, say("bell", id_given=True), now_s=599)
    assert (event.kind, event.reason) == (KINDS.DUPLICATE, "the same id came 599 s ago")
    assert brief(offer(waiting, say("bell", received_s=600, id_given=True), now_s=600)) == [
        (KINDS.ACCEPTED, "bell")
    ]


def test_equal_texts_with_ids_of_our_own_are_no_duplicates() -> None:
    waiting = queue()
    assert brief(offer(waiting, say("a"), say("a"))) == [(KINDS.ACCEPTED, "a")] * 2


def test_the_id_of_a_dropped_one_may_come_again() -> None:
    waiting = queue(bound=1)
    offer(waiting, say("a", id_given=True), say("b", id_given=True))
    assert brief(offer(waiting, say("a", id_given=True)))[0] == (KINDS.ACCEPTED, "a")


def test_the_id_of_one_that_expired_or_failed_may_come_again() -> None:
    waiting = queue()
    offer(waiting, say("late", ttl_s=5, id_given=True), say("failed", id_given=True))
    waiting.expire(6 * S)
    assert taken(waiting) == "failed"
    waiting.forget("failed")
    again = [say("late", received_s=7, id_given=True), say("failed", received_s=7, id_given=True)]
    assert brief(offer(waiting, *again, now_s=7)) == [(KINDS.ACCEPTED, "late"), (KINDS.ACCEPTED, "failed")]


def test_what_only_absent_zones_have_not_said_is_given_up() -> None:
    waiting = queue(zones=("main", "attic", "hall"))
    offer(waiting, say("a", zone="all"), say("b", zone="attic"))
    waiting.take("main", 0)
    assert waiting.give_up(1, ["attic"], "gone") == [], "the hall still has to say it"
    waiting.take("hall", 0)
    (event,) = waiting.give_up(1, ["attic"], "gone")
    assert (event.kind, event.id, event.reason, event.zone) == (KINDS.EXPIRED, "a", "gone", "attic")
    assert taken(waiting, "attic") == "b"


def test_a_zone_takes_its_own_and_the_first_zone_what_names_none() -> None:
    waiting = queue()
    offer(waiting, say("nowhere"), say("up", zone="attic"), say("here", zone="main"))
    assert taken(waiting, "attic") == "up"
    assert taken(waiting, "attic") is None
    assert [taken(waiting), taken(waiting)] == ["nowhere", "here"]


def test_an_unknown_zone_is_refused_with_the_known_ones() -> None:
    (event,) = offer(queue(), say("a", zone="cellar"))
    assert (event.kind, event.reason) == (KINDS.FAILED, "no zone 'cellar' here; zones: main, attic, all")


def test_cancel_one_and_all() -> None:
    waiting = queue()
    offer(waiting, say("a"), say("b"), say("c"))
    (event,) = waiting.cancel("b", FOR_EVER_NS)
    assert (event.kind, event.id, event.reason) == (KINDS.DROPPED, "b", "stopped")
    assert waiting.cancel("b", FOR_EVER_NS) == []
    assert brief(waiting.cancel(None, FOR_EVER_NS)) == [(KINDS.DROPPED, "a"), (KINDS.DROPPED, "c")]
    assert len(waiting) == 0


def test_for_all_zones_each_takes_its_part_and_there_is_one_end() -> None:
    waiting, gather = queue(), Gather()
    assert [gather(event) for event in offer(waiting, say("a", zone="all"))] == [
        Event(KINDS.ACCEPTED, "a", receipt=say("a").receipt, zone="all")
    ]
    assert len(waiting) == 1
    parts = [waiting.take(zone, 0)[0] for zone in ("main", "attic")]
    assert [part and part.part for part in parts] == [Part("main", 1, 2), Part("attic", 1, 2)]
    main, attic = (part.part for part in parts if part)
    started = [
        Event(KINDS.STARTED, "a", first_audio_ms=ms, part=part) for ms, part in ((20, main), (22, attic))
    ]
    assert [gather(event) for event in started] == [
        Event(KINDS.STARTED, "a", first_audio_ms=20, zone="all"),
        None,
    ]
    assert gather(Event(KINDS.FINISHED, "a", first_audio_ms=20.0, underfills=0, part=main)) is None
    assert gather(Event(KINDS.FINISHED, "a", first_audio_ms=22.0, underfills=1, part=attic)) == Event(
        KINDS.FINISHED,
        "a",
        first_audio_ms=22.0,
        underfills=1,
        zone="all",
        zones_ms={"main": 20.0, "attic": 22.0},
    )


@pytest.mark.parametrize(
    ("kinds", "together", "reason"),
    [
        ((KINDS.EXPIRED, KINDS.FINISHED), KINDS.FINISHED, "main: expired (late)"),
        ((KINDS.FINISHED, KINDS.FAILED), KINDS.FAILED, "attic: failed (bad audio)"),
        ((KINDS.EXPIRED, KINDS.EXPIRED), KINDS.EXPIRED, "late"),
        ((KINDS.DROPPED, KINDS.EXPIRED), KINDS.DROPPED, "main: dropped (stopped); attic: expired (late)"),
    ],
)
def test_what_parts_that_end_differently_make_together(
    kinds: tuple[EventKind, EventKind], together: EventKind, reason: str
) -> None:
    reasons = {KINDS.EXPIRED: "late", KINDS.FAILED: "bad audio", KINDS.DROPPED: "stopped"}
    gather = Gather()
    ends = [
        gather(Event(kind, "a", reasons.get(kind), part=Part(zone, 1, 2)))
        for kind, zone in zip(kinds, ("main", "attic"), strict=True)
    ]
    assert ends == [None, Event(together, "a", reason, zone="all")]


@pytest.mark.parametrize(
    ("fields", "playing", "expected"),
    [
        ({"priority": Priority.URGENT}, Priority.HIGH, True),
        ({"priority": Priority.URGENT}, Priority.URGENT, False),
        ({"priority": Priority.HIGH}, Priority.LOW, False),
        ({"interrupt": True}, Priority.NORMAL, True),
        ({"interrupt": True}, Priority.LOW, True),
        ({"interrupt": True}, Priority.HIGH, False),
        ({"interrupt": True, "priority": Priority.URGENT}, Priority.URGENT, True),
        ({"zone": "attic", "priority": Priority.URGENT}, Priority.LOW, False),
    ],
)
def test_who_interrupts_whom(fields: dict[str, Any], playing: Priority, expected: bool) -> None:
    waiting = queue()
    offer(waiting, say("new", **fields))
    assert waiting.interrupts("main", say("playing", priority=playing)) is expected


def test_two_that_interrupt_do_not_alternate_for_ever() -> None:
    waiting = queue()
    first, second = say("first", interrupt=True), say("second", interrupt=True)
    offer(waiting, say("early"), second)
    assert waiting.interrupts("main", first)
    waiting.put_back(first)
    assert taken(waiting) == "second"
    assert not waiting.interrupts("main", second)
    assert [taken(waiting), taken(waiting)] == ["first", "early"]


def test_put_back_goes_to_the_head_of_its_priority_the_latest_first() -> None:
    waiting = queue()
    offer(waiting, say("later"), say("high", priority=Priority.HIGH))
    waiting.put_back(say("one"))
    waiting.put_back(say("two"))
    assert [taken(waiting) for _ in range(4)] == ["high", "two", "one", "later"]


class Model(RuleBasedStateMachine):
    """The queue against a plain list that is sorted and searched anew at every step."""

    @initialize(bound=st.integers(1, 5))
    def start(self, bound: int) -> None:
        self.bound = bound
        self.extra = 0
        self.real = Announcements(bound, ("main", "attic"))
        self.model: list[tuple[Utterance, int, bool, str, int]] = []
        """(utterance, place in order of arrival, interrupts, zone, number)"""
        self.gather = Gather()
        self.now_ns = 0
        self.count = 0
        self.open: Counter[str] = Counter()
        self.remembered: dict[str, int] = {}
        """When a given id was last taken in; not those that its sender may try again."""

    @rule(
        priority=st.sampled_from(Priority),
        interrupt=st.booleans(),
        ttl_s=st.integers(1, 30),
        zone=st.sampled_from([None, "main", "attic", "all"]),
        given=st.sampled_from([None, None, "a", "b"]),
    )
    def offer(
        self, priority: Priority, interrupt: bool, ttl_s: int, zone: str | None, given: str | None
    ) -> None:
        self.count += 1
        fields: dict[str, Any] = {"priority": priority, "interrupt": interrupt, "zone": zone}
        utterance = say(
            given or str(self.count), self.now_ns / S, ttl_s, id_given=given is not None, **fields
        )
        if given and self.now_ns - self.remembered.get(given, -FOR_EVER_NS) < WINDOW_S * S:
            (event,) = self.real.offer(utterance, self.now_ns, WINDOW_S)
            assert (event.kind, event.id) == (KINDS.DUPLICATE, given)
            return
        if given:
            self.remembered[given] = self.now_ns
        self.open[utterance.id] += 1
        for each in ("main", "attic") if zone == "all" else (zone or "main",):
            self.model.append((utterance, self.count, interrupt, each, self.count))
        events = self.real.offer(utterance, self.now_ns, WINDOW_S)
        if self.waiting() > self.bound:
            self.drop_late()
        while self.waiting() > self.bound:
            victim = min(self.model, key=lambda w: (w[0].announcement.priority, w[1]))
            self.model = [w for w in self.model if w[1] != victim[1]]
        assert (events[0].kind is KINDS.ACCEPTED) == any(w[0] is utterance for w in self.model)
        self.note(events)

    @rule(zone=st.sampled_from(["main", "attic"]), finish=st.booleans())
    def take(self, zone: str, finish: bool) -> None:
        self.drop_late()
        order = sorted(
            (w for w in self.model if w[3] == zone),
            key=lambda w: (-w[0].announcement.priority, not w[2], w[1]),
        )
        utterance, events = self.real.take(zone, self.now_ns)
        self.note(events)
        assert (utterance.id if utterance else None) == (order[0][0].id if order else None)
        if utterance is None:
            return
        self.model.remove(order[0])
        if finish:
            self.note([Event(KINDS.FINISHED, utterance.id, part=utterance.part)])
        else:
            self.extra += 1
            self.real.put_back(utterance)
            self.model.append((utterance, -self.extra, False, zone, order[0][4]))

    @rule(seconds=st.integers(0, 20))
    def pass_time(self, seconds: int) -> None:
        self.now_ns += seconds * S

    @rule(which=st.integers(0, 40).map(str) | st.sampled_from(["a", "b"]))
    def cancel(self, which: str) -> None:
        chosen = None if which == "0" else which
        events = self.real.cancel(chosen, FOR_EVER_NS)
        self.model = [w for w in self.model if chosen not in (None, w[0].id)]
        self.note(events)

    def drop_late(self) -> None:
        self.model = [w for w in self.model if w[0].deadline_ns > self.now_ns]

    def note(self, events: list[Event]) -> None:
        for event in events:
            if event.kind is KINDS.EXPIRED or "queue full" in (event.reason or ""):
                self.remembered.pop(str(event.id), None)
        for event in filter(None, map(self.gather, events)):
            assert event.part is None
            if event.kind.is_final:
                assert event.id is not None
                self.open[event.id] -= 1

    def waiting(self) -> int:
        return len({w[1] for w in self.model})

    @invariant()
    def nothing_is_lost_or_ended_twice(self) -> None:
        if not hasattr(self, "real"):
            return
        waiting = {w[4]: w[0].id for w in self.model}
        assert Counter(waiting.values()) == +self.open
        assert min(self.open.values(), default=0) >= 0
        assert len(self.real) == self.waiting()
        assert len(self.real) <= self.bound + self.extra


TestModel = Model.TestCase
TestModel.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
