"""The real voice, built once per run from the installed package."""

from pathlib import Path

import pytest

from edged.voice.install import ensure_installed
from edged.voice.load import LoadedVoice, first_level, load_voice
from edged.voices import front_end


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with `heart` in it; do not change it."""
    folder = tmp_path_factory.mktemp("voices")
    ensure_installed(folder, "heart", lambda line: None)
    return folder


@pytest.fixture(scope="session")
def heart(store: Path) -> LoadedVoice:
    return load_voice(store, "heart", 100_000, front_end, first_level(1))
