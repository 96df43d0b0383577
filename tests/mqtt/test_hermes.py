"""Hermes: shapes, and what a Rhasspy base station sees of the board over a real broker."""

from __future__ import annotations

import json
from typing import Any

import pytest

from edged.errors import PayloadError
from edged.mqtt import hermes
from edged.types import Event, EventKind, Receipt
from tests.broker import Broker, Listener, until
from tests.mqtt.conftest import MakeBoard

BOTH = pytest.mark.parametrize("protocol", ["5", "3.1.1"])
ERROR = "hermes/error/tts"


def say(**members: Any) -> bytes:
    return json.dumps(members).encode()


def test_what_is_said_and_how() -> None:
    payload = say(text="Hi", siteId="hall", lang="en", id="7", sessionId="s", volume=0.5, ttsVoice="x")
    announcement = hermes.decode_say(payload, lambda: "made", 100)
    assert (announcement.text, announcement.lang, announcement.id, announcement.volume) == (
        "Hi",
        "en",
        "7",
        0.5,
    )
    assert announcement.id_given
    unset = hermes.decode_say(say(text="Hi", lang=None, id=None, volume=None), lambda: "made", 100)
    assert (unset.id, unset.id_given, unset.lang, unset.volume) == ("made", False, None, None)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"Hi", "invalid JSON"),
        (b'"Hi"', "a JSON object is needed, not a string"),
        (say(message="Hi"), 'no "text" in the object'),
        (say(text=5), '"text" must be a string, not a number'),
        (say(text="Hi", volume=7), '"volume" must be from 0 to 1, not 7'),
        (b"\xff", "invalid utf-8"),
    ],
)
def test_what_is_refused(payload: bytes, reason: str) -> None:
    with pytest.raises(PayloadError) as caught:
        hermes.decode_say(payload, lambda: "made", 100)
    assert str(caught.value).startswith(reason)


@pytest.mark.parametrize(
    ("payload", "site"),
    [(say(siteId="a"), "a"), (say(text="x"), "default"), (say(siteId=None), "default"), (b"x", None)],
)
def test_the_site(payload: bytes, site: str | None) -> None:
    assert hermes.site_of(payload) == site


@pytest.mark.parametrize(
    ("kind", "topic", "more"),
    [
        (EventKind.ACCEPTED, None, {}),
        (EventKind.STARTED, None, {}),
        (EventKind.FINISHED, hermes.FINISHED, {"id": "7"}),
        (EventKind.FAILED, ERROR, {"context": "7", "error": "failed: why"}),
        (EventKind.EXPIRED, ERROR, {"context": "7", "error": "expired: why"}),
    ],
)
def test_answers(kind: EventKind, topic: str | None, more: dict[str, Any]) -> None:
    asked = hermes.question(say(text="Hi", siteId="hall", id="7", sessionId="s"))
    assert asked is not None
    answer = hermes.answer(Event(kind, "7", "why", receipt=Receipt(1, 1, 1, "k")), asked)
    if topic is None:
        assert answer is None
    else:
        assert answer is not None
        assert answer[0] == topic
        assert json.loads(answer[1]) == {"siteId": "hall", "sessionId": "s", **more}


@BOTH
@pytest.mark.parametrize("qos", [0, 1])
def test_said_and_answered_when_it_is_finished(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str, qos: int
) -> None:
    site = base.split("/")[1]
    board = make_board(broker.port, protocol=protocol, hermes=site)
    with Listener(broker.port, "hermes/#", f"{base}/event") as listener:
        listener.publish(hermes.SAY, say(text="Elsewhere", siteId="attic"), qos)
        listener.publish(hermes.SAY, say(text="Nowhere"), qos)
        listener.publish(hermes.SAY, say(text="Dinner", siteId=site, id="7", sessionId="s"), qos)
        board.wait_texts("Dinner")
        listener.wait_event(base, "accepted", id="7")
        assert not listener.on(hermes.FINISHED)
        board.finish(board.offered[0])
        until(lambda: listener.on(hermes.FINISHED))
        assert listener.on(hermes.FINISHED)[0].json == {"siteId": site, "id": "7", "sessionId": "s"}
        listener.wait_event(base, "finished", id="7")
        listener.publish(hermes.SAY, say(text=5, siteId=site, id="8"), qos)
        until(lambda: listener.on(ERROR))
        assert listener.on(ERROR)[0].json == {
            "error": 'failed: "text" must be a string, not a number',
            "siteId": site,
            "context": "8",
            "sessionId": None,
        }
        until(lambda: board.link.owed == 0)
        assert len(listener.on(hermes.FINISHED)) == len(listener.on(ERROR)) == 1
    assert board.link.counts.received == 2


def test_off_unless_it_is_switched_on(broker: Broker, base: str, make_board: MakeBoard) -> None:
    board = make_board(broker.port)
    with Listener(broker.port, "hermes/#") as listener:
        listener.publish(hermes.SAY, say(text="Not heard"))
        listener.publish(f"{base}/say", "end")
        board.wait_texts("end")


def test_answers_of_others_are_not_spoken_by_a_board_that_hears_all(
    broker: Broker, base: str, make_board: MakeBoard
) -> None:
    """`hermes/tts/say` named among the topics, with Hermes off, is a topic like any other."""
    board = make_board(broker.port, topics=("hermes/#",))
    with Listener(broker.port, f"{base}/event") as listener:
        listener.publish(hermes.FINISHED, say(siteId="a", id="1"))
        listener.publish("hermes/audioServer/a/playBytes/1", b"RIFF")
        listener.publish(hermes.SAY, say(text="Heard", siteId="other"), ResponseTopic=hermes.FINISHED)
        board.wait_texts("Heard")
        board.finish(board.offered[0])
        listener.wait_event(base, "finished")
        assert board.link.counts.machine_ignored == 2
        assert board.link.counts.refused == 0


@pytest.mark.parametrize("member", ["id", "sessionId", "siteId"])
@pytest.mark.parametrize("value", ["1e999", '{"a":[1]}', '"' + "x" * 201 + '"', "9" * 400, "[1]"])
def test_what_is_no_id_is_not_repeated(member: str, value: str) -> None:
    asked = hermes.question(f'{{"text":"a","{member}":{value}}}'.encode())
    assert asked is not None
    assert json.loads(asked)[member] is None
