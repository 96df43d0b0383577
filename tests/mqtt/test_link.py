"""The link against a real broker: connecting, speaking, refusing, commanding, answering."""

from __future__ import annotations

import json
import logging
import threading
import time
from dataclasses import replace

import pytest

from edged.mqtt import backoff, client
from edged.mqtt.codec import Reload, SetVoice, SetVolume, Stop
from edged.types import Event, EventKind, Utterance
from tests.broker import Broker, Listener, Proxy, until
from tests.mqtt.conftest import MakeBoard

BOTH = pytest.mark.parametrize("protocol", ["5", "3.1.1"])


@BOTH
def test_born_online_spoken_finished_and_offline_at_a_clean_stop(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str
) -> None:
    board = make_board(broker.port, protocol=protocol)
    with Listener(broker.port, f"{base}/#") as listener:
        until(lambda: listener.last(f"{base}/availability") == b"online")
        assert listener.on(f"{base}/availability")[0].retain
        listener.publish(f"{base}/say", "Dinner is ready")
        board.wait_texts("Dinner is ready")
        (utterance,) = board.offered
        assert utterance.receipt is not None
        assert utterance.receipt.qos == 1
        assert utterance.deadline_ns - utterance.received_ns == 120 * 10**9
        board.finish(utterance)
        listener.wait_event(base, "accepted", id=utterance.id)
        listener.wait_event(base, "finished", id=utterance.id)
        until(lambda: board.link.owed == 0)
        assert board.link.status.text == f"connected to 127.0.0.1:{broker.port}, MQTT {protocol}"
        board.link.stop(5)
        until(lambda: listener.last(f"{base}/availability") == b"offline")
        assert not board.link.status.connected
    with Listener(broker.port, f"{base}/availability") as fresh:
        until(lambda: fresh.last(f"{base}/availability") == b"offline")
        assert fresh.heard[0].retain


@BOTH
def test_payload_shapes(broker: Broker, base: str, make_board: MakeBoard, protocol: str) -> None:
    board = make_board(broker.port, protocol=protocol)
    refused = ['["a","b"]', "null", '{"text":5}', '{"txt":"hi"}', '{"text":"hi"', "true"]
    with Listener(broker.port, f"{base}/event") as listener:
        for payload in ["Kettle done", "42", "22.5", *refused, '{"text":"Done"}']:
            listener.publish(f"{base}/say", payload)
        board.wait_texts("Kettle done", "42", "22.5", "Done")
        until(lambda: len([e for e in listener.events(base) if e["event"] == "failed"]) == len(refused))
        reasons = [event["reason"] for event in listener.events(base) if event["event"] == "failed"]
        assert [event["topic"] for event in listener.events(base) if "topic" in event] == [f"{base}/say"] * 6
    assert reasons[:4] == [
        "a JSON array is not a text; send a string or an object with a text",
        "null is not a text",
        '"text" must be a string, not a number',
        'unknown key "txt" and no "text"',
    ]
    assert board.link.counts.refused == len(refused)
    assert board.link.counts.received == 4 + len(refused)


def test_invalid_utf8_is_told_and_the_next_is_spoken(
    broker: Broker, base: str, make_board: MakeBoard, caplog: pytest.LogCaptureFixture
) -> None:
    board = make_board(broker.port)
    with Listener(broker.port, f"{base}/event") as listener:
        listener.publish(f"{base}/say", bytes.fromhex("4B6974FFFE6368656E"))
        listener.publish(f"{base}/say", "Kitchen ready")
        board.wait_texts("Kitchen ready")
        event = listener.wait_event(base, "failed")
    assert event["reason"] == "invalid utf-8 at byte 3 of 9: \\xff\\xfe\\x63\\x68"
    assert event["topic"] == f"{base}/say"
    assert f"'{base}/say': refused, 9 bytes: invalid utf-8 at byte 3" in caplog.text


