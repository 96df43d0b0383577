"""The voices that edged can install by itself (catalog.json): where each comes from, and its licence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One voice that can be installed; `builder` is the module that does it, run as a process."""

    name: str
    language: str
    engine: str
    sample_rate_hz: int
    licence: str
    package: str
    version: str
    url: str
    model_sha256: str
    builder: str


def catalog() -> dict[str, CatalogEntry]:
    """All entries by name."""
    raw = json.loads(Path(__file__).with_name("catalog.json").read_text(encoding="utf-8"))
    return {entry["name"]: CatalogEntry(**entry) for entry in raw["voices"]}
