"""What is spoken, acknowledged and told when connections, brokers and processes end in the middle."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from edged.mqtt import backoff, client, serving
from edged.mqtt.codec import Stop
from edged.types import Event, EventKind
from tests.broker import Broker, Listener, Packet, Proxy, until
from tests.mqtt.conftest import MakeBoard

MakeBroker = Callable[..., Broker]
CONNECT, PUBLISH, PUBACK, SUBSCRIBE = 1, 3, 4, 8
BOTH = pytest.mark.parametrize("protocol", ["5", "3.1.1"])


@contextmanager
def proxy_to(port: int) -> Iterator[Proxy]:
    proxy = Proxy(port)
    yield proxy
    proxy.close()


def acknowledged(proxy: Proxy) -> list[int]:
    return [packet.mid for packet in proxy.of(PUBACK, from_client=True)]


def received(proxy: Proxy) -> list[int]:
    return [each.mid for each in proxy.of(PUBLISH, from_client=False) if each.flags & 6]


def test_the_session_is_kept_at_every_connect(broker: Broker, base: str, make_board: MakeBoard) -> None:
    with proxy_to(broker.port) as proxy:
        board = make_board(proxy.port, ttl_s=300, queue_bound=10)
        proxy.cut()
        until(lambda: len(proxy.of(CONNECT, True)) == 2)
        board.wait_up()
        for connect in proxy.of(CONNECT, True):
            version, flags = connect.body[6], connect.body[7]
            assert version == 5
            assert not flags & 2, "clean start"
            assert flags & 0x3C == 0x2C, "will, retained, QoS 1"
            properties = connect.body[11 : 11 + connect.body[10]]
            assert b"\x11" + (300).to_bytes(4, "big") in properties, "session expiry"
            assert b"\x21" + (1034).to_bytes(2, "big") in properties, "receive maximum"
            assert b"\x22\x00\x00" in properties, "topic alias maximum"
            assert b"\x27" + (262144 + 131072).to_bytes(4, "big") in properties, "maximum packet size"


def test_every_connect_subscribes_with_the_right_options(
    broker: Broker, base: str, make_board: MakeBoard
) -> None:
    with proxy_to(broker.port) as proxy:
        board = make_board(proxy.port)
        first = proxy.of(SUBSCRIBE, True)
        proxy.cut()
        until(lambda: len(proxy.of(SUBSCRIBE, True)) == 2 * len(first))
        board.wait_up()
    options = {}
    for packet in first:
        topic_filter = packet.body[3 + packet.body[2] :]
        options[topic_filter[2:-1].decode().removeprefix(f"{base}/")] = topic_filter[-1]
    no_local, no_retained = 1 << 2, 2 << 4
    spoken, command = 1 | no_local | no_retained, no_local | no_retained
    assert options == {
        "say": spoken,
        "say/+": spoken,
        "stop": command,
        "volume/set": command,
        "voice/set": command,
        "reload": command,
        "availability": no_retained,
    }


@BOTH
def test_acknowledged_in_the_order_of_receipt(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str
) -> None:
    with proxy_to(broker.port) as proxy, Listener(broker.port) as publisher:
        board = make_board(proxy.port, protocol=protocol)
        texts = [f"text {number}" for number in range(6)]
        for text in texts:
            publisher.publish(f"{base}/say", text)
        board.wait_texts(*texts)
        for index in (5, 3, 1, 2):
            board.finish(board.offered[index])
        publisher.publish(f"{base}/say", "null")
        until(lambda: board.link.counts.refused)
        assert acknowledged(proxy) == []
        board.finish(board.offered[0])
        until(lambda: len(acknowledged(proxy)) == 4)
        board.finish(board.offered[4])
        until(lambda: len(acknowledged(proxy)) == 7)
        assert acknowledged(proxy) == received(proxy)


@BOTH
def test_a_lost_acknowledgement_does_not_speak_again(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str
) -> None:
    with proxy_to(broker.port) as proxy, Listener(broker.port) as publisher:
        board = make_board(proxy.port, protocol=protocol)
        proxy.alter = lambda packet, raw: b"" if packet.kind == PUBACK and packet.from_client else raw
        publisher.publish(f"{base}/say", "once")
        board.wait_texts("once")
        board.finish(board.offered[0])
        until(lambda: len(acknowledged(proxy)) == 1)
        proxy.alter = lambda packet, raw: raw
        proxy.cut()
        until(lambda: len(acknowledged(proxy)) == 2)
        again = [each for each in proxy.of(PUBLISH, False) if each.flags & 6][-1]
        assert again.dup
        publisher.publish(f"{base}/say", "end")
        board.wait_texts("once", "end")
        assert board.link.counts.duplicates == 1


@BOTH
def test_the_same_text_twice_on_purpose_is_spoken_twice(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str
) -> None:
    board = make_board(broker.port, protocol=protocol)
    with Listener(broker.port) as publisher:
        for _ in range(3):
            publisher.publish(f"{base}/say", "The bell rings")
            until(lambda: board.offered)
            board.finish(board.offered[-1])
        board.wait_texts(*["The bell rings"] * 3)


@BOTH
def test_what_waits_and_plays_is_taken_up_again_and_not_repeated(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str
) -> None:
    with proxy_to(broker.port) as proxy, Listener(broker.port) as publisher:
        board = make_board(proxy.port, protocol=protocol)
        for text in ("playing", "done while away", "waiting"):
            publisher.publish(f"{base}/say", text)
        board.wait_texts("playing", "done while away", "waiting")
        proxy.cut()
        until(lambda: not board.link.status.connected)
        board.finish(board.offered[1])
        until(lambda: board.link.counts.duplicates == 3)
        board.finish(board.offered[0])
        board.finish(board.offered[2])
        until(lambda: board.link.owed == 0)
        publisher.publish(f"{base}/say", "new")
        board.wait_texts("playing", "done while away", "waiting", "new")
        assert acknowledged(proxy) == received(proxy)[3:6]


def test_the_journal_forgets_what_the_broker_has_for_certain(
    broker: Broker, base: str, make_board: MakeBoard
) -> None:
    board = make_board(broker.port)
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/say", "first")
        board.wait_texts("first")
        receipt = board.offered[0].receipt
        assert receipt is not None
        board.journal.begin(receipt.key)
        board.finish(board.offered[0])
        assert board.journal.is_done(receipt.key), "before emit returns"
        until(lambda: board.link.owed == 0)
        board.link.publish_state({"queue": 0})
        until(lambda: not board.journal.is_done(receipt.key))


def test_a_new_session_voids_the_old_handles(
    base: str, make_board: MakeBoard, make_broker: MakeBroker
) -> None:
    broker = make_broker()
    board = make_board(broker.port)
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/say", "same text")
        board.wait_texts("same text")
    broker.stop()
    until(lambda: not board.link.status.connected)
    broker.start()
    board.wait_up()
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/say", "same text")
        board.wait_texts("same text", "same text")
    old, new = (utterance.receipt for utterance in board.offered)
    assert old is not None
    assert new is not None
    assert (old.mid, old.key) == (new.mid, new.key), "the broker counts from the start again"
    board.finish(board.offered[0])
    until(lambda: not board.link._session.waiting)
    assert board.link.owed == 1
    board.finish(board.offered[1])
    until(lambda: board.link.owed == 0)


def test_a_broker_restarted_with_100_messages_waiting(
    base: str, make_board: MakeBoard, make_broker: MakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_SPARE_WINDOW", 64)
    broker = make_broker(persistent=True, settings=("max_queued_messages 1000",))
    board = make_board(broker.port, queue_bound=6)
    texts = [f"number {number}" for number in range(100)]
    window = 6 + 64
    with Listener(broker.port) as publisher:
        for text in texts:
            publisher.publish(f"{base}/say", text)
        publisher.publish(f"{base}/stop", "all", qos=0)
        until(lambda: board.controls == [Stop(None)], what="a stop passes what is unacknowledged")
    board.wait_texts(*texts[:window])
    board.finish(board.offered[0])
    until(lambda: len(board.offered) > window, what="the window moves on")
    broker.stop()
    board.finish(board.offered[1])
    broker.start()
    until(lambda: board.link.counts.duplicates >= window, what="what waits is taken up again")
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/stop", "", qos=0)
        until(lambda: len(board.controls) == 2)
        publisher.publish(f"{base}/say", '{"text":"fire","priority":"urgent"}')
    done = 2
    while done < 101:
        until(lambda: len(board.offered) > done)  # noqa: B023
        board.finish(board.offered[done])
        done += 1
    assert board.texts() == [*texts, "fire"]
    until(lambda: board.link.owed == 0)


def test_messages_published_while_we_are_away_are_spoken(
    base: str, make_board: MakeBoard, broker: Broker
) -> None:
    first = make_board(broker.port, client_id=f"away-{base[-6:]}", journal="kept")
    first.link.stop(5)
    first.journal.close()
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/say", "while away")
        publisher.publish(f"{base}/say", "lost at QoS 0", qos=0)
    second = make_board(broker.port, client_id=f"away-{base[-6:]}", journal="kept")
    second.wait_texts("while away")


class Killable:
    """tests.mqtt.board as a process."""

    def __init__(self, port: int, base: str, journal: Path) -> None:
        command = [
            sys.executable,
            "-m",
            "tests.mqtt.board",
            str(port),
            base,
            f"kill-{base[-6:]}",
            str(journal),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        code = self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


def test_a_killed_board_repeats_what_was_not_finished_and_nothing_else(
    broker: Broker, base: str, tmp_path: Path
) -> None:
    with Listener(broker.port, f"{base}/#") as listener:
        board = Killable(broker.port, base, tmp_path / "journal")
        until(lambda: listener.last(f"{base}/availability") == b"online")
        for text in ("held", "finished but waiting its turn", "held too"):
            listener.publish(f"{base}/say", text)
        assert [board.line() for _ in range(3)] == [
            "begun held 1",
            "begun finished but waiting its turn 1",
            "begun held too 1",
        ]
        listener.wait_event(base, "finished")
        board.kill()
        until(lambda: listener.last(f"{base}/availability") == b"offline")
        again = Killable(broker.port, base, tmp_path / "journal")
        assert [again.line(), again.line()] == ["begun held 2", "begun held too 2"]
        until(lambda: listener.last(f"{base}/availability") == b"online")
        with Listener(broker.port, f"{base}/availability") as fresh:
            until(lambda: fresh.last(f"{base}/availability") == b"online")
        again.kill()


def test_a_message_that_kills_the_board_is_given_up_at_its_third_start(
    broker: Broker, base: str, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    with Listener(broker.port, f"{base}/#") as listener:
        board = Killable(broker.port, base, journal)
        until(lambda: listener.last(f"{base}/availability") == b"online")
        listener.publish(f"{base}/say", "die")
        listener.publish(f"{base}/say", "finish this")
        assert board.line() == "begun die 1"
        assert board.wait() == -signal.SIGKILL
        board = Killable(broker.port, base, journal)
        assert board.line() == "begun die 2"
        assert board.wait() == -signal.SIGKILL
        board = Killable(broker.port, base, journal)
        assert [board.line(), board.line()] == ["begun die 3", "begun finish this 1"]
        event = listener.wait_event(base, "failed")
        assert event["reason"] == "poisoned"
        listener.wait_event(base, "finished")
        board.kill()


def test_a_late_will_does_not_leave_offline_standing(
    broker: Broker,
    base: str,
    make_board: MakeBoard,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving, "_REASSERT_NS", 200_000_000)
    monkeypatch.setattr(client, "_BEAT_S", 0.1)
    caplog.set_level(logging.INFO)
    make_board(broker.port)
    with Listener(broker.port, f"{base}/availability") as listener:
        for _ in range(2):
            listener.publish(f"{base}/availability", "offline", retain=True)
            until(lambda: listener.last(f"{base}/availability") == b"online")
    with Listener(broker.port, f"{base}/availability") as fresh:
        until(lambda: fresh.heard)
        assert fresh.heard[0].payload == b"online"
    assert "said offline, a late will; online again" in caplog.text


def test_the_will_of_a_connection_taken_over_does_not_leave_offline_standing(
    broker: Broker, base: str, make_board: MakeBoard
) -> None:
    client_id = f"taken-{base[-6:]}"
    with proxy_to(broker.port) as proxy:
        make_board(proxy.port, client_id=client_id)
        proxy.refuse()
        make_board(broker.port, client_id=client_id)
        with Listener(broker.port, f"{base}/availability") as fresh:
            until(lambda: fresh.last(f"{base}/availability") == b"online")


@BOTH
def test_two_boards_with_one_id_make_no_war_and_are_told(
    broker: Broker,
    base: str,
    make_board: MakeBoard,
    protocol: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every time is a tenth of the true one: what ten seconds would show, one shows."""
    monkeypatch.setattr(backoff, "_FIRST_S", 0.05)
    monkeypatch.setattr(backoff, "_SOON_S", 0.5)
    with proxy_to(broker.port) as proxy:
        client_id = f"clone-{base[-6:]}"
        first = make_board(proxy.port, client_id=client_id, protocol=protocol)
        second = make_board(proxy.port, client_id=client_id, protocol=protocol)
        end_s = time.monotonic() + 1
        with Listener(broker.port) as publisher:
            publisher.publish(f"{base}/say", "once")
            until(lambda: first.offered or second.offered)
            time.sleep(max(0.0, end_s - time.monotonic()))
            connects = len(proxy.of(CONNECT, True))
            until(lambda: "another client seems to use the id" in caplog.text, 20)
    boards = (first, second)
    assert connects <= 8, "two to begin with, one more to begin a new session"
    assert all(board.texts().count("once") <= 1 for board in boards)
    assert f"{client_id!r}: give every board its own mqtt.client_id" in caplog.text


