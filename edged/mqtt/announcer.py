"""When the device description goes to Home Assistant, and when it is taken away. Runs on the mqtt thread.

It is sent at every connection, a short while after Home Assistant says that it has started (a random
one: all devices hear that at once), and when other voices are installed. The topics it was sent to are
kept in a file, so that one that is no longer wanted is emptied, whoever changed the configuration when.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from edged.mqtt.discovery import Discovery

_log = logging.getLogger(__name__)

_LATER_S = (1.0, 5.0)
"""Bounds of the wait after Home Assistant has started."""
_LOOK_EVERY_S = 10.0
"""For voices that were installed or removed."""


class Announcer:
    """`discovery` is None where Home Assistant is not to see the board; `memory` is the file."""

    def __init__(
        self, discovery: Discovery | None, voices: Callable[[], Sequence[str]], memory: Path
    ) -> None:
        self._discovery = discovery
        self._voices = voices
        self._memory = memory
        self._topics = _read(memory)
        self._unwanted: list[str] = []
        self._sent: bytes | None = None
        self._look_s = 0.0

    def connected(self) -> None:
        """A connection is ready: everything is told anew."""
        wanted = self._discovery.topic if self._discovery else None
        self._unwanted = [topic for topic in self._topics if topic != wanted]
        self._sent, self._look_s = None, 0.0

    def hub_started(self) -> None:
        """Home Assistant says `online`."""
        wait_s = random.uniform(*_LATER_S)  # noqa: S311
        self._sent, self._look_s = None, time.monotonic() + wait_s

    def due(self) -> list[tuple[str, bytes]]:
        """Topics and payloads to be published now, retained; an empty payload takes a device away."""
        unwanted, self._unwanted = self._unwanted, []
        messages = [(topic, b"") for topic in unwanted]
        now_s = time.monotonic()
        if self._discovery is None or now_s < self._look_s:
            return messages
        self._look_s = now_s + _LOOK_EVERY_S
        try:
            payload = self._discovery.payload(self._voices())
        except OSError as error:
            _log.debug("no description for Home Assistant: %s", error)
            return messages  # the folder of voices is away for now; it is looked at again
        if payload != self._sent:
            self._sent = payload
            self._remember([*self._topics, self._discovery.topic])
            messages.append((self._discovery.topic, payload))
        return messages

    def taken_away(self, topic: str) -> None:
        """The broker has the empty payload."""
        self._remember([each for each in self._topics if each != topic])

    def _remember(self, topics: list[str]) -> None:
        topics = list(dict.fromkeys(topics))
        if topics == self._topics:
            return
        self._topics = topics
        try:
            self._memory.parent.mkdir(parents=True, exist_ok=True)
            self._memory.write_text("".join(f"{topic}\n" for topic in topics), encoding="utf-8")
        except OSError as error:
            _log.warning("%s: %s; the device may stay in Home Assistant", self._memory, error.strerror)


def _read(memory: Path) -> list[str]:
    try:
        lines = memory.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # nothing was ever announced
        return []
    return [line for line in lines if line.endswith("/config") and not {"+", "#", "\0", "\ufffd"} & set(line)]
