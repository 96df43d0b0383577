"""What is fed, and what is asked of it."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.search import Target
from tests.fuzz.targets import config, mqtt, text, voice


def targets(scratch: Path) -> dict[str, Target]:
    """All targets by name; they work in `scratch`, an empty folder."""
    found = [target for room in (mqtt, config, voice, text) for target in room.targets(scratch)]
    return {target.name: target for target in found}
