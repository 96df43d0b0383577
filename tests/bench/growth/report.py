"""The curves as Markdown, which is also what the terminal shows, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from edged.bench.rows import Row
from tests.bench.peers.report import table

TITLES = {
    "length": "By the characters of a text",
    "waiting": "By the announcements that wait",
    "zones": "By zones",
    "batch": "By `edged prerender` processes at once",
}
"""By the first word of a row's name."""
MEANINGS = {
    "length_first_sample_ms": "publish to first sample",
    "length_peak_rss_mb": "peak RSS while whole texts are made",
    "length_rss_mb": "RSS afterwards, at rest",
    "waiting_first_sample_ms": "publish to first sample of an urgent one",
    "waiting_rss_mb": "RSS with so many waiting",
    "zones_single_ms": "publish to first sample of one zone",
    "zones_all_ms": "receipt to first sample of all zones, the last of them",
    "zones_rss_mb": "RSS at rest",
    "zones_idle_cpu_percent": "processor at rest",
    "batch_text_ms": "one text of 80 characters, as each process sees it",
    "batch_cpu_per_audio_s": "CPU for a second of speech",
    "batch_speed": "seconds of speech in a second, all processes",
    "batch_peak_rss_mb": "peak RSS of one process",
}


def as_json(rows: Sequence[Row], about: Mapping[str, object]) -> str:
    """Rows with what they were measured on."""
    return json.dumps({**about, "rows": [asdict(row) for row in rows]}, indent=1) + "\n"


def as_markdown(rows: Sequence[Row], about: Mapping[str, object]) -> str:
    """A table for each kind of curve: a line a figure, a column a case; p50, and p95 in brackets."""
    parts = ["# How edged grows\n", "".join(f"- {name}: {value}\n" for name, value in about.items())]
    for family, title in TITLES.items():
        own = [row for row in rows if row.name.split("_")[0] == family]
        if not own:
            continue
        cases = list(dict.fromkeys(row.case for row in own))
        found = {(row.name, row.case): row for row in own}
        lines = [
            [MEANINGS[name], next(row.unit for row in own if row.name == name)]
            + [_cell(found.get((name, case))) for case in cases]
            for name in dict.fromkeys(row.name for row in own)
        ]
        parts += [f"## {title}\n", table(["", "unit", *cases], lines)]
    return "\n".join(parts)


def _cell(row: Row | None) -> str:
    if row is None or row.p50 is None or row.p95 is None:
        return "-"
    return f"{row.p50:g}" if row.n == 1 else f"{row.p50:g} ({row.p95:g})"