@BOTH
def test_retained_messages_are_not_spoken_at_any_connection(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backoff, "_SOON_S", 0.0)
    proxy = Proxy(broker.port)
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/say", "old news", retain=True)
        board = make_board(proxy.port, protocol=protocol)
        publisher.publish(f"{base}/say", "kept but live", retain=True)
        board.wait_texts("kept but live")
        board.finish(board.offered[0])
        for _ in range(3):
            reconnects = board.link.counts.reconnects
            proxy.cut()
            until(lambda before=reconnects: board.link.counts.reconnects > before)
            board.wait_up()
        publisher.publish(f"{base}/say", "", retain=True)
        publisher.publish(f"{base}/say", "live")
        board.wait_texts("kept but live", "", "live")
    assert board.link.counts.retained_ignored == (0 if protocol == "5" else 4)
    proxy.close()


@BOTH
def test_what_a_text_filter_and_our_own_topics_share_is_never_spoken(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    home = f"{base}/kitchen/say"
    topics = (f"{base}/+/say/#", f"{base}/#")
    board = make_board(broker.port, protocol=protocol, base=home, topics=topics)
    with Listener(broker.port, f"{home}/#") as listener:
        listener.publish(f"{home}/door", "Someone at the door")
        listener.publish(f"{home}/say", "Twice on purpose")
        listener.publish(f"{home}/say", "Twice on purpose")
        listener.publish(f"{home}/stop", "all")
        listener.publish(f"{home}/state", "not a text")
        board.link.publish_state({"queue": 0})
        board.link.notice("reload", "nothing changed")
        listener.wait_event(home, "notice", what="reload")
        listener.publish(f"{base}/hall", "The end")
        board.wait_texts("Someone at the door", "Twice on purpose", "Twice on purpose", "The end")
        until(lambda: board.controls)
        assert board.controls == [Stop(None)]
        assert not [event for event in listener.events(home) if event["event"] == "failed"]
    assert f'"{base}/#" also matches {home}/availability, which is never spoken' in caplog.text


@BOTH
def test_two_boards_that_hear_each_other_do_not_answer_each_other(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str
) -> None:
    homes = (f"{base}/a", f"{base}/b")
    boards = [make_board(broker.port, protocol=protocol, base=home, topics=(f"{base}/#",)) for home in homes]
    answers = f"{base}/answers"
    with Listener(broker.port, f"{base}/#") as listener:
        for home in homes:
            listener.publish(f"{home}/availability", "offline")
            listener.publish(f"{home}/reload", "")
        listener.publish(f"{base}/hall", "null")
        listener.publish(f"{base}/a/say", '{"text":5}', ResponseTopic=answers)
        listener.publish(f"{base}/hall", '{"event":"started","text":"The washer has started"}')
        listener.publish(f"{base}/hall", "The end")
        for board in boards:
            board.wait_texts("The washer has started", "The end")
            for utterance in board.offered:
                board.finish(utterance)
        for home, board in zip(homes, boards, strict=True):
            listener.wait_event(home, "finished", id=board.offered[-1].id)
        events = [listener.events(home) for home in homes]
        time.sleep(0.5)
        assert [listener.events(home) for home in homes] == events, "they have come to rest"
        counts = [replace(board.link.counts) for board in boards]
        for board in boards:
            board.link.publish_state({"queue": 0})
        listener.publish(f"{base}/hall", "bye")
        for board in boards:
            until(lambda board=board: "bye" in board.texts())
            board.finish(board.offered[-1])
            until(lambda board=board: board.link.owed == 0)
        for home in homes:
            failed = [event for event in listener.events(home) if event["event"] == "failed"]
            assert [event["topic"] for event in failed] == [f"{base}/hall", f"{base}/a/say"]
    for board, before in zip(boards, counts, strict=True):
        ignored, counts_now = before.machine_ignored + 2, board.link.counts
        until(lambda: counts_now.machine_ignored >= ignored, 5, "accepted and finished of the other")  # noqa: B023
        assert counts_now.machine_ignored == ignored, "its state changes nothing in ours"
        assert board.controls == [Reload()]
        assert board.link.counts.refused == 2
        assert board.link.counts.machine_ignored > 5
        assert board.link.owed == 0


@BOTH
def test_partly_overlapping_filters_speak_once(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str
) -> None:
    board = make_board(broker.port, protocol=protocol, topics=(f"{base}/+/text", f"{base}/hall/+"))
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/attic/other", "in neither")
        publisher.publish(f"{base}/hall/text", "in both")
        publisher.publish(f"{base}/hall/other", "in one")
        publisher.publish(f"{base}/attic/text", "in the other")
        board.wait_texts("in both", "in one", "in the other")


def test_a_filter_of_an_earlier_run_is_no_longer_spoken(
    broker: Broker, base: str, make_board: MakeBoard
) -> None:
    client_id = f"two-runs-{base[-6:]}"
    first = make_board(broker.port, client_id=client_id, journal="kept", topics=(f"{base}/old/#",))
    first.link.stop(5)
    first.journal.close()
    second = make_board(broker.port, client_id=client_id, journal="kept", topics=(f"{base}/old/new",))
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/old/gone", "no")
        publisher.publish(f"{base}/old/new", "once")
        publisher.publish(f"{base}/say", "end")
    second.wait_texts("once", "end")
    assert second.link.owed == 2


@BOTH
def test_subscriptions_that_nobody_remembers_end_and_what_waited_is_spoken(
    broker: Broker,
    base: str,
    make_board: MakeBoard,
    protocol: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The journal is lost: the session may hold any filter, and would bring messages twice for ever."""
    monkeypatch.setattr(client, "_EMPTIED_S", 0.15)
    settings = {"client_id": f"lost-{base[-6:]}", "protocol": protocol}
    first = make_board(broker.port, topics=(f"{base}/#",), **settings)
    first.link.stop(5)
    first.journal.close()
    with Listener(broker.port, f"{base}/availability") as publisher:
        publisher.publish(f"{base}/say", "while away")
        publisher.publish(f"{base}/hall", "of the old filter")
        second = make_board(broker.port, journal="second", **settings)
        until(lambda: publisher.last(f"{base}/availability") == b"online")
        publisher.publish(f"{base}/say", "once")
        publisher.publish(f"{base}/say", "end")
        second.wait_texts("while away", "once", "end")
        for utterance in list(second.offered):
            second.finish(utterance)
        until(lambda: second.link.owed == 0)
        second.link.stop(5)
        second.journal.close()
        third = make_board(broker.port, journal="second", **settings)
        publisher.publish(f"{base}/say", "still once")
        publisher.publish(f"{base}/say", "end")
        third.wait_texts("still once", "end")
    assert "the broker holds a session that the journal does not know" in caplog.text


@BOTH
def test_a_session_that_is_remembered_is_kept_whatever_it_holds(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"client_id": f"kept-{base[-6:]}", "protocol": protocol, "journal": "kept"}
    make_board(broker.port, **settings).link.stop(5)
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/say", "while away")
    second = make_board(broker.port, topics=(f"{base}/more",), **settings)
    second.wait_texts("while away")
    assert second.link.owed == 1, "the broker still has it"
    assert "does not know" not in caplog.text


def test_urgent_is_not_held_back_by_what_waits(broker: Broker, base: str, make_board: MakeBoard) -> None:
    board = make_board(broker.port, queue_bound=64)
    with Listener(broker.port) as publisher:
        for number in range(151):
            publisher.publish(f"{base}/say", f"text {number}")
        publisher.publish(f"{base}/say", '{"text":"fire","priority":"urgent"}')
        until(lambda: "fire" in board.texts(), 1, "urgent is offered")
    assert board.link.owed == 152


def test_what_comes_at_qos_0_is_never_held_back(broker: Broker, base: str, make_board: MakeBoard) -> None:
    """MQTT 3.1.1: the broker's own window holds back the 21st message at QoS 1."""
    board = make_board(broker.port, protocol="3.1.1")
    with Listener(broker.port) as publisher:
        for number in range(25):
            publisher.publish(f"{base}/say", f"text {number}")
        publisher.publish(f"{base}/say", "fire", qos=0)
        until(lambda: "fire" in board.texts(), 1, "what came at QoS 0")
    assert board.link.owed == 20


@BOTH
def test_commands(broker: Broker, base: str, make_board: MakeBoard, protocol: str) -> None:
    board = make_board(broker.port, protocol=protocol)
    with Listener(broker.port, f"{base}/event") as listener:
        listener.publish(f"{base}/stop", "", retain=True)
        for topic, payload in [
            ("stop", '{"id":"x"}'),
            ("volume/set", "0.5"),
            ("volume/set", "loud"),
            ("voice/set", "heart"),
            ("reload", ""),
        ]:
            listener.publish(f"{base}/{topic}", payload)
        until(lambda: Reload() in board.controls)
        event = listener.wait_event(base, "failed")
    assert board.controls == [Stop(None), Stop("x"), SetVolume(0.5), SetVoice("heart"), Reload()]
    assert event["topic"] == f"{base}/volume/set"
    assert event["reason"] == "the volume must be a number from 0 to 1, not a string"


def test_a_retained_command_is_not_obeyed(broker: Broker, base: str, make_board: MakeBoard) -> None:
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/stop", "all", retain=True)
        board = make_board(broker.port, protocol="3.1.1")
        publisher.publish(f"{base}/reload", "")
        until(lambda: board.controls)
    assert board.controls == [Reload()]


def test_zone_ttl_and_expiry_reach_the_utterance(broker: Broker, base: str, make_board: MakeBoard) -> None:
    board = make_board(broker.port)
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/say/attic", "a")
        publisher.publish(f"{base}/say", '{"text":"b","ttl_s":7}')
        publisher.publish(f"{base}/say", '{"text":"c","ttl_s":7}', MessageExpiryInterval=5)
        publisher.publish(f"{base}/say", "d", MessageExpiryInterval=600)
        board.wait_texts("a", "b", "c", "d")
    seconds = [(each.deadline_ns - each.received_ns) / 1e9 for each in board.offered]
    assert seconds == [120, 7, 5, 120]
    assert [each.announcement.zone for each in board.offered] == ["attic", None, None, None]


def test_answers_go_to_the_response_topic_too(broker: Broker, base: str, make_board: MakeBoard) -> None:
    board = make_board(broker.port)
    answer = f"answers/{base}"
    with Listener(broker.port, answer, f"{base}/event") as listener:
        listener.publish(f"{base}/say", "Hello", ResponseTopic=answer, CorrelationData=b"\x00\xff")
        board.wait_texts("Hello")
        board.finish(board.offered[0])
        listener.wait_event(base, "finished")
        until(lambda: len(listener.on(answer)) == 2)
        listener.publish(f"{base}/say", "null", ResponseTopic=answer, CorrelationData=b"2")
        until(lambda: len(listener.on(answer)) == 3)
        heard = listener.on(answer)
        assert [each.json["event"] for each in heard] == ["accepted", "finished", "failed"]
        assert [each.correlation for each in heard] == [b"\x00\xff", b"\x00\xff", b"2"]
        assert heard[1].json == listener.wait_event(base, "finished")


@pytest.mark.parametrize("topic", ["{base}/say", "{base}/stop", "{base}/state", "elsewhere/x"])
def test_a_response_topic_of_ours_or_outside_the_prefix_gets_no_answer(
    broker: Broker, base: str, make_board: MakeBoard, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    board = make_board(broker.port, response_prefix=f"{base}/" if "base" in topic else f"answers/{base}")
    asked = topic.format(base=base)
    with Listener(broker.port, f"{base}/event") as listener:
        listener.publish(f"{base}/say", "Hello", ResponseTopic=asked)
        board.wait_texts("Hello")
        board.finish(board.offered[0])
        listener.wait_event(base, "finished")
        listener.publish(f"{base}/say", "end")
        board.wait_texts("Hello", "end")
    assert board.controls == []
    assert f"no answer to the response topic '{asked}'" in caplog.text


@BOTH
def test_a_large_payload_is_refused(broker: Broker, base: str, make_board: MakeBoard, protocol: str) -> None:
    board = make_board(broker.port, protocol=protocol, max_payload_bytes=1024)
    with Listener(broker.port, f"{base}/event") as listener:
        listener.publish(f"{base}/say", "x" * 1025)
        listener.publish(f"{base}/stop", "x" * 1025)
        listener.publish(f"{base}/say", "y" * 1024)
        board.wait_texts("y" * 1024)
        until(lambda: len([e for e in listener.events(base) if e["event"] == "failed"]) == 2)
        event = listener.wait_event(base, "failed", topic=f"{base}/say")
    assert event["reason"] == "too large: 1025 bytes, the limit is 1024 (mqtt.max_payload_bytes)"


def test_a_huge_payload_on_3_1_1_is_refused_with_one_event(
    broker: Broker, base: str, make_board: MakeBoard
) -> None:
    board = make_board(broker.port, protocol="3.1.1")
    with Listener(broker.port, f"{base}/event") as listener:
        listener.publish(f"{base}/say", b"x" * 5_000_000)
        reason = listener.wait_event(base, "failed")["reason"]
        until(lambda: board.link.owed == 0)
    assert reason == "too large: 5000000 bytes, the limit is 262144 (mqtt.max_payload_bytes)"


def test_an_exception_in_a_handler_ends_the_message_and_not_the_thread(
    broker: Broker, base: str, make_board: MakeBoard, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(utterance: Utterance) -> list[Event]:
        if utterance.announcement.text == "bad":
            raise KeyError("a fault")
        return [Event(EventKind.ACCEPTED, utterance.id, receipt=utterance.receipt)]

    board = make_board(broker.port, answer=answer)
    with Listener(broker.port, f"{base}/event") as listener:
        listener.publish(f"{base}/say", "bad")
        listener.publish(f"{base}/say", "good")
        event = listener.wait_event(base, "failed")
        board.wait_texts("bad", "good")
        board.finish(board.offered[1])
        until(lambda: board.link.owed == 0)
    assert event["reason"] == "internal error: KeyError: 'a fault'"
    assert [record.levelno for record in caplog.records if "internal" in record.getMessage()] == [
        logging.WARNING
    ]


def test_accepted_goes_out_before_anything_the_speaker_says(
    broker: Broker, base: str, make_board: MakeBoard
) -> None:
    board = make_board(broker.port)
    speakers: list[threading.Thread] = []

    def answer(utterance: Utterance) -> list[Event]:
        def speak() -> None:
            board.link.emit(Event(EventKind.STARTED, utterance.id))
            board.finish(utterance)

        speakers.append(threading.Thread(target=speak))
        speakers[-1].start()
        speakers[-1].join(0.05)
        return [Event(EventKind.ACCEPTED, utterance.id, receipt=utterance.receipt)]

    board.answer = answer
    with Listener(broker.port, f"{base}/event") as listener:
        listener.publish(f"{base}/say", "now")
        listener.wait_event(base, "finished")
        assert [event["event"] for event in listener.events(base)] == ["accepted", "started", "finished"]


def test_the_state_is_retained_and_kept_over_a_connection(
    broker: Broker, base: str, make_board: MakeBoard
) -> None:
    proxy = Proxy(broker.port)
    board = make_board(proxy.port)
    with Listener(broker.port, f"{base}/state") as listener:
        board.link.publish_state({"queue": 1, "voice": "heart"})
        until(lambda: listener.heard)
        assert listener.heard[0].json == {"queue": 1, "voice": "heart"}
        proxy.cut()
        until(lambda: len(listener.heard) == 2)
    with Listener(broker.port, f"{base}/state") as fresh:
        until(lambda: fresh.heard)
        assert fresh.heard[0].retain
    proxy.close()


def test_events_wait_for_the_broker(broker: Broker, base: str, make_board: MakeBoard) -> None:
    board = make_board(broker.port, start=False)
    board.link.emit(Event(EventKind.STARTED, "early"))
    with Listener(broker.port, f"{base}/event") as listener:
        board.link.start()
        assert listener.wait_event(base, "started") == {"event": "started", "id": "early"}


def test_the_link_beats_while_idle_and_while_it_waits(
    make_board: MakeBoard, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_BEAT_S", 0.1)
    board = make_board(broker.port)
    before = len(board.beats)
    until(lambda: len(board.beats) >= before + 2, 4)
    stuck = make_board(1, start=False)
    stuck.link.start()
    until(lambda: len(stuck.beats) >= 2, 6)
    assert stuck.rests, "opening a connection may block"


def test_json_of_the_event_topic_is_compact_utf8(broker: Broker, base: str, make_board: MakeBoard) -> None:
    board = make_board(broker.port)
    with Listener(broker.port, f"{base}/event") as listener:
        listener.publish(f"{base}/say", json.dumps({"text": "x", "id": "küche"}))
        board.wait_texts("x")
        until(lambda: listener.heard)
        assert listener.heard[0].payload == '{"event":"accepted","id":"küche"}'.encode()
