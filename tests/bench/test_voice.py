"""`edged bench --voice` on a small voice: rows, bars, the whole beside the chunks, and exchanges."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from edged.bench.rows import VOICE_ROWS
from edged.bench.whole import Whole
from edged.errors import EdgedError
from edged.voice import store as voice_store
from edged.voice.engines.vits import PAST, VitsEngine, open_engine
from edged.voice.importers.vits import build
from tests.voice.sound import agreement_db
from tests.voice.vits import tiny

LEVELS = ("mixed", "fp32")
IDS = tiny.ids_of([8, 12, 9, 3, 20, 21, 8, 30, 14, 3, 17, 9, 25, 11, 6] * 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration, and a store with a small voice of random weights in it."""
    made = tmp_path_factory.mktemp("bench")
    build(tiny.write(made / "voice", "random", 3), made / "voices", "toy", ("mixed",), lambda _line: None)
    (made / "edged.yaml").write_text(f"state_dir: {made}/state\nvoice: {{store: {made}/voices}}\n")
    return made


def bench(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "edged", "bench", "--config", str(folder / "edged.yaml"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def figures(folder: Path, *options: str) -> dict[str, Any]:
    file = folder / "figures.json"
    ended = bench(folder, "--voice", "toy", "--quick", "--json", str(file), *options)
    assert ended.returncode == 0, ended.stderr
    content: dict[str, Any] = json.loads(file.read_text())
    assert len(ended.stdout.splitlines()) == 1 + len(content["rows"])
    return content


def test_rows_of_a_voice(folder: Path) -> None:
    wanted = [name for name in VOICE_ROWS if name != "swap_lost_samples"]
    content = figures(folder, "--only", *wanted)
    rows = {(row["name"], row["level"], row["case"]): row for row in content["rows"]}
    assert {name for name, _, _ in rows} == set(wanted)
    for level in LEVELS:
        for case in ("30", "80", "300"):
            for name in ("first_audio_ms", "first_audio_ratio_to_whole", "cpu_ratio_to_whole"):
                assert rows[name, level, case]["p50"] > 0
        assert rows["load_cpu_ms", level, "warm"]["p50"] > 1
        assert (
            rows["rss_after_long_mb", level, "trimmed"]["p50"]
            > rows["rss_after_long_mb", level, "dirty"]["p50"]
        )
        assert 0 < rows["rtf", level, "cpu"]["p50"] < 1
    assert rows["chunked_snr_db", "fp32", "sentences"]["n"] == 20
    assert rows["chunked_snr_db", "fp32", "least"]["p50"] > 100
    assert rows["logmel_distance_db", "fp32", "from-fp32"]["p50"] == 0
    assert rows["logmel_distance_db", "mixed", "from-fp32"]["p50"] > 0
    bars = {(bar["name"], bar["level"], bar["case"]): bar for bar in content["bars"]}
    assert bars["chunked_snr_db", "fp32", "least"]["holds"]
    two_draws = rows["logmel_distance_db", "mixed", "two-draws"]["p50"]
    assert bars["logmel_distance_db", "mixed", "from-fp32"]["limit"] == two_draws
    assert ("chunked_snr_db", "mixed", "least") not in bars


def test_exchanges_under_speech_lose_nothing(folder: Path) -> None:
    rows = {row["case"]: row for row in figures(folder, "--only", "swap_lost_samples")["rows"]}
    assert rows["swaps"]["p50"] == 0
    assert rows["exchanged"]["p50"] == 4
    assert rows["voices-left"]["p50"] == 0
    assert rows["rss-growth"]["p50"] < 10


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--voice", "toy", "--plot", "x.png"),
            "--plot goes without --voice; edged voice measure toy --plot",
        ),
        (("--voice", "toy", "--only", "underfills"), "--only underfills: is not measured with --voice"),
        (("--only", "chunked_snr_db"), "--only chunked_snr_db: is not measured without --voice"),
        (("--voice", "nobody"), "'nobody'"),
    ],
)
def test_what_cannot_be_measured_is_one_line(folder: Path, options: tuple[str, ...], said: str) -> None:
    ended = bench(folder, *options)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.fixture(scope="module")
def engines(folder: Path) -> dict[str, VitsEngine]:
    manifest = voice_store.current(folder / "voices", "toy")
    return {level: open_engine(manifest, level, 1) for level in LEVELS}


@pytest.mark.parametrize("level", LEVELS)
def test_the_whole_is_the_voice_without_its_past(
    folder: Path, engines: dict[str, VitsEngine], level: str, tmp_path: Path
) -> None:
    network = engines[level].network
    whole = Whole(voice_store.current(folder / "voices", "toy"), level, network, tmp_path)
    whole.check(IDS)
    assert agreement_db(network.at_once(network.prior(IDS, 1.0, 3, 0), 0), whole.samples(IDS, 3)) > 100
    for file in tmp_path.glob("*.onnx"):
        graph = onnx.load(str(file), load_external_data=False).graph
        assert (len(graph.input), len(graph.output)) == (2, 1)
        assert not any(name.startswith(PAST) for node in graph.node for name in node.input)


def test_another_network_is_not_taken_for_the_whole(
    folder: Path, engines: dict[str, VitsEngine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Whole(voice_store.current(folder / "voices", "toy"), "fp32", engines["fp32"].network, tmp_path)
    decoder = whole._decoder
    monkeypatch.setattr(whole, "_decoder", lambda **given: [decoder(**given)[0] * np.float32(1.001)])
    with pytest.raises(EdgedError, match=r"agrees with the chunks by 60 dB; install the voice again"):
        whole.check(IDS)
