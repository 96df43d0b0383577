"""One connection's life after it is open. Runs on the mqtt thread only.

CONNACK, subscriptions, the birth message, then: deliveries in, events and acknowledgements out.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from itertools import chain

from edged.mqtt import hermes
from edged.mqtt.announcer import Announcer
from edged.mqtt.codec import encode_event, encode_json
from edged.mqtt.outbox import Notice
from edged.mqtt.paho_client import Connection
from edged.mqtt.receive import AVAILABILITY_ID, CONTROL_ID, TEXT_ID, Receiver
from edged.mqtt.session import Journal, Session
from edged.mqtt.topics import Topics
from edged.mqtt.wire import Connected, Delivery, Published, Subscribed, Subscription
from edged.types import Event

_log = logging.getLogger(__name__)

ONLINE, OFFLINE = b"online", b"offline"
_REASSERT_NS = 1_000_000_000
"""At most one `online` a second in answer to an `offline` that is not true."""


class Serving:
    """Session traffic over one connection."""

    def __init__(
        self,
        connection: Connection,
        topics: Topics,
        session: Session,
        journal: Journal,
        receiver: Receiver,
        announcer: Announcer,
    ) -> None:
        self._connection = connection
        self._topics = topics
        self._session = session
        self._journal = journal
        self._receiver = receiver
        self._announcer = announcer
        self._awaited: dict[int, Subscription] = {}
        self._unproven: list[str] = []
        self._proofs: dict[int, list[str]] = {}
        self._events: dict[int, int] = {}
        self._removals: dict[int, str] = {}
        self._contradicted = False
        self._asserted_ns = 0
        self.session_present = False
        self.unknown_session = False
        """Whoever drives this connection ends it, and the session with the next one."""
        self.ready = False
        """The broker has answered every subscription and the birth message is sent."""
        self.refused: list[str] = []
        """Subscriptions the broker did not grant, one line each."""

    def connected(self, answer: Connected, emptied: bool = False) -> None:
        """CONNACK: the session is taken up or begun anew, and everything is subscribed (again).

        A session whose filters nobody remembers (the journal is lost) is only emptied: what waited
        in it is received, nothing is subscribed, and `unknown_session` is set. Its filters cannot be
        ended one by one, for nobody can name them; those beside ours would bring messages twice.
        `emptied`: that was done before in this process, and would be done in vain again.
        """
        self.session_present = answer.session_present
        self._session.connected(answer.session_present)
        self._receiver.connected(answer.session_present)
        if answer.session_present and not emptied and not self._journal.filters():
            self.unknown_session = True
            return
        wanted = self._subscriptions(answer.subscription_ids)
        filters = {each.topic_filter for each in wanted}
        self._connection.unsubscribe(sorted(set(self._journal.filters()) - filters))
        self._journal.remember_filters(filters)
        self._awaited = dict(zip(self._connection.subscribe(wanted), wanted, strict=True))

    def subscribed(self, answer: Subscribed) -> None:
        """SUBACK: what is refused is told; after the last one we are there for others."""
        asked = self._awaited.pop(answer.mid, None)
        if asked is None:
            return
        for granted in answer.granted:
            if isinstance(granted, str):
                unused = asked.topic_filter == self._topics.hub_status
                self._tell(
                    f"the broker refuses the subscription to {asked.topic_filter!r} ({granted}); "
                    f"check its access rules{' or switch home_assistant.enabled off' if unused else ''}"
                )
            elif granted < asked.qos:
                self._tell(
                    f"the broker grants {asked.topic_filter!r} at QoS {granted} only; "
                    "announcements may be lost"
                )
        if not self._awaited:
            self.ready = True
            self._assert_online()
            self._announcer.connected()

    def published(self, answer: Published) -> None:
        """PUBACK for a publish of ours: all that was sent before it has reached the broker too."""
        self._session.proven(self._proofs.pop(answer.mid, []))
        event = self._events.pop(answer.mid, None)
        if event is not None:
            self._session.published(event)
        removed = self._removals.pop(answer.mid, None)
        if removed is not None and answer.refusal is None:
            self._announcer.taken_away(removed)
        if answer.refusal is not None:
            _log.warning("the broker refuses a publish of ours (%s); check its access rules", answer.refusal)

    def delivered(self, delivery: Delivery) -> None:
        """A message. Our own availability tells of a late will of an earlier connection, Home Assistant's
        that it has started."""
        if delivery.topic == self._topics.availability and not delivery.retain:
            self._contradicted = self._contradicted or delivery.payload == OFFLINE
        if delivery.topic == self._topics.hub_status and not delivery.retain and delivery.payload == ONLINE:
            self._announcer.hub_started()
        self._receiver.receive(delivery)

    def pump(self, state: Callable[[], dict[str, object] | None]) -> None:
        """Sends what is waiting: events, then what may be acknowledged, then the state if it is new, then
        what Home Assistant is to know."""
        if self._contradicted and time.monotonic_ns() - self._asserted_ns >= _REASSERT_NS:
            _log.info("%s said offline, a late will; online again", self._topics.availability)
            self._assert_online()
        outgoing, due = self._session.take()
        for serial, event in outgoing:
            self._events[self._publish_event(event)] = serial
        for mid, key in due:
            self._connection.acknowledge(mid)
            self._unproven.append(key)
        members = state()
        if members is not None:
            self._publish(self._topics.state, encode_json(members), retain=True)
        for topic, payload in self._announcer.due():
            mid = self._publish(topic, payload, retain=True)
            if not payload:
                self._removals[mid] = topic

    def say_offline(self) -> int:
        """An orderly end; the packet id whose Published means that the broker has it."""
        return self._publish(self._topics.availability, OFFLINE, retain=True)

    def _assert_online(self) -> None:
        self._contradicted = False
        self._asserted_ns = time.monotonic_ns()
        self._publish(self._topics.availability, ONLINE, retain=True)

    def _publish_event(self, outgoing: Event | Notice) -> int:
        """The packet id whose answer comes last: answers come in the order of what they answer."""
        if isinstance(outgoing, Notice):
            members = {"event": "notice", "what": outgoing.what, "reason": outgoing.reason}
            return self._publish(self._topics.event, encode_json(members))
        payload = encode_event(outgoing)
        mid = self._publish(self._topics.event, payload)
        receipt = outgoing.receipt
        if receipt is None or receipt.response_topic is None:
            return mid
        if receipt.response_topic == hermes.FINISHED:
            answer = hermes.answer(outgoing, receipt.correlation or b"{}")
            return mid if answer is None else self._publish(*answer)
        return self._publish(receipt.response_topic, payload, correlation=receipt.correlation)

    def _publish(
        self, topic: str, payload: bytes, *, retain: bool = False, correlation: bytes | None = None
    ) -> int:
        """Every publish is at QoS 1: its answer proves the acknowledgements sent before it."""
        mid = self._connection.publish(topic, payload, retain=retain, correlation=correlation)
        if self._unproven:
            self._proofs[mid] = self._unproven
            self._unproven = []
        return mid

    def _subscriptions(self, with_ids: bool) -> list[Subscription]:
        def subscription(topic_filter: str, qos: int, use: int) -> Subscription:
            # No Local would also hide a late will, which the broker publishes in our own name
            no_local = use != AVAILABILITY_ID
            return Subscription(topic_filter, qos, use if with_ids else None, no_local)

        return list(
            chain(
                (subscription(each, 1, TEXT_ID) for each in self._topics.subscribed),
                (subscription(each, 0, CONTROL_ID) for each in self._topics.control),
                [subscription(self._topics.availability, 0, AVAILABILITY_ID)],
                (subscription(each, 0, CONTROL_ID) for each in [self._topics.hub_status] if each),
            )
        )

    def _tell(self, fault: str) -> None:
        self.refused.append(fault)
        _log.error("%s", fault)
