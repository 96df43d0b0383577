"""`edged doctor --measure`: what is compared, how it is told, and the whole of it on the private server."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from edged.cli import measure
from edged.cli.measure import Result, table, ways
from edged.config.model import AudioConfig, Config, ProcessConfig
from tests.daemon.harness import STORE


def test_each_is_switched_off_alone_and_all_are_on_first_and_last() -> None:
    given = Config(process=ProcessConfig(memory_lock=False, affinity="off"), audio=AudioConfig(period_ms=24))
    first, *others, last = ways(given)
    on = replace(given.process, memory_lock=True, affinity="auto")
    assert (first.process, first.period_ms) == (last.process, last.period_ms) == (on, 24)
    assert [(way.name, way.process, way.period_ms) for way in others] == [
        ("memory lock off", replace(on, memory_lock=False), 24),
        ("affinity off", replace(on, affinity="off"), 24),
        ("SCHED_FIFO off", replace(on, realtime=False), 24),
        ("period 6 ms", on, 6),
        ("period 12 ms", on, 12),
    ]


def test_the_table_tells_differences_what_was_refused_and_what_is_chance() -> None:
    on = Result("all on, period 12 ms", 9, 15.0, 20.0, 1, 0, "")
    off = Result("memory lock off", 9, 18.0, 31.5, 4, 2, "not obtained: SCHED_FIFO")
    lines = table([on, off, replace(on, name="all on, once more", first_audio_ms_p95=23.0)])
    assert [" ".join(line.split()) for line in lines] == [
        "first audio p50 p95 xruns underfills",
        "all on, period 12 ms 15.0 ms 20.0 ms 1 0",
        "memory lock off 18.0 ms 31.5 ms +11.5 4 +3 2 not obtained: SCHED_FIFO",
        "all on, once more 15.0 ms 23.0 ms +3.0 1 +0 0",
        "differences of p95 below 3.0 ms are chance: the first and the last line",
    ]


def test_the_device_is_the_users_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cards = tmp_path / "cards"
    monkeypatch.setattr(measure, "CARDS", cards)
    assert measure.device(Config()) is None
    cards.write_text("--- no soundcards ---\n")
    assert measure.device(Config()) is None
    cards.write_text(" 0 [Headphones     ]: bcm2835_headpho - bcm2835 Headphones\n")
    assert measure.device(Config()) == "default"
    assert measure.device(Config(audio=AudioConfig(device="USB"))) == "USB"
    assert measure.device(Config(audio=AudioConfig(sink="null"))) is None


@pytest.mark.slow
def test_it_measures_every_way(tmp_path: Path) -> None:
    config = tmp_path / "edged.yaml"
    config.write_text(f"node: measured\nvoice:\n  store: {STORE}\n")
    command = [
        sys.executable,
        "-m",
        "edged",
        "doctor",
        "--measure",
        "--seconds",
        "0.3",
        "--no-load",
        "--json",
    ]
    done = subprocess.run(
        [*command, "-c", str(config)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert [result["name"] for result in results] == [way.name for way in ways(Config())]
    assert all(result["n"] > 0 and result["first_audio_ms_p95"] > 0 for result in results)
