"""What becomes of one received message. Runs on the mqtt thread only.

Retained, own, unwanted and repeated ones are acknowledged and not spoken; commands are decoded and
handed over; the rest is decoded and offered to the queue. Whatever goes wrong with one message ends
as one event and one log line, and the next message is received as if nothing had been.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from edged.config.model import MqttConfig
from edged.errors import PayloadError
from edged.mqtt import hermes
from edged.mqtt.acks import Verdict
from edged.mqtt.codec import Control, Stop, decode, decode_control, is_event
from edged.mqtt.rate import Passage, RateLimit
from edged.mqtt.session import Session
from edged.mqtt.topics import Topics
from edged.mqtt.wire import Delivery
from edged.types import Announcement, Event, EventKind, Priority, Receipt, Utterance

_log = logging.getLogger(__name__)

TEXT_ID, CONTROL_ID, AVAILABILITY_ID = 1, 2, 3
"""Subscription identifiers, by what the subscription is for."""
_S = 1_000_000_000


@dataclass(slots=True)
class Counts:
    """Written by the mqtt thread, read by anyone."""

    received: int = 0
    """Messages meant to be spoken, repeats left out."""
    refused: int = 0
    duplicates: int = 0
    """Sent again by the broker, or with an id seen before."""
    retained_ignored: int = 0
    machine_ignored: int = 0
    """Of other boards and of Home Assistant, taken in by a configured filter; a board's state is not
    counted: these numbers are part of ours, and two boards would change each other's for ever."""
    over_rate: int = 0
    """Dropped, because their topic brought too many; of each flood only the first is told."""
    reconnects: int = 0


@dataclass(frozen=True, slots=True)
class Handlers:
    """Where messages go, and what is read for each of them."""

    offer: Callable[[Utterance], list[Event]]
    control: Callable[[Control], None]
    ttl_s: Callable[[], float]
    max_chars: Callable[[], int]
    rate: Callable[[], tuple[float, int]]
    """Messages that a topic may bring: a second, and at once."""


