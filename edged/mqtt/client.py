"""The mqtt thread: keeps one connection to the broker, for ever, until it is told to stop.

It receives and decodes messages and offers them to the queue (`offer`), hands over commands
(`control`), publishes events and state, and acknowledges in order of receipt. Other threads talk to
it through `emit`, `notice` and `publish_state`, which never block on the network. It alone touches
the connection and writes the status; it beats at least once a second, except while a connection is
being opened: a name lookup or TLS may block for tens of seconds, so it says `rest` before.
"""

from __future__ import annotations

import logging
import os
import random
import select
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from edged.config.model import MqttConfig
from edged.errors import BrokerError
from edged.mqtt.announcer import Announcer
from edged.mqtt.backoff import Backoff
from edged.mqtt.codec import Control
from edged.mqtt.credentials import find_password
from edged.mqtt.outbox import Notice
from edged.mqtt.paho_client import Connection
from edged.mqtt.receive import Counts, Handlers, Receiver
from edged.mqtt.serving import OFFLINE, Serving
from edged.mqtt.session import Journal, Session
from edged.mqtt.topics import Topics, default_client_id
from edged.mqtt.wire import MQTT5, MQTT311, Connected, Delivery, Lost, Options, Published, Subscribed
from edged.types import Event, Utterance

_log = logging.getLogger(__name__)

_ANSWER_LIMIT_S = 10.0
"""For CONNACK and for the last SUBACK after it."""
_BEAT_S = 1.0
_LOG_AGAIN_S = 3600.0
"""An unchanged failure is logged once, and again after this time."""
_OVERHEAD_BYTES = 131072
"""Topic and properties beside the payload in the largest packet we ask for; MQTT 5 brokers keep
larger ones from us without a word, so that what is a little too large can still be refused with one."""
_SPARE_WINDOW = 1024
"""Deliveries beyond the bound of the queue. What the queue drops waits for its turn to be acknowledged,
and the broker holds back whatever does not fit in the window, urgent ones too. More than the 1000 that
mosquitto keeps for a client by default; the queue bounds the texts held, an entry here is 300 bytes."""
_EMPTIED_S = 0.5
"""A session that has brought nothing for so long has brought all that waited in it."""


@dataclass(frozen=True, slots=True)
class LinkStatus:
    """What is known of the broker; `since_ns` is when `connected` last changed."""

    broker: str
    connected: bool = False
    protocol: str | None = None
    error: str | None = "not connected yet"
    since_ns: int = 0
    refused_subscriptions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """One line for people."""
        if self.connected:
            refused = "".join(f"; {fault}" for fault in self.refused_subscriptions)
            return f"connected to {self.broker}, MQTT {self.protocol}{refused}"
        return self.error or "stopped"


