"""A real mosquitto for tests, a client that listens, and a proxy that shows, delays and breaks the traffic.

Fixtures (import them in a conftest): `broker` is shared by a module, plain, without persistence;
`base` is a topic prefix no other test uses; `make_broker` starts brokers of one's own, with
persistence, a password or TLS, that can be stopped and started again on the same port.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

START_LIMIT_S = 10.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(
    condition: Callable[[], Any], limit_s: float = 10.0, what: str | Callable[[], str] = "a condition"
) -> Any:
    """Waits until the condition gives something true, and returns that; `what` goes into the failure."""
    end_s = time.monotonic() + limit_s
    while not (result := condition()):
        if time.monotonic() > end_s:
            raise AssertionError(f"not within {limit_s:g} s: {what if isinstance(what, str) else what()}")
        time.sleep(0.003)
    return result


class Broker:
    """A mosquitto on a free loopback port. `settings` are further lines of its configuration."""

    def __init__(self, folder: Path, persistent: bool = False, settings: tuple[str, ...] = ()) -> None:
        program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
        if program is None:
            raise FileNotFoundError("mosquitto is missing: apt install mosquitto")
        self._program = program
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        lines = [
            f"listener {self.port} 127.0.0.1",
            *settings,
            *([] if any("password_file" in line for line in settings) else ["allow_anonymous true"]),
            "set_tcp_nodelay true",
            *(["user root"] if os.geteuid() == 0 else []),
            *(["persistence true", f"persistence_location {folder}/"] if persistent else []),
        ]
        (folder / "mosquitto.conf").write_text("\n".join(lines) + "\n")

    def start(self) -> Broker:
        with (self.folder / "mosquitto.log").open("ab") as log:
            command = [self._program, "-c", str(self.folder / "mosquitto.conf"), "-v"]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until(self._listens, START_LIMIT_S, "mosquitto listens")
        return self

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """SIGTERM saves what is persistent, SIGKILL does not."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(10)
            self._process = None

    @property
    def log(self) -> str:
        return (self.folder / "mosquitto.log").read_text(errors="replace")

    def _listens(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise AssertionError(f"mosquitto ended: {self.log[-500:]}")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@dataclass(frozen=True)
class Heard:
    topic: str
    payload: bytes
    retain: bool
    correlation: bytes | None

    @property
    def json(self) -> dict[str, Any]:
        members: dict[str, Any] = json.loads(self.payload)
        return members


class Listener:
    """A client of the broker that keeps what it hears on `filters` and publishes for the test."""

    def __init__(
        self,
        port: int,
        *filters: str,
        v5: bool = True,
        tls: tuple[str, str, str] | None = None,
        kept: bool = False,
    ) -> None:
        """`kept` (MQTT 5): what is published while a persistent broker restarts is heard afterwards."""
        self.heard: list[Heard] = []
        self._ready = threading.Event()
        version = MQTTProtocolVersion.MQTTv5 if v5 else MQTTProtocolVersion.MQTTv311
        self._client = paho.Client(
            CallbackAPIVersion.VERSION2, client_id=_unique("listener"), protocol=version
        )
        self._client.on_message = self._hear
        self._client.on_connect = lambda *_: self._subscribe(filters)
        self._client.on_subscribe = lambda *_: self._ready.set()
        if tls is not None:
            self._client.tls_set(*tls)
        session = Properties(PacketTypes.CONNECT) if v5 else None
        if session is not None:
            session.SessionExpiryInterval = 300 if kept else 0
        start = not kept if v5 else paho.MQTT_CLEAN_START_FIRST_ONLY
        host = "localhost" if tls else "127.0.0.1"
        self._client.connect(host, port, clean_start=start, properties=session)
        self._client.loop_start()
        assert self._ready.wait(10), "the broker answers"

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _: Any, __: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def publish(
        self, topic: str, payload: bytes | str, qos: int = 1, retain: bool = False, **properties: Any
    ) -> None:
        """Returns when the broker has it."""
        sent = Properties(PacketTypes.PUBLISH) if properties else None
        for name, value in properties.items():
            setattr(sent, name, value)
        self._client.publish(topic, payload, qos, retain, sent).wait_for_publish(10)

    def flood(self, topic: str, payloads: Iterable[bytes | str], qos: int = 1) -> None:
        """As fast as the client can; returns when the broker has them."""
        sent = [self._client.publish(topic, payload, qos) for payload in payloads]
        for each in sent:
            each.wait_for_publish(10)

    def on(self, topic: str) -> list[Heard]:
        return [heard for heard in self.heard if heard.topic == topic]

    def last(self, topic: str) -> bytes | None:
        heard = self.on(topic)
        return heard[-1].payload if heard else None

    def events(self, base: str) -> list[dict[str, Any]]:
        return [heard.json for heard in self.on(f"{base}/event")]

    def wait_event(self, base: str, kind: str, limit_s: float = 10.0, **members: Any) -> dict[str, Any]:
        """The first event of this kind with these members."""

        def found() -> dict[str, Any] | None:
            wanted = {"event": kind, **members}
            return next((each for each in self.events(base) if wanted.items() <= each.items()), None)

        event: dict[str, Any] = until(found, limit_s, f"event {kind} {members}")
        return event

    def _subscribe(self, filters: tuple[str, ...]) -> None:
        if filters:
            self._client.subscribe([(each, 1) for each in filters])
        else:
            self._ready.set()

    def _hear(self, _client: Any, _data: Any, message: paho.MQTTMessage) -> None:
        correlation = getattr(message.properties, "CorrelationData", None)
        self.heard.append(Heard(message.topic, bytes(message.payload), message.retain, correlation))


@dataclass(frozen=True)
class Packet:
    """One MQTT packet that went through a proxy."""

    from_client: bool
    kind: int
    """1 CONNECT, 2 CONNACK, 3 PUBLISH, 4 PUBACK, 8 SUBSCRIBE, 9 SUBACK, 14 DISCONNECT."""
    flags: int
    body: bytes

    @property
    def mid(self) -> int:
        """Packet id of a PUBACK, or of a PUBLISH at QoS 1."""
        at = 0
        if self.kind == 3:
            at = 2 + int.from_bytes(self.body[:2], "big")
        return int.from_bytes(self.body[at : at + 2], "big")

    @property
    def dup(self) -> bool:
        return bool(self.flags & 8)


@dataclass
class Proxy:
    """Stands between a client and a broker: keeps every packet, may change, swallow or delay it, freeze
    and cut the line."""

    broker_port: int
    alter: Callable[[Packet, bytes], bytes] = lambda packet, raw: raw
    """Given a packet (not yet in `packets`) and its bytes, what is sent on; nothing swallows it."""
    port: int = field(default_factory=free_port)
    packets: list[Packet] = field(default_factory=list)
    answer_connect: Callable[[bytes], bytes | None] = lambda body: None
    """Given the CONNECT body: None lets it pass, bytes are answered and the connection is closed."""
    delay_s: float = 0.0
    """Every packet takes so long, each way, one after the other: a slow broker, or a slow line."""

    def __post_init__(self) -> None:
        self._flowing = threading.Event()
        self._flowing.set()
        self._pairs: list[tuple[socket.socket, socket.socket | None]] = []
        self._server = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.refuse()
        self.cut()
        self.thaw()

    def refuse(self) -> None:
        """Listen no more; open connections stay."""
        _break(self._server)  # or a waiting accept would keep the port open
        self._server.close()

    def cut(self) -> None:
        """Break every connection without a word."""
        for pair in self._pairs:
            for sock in pair:
                _break(sock)
        self._pairs.clear()

    def freeze(self) -> None:
        """Pass nothing on, with every connection open: what a lost link looks like to both ends."""
        self._flowing.clear()

    def thaw(self) -> None:
        """Pass on again, what has waited first."""
        self._flowing.set()

    def of(self, kind: int, from_client: bool) -> list[Packet]:
        return [each for each in list(self.packets) if (each.kind, each.from_client) == (kind, from_client)]

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        first = _read_packet(client, True)
        if first is None:
            client.close()
            return
        self._flowing.wait()
        self.packets.append(first[0])
        answer = self.answer_connect(first[0].body)
        if answer is not None:
            client.sendall(answer)
            client.close()
            return
        try:
            upstream = socket.create_connection(("127.0.0.1", self.broker_port))
        except OSError:
            client.close()
            return
        upstream.sendall(first[1])
        self._pairs.append((client, upstream))
        threading.Thread(target=self._pump, args=(upstream, client, False), daemon=True).start()
        self._pump(client, upstream, True)

    def _pump(self, source: socket.socket, sink: socket.socket, from_client: bool) -> None:
        while (read := _read_packet(source, from_client)) is not None:
            packet, raw = read
            self._flowing.wait()
            if self.delay_s:
                time.sleep(self.delay_s)
            passed = self.alter(packet, raw)
            self.packets.append(packet)
            try:
                sink.sendall(passed)
            except OSError:
                break
        _break(source)
        _break(sink)


def _break(sock: socket.socket | None) -> None:
    if sock is None:
        return
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def _read_packet(sock: socket.socket, from_client: bool) -> tuple[Packet, bytes] | None:
    try:
        raw = _read(sock, 1)
        length = shift = 0
        while True:
            byte = _read(sock, 1)
            raw += byte
            length |= (byte[0] & 127) << shift
            shift += 7
            if byte[0] < 128:
                break
        body = _read(sock, length)
    except (OSError, EOFError):
        return None
    return Packet(from_client, raw[0] >> 4, raw[0] & 15, body), raw + body


def _read(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def _unique(name: str) -> str:
    return f"{name}-{uuid.uuid4().hex[:10]}"


def make_certificates(folder: Path) -> None:
    """ca.crt, and server.crt and server.key for `localhost` signed by it."""
    folder.mkdir(parents=True, exist_ok=True)

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=test ca")
    for name, subject in (("server", "/CN=localhost"), ("client", "/CN=board")):
        openssl("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", subject)
        (folder / f"{name}.ext").write_text("subjectAltName=DNS:localhost\n")
        openssl(
            *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"),
            *("-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.crt"),
        )


def make_password_file(folder: Path, username: str, password: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "passwords"
    subprocess.run(["mosquitto_passwd", "-b", "-c", str(file), username, password], check=True)
    file.chmod(0o600)
    return file


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """One broker for the tests of a module; keep apart by `base`."""
    running = Broker(tmp_path_factory.mktemp("broker")).start()
    yield running
    running.stop()


@pytest.fixture
def base() -> str:
    """A topic prefix of this test alone."""
    return f"test/{uuid.uuid4().hex[:10]}"


@pytest.fixture
def make_broker(tmp_path: Path) -> Iterator[Callable[..., Broker]]:
    """Starts brokers of one's own: make_broker(persistent=True, settings=(...))."""
    made: list[Broker] = []

    def make(persistent: bool = False, settings: tuple[str, ...] = ()) -> Broker:
        made.append(Broker(tmp_path / f"broker{len(made)}", persistent, settings).start())
        return made[-1]

    yield make
    for each in made:
        each.stop()
