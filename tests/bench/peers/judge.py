"""Ratios edged ÷ peer out of the rows, and the bars that some of them are held against."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from edged.bench.rows import Row

PAIRS = (
    ("edged-joe", "piper-tts"),
    ("edged-joe", "wyoming-piper"),
    ("edged-joe-daemon", "wyoming-piper"),
    ("edged-joe", "streaming-vits"),
    ("edged-heart", "hibari-tts"),
)
"""The same voice on both sides."""
FIGURES = ("first_sample_ms", "rtf", "cpu_per_audio_s", "peak_rss_mb", "private_mb")


@dataclass(frozen=True, slots=True)
class Bar:
    """Edged ÷ peer, of the medians, is to be at most `limit`."""

    edged: str
    peer: str
    figure: str
    case: str
    limit: float

    def __str__(self) -> str:
        return f"{self.figure} at {self.case} characters, {self.edged} ÷ {self.peer}"


BARS = (
    Bar("edged-joe", "piper-tts", "first_sample_ms", "80", 0.20),
    Bar("edged-joe", "wyoming-piper", "first_sample_ms", "80", 0.20),
    Bar("edged-joe-daemon", "wyoming-piper", "first_sample_ms", "80", 0.20),
    Bar("edged-joe", "streaming-vits", "first_sample_ms", "80", 0.80),
    Bar("edged-joe", "piper-tts", "cpu_per_audio_s", "80", 1.0),
    Bar("edged-joe", "piper-tts", "cpu_per_audio_s", "300", 1.0),
)


@dataclass(frozen=True, slots=True)
class Ratio:
    """Median of edged ÷ median of the peer; None where one of them is missing."""

    edged: str
    peer: str
    figure: str
    case: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A bar beside its ratio; None was not measured, and does not hold."""

    bar: Bar
    value: float | None

    @property
    def holds(self) -> bool:
        """The bar was measured and is met."""
        return self.value is not None and self.value <= self.bar.limit

    @property
    def said(self) -> str:
        """In words."""
        if self.value is None:
            return "not measured"
        return "bar holds" if self.holds else "MISSED"

    def __str__(self) -> str:
        value = "-" if self.value is None else f"{self.value:.3g}"
        return f"{self.bar}: {value}, at most {self.bar.limit:g}: {self.said}"


def ratios(rows: Iterable[Row]) -> list[Ratio]:
    """Of every pair that took part, every figure and every length."""
    medians = {(row.voice, row.name, row.case): row.p50 for row in rows}
    there = {contender for contender, _, _ in medians}
    cases = list(dict.fromkeys(case for _, _, case in medians))
    return [
        Ratio(edged, peer, figure, case, _ratio(medians, edged, peer, figure, case))
        for edged, peer in PAIRS
        if edged in there and peer in there
        for figure in FIGURES
        for case in cases
    ]


def verdicts(rows: Iterable[Row], asked: Collection[str]) -> list[Verdict]:
    """Of every bar whose two contenders were asked to take part."""
    medians = {(row.voice, row.name, row.case): row.p50 for row in rows}
    return [
        Verdict(bar, _ratio(medians, bar.edged, bar.peer, bar.figure, bar.case))
        for bar in BARS
        if bar.edged in asked and bar.peer in asked
    ]


def _ratio(
    medians: dict[tuple[str, str, str], float | None], edged: str, peer: str, figure: str, case: str
) -> float | None:
    ours, theirs = medians.get((edged, figure, case)), medians.get((peer, figure, case))
    return ours / theirs if ours is not None and theirs else None
