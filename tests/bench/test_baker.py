"""`edged bench --voice` on a small voice of the kind of zh-baker."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from edged.bench.baker import BakerVoice
from edged.bench.rows import PIPER_ROWS, VOICE_ROWS
from edged.types import PhonemeIds
from edged.voice import store as voice_store
from tests.voice.sound import agreement_db
from tests.voice.zh.conftest import reference, tiny_ids, tiny_store

__all__ = ["reference", "tiny_store"]  # fixtures of the voice's own tests

LEVELS = ("int8", "fp32")


def bench(folder: Path, store: Path, *options: str) -> subprocess.CompletedProcess[str]:
    config = folder / "edged.yaml"
    config.write_text(f"state_dir: {folder}/state\nvoice: {{store: {store}}}\n")
    command = [sys.executable, "-m", "edged", "bench", "--config", str(config), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_rows_of_a_chinese_voice(tiny_store: Path, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    ended = bench(tmp_path, tiny_store, "--voice", "tiny", "--quick", "--json", str(file))
    assert ended.returncode == 0, ended.stderr
    content = json.loads(file.read_text())
    rows = {(row["name"], row["level"], row["case"]): row for row in content["rows"]}
    assert {name for name, _, _ in rows} == set(VOICE_ROWS) - set(PIPER_ROWS)
    for level in LEVELS:
        assert all(rows["first_audio_ms", level, case]["p50"] > 0 for case in ("30", "80", "300"))
        assert rows["rtf", level, "wall"]["n"] == 3
        peak, trimmed, dirty = (
            rows["rss_after_long_mb", level, case]["p50"] for case in ("peak", "trimmed", "dirty")
        )
        assert peak > trimmed > dirty > 0
    assert rows["chunked_snr_db", "fp32", "least"]["p50"] > 90
    assert rows["logmel_distance_db", "fp32", "from-fp32"]["p50"] == 0
    assert rows["logmel_distance_db", "int8", "from-fp32"]["p50"] > 0
    asked = {(bar["name"], bar["level"]) for bar in content["bars"]}
    assert {("first_audio_ms", "int8"), ("rtf", "int8"), ("rss_after_long_mb", "int8")} < asked


def test_chunks_and_whole_are_what_the_engine_says(tiny_store: Path) -> None:
    voice = BakerVoice(voice_store.current(tiny_store, "tiny"))
    ids = PhonemeIds(tiny_ids(200, breaks={40: 5, 120: 5}), "")
    assert len(voice.parts(ids)) > 1
    whole, chunked = voice.whole("fp32", ids, 0), voice.in_chunks("fp32", ids, 0)
    assert agreement_db(whole, chunked) > 90
    said = sum(chunk.samples.size for chunk in voice.engines["fp32"].stream(ids, 1.0, 0))
    pauses = said - whole.size
    assert 0 < pauses < said // 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--voice", "zh-baker"), "edged voice install zh-baker --accept-license"),
        (
            ("--voice", "tiny", "--only", "cut_duration_ms"),
            "--only cut_duration_ms: is measured of Piper voices only",
        ),
    ],
)
def test_what_cannot_be_measured_is_one_line(
    tiny_store: Path, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    ended = bench(tmp_path, tiny_store, *options)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
