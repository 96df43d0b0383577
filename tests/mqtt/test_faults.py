"""Brokers and lines that are slow, frozen, killed or closed to us, and topics that are flooded."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from edged.mqtt import client
from edged.mqtt.codec import Stop
from edged.types import Event, EventKind, Utterance
from tests.broker import Broker, Listener, Proxy, until
from tests.mqtt.conftest import Board, MakeBoard

MakeBroker = Callable[..., Broker]
BOTH = pytest.mark.parametrize("protocol", ["5", "3.1.1"])
PUBACK = 4


def finish_all(board: Board) -> None:
    """All that was offered is done, and the broker has every acknowledgement."""
    for utterance in list(board.offered):
        board.finish(utterance)
    until(lambda: board.link.owed == 0, what="everything is acknowledged")


def test_a_frozen_line_is_found_out_and_nothing_is_lost_or_said_twice(
    broker: Broker, base: str, make_board: MakeBoard, caplog: pytest.LogCaptureFixture
) -> None:
    proxy = Proxy(broker.port)
    board = make_board(proxy.port, keepalive_s=1)
    with Listener(broker.port, f"{base}/event") as listener:
        listener.publish(f"{base}/say", "before")
        board.wait_texts("before")
        proxy.freeze()
        listener.publish(f"{base}/say", "meanwhile")
        board.finish(board.offered[0])
        began_s = time.monotonic()
        until(lambda: not board.link.status.connected, what="the half-open connection is given up")
        assert time.monotonic() - began_s < 4, "the keep-alive and its answer"
        assert board.texts() == ["before"]
        proxy.cut()
        proxy.thaw()
        board.wait_texts("before", "meanwhile")
        finish_all(board)
        listener.publish(f"{base}/say", "after")
        board.wait_texts("before", "meanwhile", "after")
        listener.wait_event(base, "finished", id=board.offered[0].id)
    assert "trying again" in caplog.text
    proxy.close()


@BOTH
def test_a_slow_broker_delays_and_spoils_nothing(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str
) -> None:
    proxy = Proxy(broker.port, delay_s=0.01)
    board = make_board(proxy.port, protocol=protocol)
    texts = [f"number {number}" for number in range(10)]
    with Listener(broker.port, f"{base}/event") as listener:
        listener.flood(f"{base}/say", texts)
        listener.publish(f"{base}/stop", "x", qos=0)
        board.wait_texts(*texts)
        for utterance in reversed(board.offered):
            board.finish(utterance)
        until(lambda: len([each for each in listener.events(base) if each["event"] == "finished"]) == 10)
        until(lambda: len(proxy.of(PUBACK, True)) == 10)
    assert board.controls == [Stop("x")]
    assert board.link.counts.reconnects == 0
    assert board.link.counts.duplicates == 0
    proxy.close()


@pytest.mark.parametrize(
    ("persistent", "how"), [(False, signal.SIGTERM), (True, signal.SIGKILL)], ids=["no-persistence", "killed"]
)
def test_a_broker_that_comes_back_without_our_session(
    base: str, make_board: MakeBoard, make_broker: MakeBroker, persistent: bool, how: signal.Signals
) -> None:
    broker = make_broker(persistent=persistent)
    board = make_board(broker.port)
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/say", "playing")
        publisher.publish(f"{base}/say", "waiting")
    board.wait_texts("playing", "waiting")
    broker.stop(how)
    until(lambda: not board.link.status.connected)
    broker.start()
    board.wait_up()
    with Listener(broker.port, f"{base}/#") as listener:
        for utterance in list(board.offered):
            board.finish(utterance)
        for utterance in list(board.offered):
            listener.wait_event(base, "finished", id=utterance.id)
        until(lambda: listener.last(f"{base}/availability") == b"online")
        listener.publish(f"{base}/say", "new")
        board.wait_texts("playing", "waiting", "new")
        finish_all(board)


def test_access_rules_that_close_topics_to_us_are_told_and_the_rest_is_spoken(
    base: str,
    make_board: MakeBoard,
    make_broker: MakeBroker,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    rules = tmp_path / "rules"
    rules.write_text(f"topic readwrite {base}/#\n")
    broker = make_broker(settings=(f"acl_file {rules}",))
    rules.chmod(0o644)
    board = make_board(broker.port, topics=("secret/#",), home_assistant="homeassistant")
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/say", "still here")
        board.wait_texts("still here")
    until(lambda: "refuses a publish of ours" in caplog.text)
    assert board.link.counts.reconnects == 0


@BOTH
@pytest.mark.parametrize("qos", [0, 1])
def test_a_flood_is_cut_off_counted_and_told_once(
    broker: Broker,
    base: str,
    make_board: MakeBoard,
    protocol: str,
    qos: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def speak(utterance: Utterance) -> list[Event]:
        return [Event(EventKind.FINISHED, utterance.id, receipt=utterance.receipt)]

    board = make_board(broker.port, protocol=protocol, answer=speak)
    board.rate = (1.0, 20)
    with Listener(broker.port, f"{base}/event") as listener:
        listener.flood(f"{base}/say", (f"text {number}" for number in range(400)), qos)
        listener.publish(f"{base}/stop", "all", qos=0)
        until(lambda: board.controls == [Stop(None)], 2, "a stop passes the flood")
        listener.publish(f"{base}/say", '{"text":"fire","priority":"urgent"}')
        until(lambda: "fire" in board.texts(), 2, "what is urgent passes the flood")
        listener.publish(f"{base}/say/attic", "elsewhere")
        until(lambda: "elsewhere" in board.texts(), 2, "another topic is none of it")
        until(lambda: board.link.owed == 0, what="what was dropped is acknowledged")
        passed = len(board.offered)
        assert 22 <= passed < 40
        assert board.link.counts.over_rate == 402 - passed
        event = listener.wait_event(base, "dropped")
        assert event["topic"] == f"{base}/say"
        assert event["reason"].startswith(
            "too many messages on one topic: more than 20 at once and 1 a second"
        )
        assert len([each for each in listener.events(base) if each["event"] == "dropped"]) == 1
        board.rate = (1000.0, 20)
        time.sleep(0.05)
        listener.publish(f"{base}/say", "the flood is over")
        until(lambda: "the flood is over" in board.texts())
    assert len([line for line in caplog.messages if "too many messages" in line]) == 1


def test_a_flood_of_nonsense_is_told_as_often_as_the_rate_lets_it(
    broker: Broker, base: str, make_board: MakeBoard, caplog: pytest.LogCaptureFixture
) -> None:
    board = make_board(broker.port)
    board.rate = (1.0, 5)
    with Listener(broker.port, f"{base}/event") as listener:
        listener.flood(f"{base}/say", ["null"] * 100)
        listener.flood(f"{base}/stop", ['{"id":5.5}'] * 100)
        listener.flood(f"{base}/reload", [""] * 100)
        listener.publish(f"{base}/stop", "all", qos=0)
        until(lambda: Stop(None) in board.controls, 2, "a stop passes the flood of its own topic")
        listener.publish(f"{base}/say/hall", "end")
        board.wait_texts("end")
        until(lambda: board.link.counts.over_rate >= 280)
        events = [each["event"] for each in listener.events(base)]
    assert events.count("failed") < 15
    assert events.count("dropped") == 3
    assert len(board.controls) < 10
    assert len(caplog.messages) < 25


@BOTH
def test_what_waited_at_the_broker_is_no_flood(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def speak(utterance: Utterance) -> list[Event]:
        return [Event(EventKind.FINISHED, utterance.id, receipt=utterance.receipt)]

    settings = {"protocol": protocol, "client_id": f"backlog-{base[-6:]}", "journal": "kept"}
    make_board(broker.port, **settings).link.stop(3)
    texts = [f"text {number}" for number in range(60)]
    with Listener(broker.port) as publisher:
        publisher.flood(f"{base}/say", texts)
    monkeypatch.setattr(client, "_SPARE_WINDOW", 0)
    board = make_board(broker.port, start=False, answer=speak, queue_bound=60, **settings)
    board.rate = (1.0, 5)
    board.link.start()
    board.wait_texts(*texts)
    with Listener(broker.port) as publisher:
        publisher.flood(f"{base}/say", ["more"] * 20)
    until(lambda: board.link.counts.over_rate >= 14, what="what comes now is one")


@BOTH
def test_five_megabytes_block_nothing(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str
) -> None:
    """MQTT 5 brokers keep it away; before, it is read, refused and told."""
    board = make_board(broker.port, protocol=protocol)
    with Listener(broker.port, f"{base}/event") as listener:
        for _ in range(3):
            listener.publish(f"{base}/say", b"x" * 5_000_000)
        listener.publish(f"{base}/say", "small")
        board.wait_texts("small")
        finish_all(board)
        listener.wait_event(base, "finished")
        failed = [each for each in listener.events(base) if each["event"] == "failed"]
        assert len(failed) == (0 if protocol == "5" else 3)
