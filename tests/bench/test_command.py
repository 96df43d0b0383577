"""`edged bench` as a user runs it: rows, exit codes, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from edged.bench.services import wait_for
from tests.daemon.harness import STORE

ROW_KEYS = {"name", "voice", "level", "case", "n", "p50", "p95", "unit"}


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """`edged bench --quick` with the voices of the tests."""
    config = tmp_path / "edged.yaml"
    config.write_text(f"voice: {{store: {STORE}}}\n")
    return [sys.executable, "-m", "edged", "bench", "--config", str(config), "--quick"]


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    (tmp_path / "tmp").mkdir(exist_ok=True)
    return os.environ | {"TMPDIR": str(tmp_path / "tmp")} | more


def bench(command: list[str], tmp_path: Path, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command, *options], env=environment(tmp_path, **more), capture_output=True, text=True, check=False
    )


def rows(content: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    return {row["case"]: row for row in content["rows"] if row["name"] == name}


def left_behind(tmp_path: Path) -> list[str]:
    """Command lines of processes that have to do with this run's folder."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(str(tmp_path / "tmp") in word for word in words):
            found.append(" ".join(words))
    return found


def test_json_and_table_of_the_voice_alone(command: list[str], tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    ended = bench(command, tmp_path, "--only", "first_audio_ms", "rtf", "--n", "4", "--json", str(file))
    assert ended.returncode == 0, ended.stderr
    content = json.loads(file.read_text())
    assert all(set(row) == ROW_KEYS for row in content["rows"])
    assert set(rows(content, "first_audio_ms")) == {"30", "300"}
    assert set(rows(content, "rtf")) == {"cpu", "wall"}
    row = rows(content, "first_audio_ms")["300"]
    assert (row["voice"], row["n"], row["unit"]) == ("heart", 4, "ms")
    assert 0 < row["p50"] <= row["p95"]
    assert content["machine"]["cores"] == os.cpu_count()
    assert {"edged", "python", "onnxruntime", "numpy", "mosquitto", "pulseaudio"} == set(content["versions"])
    table = ended.stdout.splitlines()
    assert table[0].split()[:5] == ["name", "level", "case", "n", "p50"]
    assert len(table) == 1 + len(content["rows"])
    assert "p50 <= 0.015" in next(line for line in table if line.startswith("rtf"))


def test_text_rooms_rows_come_from_fresh_processes(command: list[str], tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    wanted = ("text_front_end_ms", "text_tables_ms", "text_rss_mb")
    ended = bench(command, tmp_path, "--only", *wanted, "--n", "6", "--json", str(file))
    assert ended.returncode == 0, ended.stderr
    content = json.loads(file.read_text())
    assert {case: row["n"] for case, row in rows(content, wanted[0]).items()} == {"en-60": 6, "zh-60": 6}
    for lang in ("en", "zh"):
        spent_ms = rows(content, "text_front_end_ms")[f"{lang}-60"]["p50"]
        assert 0 < spent_ms < rows(content, "text_tables_ms")[lang]["p50"]
    assert 1 < rows(content, "text_rss_mb")["both"]["p50"] < 60
    assert len(content["bars"]) == 5


def test_the_daemon_through_broker_and_sound_server(command: list[str], tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    wanted = ("start_ready_ms", "publish_to_onset_ms")
    ended = bench(command, tmp_path, "--only", *wanted, "--n", "2", "--json", str(file))
    assert ended.returncode == 0, ended.stderr
    content = json.loads(file.read_text())
    assert rows(content, "start_ready_ms")["warm"]["n"] == 2
    onset = rows(content, "publish_to_onset_ms")
    assert 0 < onset["30-nonzero"]["p50"] <= onset["30"]["p50"] < 2000
    assert not left_behind(tmp_path)
    assert not list((tmp_path / "tmp").iterdir())


def test_without_a_sound_server_recordings_are_missing_and_said_so(
    command: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "figures.json"
    options = ("--only", "publish_to_onset_ms", "capture_equal", "--strict", "--json", str(file))
    ended = bench(command, tmp_path, *options, PATH="/nonexistent")
    assert ended.returncode == 1
    assert "pulseaudio is not installed; apt install pulseaudio" in ended.stderr
    assert all("MISSING: pulseaudio" in line for line in ended.stdout.splitlines()[1:])
    content = json.loads(file.read_text())
    assert (
        rows(content, "capture_equal")["24ms"] | {"n": 0, "p50": None, "p95": None}
        == (rows(content, "capture_equal")["24ms"])
    )
    assert {missing["name"] for missing in content["missing"]} == {"publish_to_onset_ms", "capture_equal"}


def test_ctrl_c_ends_everything_and_keeps_what_was_measured(command: list[str], tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    process = subprocess.Popen(
        [*command, "--only", "rtf", "idle_cpu_percent", "--n", "3", "--json", str(file)],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert wait_for(lambda: any("run --config" in line for line in left_behind(tmp_path)), 60)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.count(b"\n") <= 1, said.decode()
    assert not left_behind(tmp_path)
    assert not list((tmp_path / "tmp").iterdir())
    assert set(rows(json.loads(file.read_text()), "rtf")) == {"cpu", "wall"}


def test_a_missing_broker_is_one_line_with_its_mend(command: list[str], tmp_path: Path) -> None:
    hidden = (
        "import edged.bench.services as s; s.SYSTEM_FOLDERS = (); from edged.cli import main; import sys; "
    )
    words = [sys.executable, "-c", hidden + "sys.exit(main(sys.argv[1:]))", *command[3:]]
    ended = bench(words, tmp_path, "--only", "start_ready_ms", PATH="/nonexistent")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == "edged: mosquitto is not installed; apt install mosquitto"
    assert "Traceback" not in ended.stderr


def test_a_row_that_does_not_exist_is_refused(command: list[str], tmp_path: Path) -> None:
    ended = bench(command, tmp_path, "--only", "speed")
    assert ended.returncode == 2
    assert "invalid choice: 'speed'" in ended.stderr


def test_figures_that_cannot_be_written_are_one_line(command: list[str], tmp_path: Path) -> None:
    ended = bench(command, tmp_path, "--only", "rtf", "--n", "3", "--json", str(tmp_path / "none" / "f.json"))
    assert ended.returncode == 1
    assert "name a file in a folder you may write to" in ended.stderr
    assert "Traceback" not in ended.stderr
