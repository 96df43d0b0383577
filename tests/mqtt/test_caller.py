from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from edged.config.model import MqttConfig
from edged.errors import BrokerError
from edged.mqtt.caller import Caller
from edged.mqtt.codec import Stop
from edged.mqtt.topics import Topics
from edged.types import Event, EventKind, Utterance
from tests.broker import Broker, Listener, Proxy, free_port, until
from tests.mqtt.conftest import Board, MakeBoard


def caller(port: int, base: str, protocol: str = "auto") -> Caller:
    config = MqttConfig(host="127.0.0.1", port=port, base=base, protocol=protocol)
    return Caller(config, Topics("node", config))


def speaking(board: Board) -> Board:
    """Everything is finished at once."""

    def answer(utterance: Utterance) -> list[Event]:
        kinds = (EventKind.ACCEPTED, EventKind.STARTED, EventKind.FINISHED)
        return [Event(kind, utterance.id, receipt=utterance.receipt) for kind in kinds]

    board.answer = answer
    return board


@pytest.mark.parametrize("protocol", ["auto", "3.1.1"])
def test_says_and_waits(broker: Broker, base: str, make_board: MakeBoard, protocol: str) -> None:
    speaking(make_board(broker.port))
    with caller(broker.port, base, protocol) as client:
        assert client.protocol == ("3.1.1" if protocol == "3.1.1" else "5")
        assert client.daemon_online()
        before_ns = time.monotonic_ns()
        sent = client.say("Hello", zone="attic", priority="high")
        assert before_ns <= sent.published_ns <= time.monotonic_ns()
        kinds = [event.kind for event in client.events_of({sent.id}, 10)]
        assert kinds == [EventKind.ACCEPTED, EventKind.STARTED, EventKind.FINISHED]


def test_many_at_once(broker: Broker, base: str, make_board: MakeBoard) -> None:
    board = speaking(make_board(broker.port))
    with caller(broker.port, base) as client, Listener(broker.port) as other:
        ids = {client.say(f"number {number}", id=f"n{number}").id for number in range(50)}
        other.publish(f"{base}/say", "someone else's")
        finals = [event.id for event in client.events_of(ids, 20) if event.kind.is_final]
        assert finals == [f"n{number}" for number in range(50)]
    assert len(board.offered) >= 50


def test_a_refusal_reaches_its_sender(broker: Broker, base: str, make_board: MakeBoard) -> None:
    make_board(broker.port)
    with caller(broker.port, base) as client:
        sent = client.say("x" * 20001)
        (event,) = client.events_of({sent.id}, 10)
    assert (event.kind, event.reason) == (
        EventKind.FAILED,
        "too long: 20001 characters, the limit is 20000",
    )


def test_notices_and_garbage_on_the_event_topic_are_passed_over(
    broker: Broker, base: str, make_board: MakeBoard
) -> None:
    board = make_board(broker.port)
    with caller(broker.port, base) as client, Listener(broker.port) as other:
        sent = client.say("Hello")
        board.wait_texts("Hello")
        board.link.notice("reload", "nothing")
        for payload in (b"", b"\xff", b"[]", b'{"event":"sung","id":"x"}'):
            other.publish(f"{base}/event", payload)
        board.finish(board.offered[0])
        assert [event.kind for event in client.events_of({sent.id}, 10)][-1] is EventKind.FINISHED


def test_the_wait_ends_at_its_time(broker: Broker, base: str) -> None:
    with caller(broker.port, base) as client:
        sent = client.say("nobody is there")
        assert list(client.events_of({sent.id}, 0.2)) == []
        assert not client.daemon_online(0.1)


def test_a_stopped_board_is_not_online(broker: Broker, base: str, make_board: MakeBoard) -> None:
    make_board(broker.port).link.stop(5)
    with caller(broker.port, base) as client:
        assert not client.daemon_online()


def test_stop(broker: Broker, base: str, make_board: MakeBoard) -> None:
    board = make_board(broker.port)
    with caller(broker.port, base) as client:
        client.stop("x")
        client.stop()
        until(lambda: len(board.controls) == 2)
    assert board.controls == [Stop("x"), Stop(None)]


def test_round_trip(broker: Broker, base: str) -> None:
    with caller(broker.port, base) as client:
        assert 0 < client.round_trip_ms() < 5000
        assert 0 < client.round_trip_ms() < 5000


def test_no_broker_is_one_line(base: str) -> None:
    port = free_port()
    with pytest.raises(BrokerError) as caught, caller(port, base):
        pass
    assert str(caught.value).startswith(f"broker 127.0.0.1:{port}: refused, nothing listens there")


def test_what_is_no_broker_is_one_line(broker: Broker, base: str) -> None:
    proxy = Proxy(broker.port, answer_connect=lambda body: b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises(BrokerError, match="is it an MQTT broker"), caller(proxy.port, base):
        pass
    proxy.close()


def test_an_old_broker_is_spoken_to_in_3_1_1(broker: Broker, base: str) -> None:
    proxy = Proxy(broker.port, answer_connect=lambda body: b"\x20\x02\x00\x01" if body[6] == 5 else None)
    with caller(proxy.port, base) as client:
        assert client.protocol == "3.1.1"
        assert client.round_trip_ms() > 0
    proxy.close()


def test_a_lost_broker_ends_the_wait_with_one_line(broker: Broker, base: str) -> None:
    proxy = Proxy(broker.port)
    with caller(proxy.port, base) as client:
        sent = client.say("Hello")
        threading.Timer(0.2, proxy.cut).start()
        with pytest.raises(BrokerError, match="the connection broke"):
            list(client.events_of({sent.id}, 10))
    proxy.close()


def test_ctrl_c_ends_the_wait(broker: Broker, base: str) -> None:
    script = (
        "import sys; from edged.config.model import MqttConfig; from edged.mqtt.topics import Topics\n"
        "from edged.mqtt.caller import Caller\n"
        "config = MqttConfig(host='127.0.0.1', port=int(sys.argv[1]), base=sys.argv[2])\n"
        "try:\n"
        "    with Caller(config, Topics('node', config)) as caller:\n"
        "        sent = caller.say('Hello'); print('sent', flush=True)\n"
        "        list(caller.events_of({sent.id}, 30))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    command = [sys.executable, "-c", script, str(broker.port), base]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "sent\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=10)[0] == "interrupted\n"
        assert process.returncode == 0
