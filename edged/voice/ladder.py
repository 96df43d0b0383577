"""What was measured of a voice on this board, and which of it to use. Pure but for reading two files.

`<state>/measured/<version>.<machine>.json` holds every row that was measured; the ladder is what
remains of them when whatever is both slower and worse than another is left out, the cheapest first.
A card is moved from board to board, so the machine is told by its processor.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from edged.types import Level
from edged.voice.load import Setting
from edged.voice.manifest import Manifest
from edged.voice.processor import usual_level

log = logging.getLogger(__name__)

AUTO = "auto"
TOLERANCE = 2.0
"""A board may become so many times slower (another process, heat) before a schedule runs dry."""
MOST_RTF = 0.5
UNHEARD_DB = 1.0
"""Of log-mel: as little as one decibel in loudness, about the least that is noticed."""

LESS_BY = 0.9
"""A level further down costs at most so much of the one above it: a step must bring something."""

_FORMAT = 1
_MACHINE_CHARS = 8


@dataclass(frozen=True, slots=True)
class Row:
    """One way to run a voice, as measured; times are the least of several, since noise only adds."""

    level: str
    threads: int
    chunks: tuple[int, ...]
    first_audio_ms: tuple[float, ...]
    """Text to first chunk, for texts of TEXT_CHARS characters."""
    rtf: float
    tolerance: float
    """How many times slower the board may be before the sound runs dry within a sentence."""
    rss_mb: float
    private_dirty_mb: float
    distance_db: float
    """Log-mel, from fp32."""

    @property
    def setting(self) -> Setting:
        """To load a voice with."""
        return Setting(self.level, self.threads, self.chunks)


TEXT_CHARS = (30, 80, 300)
_MIDDLE = 1


def machine() -> str:
    """8 hex digits that are the same for the same kind of processor and number of cores."""
    known = [platform.machine(), str(os.cpu_count())]
    for file, keys in (
        (Path("/proc/cpuinfo"), ("model name", "CPU implementer", "CPU part", "Hardware", "Model")),
        (Path("/proc/device-tree/model"), None),
    ):
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        known += sorted({line for line in lines if keys is None or line.startswith(keys)})
    return hashlib.sha256("\n".join(known).encode()).hexdigest()[:_MACHINE_CHARS]


def measured_file(state_dir: Path, manifest: Manifest) -> Path:
    """Where a version's figures of this machine lie."""
    return state_dir / "measured" / f"{manifest.version}.{machine()}.json"


def write_rows(file: Path, manifest: Manifest, rows: Sequence[Row], about: dict[str, Any]) -> None:
    """Replace the file as a whole. Raises OSError."""
    content = {
        "format": _FORMAT,
        "voice": manifest.name,
        "version": manifest.version,
        **about,
        "rows": [asdict(row) for row in rows],
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_suffix(f".{os.getpid()}")
    aside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    aside.replace(file)


def read_rows(file: Path) -> tuple[Row, ...]:
    """What was measured; nothing where that is missing or cannot be read, which is logged."""
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
        if raw["format"] != _FORMAT:
            return ()
        return tuple(row_of(row) for row in raw["rows"])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("%s: not used (%s); edged voice measure writes it again", file, error)
        return ()


def row_of(raw: dict[str, Any]) -> Row:
    """A row as JSON has it. Raises KeyError or TypeError."""
    return Row(**{**raw, "chunks": tuple(raw["chunks"]), "first_audio_ms": tuple(raw["first_audio_ms"])})


def natural_db(manifest: Manifest) -> float:
    """How far two renderings of one text lie apart by the voice's own noise; 0 where it is not known."""
    return float(manifest.options.get("natural_db", 0.0))


def ladder(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows that no other one beats in everything, the cheapest first."""
    return tuple(sorted((r for r in rows if not any(_beats(o, r) for o in rows)), key=lambda r: r.rtf))


def _beats(one: Row, other: Row) -> bool:
    ours, theirs = _costs(one), _costs(other)
    return ours != theirs and all(a <= b for a, b in zip(ours, theirs, strict=True))


def _costs(row: Row) -> tuple[float, ...]:
    return row.threads, row.rtf, row.first_audio_ms[_MIDDLE], row.distance_db, -min(row.tolerance, TOLERANCE)


def best(rows: Sequence[Row], own_db: float) -> Row | None:
    """What to speak with: first that it never runs dry, then how good it sounds, then how soon it starts.

    Distances below `own_db`, the voice's own variation, or too small to be heard count as equal.
    """
    able = [r for r in rows if r.rtf <= MOST_RTF and r.tolerance >= TOLERANCE]
    if not able:
        return min(rows, key=lambda r: r.rtf, default=None)
    return min(able, key=lambda r: (max(r.distance_db, own_db, UNHEARD_DB), r.first_audio_ms[_MIDDLE], r.rtf))


def setting_for(manifest: Manifest, level: str, threads: int, file: Path) -> Setting:
    """How to run a voice with at most so many threads, by what was measured where there is such a file.

    A level that this voice does not have is taken as `auto`, with a line in the log.
    """
    return _ways(manifest, level, threads, file)[0][0]


def levels(
    manifest: Manifest, level: str, threads: int, file: Path, periods_ms: Sequence[int]
) -> tuple[Level, ...]:
    """What the governor steps between, the best one first: as `setting_for`, then ever cheaper ways.

    `periods_ms`: lengths of a period, the wanted one first, then longer ones. With each step the voice gets
    cheaper and the period longer, as far as there is more of either: so every step helps against every
    cause. Without figures of this board, or with a level that was configured, only the period changes
    among the ways of that one level.
    """
    ways = _ways(manifest, level, threads, file)
    count = max(len(ways), len(periods_ms))
    return tuple(
        Level(setting.level, setting.threads, setting.chunks, periods_ms[min(n, len(periods_ms) - 1)], rtf)
        for n, (setting, rtf) in ((n, ways[min(n, len(ways) - 1)]) for n in range(count))
    )


def _ways(manifest: Manifest, level: str, threads: int, file: Path) -> list[tuple[Setting, float | None]]:
    """Settings with their RTF as measured: the one to speak with, then those that cost clearly less."""
    if level not in (AUTO, *manifest.levels):
        have = ", ".join(manifest.levels)
        log.warning("voice %s has no level %s, only %s; taken as %s", manifest.name, level, have, AUTO)
        level = AUTO
    rows = [row for row in read_rows(file) if row.threads <= threads and row.level in manifest.levels]
    rows = [row for row in rows if level in (AUTO, row.level)]
    chosen = best(rows, natural_db(manifest))
    if chosen is None:
        return [(Setting(usual_level(manifest) if level == AUTO else level, threads), None)]
    taken = [chosen]
    for row in reversed(ladder(rows)):
        if row.rtf <= LESS_BY * taken[-1].rtf:
            taken.append(row)
    return [(row.setting, row.rtf) for row in taken]
