"""Fixtures of the audio tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.audio.harness import Studio
from tests.pulse import SoundServer, sound_server

__all__ = ["sound_server"]


@pytest.fixture
def studio(sound_server: Callable[..., SoundServer], tmp_path: Path) -> Studio:
    return Studio(sound_server, tmp_path)