def test_a_board_that_is_told_of_a_takeover_stays_away_and_says_so_once(
    broker: Broker,
    base: str,
    make_board: MakeBoard,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A broker that ends every connection with reason 0x8E, just after it is complete."""
    monkeypatch.setattr(backoff, "_FIRST_S", 0.2)

    def take_over(packet: Packet, raw: bytes) -> bytes:
        online = packet.kind == PUBACK and not packet.from_client
        return raw + b"\xe0\x02\x8e\x00" if online else raw

    with proxy_to(broker.port) as proxy:
        proxy.alter = take_over
        board = make_board(proxy.port, start=False)
        board.link.start()
        until(lambda: board.link.counts.reconnects >= 2, what="two takeovers")
        until(lambda: board.link.status.error, what="the second is told")
        time.sleep(0.4)
        assert len(proxy.of(CONNECT, True)) == 2, "the second wait is 4 to 8 times the first"
    told = [each for each in caplog.messages if "another client seems to use the id" in each]
    assert len(told) == 1
    assert "the broker said: Session taken over" in told[0]


def test_events_on_their_way_when_the_connection_breaks_are_sent_again_in_order(
    broker: Broker, base: str, make_board: MakeBoard
) -> None:
    answers = f"answers/{base}"
    with proxy_to(broker.port) as proxy, Listener(broker.port, f"{base}/event", answers) as listener:
        board = make_board(proxy.port)
        listener.publish(f"{base}/say", "swallowed", ResponseTopic=answers, CorrelationData=b"7")
        board.wait_texts("swallowed")
        (utterance,) = board.offered
        listener.wait_event(base, "accepted")
        until(lambda: len(listener.on(answers)) == 1)
        proxy.alter = lambda packet, raw: b"" if packet.from_client else raw
        published = len(proxy.of(PUBLISH, True))
        board.link.emit(Event(EventKind.STARTED, utterance.id, receipt=utterance.receipt))
        board.finish(utterance)
        board.link.notice("reload", "nothing changed")
        until(lambda: len(proxy.of(PUBLISH, True)) == published + 5)
        proxy.alter = lambda packet, raw: raw
        proxy.cut()
        listener.wait_event(base, "notice", what="reload")
        kinds = ["accepted", "started", "finished", "notice"]
        assert [event["event"] for event in listener.events(base)] == kinds
        until(lambda: len(listener.on(answers)) == 3)
        assert [heard.json["event"] for heard in listener.on(answers)] == kinds[:3]
        until(lambda: board.link.owed == 0)
        until(lambda: board.link._session.waiting == 0, what="the broker has answered for every event")
        proxy.cut()
        board.link.notice("reload", "again")
        listener.wait_event(base, "notice", reason="again")
        assert len(listener.events(base)) == 5, "what the broker has is not sent again"
    assert board.texts() == ["swallowed"]


def test_dup_alone_is_no_redelivery(broker: Broker, base: str, make_board: MakeBoard) -> None:
    """A broker may mark a message DUP that never reached us: it is spoken."""

    def first_lost(packet: Packet, raw: bytes) -> bytes:
        return b"" if packet.kind == PUBLISH and not packet.from_client and packet.flags & 6 else raw

    with proxy_to(broker.port) as proxy, Listener(broker.port) as publisher:
        board = make_board(proxy.port)
        proxy.alter = first_lost
        publisher.publish(f"{base}/say", "not heard at first")
        until(lambda: received(proxy))
        proxy.alter = lambda packet, raw: raw
        proxy.cut()
        board.wait_texts("not heard at first")
        assert board.link.counts.duplicates == 0
