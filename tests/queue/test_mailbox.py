from __future__ import annotations

import threading
import time

from edged.queue.announcements import Announcements
from edged.queue.mailbox import Mailbox
from edged.types import Announcement, EventKind, Utterance

FAR_NS = 2**62

FOR_EVER_NS = 2**63


def say(name: str) -> Utterance:
    return Utterance(Announcement(name, name), 0, FAR_NS)


def mailbox(bound: int = 64) -> Mailbox:
    return Mailbox(Announcements(bound, ("main",)))


def test_a_waiting_thread_wakes_at_an_offer() -> None:
    box = mailbox()
    got: list[str] = []

    def speak() -> None:
        assert box.wait(10)
        utterance, _ = box.take("main", 0)
        assert utterance is not None
        got.append(utterance.id)

    thread = threading.Thread(target=speak)
    thread.start()
    box.offer(say("a"), 0, 0)
    thread.join(10)
    assert got == ["a"]


def test_a_wake_before_the_wait_is_not_lost_and_counts_once() -> None:
    box = mailbox()
    box.wake()
    box.wake()
    assert box.wait(0)
    assert not box.wait(0)


def test_an_idle_wait_ends_at_its_time() -> None:
    before_s = time.monotonic()
    assert not mailbox().wait(0.05)
    assert time.monotonic() - before_s >= 0.05


def test_every_offer_of_several_threads_is_taken_or_dropped_once() -> None:
    box = mailbox(bound=50)
    ends: list[str] = []
    lock = threading.Lock()
    stop = threading.Event()

    def put(name: int) -> None:
        for index in range(200):
            for event in box.offer(say(f"{name}-{index}"), 0, 0):
                if event.kind is not EventKind.ACCEPTED:
                    with lock:
                        ends.append(str(event.id))

    def speak() -> None:
        while not (stop.is_set() and len(box) == 0):
            utterance, _ = box.take("main", 0)
            if utterance is None:
                box.wait(0.01)
                continue
            with lock:
                ends.append(utterance.id)

    writers = [threading.Thread(target=put, args=(name,)) for name in range(4)]
    reader = threading.Thread(target=speak)
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join(20)
    stop.set()
    reader.join(20)
    assert sorted(ends) == sorted(f"{name}-{index}" for name in range(4) for index in range(200))


def test_the_verbs_reach_the_queue() -> None:
    box = mailbox()
    box.offer(say("a"), 0, 0)
    box.put_back(say("b"))
    assert len(box) == 2
    assert not box.interrupts("main", say("x"))
    assert [event.id for event in box.cancel("a", FOR_EVER_NS)] == ["a"]
    assert [event.id for event in box.expire(FAR_NS)] == ["b"]
