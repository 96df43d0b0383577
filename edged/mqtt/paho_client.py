"""One connection to the broker: the only file that imports paho.

paho calls back; here its calls become a list of happenings that `step` returns, so that nothing
of ours runs inside paho and no exception of ours crosses it. A Connection is used by one thread
and never again after it is lost: a fresh one keeps no state of the old.
"""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from edged.config.model import TlsConfig
from edged.errors import BrokerError
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

_VERSIONS = {MQTT5: MQTTProtocolVersion.MQTTv5, MQTT311: MQTTProtocolVersion.MQTTv311}
_SESSION_TAKEN_OVER = 0x8E
_UNSUPPORTED_PROTOCOL = 0x84
_BAD_CREDENTIALS = (0x86, 0x87)
_SEND_WINDOW = 10
"""Unanswered publishes of ours at most: paho ignores the broker's Receive Maximum, of which 10
(HiveMQ) is the smallest default known; more would end the connection."""
_READS_PER_STEP = 64
"""Packets read before the caller gets a turn, so that a flood does not keep it from acknowledging."""


def _answer_at_once(sock: Any) -> None:
    """The kernel forgets it, so it is said again after each reading (tcp(7), TCP_QUICKACK).

    A broker with Nagle's algorithm on (mosquitto's default) holds a packet back until the one before it
    is acknowledged, which the kernel otherwise delays by 40 ms.
    """
    if sock is not None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


