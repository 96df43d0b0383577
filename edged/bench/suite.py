"""The whole benchmark: which measurements there are, in which order, and the file they end in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from edged.bench import (
    baker,
    canvas,
    engine,
    idle,
    latency,
    levels,
    machine,
    piper,
    playing,
    plot,
    prosody,
    reading,
    zones,
)
from edged.bench.player import Report
from edged.bench.rows import (
    BAKER_BARS,
    BARS,
    PIPER_BARS,
    PIPER_ROWS,
    ROWS,
    VOICE_ROWS,
    Bar,
    Figure,
    Row,
    Verdict,
    verdicts,
)
from edged.bench.surroundings import Surroundings
from edged.bench.table import Table
from edged.config.model import CacheConfig, Config
from edged.errors import EdgedError
from edged.voice import heap


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of everything."""

    engine_n: int = 100
    sentences_n: int = 300
    short_n: int = 120
    long_n: int = 30
    rested_n: int = 20
    onset_n: int = 30
    starts: int = 7
    idle_s: float = 30.0
    load_s: float = 60.0
    capture_runs: int = 3
    voice_n: int = 15
    processes: int = 5
    swaps: int = 50


QUICK = Extent(
    engine_n=15,
    sentences_n=50,
    short_n=15,
    long_n=3,
    rested_n=2,
    onset_n=5,
    starts=2,
    idle_s=5.0,
    load_s=6.0,
    capture_runs=1,
    voice_n=3,
    processes=1,
    swaps=4,
)


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for; `only` empty means every row."""

    quick: bool = False
    only: frozenset[str] = frozenset()
    n: int | None = None
    device: str | None = None
    voice: str | None = None
    """One to be measured on its own."""

    @property
    def extent(self) -> Extent:
        """With `n` in place of the counts of latency rows."""
        extent = QUICK if self.quick else Extent()
        if self.n is None:
            return extent
        long_n = max(1, min(self.n, extent.long_n))
        short = dict.fromkeys(("engine_n", "sentences_n", "short_n", "onset_n", "voice_n"), self.n)
        return replace(extent, long_n=long_n, **short)


class Suite:
    """Runs the measurements whose rows are wanted, inside its surroundings."""

    def __init__(self, config: Config, options: Options, table: Table) -> None:
        self._config = config
        self._options = options
        self._table = table
        self.rows: list[Row] = []
        self._missing: dict[tuple[str, str], str] = {}
        self._machine = machine.machine()
        self._voice = self._level = ""
        self._bars: tuple[Bar, ...] = BARS

    def run(self, around: Surroundings) -> None:
        """Measure. Raises EdgedError where a part cannot be started."""
        if self._options.voice is not None:
            self._alone(around)
            return
        voice = around.voice()
        self._voice, self._level = voice.name, voice.engine.level
        extent, tell = self._options.extent, self._table.progress
        if self._wants("first_audio_ms", "rtf"):
            tell("first_audio_ms, rtf")
            self._take(engine.figures(voice, self._config, extent.engine_n))
        if self._wants("text_front_end_ms", "text_tables_ms", "text_rss_mb"):
            manifest, processes = around.installed_voice(), extent.processes
            self._take(reading.figures(around.ask, manifest, extent.sentences_n, processes, tell))
        if self._wants("start_ready_ms"):
            self._take(idle.start_figures(around, extent.starts, tell))
        if self._wants("rss_idle_mb", "private_dirty_mb", "idle_cpu_percent"):
            self._take(idle.figures(around, extent.idle_s, self._note_daemon, tell))
        if self._wants("publish_to_first_sample_ms", "device_latency_ms", "stop_to_dropped_ms"):
            counts = (extent.short_n, extent.long_n, extent.rested_n)
            self._take(latency.figures(around, *counts, tell))
        if self._wants("phrase_first_sample_ms"):
            self._take(zones.phrase_figures(around, extent.onset_n, tell))
        if self._wants("zones_first_sample_ms", "all_to_single_ratio", "last_of_four_ratio"):
            self._take(zones.figures(around, voice, self._config, extent.onset_n, tell))
        if self._wants("publish_to_onset_ms"):
            self._take(latency.onset_figures(around, extent.onset_n, tell))
        if self._wants("underfills", "tap_equal", "xruns", "capture_gaps"):
            self._load(around, extent.load_s)
        if self._wants("capture_equal"):
            tell(f"capture_equal: {extent.capture_runs} runs")
            self._take(playing.capture_figures(around, extent.capture_runs))

    def _alone(self, around: Surroundings) -> None:
        manifest = around.installed_voice()
        self._voice = manifest.name
        extent, tell = self._options.extent, self._table.progress
        if manifest.engine == "vits":
            self._bars = PIPER_BARS
            with piper.PiperVoice(manifest) as voice:
                self._levels(voice, piper.heard(voice, tell))
                if self._wants("cut_duration_ratio", "cut_duration_ms", "cut_pitch_semitones"):
                    self._take_levels(prosody.cuts(voice, tell))
        elif manifest.engine == "fastspeech2":
            self._bars = BAKER_BARS
            for name in self._options.only.intersection(PIPER_ROWS):
                raise EdgedError(f"--only {name}: is measured of Piper voices only")
            chinese = baker.BakerVoice(manifest)
            self._levels(chinese, baker.heard(chinese, tell))
        else:
            raise EdgedError(f"--voice {manifest.name}: is of another kind; edged bench measures it without")
        if self._wants("load_cpu_ms", "load_private_dirty_mb", "rss_after_long_mb"):
            self._take_levels(levels.memory(manifest, around.ask, extent.processes, tell))
        if manifest.engine == "vits" and self._wants("swap_lost_samples"):
            audio = {"sink": "null", "rate_hz": manifest.sample_rate_hz, "period_ms": 12, "lead_in_ms": 0}
            file = around.config_file(audio, keep=1, level=manifest.levels[0])
            self._take_levels(piper.exchanged(manifest, around.ask, file, extent.swaps, tell))

    def _levels(self, voice: levels.Subject, heard: Iterator[tuple[str, Figure]]) -> None:
        extent, tell = self._options.extent, self._table.progress
        if self._wants("first_audio_ms", "first_audio_ratio_to_whole", "cpu_ratio_to_whole", "rtf"):
            self._take_levels(levels.timing(voice, extent.voice_n, tell))
        if self._wants("chunked_snr_db"):
            self._take_levels(levels.alike(voice, tell))
        if self._wants("logmel_distance_db"):
            self._take_levels(heard)

    def _take_levels(self, figures: Iterator[tuple[str, Figure]]) -> None:
        for self._level, figure in figures:
            self._take(iter([figure]))

    def _load(self, around: Surroundings, seconds: float) -> None:
        for period_ms in playing.LOAD_PERIODS_MS:
            self._table.progress(f"underfills {period_ms}ms-load: {seconds:.0f} s of speech beside a load")
            found, report = playing.load_figures(around, period_ms, seconds)
            self._note_player(report)
            self._take(iter(found))

    def _wants(self, *names: str) -> bool:
        return not self._options.only or bool(self._options.only.intersection(names))

    def _take(self, figures: Iterator[Figure]) -> None:
        for figure in figures:
            if not self._wants(figure.name):
                continue
            row = figure.row(self._voice, self._level)
            self.rows.append(row)
            if figure.missing:
                self._missing[row.name, row.case] = figure.missing
            key = (row.name, row.case, row.level)
            mine = [v for v in self.verdicts() if (v.bar.name, v.bar.case, v.level) == key]
            self._table.row(row, figure.missing, mine)

    def _note_daemon(self, obtained: idle.Obtained) -> None:
        self._machine["memory_lock"] = obtained.memory_lock
        self._machine["sched_fifo"] = obtained.fifo

    def _note_player(self, report: Report) -> None:
        self._machine["sched_fifo"] = report.realtime
        self._machine["memory_lock"] = report.memory_lock
        self._machine["sound"] = report.sink

    def verdicts(self) -> list[Verdict]:
        """Every bar whose row was measured so far."""
        return verdicts(self.rows, bool(self._machine.get("sched_fifo")), self._bars)

    def content(self) -> dict[str, Any]:
        """What the JSON file holds: machine, versions, rows; and why what is missing is missing."""
        return {
            "machine": self._machine,
            "versions": machine.versions(),
            "rows": [asdict(row) for row in self.rows],
            "missing": [
                {"name": name, "case": case, "reason": reason}
                for (name, case), reason in self._missing.items()
            ],
            "bars": [
                {
                    "name": verdict.bar.name,
                    "level": verdict.level,
                    "case": verdict.bar.case,
                    "which": verdict.bar.which,
                    "at_least": verdict.bar.at_least,
                    "limit": verdict.limit,
                    "measured": verdict.measured,
                    "holds": verdict.holds,
                }
                for verdict in self.verdicts()
            ],
        }


def run(
    config: Config,
    options: Options,
    json_file: Path | None,
    plot_file: Path | None,
) -> bool:
    """Measure, print, write, draw; True when every bar that was asked holds. Raises EdgedError."""
    _check(options, plot_file)
    if plot_file is not None:
        canvas.require()
    table = Table()
    config = replace(config, cache=CacheConfig(ids_kib=0, pcm_kib=0))
    if options.voice is not None:
        config = replace(config, voice=replace(config.voice, name=options.voice))
    suite = Suite(config, options, table)
    heap.keep_freed_memory()  # as the daemon does
    with Surroundings(config, options.device, table.remark) as around:
        try:
            suite.run(around)
            if plot_file is not None:
                table.progress("measuring for the picture")
                plot.draw(plot_file, around, suite.rows)
        finally:
            table.progress("")
            if json_file is not None:
                _write(json_file, suite.content())
    return all(verdict.holds is not False for verdict in suite.verdicts())


def _check(options: Options, plot_file: Path | None) -> None:
    known = ROWS if options.voice is None else VOICE_ROWS
    for name in options.only:
        if name not in known:
            raise EdgedError(
                f"--only {name}: is not measured {'with' if options.voice else 'without'} --voice"
            )
    if options.voice is not None and plot_file is not None:
        raise EdgedError(f"--plot goes without --voice; edged voice measure {options.voice} --plot draws it")


def _write(file: Path, content: dict[str, Any]) -> None:
    """Also what was measured before an error or ctrl-C."""
    try:
        file.write_text(json.dumps(content, indent=1) + "\n")
    except OSError as error:
        raise EdgedError(f"{file}: {error.strerror}; name a file in a folder you may write to") from None
