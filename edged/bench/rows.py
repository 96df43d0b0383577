"""One measured figure as a row, and the bars that some rows are held against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from edged.health.counters import Window

ROWS = (
    "first_audio_ms",
    "rtf",
    "text_front_end_ms",
    "text_tables_ms",
    "text_rss_mb",
    "start_ready_ms",
    "rss_idle_mb",
    "private_dirty_mb",
    "idle_cpu_percent",
    "publish_to_first_sample_ms",
    "device_latency_ms",
    "stop_to_dropped_ms",
    "phrase_first_sample_ms",
    "zones_first_sample_ms",
    "all_to_single_ratio",
    "last_of_four_ratio",
    "publish_to_onset_ms",
    "underfills",
    "tap_equal",
    "xruns",
    "capture_gaps",
    "capture_equal",
)
"""In the order in which they are measured."""

VOICE_ROWS = (
    "first_audio_ms",
    "first_audio_ratio_to_whole",
    "cpu_ratio_to_whole",
    "rtf",
    "chunked_snr_db",
    "logmel_distance_db",
    "load_cpu_ms",
    "load_private_dirty_mb",
    "rss_after_long_mb",
    "swap_lost_samples",
    "cut_duration_ratio",
    "cut_duration_ms",
    "cut_pitch_semitones",
)
"""The same for a voice on its own."""

PIPER_ROWS = ("swap_lost_samples", "cut_duration_ratio", "cut_duration_ms", "cut_pitch_semitones")
"""Of these, what is measured of Piper voices only."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table and of the JSON file. `n` is 0 and the figures are None where it is missing."""

    name: str
    voice: str
    level: str
    case: str
    n: int
    p50: float | None
    p95: float | None
    unit: str


@dataclass(frozen=True, slots=True)
class Figure:
    """Measured values of one name and case, before they become a row; all of them or why there are none."""

    name: str
    case: str
    values: Sequence[float]
    unit: str
    missing: str | None = None

    def row(self, voice: str, level: str) -> Row:
        """Median and 95th percentile, nearest rank."""
        window = Window(max(1, len(self.values)))
        for value in self.values:
            window.add(value)
        found = window.percentiles()
        if found is None:
            return Row(self.name, voice, level, self.case, 0, None, None, self.unit)
        return Row(
            self.name, voice, level, self.case, found.n, _rounded(found.p50), _rounded(found.p95), self.unit
        )