@dataclass(slots=True)
class Connection:
    """A connection from CONNECT to its loss. Construction raises BrokerError for bad TLS files."""

    options: Options
    lost: bool = field(default=False, init=False)
    _happenings: list[Happening] = field(default_factory=list, init=False)
    _client: paho.Client = field(init=False)

    def __post_init__(self) -> None:
        options = self.options
        five = options.protocol == MQTT5
        self._client = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=options.client_id,
            protocol=_VERSIONS[options.protocol],
            manual_ack=True,
            reconnect_on_failure=False,
            clean_session=None if five else self._clean,
        )
        self._client.max_inflight_messages_set(_SEND_WINDOW)
        self._client.username_pw_set(options.broker.username, options.password)
        if options.will is not None:
            topic, payload = options.will
            self._client.will_set(topic, payload, qos=1, retain=True)
        if options.broker.tls.enabled:
            self._client.tls_set_context(_tls_context(options.broker.tls))
            self._client.tls_insecure_set(options.broker.tls.insecure)
        self._client.on_connect = self._on_connect
        self._client.on_subscribe = self._on_subscribe
        self._client.on_publish = self._on_publish
        self._client.on_message = self._on_message
        self._client.on_disconnect = self._on_disconnect

    def open(self) -> None:
        """Look up the name, connect, shake hands, send CONNECT; the answer comes as a happening.

        Blocks: 5 s for each address and for TLS, and as long as the resolver likes for the name.
        Raises BrokerError.
        """
        broker, port = self.options.broker, self.options.port
        try:
            if self.options.protocol == MQTT5:
                self._client.connect(
                    broker.host,
                    port,
                    broker.keepalive_s,
                    clean_start=self._clean,
                    properties=self._connect_properties(),
                )
            else:
                self._client.connect(broker.host, port, broker.keepalive_s)
        except Exception as error:  # what a resolver, a proxy or TLS may raise is an open list
            raise BrokerError(_why_not_open(self.options, error)) from None
        sock: Any = self._client.socket()
        if sock is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def step(self, timeout_s: float, wake_fd: int | None = None) -> list[Happening]:
        """Send and receive until something happened, `wake_fd` is readable or the time is over."""
        sock = self._client.socket()
        if sock is None or self.lost:
            self._note_lost("the connection was closed")
            return self._taken()
        readable, writable = self._poll(sock, timeout_s if not self._happenings else 0.0, wake_fd)
        try:
            if writable:
                self._client.loop_write()
            for _ in range(_READS_PER_STEP):
                if not readable or self.lost:
                    break
                self._client.loop_read()
                sock = self._client.socket()
                readable = sock is not None and self._poll(sock, 0.0, None)[0]
            _answer_at_once(self._client.socket())
            code = self._client.loop_misc()
        except Exception as error:  # paho raises many kinds at packets that break the standard
            self._note_lost(f"the broker sent what cannot be read ({type(error).__name__}: {error})")
        else:
            if code != MQTTErrorCode.MQTT_ERR_SUCCESS:
                self._note_lost(paho.error_string(code))
        return self._taken()

    def subscribe(self, subscriptions: Iterable[Subscription]) -> list[int]:
        """Packet ids of the SUBSCRIBE packets, one a filter, so that each answer is for one."""
        return [self._subscribe(each) for each in subscriptions]

    def unsubscribe(self, topic_filters: Iterable[str]) -> None:
        """End subscriptions that an earlier run left in the session."""
        for each in topic_filters:
            self._client.unsubscribe(each)

    def publish(
        self, topic: str, payload: bytes, *, retain: bool = False, correlation: bytes | None = None
    ) -> int:
        """Send at QoS 1; the packet id that comes back in Published."""
        properties = None
        if correlation is not None and self.options.protocol == MQTT5:
            properties = _properties(PacketTypes.PUBLISH)
            properties.CorrelationData = correlation
        return self._client.publish(topic, payload, qos=1, retain=retain, properties=properties).mid

    def acknowledge(self, mid: int) -> None:
        """Send the PUBACK of a received QoS 1 message."""
        self._client.ack(mid, 1)

    def close(self) -> None:
        """Send DISCONNECT, as far as the socket takes it, and close. The will is not sent."""
        self._client.disconnect()
        self.abort()

    def abort(self) -> None:
        """Close without a word, as a crash would; the callbacks go, for they would keep us alive."""
        self.lost = True
        self._client.on_connect = self._client.on_disconnect = None
        self._client.on_subscribe = self._client.on_publish = self._client.on_message = None
        sock = self._client.socket()
        if sock is not None:
            sock.close()

    @property
    def _clean(self) -> bool:
        return self.options.keep_session_s == 0 or self.options.discard_session

    def _poll(self, sock: Any, timeout_s: float, wake_fd: int | None) -> tuple[bool, bool]:
        """Whether the socket can be read and should be written."""
        pending: Callable[[], int] | None = getattr(sock, "pending", None)
        if pending is not None and pending() > 0:  # TLS has read ahead what poll cannot see
            timeout_s = 0.0
            ahead = True
        else:
            ahead = False
        poll = select.poll()
        poll.register(sock, select.POLLIN | (select.POLLOUT if self._client.want_write() else 0))
        if wake_fd is not None:
            poll.register(wake_fd, select.POLLIN)
        events = dict(poll.poll(timeout_s * 1000)).get(sock.fileno(), 0)
        return ahead or bool(events & ~select.POLLOUT), bool(events & select.POLLOUT)

    def _connect_properties(self) -> Properties:
        properties = _properties(PacketTypes.CONNECT)
        properties.SessionExpiryInterval = self.options.keep_session_s
        properties.TopicAliasMaximum = 0  # paho does not resolve the broker's aliases
        if self.options.receive_maximum is not None:
            properties.ReceiveMaximum = self.options.receive_maximum
        if self.options.maximum_packet_bytes is not None:
            properties.MaximumPacketSize = self.options.maximum_packet_bytes
        return properties

    def _subscribe(self, each: Subscription) -> int:
        if self.options.protocol != MQTT5:
            return self._client.subscribe(each.topic_filter, each.qos)[1] or 0
        properties = None
        if each.identifier is not None:
            properties = _properties(PacketTypes.SUBSCRIBE)
            properties.SubscriptionIdentifier = each.identifier
        handling = (
            SubscribeOptions.RETAIN_SEND_ON_SUBSCRIBE
            if each.retained
            else SubscribeOptions.RETAIN_DO_NOT_SEND
        )
        options = SubscribeOptions(each.qos, noLocal=each.no_local, retainHandling=handling)
        return self._client.subscribe(each.topic_filter, options=options, properties=properties)[1] or 0

    def _on_connect(
        self,
        _client: Any,
        _data: Any,
        flags: paho.ConnectFlags,
        code: ReasonCode,
        properties: Properties | None,
    ) -> None:
        if code.is_failure:
            wrong = code.value == _UNSUPPORTED_PROTOCOL
            self._happenings.append(Connected(False, _why_refused(self.options, code), wrong))
            return
        available = getattr(properties, "SubscriptionIdentifierAvailable", 1)
        five = self.options.protocol == MQTT5
        self._happenings.append(Connected(flags.session_present, subscription_ids=five and bool(available)))

    def _on_subscribe(
        self, _client: Any, _data: Any, mid: int, codes: list[ReasonCode], _properties: Properties | None
    ) -> None:
        granted = tuple(str(code) if code.is_failure else int(code.value) for code in codes)
        self._happenings.append(Subscribed(mid, granted))

    def _on_publish(
        self, _client: Any, _data: Any, mid: int, code: ReasonCode, _properties: Properties | None
    ) -> None:
        self._happenings.append(Published(mid, str(code) if code.is_failure else None))

    def _on_message(self, _client: Any, _data: Any, message: paho.MQTTMessage) -> None:
        properties = message.properties
        try:
            topic = message.topic
        except UnicodeDecodeError:
            topic = "\ufffd"  # matches no topic of ours; the message is acknowledged and not spoken
        self._happenings.append(
            Delivery(
                topic=topic,
                payload=bytes(message.payload),
                mid=message.mid,
                qos=message.qos,
                dup=message.dup,
                retain=message.retain,
                expiry_s=getattr(properties, "MessageExpiryInterval", None),
                response_topic=getattr(properties, "ResponseTopic", None),
                correlation=getattr(properties, "CorrelationData", None),
                subscription_ids=tuple(getattr(properties, "SubscriptionIdentifier", ())),
            )
        )

    def _on_disconnect(
        self, _client: Any, _data: Any, flags: paho.DisconnectFlags, code: ReasonCode, _properties: Any
    ) -> None:
        said = (
            f"the broker said: {code}" if flags.is_disconnect_packet_from_server else "the connection broke"
        )
        self._note_lost(said, taken_over=code.value == _SESSION_TAKEN_OVER)

    def _note_lost(self, reason: str, taken_over: bool = False) -> None:
        """The first reason is the true one; what follows is its echo."""
        if not self.lost:
            self.lost = True
            self._happenings.append(Lost(reason, taken_over))

    def _taken(self) -> list[Happening]:
        happenings, self._happenings = self._happenings, []
        return happenings


