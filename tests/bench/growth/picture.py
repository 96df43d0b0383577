"""The curves in one PNG: above what one waits for, below what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edged.bench.canvas import canvas
from edged.bench.rows import Row

BLUE, ORANGE = "#1f5f99", "#c4611a"
SIZE_INCHES = (17.0, 7.6)


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes; a curve is (name of the rows, label)."""

    title: str
    x: str
    y: str
    curves: tuple[tuple[str, str], ...]
    spread: bool = False
    """The 95th percentile, too."""


PANELS = (
    (
        Panel(
            "First sample, by text length",
            "characters of text",
            "ms from publish",
            (("length_first_sample_ms", "first sample"),),
            spread=True,
        ),
        Panel(
            "First sample of an urgent one, by what waits",
            "announcements waiting",
            "ms from publish",
            (("waiting_first_sample_ms", "first sample"),),
            spread=True,
        ),
        Panel(
            "First sample, by zones",
            "zones",
            "ms",
            (("zones_single_ms", "one zone"), ("zones_all_ms", "all zones, the last of them")),
            spread=True,
        ),
        Panel(
            "Prerendering, one text of 80 characters",
            "processes at once",
            "ms a text",
            (("batch_text_ms", "as each process sees it"),),
            spread=True,
        ),
    ),
    (
        Panel(
            "Memory, by text length",
            "characters of text",
            "RSS, MiB",
            (("length_peak_rss_mb", "peak while speaking"), ("length_rss_mb", "afterwards")),
        ),
        Panel("Memory, by what waits", "announcements waiting", "RSS, MiB", (("waiting_rss_mb", "daemon"),)),
        Panel("Memory, by zones", "zones", "RSS, MiB", (("zones_rss_mb", "daemon at rest"),)),
        Panel(
            "Prerendering, processor time",
            "processes at once",
            "CPU s for a second of speech",
            (("batch_cpu_per_audio_s", "all processes"),),
        ),
    ),
)


def draw(file: Path, rows: Sequence[Row], title: str) -> None:
    """Write the picture. Raises EdgedError."""
    with canvas(file, title) as (left, _right):
        figure = left.figure
        figure.clear()
        figure.set_size_inches(*SIZE_INCHES)
        figure.suptitle(title)
        axes = figure.subplots(len(PANELS), len(PANELS[0]))
        for line, panels in zip(axes, PANELS, strict=True):
            for one, panel in zip(line, panels, strict=True):
                _panel(one, panel, rows)


def _panel(axes: Any, panel: Panel, rows: Sequence[Row]) -> None:
    highest, ticks = 0.0, set()
    for (name, label), colour in zip(panel.curves, (BLUE, ORANGE), strict=False):
        known = [row for row in rows if row.name == name and row.p50 is not None and row.p95 is not None]
        known.sort(key=lambda row: int(row.case))
        cases = [int(row.case) for row in known]
        medians, high = [row.p50 or 0.0 for row in known], [row.p95 or 0.0 for row in known]
        axes.plot(cases, medians, marker="o", color=colour, label=f"{label}, p50" if panel.spread else label)
        if panel.spread:
            axes.plot(cases, high, ls=":", color=colour, label=f"{label}, p95")
        highest = max([highest, *medians, *(high if panel.spread else ())])
        ticks |= set(cases)
    axes.set_xscale("log")
    axes.set_xticks(sorted(ticks), [str(tick) for tick in sorted(ticks)])
    axes.minorticks_off()
    lines = len(panel.curves) * (2 if panel.spread else 1)
    axes.set_ylim(0, (1.2 + 0.1 * lines) * (highest or 1.0))  # room for the legend
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    axes.set_title(panel.title, fontsize=10)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=8, loc="upper left")
