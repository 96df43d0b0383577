"""Fixtures of the audio tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.audio.harness import Studio
from tests.pulse import SoundServer, sound_server

__all__ = ["sound_server"]


@pytest.fixture(scope="package")
def calm_servers() -> Iterator[dict[int, SoundServer]]:
    """Sound servers that no test disturbs, by their number of channels; started when first needed."""
    servers: dict[int, SoundServer] = {}
    yield servers
    for server in servers.values():
        server.close()


@pytest.fixture
def studio(calm_servers: dict[int, SoundServer], tmp_path: Path) -> Studio:
    return Studio(calm_servers, tmp_path)
