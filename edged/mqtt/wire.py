"""What goes into a connection to the broker and what comes out of it, as plain values.

`Connection.step` returns happenings; everything above paho works on these alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from edged.config.model import MqttConfig

MQTT5, MQTT311 = "5", "3.1.1"


@dataclass(frozen=True, slots=True)
class Options:
    """What goes into CONNECT. `will` is (topic, payload), retained at QoS 1."""

    broker: MqttConfig
    protocol: str
    client_id: str
    password: str | None = None
    will: tuple[str, bytes] | None = None
    keep_session_s: int = 0
    """0: a fresh session that ends with the connection. MQTT 3.1.1 knows only 0 and for ever."""
    discard_session: bool = False
    """End the session that the broker may hold. MQTT 3.1.1 cannot begin one to keep at the same time."""
    receive_maximum: int | None = None
    maximum_packet_bytes: int | None = None

    @property
    def port(self) -> int:
        """The configured port, or the standard one."""
        return self.broker.port or (8883 if self.broker.tls.enabled else 1883)

    @property
    def address(self) -> str:
        """`host:port` for messages to people."""
        return f"{self.broker.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Connected:
    """CONNACK. `refusal` is None when the broker took us; one line otherwise."""

    session_present: bool
    refusal: str | None = None
    wrong_protocol: bool = False
    subscription_ids: bool = False


@dataclass(frozen=True, slots=True)
class Subscribed:
    """SUBACK: for each filter the QoS granted, or the reason of its refusal."""

    mid: int
    granted: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Published:
    """The broker has answered for a QoS 1 publish of ours; `refusal` is None when it took it."""

    mid: int
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message received. `mid` is 0 at QoS 0. What MQTT 3.1.1 does not know is None or empty."""

    topic: str
    payload: bytes
    mid: int
    qos: int
    dup: bool
    retain: bool
    expiry_s: int | None = None
    response_topic: str | None = None
    correlation: bytes | None = None
    subscription_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection is over, and with it this object."""

    reason: str
    taken_over: bool = False


Happening = Connected | Subscribed | Published | Delivery | Lost


@dataclass(frozen=True, slots=True)
class Subscription:
    """A filter asked for. `identifier` and `no_local` need MQTT 5 and are left out without it."""

    topic_filter: str
    qos: int
    identifier: int | None = None
    no_local: bool = False
    retained: bool = False
    """Have what is retained sent at once."""
