from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from edged.config.model import Config, VoiceConfig
from edged.voices import Voices
from tests.broker import Broker, Listener, base, broker, make_broker
from tests.daemon.harness import STORE, Daemon
from tests.pulse import sound_server

__all__ = ["base", "broker", "make_broker", "sound_server"]


@pytest.fixture(scope="session")
def voices() -> Voices:
    """The real voice, built once, and what tests compare the daemon's sound with."""
    return Voices(Config(voice=VoiceConfig(store=str(STORE))), print)


@pytest.fixture
def start(tmp_path: Path, broker: Broker, base: str, voices: Voices) -> Iterator[Callable[..., Daemon]]:
    """Starts daemons on the shared broker; they end with the test."""
    with ExitStack() as stack:

        def make(**options: Any) -> Daemon:
            port = options.pop("port", broker.port)
            return stack.enter_context(Daemon(tmp_path, port, base, **options))

        yield make


@pytest.fixture
def listen(broker: Broker, base: str) -> Iterator[Listener]:
    with Listener(broker.port, f"{base}/#") as listener:
        yield listener
