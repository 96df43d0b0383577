"""The publisher of a run: numbered announcements at QoS 1 with ids, whatever happens to the broker.

One thread of its own publishes; the main thread reads what became of them, and may pause it. The
client keeps what it publishes without a connection and sends it when there is one again.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice

from edged.bench.texts import SUBJECTS
from edged.types import EventKind, Priority
from tests.broker import Listener
from tests.soak.verdict import Published

PRIORITIES = {Priority.NORMAL: 60, Priority.LOW: 17, Priority.HIGH: 15, Priority.URGENT: 8}
"""Of a hundred announcements."""
BURST = (1, 1, 1, 2, 2, 4)
"""So many are published at a time, so that some wait and the order shows."""

FINAL = {kind.value for kind in EventKind if kind.is_final and kind is not EventKind.DUPLICATE}


@dataclass(frozen=True, slots=True)
class Message:
    """One announcement as it is published."""

    published: Published
    text: str

    @property
    def payload(self) -> str:
        """JSON of the message."""
        priority = self.published.priority.name.lower()
        return json.dumps({"text": self.text, "id": self.published.id, "priority": priority})


def messages(count: int, seed: int) -> Iterator[Message]:
    """Numbered ones, from 1; every text is said once only."""
    source = random.Random(seed)
    priorities, weights = list(PRIORITIES), list(PRIORITIES.values())
    for number in range(1, count + 1):
        priority = source.choices(priorities, weights)[0]
        about = f", {source.choice(SUBJECTS)}" if number % 2 else ""
        yield Message(Published(f"n{number}", priority), f"Number {number}{about}.")


class Sender:
    """Publishes `count` announcements, evenly but for bursts, within `seconds`."""

    def __init__(self, port: int, base: str, count: int, seconds: float, seed: int) -> None:
        self.sent: list[Message] = []
        self._topic = f"{base}/say"
        self._event_topic = f"{base}/event"
        self._state_topic = f"{base}/state"
        self._messages = messages(count, seed)
        self._pause_s = seconds / count
        self._random = random.Random(seed + 1)
        self._listener = Listener(port, self._event_topic, self._state_topic, kept=True)
        self._publishing = threading.Lock()
        self._ending = threading.Event()
        self._read = 0
        self._final: set[str] = set()
        self._state: dict[str, object] = {}
        self.events: Counter[str] = Counter()
        self.underfilled: Counter[str] = Counter()
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Publish no more, and disconnect."""
        self._ending.set()
        self._thread.join(15)
        self._listener.close()

    @property
    def has_ended(self) -> bool:
        """All are published."""
        return not self._thread.is_alive()

    def _run(self) -> None:
        due_s = time.monotonic()
        while burst := list(islice(self._messages, self._random.choice(BURST))):
            for message in burst:
                with self._publishing:
                    self.sent.append(message)
                    self._publish(message)
            due_s += len(burst) * self._pause_s * self._random.uniform(0.5, 1.5)
            if self._ending.wait(max(0.0, due_s - time.monotonic())):
                return

    def _publish(self, message: Message) -> None:
        try:
            self._listener.publish(self._topic, message.payload)
        except RuntimeError:  # no connection just now: the client has it in its queue
            return

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Inside nothing is published, and nothing is on its way to the broker."""
        with self._publishing:
            yield

    def publish_again(self) -> None:
        """A sender that learns of a lost session repeats, with the same ids, what has not ended. Inside
        `paused`."""
        self.look()
        for index, message in enumerate(self.sent):
            if message.published.id not in self._final:
                again = replace(message, published=replace(message.published, at_risk=True))
                self.sent[index] = again
                self._publish(again)

    def look(self) -> None:
        """Take in the events that came since the last look."""
        heard = self._listener.heard
        while self._read < len(heard):
            each = heard[self._read]
            self._read += 1
            if each.topic == self._state_topic:
                self._state = each.json
                continue
            event = each.json
            kind = event["event"]
            reason = f": {event['reason']}" if kind in ("failed", "dropped", "expired") else ""
            self.events[f"{kind}{reason}"] += 1
            if count := event.get("underfills"):
                self.underfilled[event["id"]] += count
            if kind in FINAL:
                self._final.add(event["id"])

    @property
    def finals(self) -> int:
        """Announcements that have had their last event."""
        return len(self._final)

    @property
    def open(self) -> list[str]:
        """Ids of those that have not."""
        return [message.published.id for message in self.sent if message.published.id not in self._final]

    @property
    def daemon_is_quiet(self) -> bool:
        """As the daemon says: nothing is being said and nothing waits."""
        return not self._state.get("speaking") and not self._state.get("queue")