class MqttLink:
    """The daemon's link to the broker. Its journal is edged.queue.journal.Journal.

    `offer` takes an utterance and returns its events; it must not wait for another thread that
    emits. `ttl_s` and `max_chars` are read for every message. The password is looked up at every
    connection, so that a new one in its file is taken without a restart. `rate` gives the messages that
    a topic may bring: a second, and at once. `site_id` is ours among those that speak Hermes, or None.
    """

    def __init__(
        self,
        config: MqttConfig,
        topics: Topics,
        *,
        offer: Callable[[Utterance], list[Event]],
        control: Callable[[Control], None],
        journal: Journal,
        ttl_s: Callable[[], float],
        max_chars: Callable[[], int],
        rate: Callable[[], tuple[float, int]],
        queue_bound: int,
        announcer: Announcer,
        site_id: str | None,
        beat: Callable[[], None],
        rest: Callable[[], None],
    ) -> None:
        self._config = config
        self._topics = topics
        self._journal = journal
        self._ttl_s = ttl_s
        self._window = min(queue_bound + _SPARE_WINDOW, 65535)
        self._beat = beat
        self._rest = rest
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._wake_writer.setblocking(False)
        self._session = Session(journal, self._wake)
        self._announcer = announcer
        handlers = Handlers(offer, control, ttl_s, max_chars, rate)
        self._receiver = Receiver(
            config, topics, self._session, handlers, site_id=site_id, backlog=self._window
        )
        self._client_id = config.client_id or default_client_id(topics.node)
        self._backoff = Backoff(random.random)
        self._protocols = [MQTT5, MQTT311] if config.protocol == "auto" else [config.protocol]
        self._state: dict[str, object] | None = None
        self._state_is_new = False
        self._logged: tuple[str, float] = ("", 0.0)
        self._stopping = threading.Event()
        self._farewell_s = 0.0
        self._discard_session = False
        self._emptied = False
        self._status = LinkStatus(Options(config, MQTT5, self._client_id).address)
        self._thread = threading.Thread(target=self._run, name="mqtt", daemon=True)

    # -- called by other threads -------------------------------------------------------------------
    def start(self) -> None:
        """Starts the thread; that no broker is there is a state, told by `status`."""
        for warning in self._topics.warnings:
            _log.warning("%s", warning)
        self._thread.start()

    def stop(self, timeout_s: float) -> None:
        """Publishes offline and what is waiting, disconnects and keeps the session; waits so long."""
        self._farewell_s = timeout_s * 0.8
        self._stopping.set()
        self._wake()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
            if self._thread.is_alive():
                _log.warning("the broker connection did not end within %.1f s", timeout_s)

    def emit(self, event: Event) -> None:
        """Publishes an event; a final one is in the journal on return and acknowledges its message."""
        self._session.emit(event)

    def notice(self, what: str, reason: str) -> None:
        """Publishes a report that belongs to no announcement."""
        self._session.notice(Notice(what, reason))

    def publish_state(self, members: dict[str, object]) -> None:
        """Publishes the state, retained; while the broker is away the last one is kept."""
        self._state, self._state_is_new = members, True
        self._wake()

    @property
    def status(self) -> LinkStatus:
        """The present state of the connection."""
        return self._status

    @property
    def counts(self) -> Counts:
        """Numbers about received messages and connections; to be read only."""
        return self._receiver.counts

    @property
    def owed(self) -> int:
        """Messages received on this connection and not yet acknowledged."""
        return self._session.owed

    # -- the thread --------------------------------------------------------------------------------
    def _run(self) -> None:
        protocol = self._protocols[0]
        while not self._stopping.is_set():
            try:
                protocol, wait_s = self._connect(protocol)
            except Exception as error:  # a fault of ours must not leave the board without its broker
                _log.debug("", exc_info=True)
                self._down(f"internal error in the broker connection: {type(error).__name__}: {error}")
                wait_s = self._backoff.failed()
            self._pause(wait_s)
        self._status = LinkStatus(self._status.broker, error=None, since_ns=time.monotonic_ns())

    def _connect(self, protocol: str) -> tuple[str, float]:
        """One connection from its opening to its end: the protocol to try next, seconds to wait."""
        self._rest()
        try:
            connection = Connection(self._options(protocol))
            connection.open()
        except BrokerError as error:
            self._down(str(error))
            return self._protocols[0], self._backoff.failed()
        serving = Serving(
            connection, self._topics, self._session, self._journal, self._receiver, self._announcer
        )
        try:
            return self._serve(connection, serving, protocol)
        finally:
            connection.abort()

    def _serve(self, connection: Connection, serving: Serving, protocol: str) -> tuple[str, float]:
        answer: Connected | None = None
        began_s = opened_s = time.monotonic()
        while True:
            for happening in connection.step(_BEAT_S, self._wake_reader.fileno()):
                if isinstance(happening, Connected):
                    answer, began_s = happening, time.monotonic()
                    if answer.refusal is None and self._discarded(connection):
                        return protocol, 0.0
                    if answer.refusal is None:
                        serving.connected(answer, self._emptied)
                elif isinstance(happening, Lost):
                    return self._ended(happening, answer, protocol, time.monotonic() - began_s)
                else:
                    self._handle(serving, happening)
            self._drain_wake()
            self._beat()
            if serving.unknown_session:
                self._empty(connection, serving)
                return protocol, 0.0
            if serving.ready:
                self._up(serving, protocol)
                serving.pump(self._new_state)
                if self._stopping.is_set():
                    self._farewell(connection, serving)
                    return protocol, 0.0
            elif self._stopping.is_set():
                return protocol, 0.0
            elif time.monotonic() - opened_s > _ANSWER_LIMIT_S:
                silent = Lost(f"no answer within {_ANSWER_LIMIT_S:.0f} s")
                return self._ended(silent, answer, protocol, time.monotonic() - began_s)

    def _discarded(self, connection: Connection) -> bool:
        """True when this connection was for ending a session, and is over."""
        discard, self._discard_session = self._discard_session, False
        if not discard or connection.options.protocol == MQTT5:
            return False
        connection.close()
        return True

    def _empty(self, connection: Connection, serving: Serving) -> None:
        """Receives what waits in a session nobody remembers; it is spoken, its acknowledgements are void."""
        end_s = time.monotonic() + _ANSWER_LIMIT_S
        while not self._stopping.is_set() and time.monotonic() < end_s:
            deliveries = [each for each in connection.step(_EMPTIED_S) if isinstance(each, Delivery)]
            self._beat()
            for delivery in deliveries:
                serving.delivered(delivery)
            if not deliveries:
                break
        _log.warning(
            "broker %s: the broker holds a session that the journal does not know (is state_dir kept?); "
            "what waited in it is taken over (%d), and a new one begins",
            self._status.broker,
            self._session.owed,
        )
        connection.close()
        self._discard_session = self._emptied = True

    def _handle(self, serving: Serving, happening: Subscribed | Published | Delivery) -> None:
        if isinstance(happening, Delivery):
            serving.delivered(happening)
        elif isinstance(happening, Subscribed):
            serving.subscribed(happening)
        else:
            serving.published(happening)

    def _ended(
        self, lost: Lost, answer: Connected | None, protocol: str, lasted_s: float
    ) -> tuple[str, float]:
        """What to try next, and when, after a connection that was open for `lasted_s`."""
        broker = f"broker {self._status.broker}"
        if answer is None:
            self._down(f"{broker}: {lost.reason} before it answered; is it an MQTT broker?")
            return self._other(protocol)
        if answer.wrong_protocol and len(self._protocols) > 1:
            self._protocols.remove(protocol)
            _log.info("%s: falling back to MQTT %s", answer.refusal, self._protocols[0])
            return self._protocols[0], 0.0
        if answer.refusal is not None:
            self._down(answer.refusal)
            return protocol, self._backoff.failed()
        self._receiver.counts.reconnects += 1
        wait_s = self._backoff.lost(lasted_s, lost.taken_over)
        reason = f"{broker}: {lost.reason} after {lasted_s:.0f} s"
        if self._backoff.clash:
            reason = (
                f"{broker}: {lost.reason}; another client seems to use the id {self._client_id!r}: "
                "give every board its own mqtt.client_id"
            )
        self._down(reason)
        return self._protocols[0], wait_s

    def _other(self, protocol: str) -> tuple[str, float]:
        """After a broker that does not take this protocol: the other one, at once where it is next."""
        others = [each for each in self._protocols if each != protocol]
        if not others:
            return protocol, self._backoff.failed()
        return others[0], 0.0 if protocol == MQTT5 else self._backoff.failed()

    def _farewell(self, connection: Connection, serving: Serving) -> None:
        """Offline must have left before we do; the session stays for the next start."""
        deadline_s = time.monotonic() + self._farewell_s
        awaited = serving.say_offline()
        while (left_s := deadline_s - time.monotonic()) > 0:
            for happening in connection.step(left_s):
                if isinstance(happening, Published):
                    serving.published(happening)
                    if happening.mid == awaited:
                        connection.close()
                        return
                elif isinstance(happening, Lost):
                    return

    def _options(self, protocol: str) -> Options:
        """Raises BrokerError where the password cannot be read."""
        return Options(
            broker=self._config,
            protocol=protocol,
            client_id=self._client_id,
            password=find_password(self._config, os.environ),
            will=(self._topics.availability, OFFLINE),
            keep_session_s=max(1, round(self._ttl_s())),
            discard_session=self._discard_session,
            receive_maximum=self._window,
            maximum_packet_bytes=self._config.max_payload_bytes + _OVERHEAD_BYTES,
        )

    def _up(self, serving: Serving, protocol: str) -> None:
        if self._status.connected:
            return
        self._state_is_new = self._state is not None
        if not self._backoff.clash:  # in a clash every connection comes about, and is lost again
            self._logged = ("", 0.0)
        self._status = LinkStatus(
            self._status.broker, True, protocol, None, time.monotonic_ns(), tuple(serving.refused)
        )
        session = "session taken up" if serving.session_present else "new session"
        _log.info("%s, %s, as %s", self._status.text, session, self._client_id)

    def _down(self, reason: str) -> None:
        now_s = time.monotonic()
        since_ns = time.monotonic_ns() if self._status.connected else self._status.since_ns
        self._status = replace(self._status, connected=False, error=reason, since_ns=since_ns)
        if self._logged[0] != reason or now_s - self._logged[1] > _LOG_AGAIN_S:
            self._logged = (reason, now_s)
            _log.warning("%s; trying again", reason)

    def _new_state(self) -> dict[str, object] | None:
        if not self._state_is_new:
            return None
        self._state_is_new = False
        return self._state

    def _pause(self, wait_s: float) -> None:
        """Waits, and beats; only a stop ends it early."""
        poll = select.poll()
        poll.register(self._wake_reader, select.POLLIN)
        deadline_s = time.monotonic() + wait_s
        while not self._stopping.is_set() and (left_s := deadline_s - time.monotonic()) > 0:
            poll.poll(min(left_s, _BEAT_S) * 1000)
            self._drain_wake()
            self._beat()

    def _wake(self) -> None:
        try:
            self._wake_writer.send(b"\0")
        except BlockingIOError:  # enough wake-ups are waiting already
            return

    def _drain_wake(self) -> None:
        try:
            self._wake_reader.recv(4096)
        except BlockingIOError:
            return
