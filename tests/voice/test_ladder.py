"""Which way to run a voice is chosen: from figures, and without any."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.voice.ladder import Row, best, ladder, machine, measured_file, read_rows, setting_for, write_rows
from edged.voice.load import Setting
from edged.voice.manifest import Licence, Manifest

ROW = Row("mixed", 1, (16, 32), (20.0, 30.0, 100.0), 0.06, 4.0, 140.0, 60.0, 1.2)
FP32 = replace(ROW, level="fp32", first_audio_ms=(30.0, 50.0, 200.0), rtf=0.1, distance_db=0.0)
OWN_DB = 1.9

MANIFEST = Manifest(
    folder=Path("/nowhere/0123456789abcdef"),
    name="toy",
    version="0123456789abcdef",
    language="en-us",
    engine="vits",
    sample_rate_hz=22050,
    licence=Licence(),
    source_package="",
    source_version="",
    source_url="",
    source_files={},
    levels=("mixed", "fp32"),
    speakers=(),
    options={"levels": {"mixed": {}, "fp32": {}}, "natural_db": OWN_DB},
    files=(),
)


def test_what_is_slower_and_worse_is_left_out() -> None:
    slower = replace(ROW, rtf=0.2, first_audio_ms=(20.0, 31.0, 100.0))
    assert ladder([FP32, slower, ROW]) == (ROW, FP32)


def test_what_is_better_in_one_thing_stays() -> None:
    sooner = replace(ROW, rtf=0.07, first_audio_ms=(10.0, 20.0, 90.0))
    steadier = replace(ROW, rtf=0.08, tolerance=9.0)
    fewer = replace(ROW, threads=1, rtf=0.09)
    more = replace(ROW, threads=2, rtf=0.05)
    assert set(ladder([ROW, sooner])) == {ROW, sooner}
    assert ladder([ROW, steadier]) == (ROW,)  # beyond the reserve more is of no use
    assert set(ladder([fewer, more])) == {fewer, more}
    assert ladder([ROW, ROW]) == (ROW, ROW)


ROWS = st.lists(
    st.builds(
        Row,
        st.sampled_from(["fp32", "mixed", "int8"]),
        st.integers(1, 2),
        st.just((16,)),
        st.tuples(*[st.floats(1, 500)] * 3),
        st.floats(0.001, 3),
        st.floats(0.1, 50),
        st.just(100.0),
        st.just(50.0),
        st.floats(0, 5),
    ),
    max_size=12,
)


@given(ROWS, st.floats(0, 3))
def test_the_ladder_is_in_order_of_cost_and_something_is_chosen_of_what_there_is(
    rows: list[Row], own_db: float
) -> None:
    made = ladder(rows)
    assert [row.rtf for row in made] == sorted(row.rtf for row in made)
    assert bool(made) == bool(rows)
    chosen = best(rows, own_db)
    assert (chosen is None) == (not rows)
    if chosen and any(row.rtf <= 0.5 and row.tolerance >= 2 for row in rows):
        assert chosen.rtf <= 0.5
        assert chosen.tolerance >= 2


def test_a_difference_that_is_not_heard_does_not_count() -> None:
    assert best([FP32, ROW], OWN_DB) == ROW
    assert best([FP32, ROW], 0.5) == FP32
    assert best([FP32, replace(ROW, distance_db=0.9)], 0.0) == replace(ROW, distance_db=0.9)


def test_never_running_dry_comes_first() -> None:
    shaky, slow = replace(ROW, tolerance=1.1), replace(FP32, rtf=0.7)
    assert best([shaky, FP32], OWN_DB) == FP32
    assert best([shaky, slow], OWN_DB) == shaky


def test_figures_are_kept_by_version_and_machine(tmp_path: Path) -> None:
    file = measured_file(tmp_path, MANIFEST)
    assert file == tmp_path / "measured" / f"0123456789abcdef.{machine()}.json"
    assert read_rows(file) == ()
    write_rows(file, MANIFEST, [ROW, FP32], {"machine": machine()})
    assert read_rows(file) == (ROW, FP32)
    assert [p.name for p in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"format": 1, "rows": [{"level": 1}]}', '{"format": 9}']
)
def test_figures_that_cannot_be_read_are_none(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "measured.json"
    file.write_text(text)
    assert read_rows(file) == ()
    assert setting_for(MANIFEST, "auto", 1, file) == Setting("mixed", 1)
    assert all("edged voice measure writes it again" in line for line in caplog.messages)


def test_without_figures_the_first_level_is_taken(tmp_path: Path) -> None:
    assert setting_for(MANIFEST, "auto", 2, tmp_path / "none") == Setting("mixed", 2)
    assert setting_for(MANIFEST, "fp32", 1, tmp_path / "none") == Setting("fp32", 1)


def test_a_level_that_the_voice_lacks_is_taken_as_auto_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert setting_for(MANIFEST, "int8", 1, tmp_path / "none") == Setting("mixed", 1)
    assert caplog.messages == ["voice toy has no level int8, only mixed, fp32; taken as auto"]


def test_figures_choose_within_the_threads_and_the_level_asked_for(tmp_path: Path) -> None:
    file = measured_file(tmp_path, MANIFEST)
    two = replace(ROW, threads=2, first_audio_ms=(9.0, 9.0, 9.0), chunks=(8, 16))
    gone = replace(ROW, level="fp16", first_audio_ms=(1.0, 1.0, 1.0))
    write_rows(file, MANIFEST, [ROW, FP32, two, gone], {})
    assert setting_for(MANIFEST, "auto", 1, file) == ROW.setting
    assert setting_for(MANIFEST, "auto", 2, file) == Setting("mixed", 2, (8, 16))
    assert setting_for(MANIFEST, "fp32", 2, file) == FP32.setting
    assert json.loads(file.read_text())["voice"] == "toy"
