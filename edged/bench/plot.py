"""The picture: first audio against text length, and the fill level while a long text is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from edged.bench import engine
from edged.bench.canvas import canvas
from edged.bench.rows import Figure, Row
from edged.bench.surroundings import Surroundings

LENGTHS_CHARS = (15, 30, 60, 100, 200, 300, 1000, 3000, 10000)
TICKS_CHARS = (15, 30, 100, 300, 1000, 3000, 10000)
PER_LENGTH = 15
PERIOD_MS = 12
FILL_TEXT_CHARS = 400
"""About twenty-five seconds of speech."""
BLUE, ORANGE, GREY = "#1f5f99", "#c4611a", "#777777"


def draw(file: Path, around: Surroundings, rows: list[Row]) -> None:
    """Measure what the picture needs beyond the rows, and write it. Raises EdgedError."""
    voice, config = around.voice(), around.config
    engine_rows = [
        Figure(
            "first_audio_ms", str(chars), engine.first_audio_ms(voice, config, chars, PER_LENGTH), "ms"
        ).row(voice.name, voice.engine.level)
        for chars in LENGTHS_CHARS
    ]
    fills = {
        label: around.play(
            around.audio(PERIOD_MS),
            seconds=1.0,
            load=load,
            chars=FILL_TEXT_CHARS,
            utterances_max=1,
            look=True,
        ).report.fill
        for label, load in (("nothing else to do", False), ("beside a full load", True))
    }
    with canvas(file, f"edged, voice {voice.name} ({voice.engine.level})") as (left, right):
        _latency(left, engine_rows, rows)
        _fill(right, fills)


def _latency(axes: Any, engine_rows: list[Row], rows: list[Row]) -> None:
    published = [row for row in rows if row.name == "publish_to_first_sample_ms" and row.case.isdigit()]
    series = (
        ("publish to first sample at the device", published, BLUE, "o"),
        ("voice alone, text to first chunk", engine_rows, ORANGE, "s"),
    )
    highest = 0.0
    for label, found, colour, marker in series:
        known = [row for row in found if row.p50 is not None and row.p95 is not None]
        if not known:
            continue
        chars = [int(row.case) for row in known]
        p50 = [row.p50 or 0.0 for row in known]
        p95 = [row.p95 or 0.0 for row in known]
        axes.plot(chars, p50, marker=marker, color=colour, label=f"{label}, p50")
        axes.plot(chars, p95, ls=":", color=colour, label=f"{label}, p95")
        highest = max(highest, *p95)
    axes.set_xscale("log")
    axes.set_xticks(TICKS_CHARS, [str(chars) for chars in TICKS_CHARS])
    axes.set_xlabel("characters of text")
    axes.set_ylabel("ms")
    axes.set_ylim(0, 1.25 * highest)
    axes.set_title("First audio against text length")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=8)


def _fill(axes: Any, fills: dict[str, list[tuple[float, float]]]) -> None:
    for (label, fill), colour in zip(fills.items(), (BLUE, ORANGE), strict=True):
        seconds = [max(ms, 1.0) / 1000 for ms, _ in fill]
        axes.plot(seconds, [level for _, level in fill], color=colour, lw=1, label=label)
    axes.axhline(PERIOD_MS, color=GREY, ls="--", lw=1, label=f"one period, {PERIOD_MS} ms")
    axes.set_xscale("log")
    axes.set_xlabel("seconds since the text was queued")
    axes.set_ylabel("ms of sound in the ring")
    axes.set_ylim(bottom=0)
    axes.set_title(f"Fill level during a text of {FILL_TEXT_CHARS} characters")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=8, loc="lower center")
