"""Speech through the real device: under load, and compared with a recording."""

from __future__ import annotations

from collections.abc import Iterator

from edged.bench.alignment import Comparison, compare
from edged.bench.player import Report
from edged.bench.rows import Figure
from edged.bench.services import wait_for
from edged.bench.surroundings import Played, Surroundings

LOAD_PERIODS_MS = (6, 12)
CAPTURE_AUDIO = {"period_ms": 24, "latency_ms": 100}
"""At these a private sound server loses nothing on an idle machine."""
CAPTURE_S = 10.0
TAIL_S = 0.5
"""Until the last sample that was played has reached the recording."""


def load_figures(around: Surroundings, period_ms: int, seconds: float) -> tuple[list[Figure], Report]:
    """Rows underfills, tap_equal, xruns and capture_gaps of one run beside a busy process."""
    case = f"{period_ms}ms-load"
    played, comparison = _recorded(around, around.audio(period_ms), seconds=seconds, load=True)
    report = played.report
    found = [
        Figure("underfills", case, [report.underfills], "count"),
        Figure("tap_equal", case, [int(report.tap_equal)], "bool"),
        Figure("xruns", case, [report.xruns], "count"),
    ]
    if comparison is None:
        found.append(Figure("capture_gaps", case, (), "count", around.no_recording))
    else:
        found.append(Figure("capture_gaps", case, [comparison.gaps], "count"))
    return found, report


def capture_figures(around: Surroundings, runs: int) -> Iterator[Figure]:
    """Row capture_equal: 1 when in every run every sample that was rendered was recorded, in order."""
    if around.sound() is None:
        yield Figure("capture_equal", "24ms", (), "bool", around.no_recording)
        return
    equal = []
    for _ in range(runs):
        _, comparison = _recorded(around, around.audio(**CAPTURE_AUDIO), seconds=CAPTURE_S, load=False)
        equal.append(int(comparison is not None and comparison.equal))
    yield Figure("capture_equal", "24ms", [min(equal)] * runs, "bool")


def _recorded(
    around: Surroundings, audio: dict[str, object], seconds: float, load: bool
) -> tuple[Played, Comparison | None]:
    server = around.sound()
    if server is None:
        return around.play(audio, seconds=seconds, load=load), None
    recording = server.record()
    try:
        played = around.play(audio, seconds=seconds, load=load)
        wait_for(lambda: False, TAIL_S)
    finally:
        samples = recording.stop()
    return played, compare(played.utterances, samples)
