from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from edged.config.model import Config, HermesConfig, HomeAssistantConfig, MqttConfig
from edged.mqtt import backoff
from edged.mqtt.announcer import Announcer
from edged.mqtt.client import MqttLink
from edged.mqtt.codec import Control
from edged.mqtt.discovery import discovery_of
from edged.mqtt.topics import Topics
from edged.queue.journal import Journal
from edged.types import Event, EventKind, Utterance
from tests.broker import base, broker, make_broker, until

__all__ = ["base", "broker", "make_broker"]

_names = itertools.count(1)


@dataclass
class Board:
    """A link with its journal; speaks nothing by itself: the test says what becomes of each message."""

    journal: Journal
    config: MqttConfig
    answer: Callable[[Utterance], list[Event]] | None = None
    link: MqttLink = field(init=False)
    offered: list[Utterance] = field(default_factory=list)
    controls: list[Control] = field(default_factory=list)
    voices: list[str] = field(default_factory=lambda: ["heart"])
    rate: tuple[float, int] = (10.0, 200)
    beats: list[int] = field(default_factory=list)
    rests: list[int] = field(default_factory=list)

    def offer(self, utterance: Utterance) -> list[Event]:
        self.offered.append(utterance)
        if self.answer is not None:
            return self.answer(utterance)
        return [Event(EventKind.ACCEPTED, utterance.id, receipt=utterance.receipt)]

    def texts(self) -> list[str]:
        return [utterance.announcement.text for utterance in list(self.offered)]

    def finish(self, utterance: Utterance) -> None:
        self.link.emit(Event(EventKind.FINISHED, utterance.id, receipt=utterance.receipt))

    def wait_texts(self, *texts: str, limit_s: float = 10.0) -> None:
        until(lambda: self.texts() == list(texts), limit_s, lambda: f"{texts} offered, got {self.texts()}")

    def wait_up(self, limit_s: float = 10.0) -> None:
        until(lambda: self.link.status.connected, limit_s, lambda: self.link.status.text)


MakeBoard = Callable[..., Board]


@pytest.fixture
def make_board(tmp_path: Path, base: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeBoard]:
    """make_board(port, start=True, queue_bound=64, ttl_s=120, journal="name", **MqttConfig members).

    `home_assistant` is the discovery prefix and `hermes` the site id; without them both are off.
    Its waits between connections are short, in their proportions: test_backoff has the true ones.
    """
    monkeypatch.setattr(backoff, "_FIRST_S", 0.02)
    made: list[Board] = []

    def make(
        port: int,
        start: bool = True,
        queue_bound: int = 64,
        ttl_s: float = 120,
        journal: str | None = None,
        answer: Callable[[Utterance], list[Event]] | None = None,
        node: str = "node",
        home_assistant: str | None = None,
        hermes: str | None = None,
        **settings: Any,
    ) -> Board:
        number = next(_names)
        settings.setdefault("client_id", f"board-{base.replace('/', '-')}-{number}")
        settings.setdefault("base", base)
        mqtt = MqttConfig(**{"host": "127.0.0.1", "port": port, **settings})
        config = Config(
            node=node,
            mqtt=mqtt,
            home_assistant=HomeAssistantConfig(home_assistant is not None, home_assistant or "homeassistant"),
            hermes=HermesConfig(hermes is not None, hermes or "default"),
        )
        topics = Topics.of(config)
        path = tmp_path / (journal or f"journal-{number}")
        board = Board(Journal(path), mqtt, answer)
        board.link = MqttLink(
            mqtt,
            topics,
            offer=board.offer,
            control=board.controls.append,
            journal=board.journal,
            ttl_s=lambda: ttl_s,
            max_chars=lambda: 20000,
            rate=lambda: board.rate,
            queue_bound=queue_bound,
            announcer=Announcer(discovery_of(config, topics), lambda: board.voices, tmp_path / "discovery"),
            site_id=hermes,
            beat=lambda: board.beats.append(1),
            rest=lambda: board.rests.append(1),
        )
        made.append(board)
        if start:
            board.link.start()
            board.wait_up()
        return board

    yield make
    for board in made:
        board.link.stop(3)
        board.journal.close()
