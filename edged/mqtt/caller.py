"""A small synchronous client: publishes announcements and waits for what becomes of them.

For `edged say`, `edged top`, `edged bench` and `edged doctor`. Everything happens on the calling thread,
inside the calls; ctrl-C ends any of them, and leaving the `with` block disconnects.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from edged.config.model import MqttConfig
from edged.errors import BrokerError, PayloadError
from edged.mqtt.codec import decode_event, encode_json
from edged.mqtt.credentials import find_password
from edged.mqtt.paho_client import Connection
from edged.mqtt.topics import Topics
from edged.mqtt.wire import (
    MQTT5,
    MQTT311,
    Connected,
    Delivery,
    Happening,
    Lost,
    Options,
    Published,
    Subscribed,
    Subscription,
)
from edged.types import Event


@dataclass(frozen=True, slots=True)
class Sent:
    """One published announcement; `published_ns` is CLOCK_MONOTONIC just before the publish call."""

    id: str
    published_ns: int


class Caller:
    """One connection to the broker, subscribed to the board's events. Use as a context manager.

    Every method raises BrokerError, one line, when the broker cannot be reached or is lost.
    """

    def __init__(self, config: MqttConfig, topics: Topics) -> None:
        self._config = config
        self._topics = topics
        self._name = f"edged-caller-{uuid.uuid4().hex[:10]}"
        self._connection: Connection | None = None
        self._events: deque[Event] = deque()
        self._notices: deque[str] = deque(maxlen=16)
        self._availability: bytes | None = None
        self._state: dict[str, Any] | None = None
        self._probed = b""
        self.protocol: str | None = None
        """The MQTT version agreed on."""

    def open(self, timeout_s: float = 10.0) -> None:
        """Connects and subscribes."""
        protocols = (MQTT5, MQTT311) if self._config.protocol == "auto" else (self._config.protocol,)
        for protocol in protocols:
            answer = self._connect(protocol, timeout_s)
            if answer is not None and answer.refusal is None:
                self.protocol = protocol
                break
            if protocol == protocols[-1] or (answer is not None and not answer.wrong_protocol):
                self.close()
                refusal = answer.refusal if answer else None
                raise BrokerError(
                    refusal or f"broker {self._address}: does not answer; is it an MQTT broker?"
                )
        wanted = [
            Subscription(self._topics.event, 1),
            Subscription(self._topics.availability, 1, retained=True),
            Subscription(f"{self._topics.probe}/{self._name}", 1),
        ]
        self._subscribe(wanted, timeout_s)

    def close(self) -> None:
        """Disconnects; never waits."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def __enter__(self) -> Caller:
        self.open()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self.close()

    def daemon_online(self, timeout_s: float = 2.0) -> bool:
        """Whether the board says that it is there (its retained availability)."""
        self._until(lambda: self._availability is not None, timeout_s)
        return self._availability == b"online"

    def watch_state(self, timeout_s: float = 10.0) -> None:
        """From now on `next_state` has what the board says of itself."""
        self._subscribe([Subscription(self._topics.state, 0, retained=True)], timeout_s)

    def next_state(self, timeout_s: float) -> dict[str, Any] | None:
        """The newest state that was not given yet; None when none comes within the time."""
        self._until(lambda: self._state is not None, timeout_s)
        state, self._state = self._state, None
        return state

    @property
    def availability(self) -> str | None:
        """What the board last said, 'online' or 'offline'; None where it said nothing yet."""
        return None if self._availability is None else self._availability.decode(errors="replace")

    def say(self, text: str, *, zone: str | None = None, **members: Any) -> Sent:
        """Publishes one announcement at QoS 1; `members` are further members of its JSON object."""
        announcement_id = str(members.pop("id", None) or uuid.uuid4().hex[:12])
        payload = encode_json({"text": text, "id": announcement_id, **members})
        topic = self._topics.say if zone is None else f"{self._topics.say}/{zone}"
        published_ns = time.monotonic_ns()
        self._live().publish(topic, payload)
        return Sent(announcement_id, published_ns)

    def stop(self, announcement_id: str | None = None) -> None:
        """Stops one announcement, or all."""
        self._live().publish(f"{self._topics.base}/stop", (announcement_id or "all").encode())

    def retain(self, topic: str, payload: bytes, timeout_s: float = 5.0) -> None:
        """Publishes a message for the broker to keep, an empty one to forget it; it has it on return."""
        mid = self._live().publish(topic, payload, retain=True)
        answered: list[int] = []

        def see(happening: Happening) -> None:
            if isinstance(happening, Published):
                answered.append(happening.mid)

        if not self._until(lambda: mid in answered, timeout_s, see):
            raise BrokerError(f"broker {self._address}: no answer to a publish within {timeout_s:g} s")

    def use_voice(self, name: str, timeout_s: float) -> str | None:
        """Ask for another voice; the daemon's answer in words, None when the time is over."""
        self._notices.clear()
        self._live().publish(f"{self._topics.base}/voice/set", name.encode())
        self._until(lambda: any(name in reason for reason in self._notices), timeout_s)
        return next((reason for reason in self._notices if name in reason), None)

    def events_of(self, ids: set[str], timeout_s: float) -> Iterator[Event]:
        """Events of these announcements as they come, until each has had its last one.

        Ends early when the time is over: whoever counts the final ones knows what is missing.
        """
        open_ids = set(ids)
        deadline_s = time.monotonic() + timeout_s
        while open_ids:
            if not self._events:
                left_s = deadline_s - time.monotonic()
                if left_s <= 0:
                    return
                self._step(left_s)
                continue
            event = self._events.popleft()
            if event.id in ids:
                if event.kind.is_final:
                    open_ids.discard(event.id)
                yield event

    def round_trip_ms(self, timeout_s: float = 5.0) -> float:
        """A message to the broker and back to us."""
        mark = uuid.uuid4().hex.encode()
        started_ns = time.monotonic_ns()
        self._live().publish(f"{self._topics.probe}/{self._name}", mark)
        if not self._until(lambda: self._probed == mark, timeout_s):
            raise BrokerError(f"broker {self._address}: a message did not come back within {timeout_s:g} s")
        return (time.monotonic_ns() - started_ns) / 1e6

    @property
    def _address(self) -> str:
        return Options(self._config, MQTT5, self._name).address

    def _connect(self, protocol: str, timeout_s: float) -> Connected | None:
        """The broker's answer, or None where it gave none."""
        self.close()
        password = find_password(self._config, os.environ)
        self._connection = Connection(Options(self._config, protocol, self._name, password))
        self._connection.open()
        deadline_s = time.monotonic() + timeout_s
        while (left_s := deadline_s - time.monotonic()) > 0:
            for happening in self._connection.step(left_s):
                if isinstance(happening, Connected):
                    return happening
                if isinstance(happening, Lost):
                    return None
        return None

    def _subscribe(self, wanted: list[Subscription], timeout_s: float) -> None:
        awaited = set(self._live().subscribe(wanted))
        refused: list[str] = []

        def answered(happening: Happening) -> None:
            if isinstance(happening, Subscribed):
                awaited.discard(happening.mid)
                refused.extend(granted for granted in happening.granted if isinstance(granted, str))

        if not self._until(lambda: not awaited, timeout_s, answered) or refused:
            fault = f"refuses subscriptions ({refused[0]})" if refused else "does not answer subscriptions"
            raise BrokerError(f"broker {self._address}: {fault}; check its access rules")

    def _live(self) -> Connection:
        if self._connection is None:
            raise BrokerError(f"broker {self._address}: not connected")
        return self._connection

    def _until(
        self, condition: Callable[[], bool], timeout_s: float, see: Callable[[Happening], None] | None = None
    ) -> bool:
        deadline_s = time.monotonic() + timeout_s
        while not condition():
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                return False
            self._step(left_s, see)
        return True

    def _step(self, timeout_s: float, see: Callable[[Happening], None] | None = None) -> None:
        # one second at most: paho sends its keep-alive between the steps
        for happening in self._live().step(min(timeout_s, 1.0)):
            if isinstance(happening, Lost):
                raise BrokerError(f"broker {self._address}: {happening.reason}")
            if isinstance(happening, Published) and happening.refusal is not None:
                raise BrokerError(f"broker {self._address}: refuses a publish ({happening.refusal})")
            if isinstance(happening, Delivery):
                self._receive(happening)
            elif see is not None:
                see(happening)

    def _receive(self, delivery: Delivery) -> None:
        if delivery.qos:
            self._live().acknowledge(delivery.mid)
        if delivery.topic == self._topics.availability:
            self._availability = delivery.payload
        elif delivery.topic == self._topics.state:
            self._state = _object(delivery.payload) or self._state
        elif delivery.topic == self._topics.event:
            try:
                self._events.append(decode_event(delivery.payload))
            except PayloadError:  # a notice, or someone else's message on this topic
                self._keep_notice(delivery.payload)
        else:
            self._probed = delivery.payload

    def _keep_notice(self, payload: bytes) -> None:
        """A report about a voice, as `{"event": "notice", "what": "voice", "reason": …}`."""
        members = _object(payload)
        if members.get("what") == "voice":
            self._notices.append(str(members.get("reason")))


def _object(payload: bytes) -> dict[str, Any]:
    """A JSON object; an empty one for anything else."""
    try:
        members = json.loads(payload)
    except ValueError:
        return {}
    return members if isinstance(members, dict) else {}
