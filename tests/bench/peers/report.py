"""The result as Markdown, which is also what the terminal shows, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from edged.bench.rows import Row
from tests.bench.peers.contenders import CONTENDERS
from tests.bench.peers.judge import Ratio, Verdict
from tests.bench.peers.rounds import Measured

COLUMNS = (
    ("first_sample_ms", "first sample, ms (p95)"),
    ("total_ms", "total, ms"),
    ("rtf", "RTF"),
    ("cpu_per_audio_s", "CPU s per audio s"),
    ("peak_rss_mb", "peak RSS, MiB"),
    ("private_mb", "private, MiB"),
)
RATIO_COLUMNS = (
    ("first_sample_ms", "first sample"),
    ("rtf", "RTF"),
    ("cpu_per_audio_s", "CPU per audio s"),
    ("peak_rss_mb", "peak RSS"),
    ("private_mb", "private"),
)


@dataclass(frozen=True, slots=True)
class Result:
    """All that a run gave."""

    machine: Mapping[str, object]
    versions: Mapping[str, str | None]
    threads: int
    repeat: int
    measured: Measured
    ratios: list[Ratio]
    verdicts: list[Verdict]


def as_json(result: Result) -> str:
    """Rows, ratios and bars, with what they were measured on."""
    content: dict[str, Any] = {
        "machine": result.machine,
        "versions": result.versions,
        "threads": result.threads,
        "repeat": result.repeat,
        "contenders": {
            one.name: {
                "how": one.how,
                "versions": result.measured.versions.get(one.name),
                "notes": result.measured.notes.get(one.name),
                "missing": result.measured.missing.get(one.name),
            }
            for one in CONTENDERS
            if one.name in result.measured.versions or one.name in result.measured.missing
        },
        "rows": [
            {
                ("contender" if key == "voice" else key): value
                for key, value in asdict(row).items()
                if key != "level"
            }
            for row in result.measured.rows
        ],
        "ratios": [asdict(ratio) for ratio in result.ratios],
        "bars": [{**asdict(one.bar), "value": one.value, "said": one.said} for one in result.verdicts],
    }
    return json.dumps(content, indent=1) + "\n"


def as_markdown(result: Result) -> str:
    """Figures, ratios, bars, and how each contender was driven."""
    parts = [
        "# edged beside its peers\n",
        _about(result),
        _figures(result.measured.rows),
        "## Ratios edged ÷ peer, of the medians\n",
        "Below 1, edged takes less. The daemon's CPU is with playing.\n",
        _ratios(result.ratios),
        "## Bars\n",
        "".join(f"- {one}\n" for one in result.verdicts),
        "## How each was driven\n",
        _driven(result.measured),
    ]
    return "\n".join(parts)


def table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table, its columns padded so that it can be read as text, too."""
    cells = [list(header), *(list(line) for line in lines)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(header))]
    padded = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in cells
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([padded[0], rule, *padded[1:]]) + "\n"


def _about(result: Result) -> str:
    machine, versions = result.machine, result.versions
    of_all = ", ".join(f"{name} {number}" for name, number in versions.items() if number)
    return (
        f"{machine.get('model') or machine['cpu']}, {machine['cores']} cores, {machine['memory_mb']} MiB, "
        f"{machine['arch']}, kernel {machine['kernel']}, load average {machine['load_average']} before.\n"
        f"{of_all}. Threads: {result.threads} for each.\n\n"
        "Every contender is a warm process: its voice is loaded and one text of each length is thrown away "
        "beforehand, the same for all. Then all say the same text, one after the other, each beginning in "
        "its turn; every text is another one. Texts of up to 300 characters are one sentence, which takes "
        "longest to begin where a piece is a sentence; 3000 are many. Medians of "
        f"{result.repeat} texts (fewer of 300 and 3000 "
        "characters). Memory is that of the process that does the work, after all texts of a length and of "
        "the shorter ones; private is what it shares with no other process. CPU is of all its threads and "
        "children. The thread limit also holds for the libraries of linear algebra.\n"
    )


def _figures(rows: Sequence[Row]) -> str:
    found = {(row.case, row.voice, row.name): row for row in rows}
    said = []
    for case in dict.fromkeys(row.case for row in rows):
        said.append(f"## {case} characters\n")
        lines = []
        for contender in (one.name for one in CONTENDERS):
            cells = [_cell(found.get((case, contender, figure)), figure) for figure, _ in COLUMNS]
            if any(cell != "-" for cell in cells):
                first = found.get((case, contender, "first_sample_ms"))
                lines.append([contender, str(first.n if first else 0), *cells])
        said.append(table(["", "n", *(title for _, title in COLUMNS)], lines))
    return "\n".join(said)


def _cell(row: Row | None, figure: str) -> str:
    if row is None or row.p50 is None or row.p95 is None:
        return "-"
    if figure == "first_sample_ms":
        return f"{row.p50:.1f} ({row.p95:.1f})"
    return f"{row.p50:.4f}" if row.unit in ("", "s/s") else f"{row.p50:.0f}"


def _ratios(ratios: Sequence[Ratio]) -> str:
    found = {(one.edged, one.peer, one.case, one.figure): one.value for one in ratios}
    lines = []
    for edged, peer, case in dict.fromkeys((one.edged, one.peer, one.case) for one in ratios):
        values = [found.get((edged, peer, case, figure)) for figure, _ in RATIO_COLUMNS]
        cells = ["-" if value is None else f"{value:.2f}" for value in values]
        lines.append([f"{edged} ÷ {peer}", case, *cells])
    return table(["", "characters", *(title for _, title in RATIO_COLUMNS)], lines)


def _driven(measured: Measured) -> str:
    lines = []
    for one in CONTENDERS:
        if one.name in measured.missing:
            lines.append(f"- **{one.name}**: not measured: {measured.missing[one.name]}")
        elif one.name in measured.versions:
            versions = ", ".join(f"{name} {number}" for name, number in measured.versions[one.name].items())
            notes = measured.notes[one.name]
            lines.append(f"- **{one.name}** ({versions}): {one.how}{'; ' if notes else ''}{notes}.")
    return "\n".join(lines) + "\n"