class Receiver:
    """Sorts deliveries. `site_id` is ours among those that speak Hermes, None where it is off; `backlog`
    is the most that the broker may send at once from a session that was kept."""

    def __init__(
        self,
        config: MqttConfig,
        topics: Topics,
        session: Session,
        handlers: Handlers,
        *,
        site_id: str | None,
        backlog: int,
    ) -> None:
        self._config = config
        self._site_id = site_id
        self._backlog = backlog
        self._rate = RateLimit(handlers.rate, time.monotonic)
        self._topics = topics
        self._session = session
        self._handlers = handlers
        self.counts = Counts()

    def connected(self, session_present: bool) -> None:
        """A connection begins; what waited in its session comes at once."""
        if session_present:
            self._rate.expect_backlog(self._backlog)

    def receive(self, delivery: Delivery) -> None:
        """Deals with one delivery; never raises for what is in it or what a handler does."""
        verdict, receipt = self._session.admit(delivery, *self._answer_to(delivery))
        if verdict is not Verdict.NEW:
            self.counts.duplicates += 1
            return
        try:
            self._sort(delivery, receipt)
        except PayloadError as error:
            if self._may_pass(delivery, receipt, delivery.topic, error.id):
                self._refuse(delivery, receipt, str(error), error.id)
        except Exception as error:  # a fault in a handler must not end the thread that receives
            _log.debug("", exc_info=True)
            self._refuse(delivery, receipt, f"internal error: {type(error).__name__}: {error}", None)

    def _sort(self, delivery: Delivery, receipt: Receipt) -> None:
        command = self._topics.control_of(delivery.topic)
        if delivery.retain:
            self.counts.retained_ignored += delivery.topic != self._topics.availability
        elif command is not None:
            if not _is_copy(delivery):
                self._obey(command, delivery, receipt)
                return
        elif self._is_for_machines(delivery):
            self.counts.machine_ignored += not delivery.topic.endswith("/state")
        elif self._topics.is_spoken(delivery.topic) and not self._is_elsewhere(delivery):
            self.counts.received += 1
            self._speak(delivery, receipt)
            return
        self._session.discharge(receipt)

    def _obey(self, command: str, delivery: Delivery, receipt: Receipt) -> None:
        """A stop passes every limit; what stops a flood must not be lost in it."""
        control = decode_control(command, self._bounded(delivery))
        if isinstance(control, Stop) or self._may_pass(delivery, receipt, delivery.topic, None):
            self._handlers.control(control)
            self._session.discharge(receipt)

    def _is_elsewhere(self, delivery: Delivery) -> bool:
        """For another site of those that speak Hermes; what is too large to be looked at is refused."""
        if not self._is_hermes(delivery) or not self._is_bounded(delivery):
            return False
        return hermes.site_of(delivery.payload) not in (None, self._site_id)

    def _is_hermes(self, delivery: Delivery) -> bool:
        return self._site_id is not None and delivery.topic == hermes.SAY

    def _may_pass(self, delivery: Delivery, receipt: Receipt, key: object, given_id: str | None) -> bool:
        """False where the topic has brought too many: the message is dropped, the first of them told."""
        passage = self._rate.take(key)
        if passage is Passage.FREE:
            return True
        self.counts.over_rate += 1
        if passage is Passage.OVER:
            self._session.discharge(receipt)
            return False
        per_s, at_once = self._handlers.rate()
        reason = (
            f"too many messages on one topic: more than {at_once} at once and {per_s:g} a second "
            "(mqtt.rate_burst, mqtt.rate_limit); the rest of them is dropped without a word"
        )
        _log.warning("%r: %s", delivery.topic, reason)
        self._session.emit(Event(EventKind.DROPPED, given_id, reason, receipt=receipt, topic=delivery.topic))
        return False

    def _is_for_machines(self, delivery: Delivery) -> bool:
        """Neither spoken nor answered: an answer would come to a board that answers it again."""
        topics, topic = self._topics, delivery.topic
        if topics.is_own(topic) or topics.is_addressed(topic):
            return False
        return topics.is_for_machines(topic) or (self._is_bounded(delivery) and is_event(delivery.payload))

    def _speak(self, delivery: Delivery, receipt: Receipt) -> None:
        announcement = self._decode(delivery)
        urgent = announcement.priority is Priority.URGENT  # a flood of others does not keep it out
        if not self._may_pass(delivery, receipt, (delivery.topic, urgent), announcement.id):
            return
        now_ns = time.monotonic_ns()
        ttl_s = self._handlers.ttl_s() if announcement.ttl_s is None else announcement.ttl_s
        deadline_ns = self._session.first_received_ns(receipt, now_ns) + int(ttl_s * _S)
        if delivery.expiry_s is not None:  # what the broker has left of it
            deadline_ns = min(deadline_ns, now_ns + int(delivery.expiry_s * _S))
        utterance = Utterance(announcement, now_ns, deadline_ns, receipt)
        for event in self._session.offer(self._handlers.offer, utterance):
            self.counts.duplicates += event.kind is EventKind.DUPLICATE

    def _decode(self, delivery: Delivery) -> Announcement:
        payload, max_chars = self._bounded(delivery), self._handlers.max_chars()
        if self._is_hermes(delivery):
            return hermes.decode_say(payload, _new_id, max_chars)
        return decode(payload, self._topics.zone_of(delivery.topic), _new_id, max_chars)

    def _is_bounded(self, delivery: Delivery) -> bool:
        return len(delivery.payload) <= self._config.max_payload_bytes

    def _bounded(self, delivery: Delivery) -> bytes:
        if not self._is_bounded(delivery):
            size, limit = len(delivery.payload), self._config.max_payload_bytes
            raise PayloadError(f"too large: {size} bytes, the limit is {limit} (mqtt.max_payload_bytes)")
        return delivery.payload

    def _answer_to(self, delivery: Delivery) -> tuple[str | None, bytes | None]:
        """Where answers go as well, and what they repeat; the topic is None when nobody asked."""
        if self._is_hermes(delivery):
            asked = hermes.question(delivery.payload) if self._is_bounded(delivery) else None
            return None if asked is None else hermes.FINISHED, asked
        return self._response_topic(delivery), delivery.correlation

    def _response_topic(self, delivery: Delivery) -> str | None:
        """None also where the topic asked for must not be."""
        topic = delivery.response_topic
        if topic is None:
            return None
        fault = self._topics.response_fault(topic, self._config.response_prefix)
        if fault is not None:
            _log.warning("%r: no answer to the response topic %r: %s", delivery.topic, topic, fault)
            return None
        return topic

    def _refuse(self, delivery: Delivery, receipt: Receipt, reason: str, given_id: str | None) -> None:
        self.counts.refused += 1
        _log.warning("%r: refused, %d bytes: %s", delivery.topic, len(delivery.payload), reason)
        topic = delivery.topic
        self._session.emit(Event(EventKind.FAILED, given_id, reason, receipt=receipt, topic=topic))


def _is_copy(delivery: Delivery) -> bool:
    """A command that came through a text filter: the control subscription brings it as well.

    A broker may send one message once for every subscription it matches (mosquitto does), and the
    copy at QoS 1 may come late, behind announcements not yet acknowledged.
    """
    return bool(delivery.subscription_ids) and CONTROL_ID not in delivery.subscription_ids


def _new_id() -> str:
    return uuid.uuid4().hex[:12]