def _rounded(value: float) -> float:
    """Four significant digits below 1000; more would be noise."""
    return float(f"{value:.4g}") if abs(value) < 1000 else round(value, 1)


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure that edged is to hold on a machine of this decade."""

    name: str
    case: str
    which: str
    """'p50' or 'p95'."""
    limit: float
    times_case: str | None = None
    """The limit is this many times the same figure of another case."""
    at_least: bool = False
    needs_fifo: bool = False
    """Asked only where the audio thread obtained SCHED_FIFO."""
    level: str | None = None
    """Asked of this level of a voice only."""


BARS = (
    Bar("publish_to_first_sample_ms", "30", "p50", 20.0),
    Bar("publish_to_first_sample_ms", "30", "p95", 40.0),
    Bar("publish_to_first_sample_ms", "300", "p50", 1.5, times_case="30"),
    Bar("publish_to_first_sample_ms", "300", "p95", 1.5, times_case="30"),
    Bar("publish_to_first_sample_ms", "30-6ms", "p50", 12.0),
    Bar("publish_to_first_sample_ms", "3000-6ms", "p50", 20.0),
    Bar("stop_to_dropped_ms", "12ms", "p50", 24.0),  # a period, and 12 ms for a chunk
    Bar("stop_to_dropped_ms", "6ms", "p50", 18.0),
    Bar("rtf", "cpu", "p50", 0.015),
    Bar("rtf", "wall", "p50", 0.015),
    Bar("text_front_end_ms", "en-60", "p95", 5.0),
    Bar("text_front_end_ms", "zh-60", "p95", 5.0),
    Bar("text_tables_ms", "en", "p50", 100.0),
    Bar("text_tables_ms", "zh", "p50", 100.0),
    Bar("text_rss_mb", "both", "p50", 15.0),
    Bar("rss_idle_mb", "idle", "p95", 114.0),  # 120 MB
    Bar("start_ready_ms", "warm", "p95", 2000.0),
    Bar("idle_cpu_percent", "idle", "p95", 1.0),
    Bar("underfills", "6ms-load", "p95", 0.0, needs_fifo=True),
    Bar("underfills", "12ms-load", "p95", 0.0, needs_fifo=True),
    Bar("tap_equal", "6ms-load", "p50", 1.0, at_least=True),
    Bar("tap_equal", "12ms-load", "p50", 1.0, at_least=True),
    Bar("all_to_single_ratio", "4", "p50", 1.2),
    Bar("last_of_four_ratio", "4", "p50", 1.0),
    Bar("phrase_first_sample_ms", "30", "p50", 15.0),
    Bar("capture_equal", "24ms", "p50", 1.0, at_least=True),
)


PIPER_BARS = (
    Bar("first_audio_ratio_to_whole", "30", "p50", 0.25, level="mixed"),
    Bar("first_audio_ratio_to_whole", "80", "p50", 0.15, level="mixed"),
    Bar("first_audio_ratio_to_whole", "300", "p50", 0.15, level="mixed"),
    Bar("first_audio_ratio_to_whole", "30", "p50", 0.35, level="fp32"),
    Bar("first_audio_ratio_to_whole", "80", "p50", 0.22, level="fp32"),
    Bar("first_audio_ratio_to_whole", "300", "p50", 0.20, level="fp32"),
    Bar("cpu_ratio_to_whole", "30", "p50", 0.85, level="mixed"),
    Bar("cpu_ratio_to_whole", "80", "p50", 0.85, level="mixed"),
    Bar("cpu_ratio_to_whole", "300", "p50", 0.85, level="mixed"),
    Bar("chunked_snr_db", "least", "p50", 100.0, at_least=True, level="fp32"),
    Bar("logmel_distance_db", "from-fp32", "p50", 1.0, times_case="two-draws", level="mixed"),
    Bar("rss_after_long_mb", "trimmed", "p50", 150.0, level="mixed"),
    Bar("rss_after_long_mb", "dirty", "p50", 70.0, level="mixed"),
    Bar("load_private_dirty_mb", "warm", "p50", 20.0, level="fp32"),
    Bar("load_private_dirty_mb", "warm", "p50", 36.0, level="mixed"),  # what prepacking takes, and 10 %
    Bar("load_cpu_ms", "warm", "p50", 150.0),
    Bar("swap_lost_samples", "swaps", "p50", 0.0),
    Bar("swap_lost_samples", "voices-left", "p50", 0.0),
    Bar("swap_lost_samples", "rss-growth", "p50", 10.0),
)
"""Of a Piper voice on its own (`edged bench --voice`), against the whole sentence in the same run."""

BAKER_BARS = (
    Bar("first_audio_ms", "30", "p50", 50.0, level="int8"),
    Bar("rtf", "cpu", "p50", 0.05, level="int8"),
    Bar("rtf", "wall", "p50", 0.05, level="int8"),
    Bar("chunked_snr_db", "least", "p50", 100.0, at_least=True, level="fp32"),
    Bar("rss_after_long_mb", "peak", "p95", 180.0, level="int8"),
)
"""Of the voice zh-baker on its own: within the first sound after 50 ms and the peak of 180 MB, and under the
RTF of 0.09, that this project was founded on."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A bar beside what was measured; `holds` is None where it is not asked here."""

    bar: Bar
    level: str
    limit: float | None
    """As a number of the row's unit; None where the case it refers to is missing."""
    measured: float | None
    holds: bool | None

    def __str__(self) -> str:
        sign = ">=" if self.bar.at_least else "<="
        limit = "?" if self.limit is None else f"{self.limit:.4g}"
        said = {True: "holds", False: "MISSED", None: "not asked without SCHED_FIFO"}[self.holds]
        return f"{self.bar.which} {sign} {limit}: {said}"


def verdicts(rows: Iterable[Row], fifo: bool, bars: Iterable[Bar] = BARS) -> list[Verdict]:
    """Every bar whose row is there; a missing figure does not hold."""
    by_key = {(row.name, row.case, row.level): row for row in rows}
    return [
        _verdict(bar, row, by_key.get((bar.name, bar.times_case or "", row.level)), fifo)
        for bar in bars
        for row in by_key.values()
        if (bar.name, bar.case) == (row.name, row.case) and bar.level in (None, row.level)
    ]


def _verdict(bar: Bar, row: Row, reference: Row | None, fifo: bool) -> Verdict:
    measured = _figure(row, bar.which)
    limit: float | None = bar.limit
    if bar.times_case is not None:
        base = _figure(reference, bar.which) if reference else None
        limit = None if base is None else bar.limit * base
    if bar.needs_fifo and not fifo:
        return Verdict(bar, row.level, limit, measured, None)
    if measured is None or limit is None:
        return Verdict(bar, row.level, limit, measured, False)
    return Verdict(bar, row.level, limit, measured, measured >= limit if bar.at_least else measured <= limit)


def _figure(row: Row, which: str) -> float | None:
    return row.p50 if which == "p50" else row.p95