def _properties(packet_type: int) -> Properties:
    return Properties(packet_type)  # type: ignore[no-untyped-call]


def _tls_context(tls: TlsConfig) -> ssl.SSLContext:
    """Raises BrokerError naming the key of the file that cannot be used."""
    try:
        context = ssl.create_default_context(cafile=tls.ca_file)
    except (OSError, ValueError) as error:
        raise BrokerError(f"mqtt.tls.ca_file {tls.ca_file}: {_said(error)}") from None
    # Python 3.13 sets it, and refuses CAs made at home without key usage; before 3.13 they were taken.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if tls.cert_file is not None:
        try:  # an encrypted key must fail: OpenSSL would ask for its pass phrase on the terminal
            context.load_cert_chain(tls.cert_file, tls.key_file, password="")
        except (OSError, ValueError) as error:
            files = f"mqtt.tls.cert_file {tls.cert_file} with key_file {tls.key_file}"
            raise BrokerError(f"{files}: {_said(error)}") from None
    return context


def _why_not_open(options: Options, error: Exception) -> str:
    where = f"broker {options.address}"
    if isinstance(error, socket.gaierror):
        return f"{where}: the name is not found ({_said(error)}); check mqtt.host and the network"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{where}: its certificate is not trusted ({error.verify_message}); check mqtt.tls.ca_file"
    if isinstance(error, ssl.SSLError):
        return f"{where}: TLS failed ({_said(error)}); check mqtt.tls and the port"
    if isinstance(error, ConnectionRefusedError):
        return f"{where}: refused, nothing listens there; start the broker or check mqtt.host and mqtt.port"
    if isinstance(error, TimeoutError):
        return f"{where}: no answer in time; check mqtt.host, mqtt.port and the network"
    return f"{where}: {_said(error)}; check mqtt.host, mqtt.port and the network"


def _why_refused(options: Options, code: ReasonCode) -> str:
    where = f"broker {options.address}"
    if code.value in _BAD_CREDENTIALS:
        return f"{where}: {code}; check mqtt.username and the password (mqtt.password_file)"
    if code.value == _UNSUPPORTED_PROTOCOL:
        return f"{where}: it does not speak MQTT {options.protocol} (mqtt.protocol)"
    return f"{where}: refused us ({code})"


def _said(error: Exception) -> str:
    """What an error says, in one line."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())
