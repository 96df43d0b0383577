"""Brokers that are away, refuse, speak an older protocol, or want a password or TLS."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edged.config.model import TlsConfig
from edged.mqtt import client
from tests.broker import (
    Broker,
    Listener,
    Packet,
    Proxy,
    free_port,
    make_certificates,
    make_password_file,
    until,
)
from tests.mqtt.conftest import Board, MakeBoard

MakeBroker = Callable[..., Broker]
SECRET = "s3cret-never-shown"


def refuse_version_5(answer: bytes) -> Callable[[bytes], bytes | None]:
    return lambda body: answer if body[6] == 5 else None


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"\x20\x03\x00\x84\x00", id="as-MQTT-5-says"),
        pytest.param(b"\x20\x02\x00\x01", id="as-an-old-broker-says"),
        pytest.param(b"", id="closed-without-a-word"),
    ],
)
def test_falls_back_to_3_1_1(broker: Broker, base: str, make_board: MakeBoard, answer: bytes) -> None:
    proxy = Proxy(broker.port, answer_connect=refuse_version_5(answer))
    board = make_board(proxy.port, start=False)
    board.link.start()
    board.wait_up(4)
    assert board.link.status.protocol == "3.1.1"
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/say", "old but good")
        board.wait_texts("old but good")
    proxy.close()


def test_falls_back_from_a_broker_that_says_nothing(
    broker: Broker, make_board: MakeBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_ANSWER_LIMIT_S", 0.2)
    monkeypatch.setattr(client, "_BEAT_S", 0.1)

    def deaf_to_5(packet: Packet, raw: bytes) -> bytes:
        return b"" if packet.kind == 2 and proxy.of(1, True)[-1].body[6] == 5 else raw

    proxy = Proxy(broker.port, deaf_to_5)
    board = make_board(proxy.port)
    assert board.link.status.protocol == "3.1.1"
    proxy.close()


def test_a_broker_that_stops_before_answering_is_asked_in_version_5_again(
    broker: Broker, make_board: MakeBoard
) -> None:
    """Closing without an answer looks like an old broker; that it was none shows when nobody listens."""

    def stop_listening(_body: bytes) -> bytes:
        proxy.refuse()
        return b""

    proxy = Proxy(broker.port, answer_connect=stop_listening)
    board = make_board(proxy.port, start=False)
    board.link.start()
    until(lambda: "refused" in (board.link.status.error or ""))
    again = Proxy(broker.port, port=proxy.port)
    board.wait_up(20)
    assert board.link.status.protocol == "5"
    again.close()


def test_a_single_protocol_is_kept_to(broker: Broker, make_board: MakeBoard) -> None:
    proxy = Proxy(broker.port, answer_connect=refuse_version_5(b"\x20\x03\x00\x84\x00"))
    board = make_board(proxy.port, start=False, protocol="5")
    board.link.start()
    until(lambda: len(proxy.packets) >= 2)
    assert board.link.status.error is not None
    assert board.link.status.error.endswith("it does not speak MQTT 5 (mqtt.protocol)")
    assert {packet.body[6] for packet in proxy.packets} == {5}
    proxy.close()


def tries_again(board: Board, caplog: pytest.LogCaptureFixture) -> list[str]:
    """After some time: still alive, beating, and one line in the log however often it tried."""
    board.link.start()
    until(lambda: board.link._backoff._failures >= 2, 20, "two attempts")
    assert board.link._thread.is_alive()
    assert not board.link.status.connected
    assert board.beats
    return [record.getMessage() for record in caplog.records if record.name.startswith("edged.mqtt")]


def test_nobody_listens_and_the_broker_comes_later(
    make_board: MakeBoard, tmp_path: Path, base: str, caplog: pytest.LogCaptureFixture
) -> None:
    broker = Broker(tmp_path / "late")
    board = make_board(broker.port, start=False)
    (line,) = tries_again(board, caplog)
    assert line == (
        f"broker 127.0.0.1:{broker.port}: refused, nothing listens there; "
        "start the broker or check mqtt.host and mqtt.port; trying again"
    )
    broker.start()
    try:
        board.wait_up(20)
        with Listener(broker.port) as publisher:
            publisher.publish(f"{base}/say", "first after a long wait")
            board.wait_texts("first after a long wait")
    finally:
        broker.stop()


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("no-such-host.invalid", "the name is not found"),
        ("exa mple..", "check mqtt.host"),
        ("255.255.255.255", "check mqtt.host, mqtt.port and the network"),
    ],
)
def test_a_host_that_is_not_there(
    make_board: MakeBoard, host: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    (line,) = tries_again(make_board(1883, start=False, host=host), caplog)
    assert line.startswith(f"broker {host}:1883: ")
    assert said in line


def test_a_stop_does_not_wait_for_the_broker(make_board: MakeBoard) -> None:
    board = make_board(free_port(), start=False)
    board.link.start()
    until(lambda: board.link.status.error != "not connected yet")
    board.link.stop(2)
    assert not board.link._thread.is_alive()


def test_never_started_can_be_stopped(make_board: MakeBoard) -> None:
    make_board(free_port(), start=False).link.stop(1)


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
def test_a_wrong_password_is_told_without_showing_it(
    make_board: MakeBoard,
    make_broker: MakeBroker,
    tmp_path: Path,
    protocol: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    passwords = make_password_file(tmp_path, "board", SECRET)
    broker = make_broker(settings=("allow_anonymous false", f"password_file {passwords}"))
    caplog.set_level("DEBUG")
    wrong = f"{SECRET}-not"
    board = make_board(broker.port, start=False, protocol=protocol, username="board", password=wrong)
    (line,) = tries_again(board, caplog)
    assert line.startswith(f"broker 127.0.0.1:{broker.port}: ")
    assert "check mqtt.username and the password (mqtt.password_file)" in line
    assert SECRET not in caplog.text


@pytest.mark.parametrize("source", ["config", "file", "environment", "credential"])
def test_every_source_of_the_password(
    make_board: MakeBoard,
    make_broker: MakeBroker,
    tmp_path: Path,
    source: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passwords = make_password_file(tmp_path, "board", SECRET)
    broker = make_broker(settings=("allow_anonymous false", f"password_file {passwords}"))
    settings: dict[str, Any] = {"username": "board"}
    kept = tmp_path / "mqtt-password"
    kept.write_text(f"{SECRET}\n")
    if source == "config":
        settings["password"] = SECRET
    elif source == "file":
        settings["password_file"] = str(kept)
    elif source == "environment":
        monkeypatch.setenv("EDGED_MQTT_PASSWORD", SECRET)
    else:
        monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    make_board(broker.port, **settings)


def test_a_password_file_that_comes_later_is_taken(
    make_board: MakeBoard, make_broker: MakeBroker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    passwords = make_password_file(tmp_path, "board", SECRET)
    broker = make_broker(settings=("allow_anonymous false", f"password_file {passwords}"))
    late = tmp_path / "late"
    board = make_board(broker.port, start=False, username="board", password_file=str(late))
    (line,) = tries_again(board, caplog)
    assert line.startswith(f"mqtt.password_file {late}: No such file or directory; make it readable")
    late.write_text(SECRET)
    board.wait_up(20)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder)
    folder.chmod(0o755)
    return folder


@pytest.fixture
def tls_broker(make_broker: MakeBroker, certificates: Path) -> Broker:
    broker: Broker = make_broker(
        settings=(
            f"cafile {certificates}/ca.crt",
            f"certfile {certificates}/server.crt",
            f"keyfile {certificates}/server.key",
            "require_certificate true",
        )
    )
    return broker


def client_tls(folder: Path, **changed: Any) -> TlsConfig:
    files = {
        "ca_file": f"{folder}/ca.crt",
        "cert_file": f"{folder}/client.crt",
        "key_file": f"{folder}/client.key",
    }
    return TlsConfig(enabled=True, **{**files, **changed})


@pytest.mark.parametrize(("host", "insecure"), [("localhost", False), ("127.0.0.1", True)])
def test_tls_with_a_client_certificate(
    make_board: MakeBoard, tls_broker: Broker, certificates: Path, base: str, host: str, insecure: bool
) -> None:
    board = make_board(tls_broker.port, host=host, tls=client_tls(certificates, insecure=insecure))
    files = tuple(str(certificates / name) for name in ("ca.crt", "client.crt", "client.key"))
    texts = [f"{number} {'long text ' * 1000}" for number in range(10)]  # TLS reads ahead several packets
    with Listener(tls_broker.port, tls=files) as publisher:
        for text in texts:
            publisher.publish(f"{base}/say", text)
        board.wait_texts(*texts)


def test_several_packets_in_one_tls_record_are_all_read(
    make_board: MakeBoard, broker: Broker, certificates: Path, base: str
) -> None:
    """Brokers that write several packets at once: the socket is not readable for the later ones."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates / "server.crt", certificates / "server.key")
    server = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, sink: socket.socket, gather_s: float) -> None:
        while data := source.recv(16384):
            time.sleep(gather_s)
            sink.sendall(data)

    def serve() -> None:
        with context.wrap_socket(server.accept()[0], server_side=True) as board_side:
            upstream = socket.create_connection(("127.0.0.1", broker.port))
            threading.Thread(target=pump, args=(upstream, board_side, 0.05), daemon=True).start()
            pump(board_side, upstream, 0)

    threading.Thread(target=serve, daemon=True).start()
    tls = TlsConfig(enabled=True, ca_file=f"{certificates}/ca.crt")
    board = make_board(server.getsockname()[1], host="localhost", tls=tls)
    texts = [f"number {number}" for number in range(20)]
    with Listener(broker.port) as publisher:
        for text in texts:
            publisher.publish(f"{base}/say", text)
    board.wait_texts(*texts, limit_s=2)
    server.close()


