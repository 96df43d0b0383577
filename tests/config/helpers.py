"""Loading a text through a real file, as the daemon does."""

from __future__ import annotations

from pathlib import Path

import pytest

from edged.config.build import Loaded
from edged.config.load import read
from edged.errors import ConfigError


class File:
    """One configuration file that a test writes and loads again and again."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "edged.yaml"

    def read(self, content: str | bytes) -> Loaded:
        self.path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read(self.path)

    def problems(self, content: str | bytes) -> list[str]:
        """The lines a user sees, without the file's name; fails where there is none."""
        with pytest.raises(ConfigError) as caught:
            self.read(content)
        assert caught.value.file == str(self.path)
        return [str(problem) for problem in caught.value.problems]
