"""First sample and processor time of every contender against the length of the text, in one PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from edged.bench.canvas import canvas
from edged.bench.rows import Row
from tests.bench.peers.contenders import CONTENDERS

LOOKS = {
    "edged-joe": ("#1f5f99", "o", "-"),
    "edged-joe-daemon": ("#1f5f99", "s", "--"),
    "edged-heart": ("#2a8a5c", "o", "-"),
    "piper-tts": ("#c4611a", "^", "-"),
    "wyoming-piper": ("#c4611a", "v", "--"),
    "streaming-vits": ("#8a3f8a", "D", "-"),
    "hibari-tts": ("#8fbf6a", "P", "-"),
    "espeak-ng": ("#777777", "x", ":"),
}
"""Colour, marker and line of each: edged is blue and green, its peers with the same voices are not."""


def draw(file: Path, rows: Sequence[Row], title: str) -> None:
    """Write the picture. Raises EdgedError."""
    with canvas(file, title) as (left, right):
        _panel(left, rows, "first_sample_ms", "Request to first sample, median", "ms")
        _panel(right, rows, "cpu_per_audio_s", "Processor time for a second of speech, median", "s")
        right.legend(
            *left.get_legend_handles_labels(), fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5)
        )


def _panel(axes: Any, rows: Sequence[Row], figure: str, title: str, unit: str) -> None:
    lengths = sorted({int(row.case) for row in rows})
    for contender in (one.name for one in CONTENDERS):
        known = [row for row in rows if (row.voice, row.name) == (contender, figure) and row.p50]
        if known:
            colour, marker, line = LOOKS[contender]
            chars = [int(row.case) for row in known]
            medians = [row.p50 for row in known]
            axes.plot(chars, medians, color=colour, marker=marker, ls=line, label=contender)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(lengths, [str(chars) for chars in lengths])
    axes.minorticks_off()
    axes.set_xlabel("characters of text")
    axes.set_ylabel(unit)
    axes.set_title(title)
    axes.grid(visible=True, alpha=0.3)