@pytest.mark.parametrize(
    ("host", "changed", "said"),
    [
        ("localhost", {"ca_file": None}, "its certificate is not trusted"),
        ("127.0.0.1", {}, "its certificate is not trusted"),
        ("localhost", {"ca_file": "/nowhere/ca.crt"}, "mqtt.tls.ca_file /nowhere/ca.crt: No such file"),
        ("localhost", {"cert_file": "/nowhere/c.crt"}, "mqtt.tls.cert_file /nowhere/c.crt"),
    ],
)
def test_tls_faults_are_told_in_one_line(
    make_board: MakeBoard,
    tls_broker: Broker,
    certificates: Path,
    host: str,
    changed: dict[str, Any],
    said: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    board = make_board(tls_broker.port, start=False, host=host, tls=client_tls(certificates, **changed))
    (line,) = tries_again(board, caplog)
    assert said in line
    assert "\n" not in line


def test_tls_spoken_to_a_plain_port_is_told(
    make_board: MakeBoard, broker: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    board = make_board(broker.port, start=False, tls=TlsConfig(enabled=True))
    lines = tries_again(board, caplog)
    assert len(lines) == 1, lines
    assert "check mqtt" in lines[0]


def test_a_key_with_a_pass_phrase_is_no_question_on_the_terminal(
    make_board: MakeBoard, tls_broker: Broker, certificates: Path, caplog: pytest.LogCaptureFixture
) -> None:
    locked = certificates / "locked.key"
    command = ["openssl", "ec", "-in", "client.key", "-aes128", "-passout", "pass:x", "-out", str(locked)]
    subprocess.run(command, cwd=certificates, check=True, capture_output=True)
    tls = client_tls(certificates, key_file=str(locked))
    (line,) = tries_again(make_board(tls_broker.port, start=False, host="localhost", tls=tls), caplog)
    assert f"key_file {locked}" in line


def test_a_subscription_the_broker_refuses_is_told(
    broker: Broker, make_board: MakeBoard, base: str, caplog: pytest.LogCaptureFixture
) -> None:
    """As a broker with access rules answers: reason 0x87 for one filter, QoS 0 for another."""

    def refuse(packet: Packet, raw: bytes) -> bytes:
        if packet.kind == 9 and len(proxy.of(9, False)) == 2:
            return raw[:-1] + b"\x87"
        if packet.kind == 9 and len(proxy.of(9, False)) == 0:
            return raw[:-1] + b"\x00"
        return raw

    proxy = Proxy(broker.port, refuse)
    board = make_board(proxy.port, topics=("secret/#",))
    assert board.link.status.refused_subscriptions == (
        f"the broker grants '{base}/say' at QoS 0 only; announcements may be lost",
        "the broker refuses the subscription to 'secret/#' (Not authorized); check its access rules",
    )
    assert all(fault in caplog.text for fault in board.link.status.refused_subscriptions)
    proxy.close()


def test_packets_that_break_the_standard_end_the_connection_and_not_the_thread(
    broker: Broker, base: str, make_board: MakeBoard
) -> None:
    garbage = [b"\xf0\x00", b"\x30\x02\xff\xff", b"\x90\x00", b"\x20\xff\xff\xff\xff\x7f", b"\x40\x01\x00"]

    def spoil(packet: Packet, raw: bytes) -> bytes:
        if packet.kind == 9 and garbage:
            return raw + garbage.pop()
        return raw

    proxy = Proxy(broker.port, spoil)
    board = make_board(proxy.port, start=False)
    board.link.start()
    until(lambda: not garbage, 60)
    board.wait_up(60)
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/say", "still here")
        board.wait_texts("still here")
    proxy.close()
