"""What a crash, a stop and an urgent message do to announcements that wait."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.broker import Listener, until
from tests.daemon.harness import Daemon

LONG = "This is a rather long announcement, which takes a good while to be said. " * 2


def say(listen: Listener, base: str, id: str, text: str, **more: object) -> None:
    members = "".join(f', "{key}": "{value}"' for key, value in more.items())
    listen.publish(f"{base}/say", f'{{"text": "{text}", "id": "{id}"{members}}}')


def count(listen: Listener, base: str, kind: str, id: str) -> int:
    return sum((event["event"], event.get("id")) == (kind, id) for event in listen.events(base))


def test_after_a_kill_in_mid_sentence_only_the_unfinished_is_said(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    daemon = start()
    say(listen, base, "one", "The first one.")
    say(listen, base, "two", LONG)
    say(listen, base, "three", "The third one.")
    listen.wait_event(base, "started", 20, id="two")
    time.sleep(0.5)
    daemon.kill()
    daemon.start()
    listen.wait_event(base, "finished", 40, id="two")
    listen.wait_event(base, "finished", 40, id="three")
    assert count(listen, base, "started", "one") == 1
    assert count(listen, base, "started", "two") == 2
    assert count(listen, base, "finished", "two") == 1


def test_what_was_finished_and_not_acknowledged_is_not_said_again(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    """The low one is received first and said last, so its PUBACK holds back the other's."""
    daemon = start()
    say(listen, base, "playing", LONG, priority="high")
    listen.wait_event(base, "started", 20, id="playing")
    say(listen, base, "low", LONG, priority="low")
    say(listen, base, "high", "Quick one.", priority="high")
    listen.wait_event(base, "finished", 40, id="high")
    daemon.kill()
    daemon.start()
    listen.wait_event(base, "finished", 60, id="low")
    say(listen, base, "after", "After.")
    listen.wait_event(base, "finished", 20, id="after")
    assert count(listen, base, "started", "high") == 1
    assert count(listen, base, "finished", "high") == 1
    assert count(listen, base, "finished", "low") == 1


def test_a_message_that_kills_the_daemon_is_poisoned_at_its_third_start(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    daemon = start()
    for turn in range(2):
        if turn == 0:
            say(listen, base, "killer", LONG)
        until(lambda turn=turn: count(listen, base, "started", "killer") == turn + 1, 20, "its start")
        daemon.kill()
        daemon.start()
    assert listen.wait_event(base, "failed", 30, id="killer")["reason"] == "poisoned"
    say(listen, base, "after", "After.")
    listen.wait_event(base, "finished", 20, id="after")
    daemon.kill()
    daemon.start()
    say(listen, base, "again", "Again.")
    listen.wait_event(base, "finished", 20, id="again")
    assert count(listen, base, "failed", "killer") == 1


def test_an_orderly_stop_in_mid_sentence_is_no_attempt(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    daemon = start(process={"drain_limit_s": 0})
    say(listen, base, "long", LONG)
    for turn in range(3):
        until(lambda turn=turn: count(listen, base, "started", "long") == turn + 1, 20, "its start")
        assert daemon.stop() == 0
        daemon.start()
    listen.wait_event(base, "finished", 40, id="long")


def test_a_hundred_wait_then_a_stop_and_an_urgent_one(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    start(queue={"bound": 128})
    say(listen, base, "playing", LONG)
    listen.wait_event(base, "started", 20, id="playing")
    for number in range(100):
        say(listen, base, f"w{number}", f"Number {number} is waiting.")
    until(lambda: sum(e["event"] == "accepted" for e in listen.events(base)) == 101, 20, "all accepted")
    say(listen, base, "fire", "Fire.", priority="urgent")
    listen.wait_event(base, "finished", 20, id="fire")
    assert count(listen, base, "finished", "playing") == 0
    listen.publish(f"{base}/stop", "", qos=0)
    until(lambda: sum(e["event"] == "dropped" for e in listen.events(base)) >= 100, 20, "the stop")
    say(listen, base, "last", "Quiet again.")
    listen.wait_event(base, "finished", 20, id="last")
    finals = {"finished", "failed", "dropped", "expired"}
    ended = [event["id"] for event in listen.events(base) if event["event"] in finals]
    assert len(ended) == len(set(ended)) == 103


def test_sigterm_finishes_the_sentence_and_keeps_the_rest_at_the_broker(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    daemon = start()
    say(listen, base, "playing", "This one is said to its end.")
    listen.wait_event(base, "started", 20, id="playing")
    say(listen, base, "waiting", "This one comes after the restart.")
    listen.wait_event(base, "accepted", 20, id="waiting")
    assert daemon.stop() == 0
    listen.wait_event(base, "finished", 5, id="playing")
    assert count(listen, base, "started", "waiting") == 0
    daemon.start()
    listen.wait_event(base, "finished", 20, id="waiting")


def test_a_second_sigterm_cuts(start: Callable[..., Daemon], listen: Listener, base: str) -> None:
    daemon = start()
    say(listen, base, "playing", LONG)
    listen.wait_event(base, "started", 20, id="playing")
    daemon.signal(15)
    time.sleep(0.3)
    daemon.signal(15)
    before_s = time.monotonic()
    assert daemon.wait() == 0
    assert time.monotonic() - before_s < 5
    assert count(listen, base, "finished", "playing") == 0
