"""How edged grows: the sums of batch work, the tables and the picture, and one daemon asked for real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edged.bench.rows import Row
from edged.bench.texts import texts
from edged.errors import EdgedError
from tests.bench.growth import batch
from tests.bench.growth.batch import Done
from tests.bench.growth.board import SILENT, Board, first_sample_ms, forget_peak, peak_rss_mb
from tests.bench.growth.picture import PANELS, draw
from tests.bench.growth.report import MEANINGS, TITLES, as_json, as_markdown
from tests.daemon.harness import STORE

CASES = {
    "length": ("30", "100", "10000"),
    "waiting": ("1", "1000"),
    "zones": ("1", "2", "8"),
    "batch": ("1", "4", "8"),
}


def rows() -> list[Row]:
    """One of every name and case."""
    return [
        Row(name, "toy", "", case, 5 if name.endswith("_ms") else 1, 10.0 + at, 20.0 + at, "ms")
        for name in MEANINGS
        for at, case in enumerate(CASES[name.split("_")[0]])
    ]


def test_every_curve_has_a_name_and_a_family() -> None:
    drawn = {name for panels in PANELS for panel in panels for name, _ in panel.curves}
    assert drawn <= set(MEANINGS)
    assert {name.split("_")[0] for name in MEANINGS} == set(TITLES)


def test_tables() -> None:
    said = as_markdown(rows(), {"voice": "toy"})
    assert "- voice: toy" in said
    assert "| publish to first sample             | ms   | 10 (20) | 11 (21) | 12 (22) |" in said
    assert "| RSS with so many waiting                 | ms   | 10      | 11      |" in said
    assert said.count("\n## ") == len(TITLES)
    assert json.loads(as_json(rows(), {"voice": "toy"}))["rows"][0]["name"] == next(iter(MEANINGS))


@pytest.mark.parametrize("kept", [tuple(TITLES), ("zones",)])
def test_the_picture(tmp_path: Path, kept: tuple[str, ...]) -> None:
    file = tmp_path / "growth.png"
    draw(file, [row for row in rows() if row.name.split("_")[0] in kept], "toy")
    assert file.read_bytes().startswith(b"\x89PNG")


def test_batch_counts_the_time_in_which_all_render() -> None:
    early = [Done(0.0, 5.0, 9.0), Done(1.0, 6.0, 4.0), Done(2.0, 6.5, 4.0), Done(3.0, 7.0, 4.0)]
    late = [Done(1.0, 1.0, 9.0), Done(2.0, 1.5, 2.0), Done(3.5, 2.5, 2.0)]
    found = {figure.name: figure for figure in batch._told(2, [early, late])}
    assert sorted(found["batch_text_ms"].values) == [1000.0, 1000.0, 1000.0]
    assert found["batch_cpu_per_audio_s"].values == [1.5 / 10.0]
    assert found["batch_speed"].values == [10.0 / 2.0]
    with pytest.raises(EdgedError, match="never rendered at the same time"):
        list(batch._told(2, [early, [Done(9.0, 0.0), Done(10.0, 0.0)]]))


def test_a_daemon_is_asked_and_leaves_nothing_to_the_next_one() -> None:
    with Board("heart", STORE, lambda _line: None) as board:
        source = texts(30)
        for _ in range(2):
            with board.daemon(SILENT) as (daemon, client):
                assert 0 < first_sample_ms(client, next(source)) < 1000
                client.say(next(source), id="left")
                forget_peak(daemon.pid)
                assert peak_rss_mb(daemon.pid) == pytest.approx(daemon.memory_mib()[0], rel=0.1)
                client.watch_state()
                assert (client.next_state(5.0) or {})["messages"]["duplicates"] == 0
        folder = board.folder
    assert not folder.exists()
    with pytest.raises(FileNotFoundError):
        Path(f"/proc/{daemon.pid}/status").read_text()
