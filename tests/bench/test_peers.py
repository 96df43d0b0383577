"""edged beside its peers: the rounds, the protocol of the workers, the ratios, and what the command says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from edged.bench.rows import Row
from edged.bench.services import wait_for
from edged.errors import EdgedError
from tests.bench.peers import rounds
from tests.bench.peers.contenders import CONTENDERS, WORKERS, Contender
from tests.bench.peers.judge import BARS, PAIRS, ratios, verdicts
from tests.bench.peers.picture import LOOKS, draw
from tests.bench.peers.report import Result, as_json, as_markdown, table
from tests.bench.peers.rounds import Measured
from tests.bench.peers.worker import Answer, Memory, Worker

FAKE = """
import json, os, subprocess, sys, time
sys.path.insert(0, {workers!r})
from serving import Contender, serve

options = json.loads(sys.argv[1])

def pieces(text):
    print("a remark on standard output")
    with open(options["log"], "a") as log:
        log.write(options["name"] + ":" + text + "\\n")
    if "die" in text:
        os._exit(3)
    if "raise" in text:
        raise RuntimeError("cannot say\\nthis")
    if "nothing" in text:
        yield 0
        return
    yield 0
    time.sleep(0.02)
    yield 160
    deadline = time.process_time() + 0.03
    while time.process_time() < deadline:
        pass
    yield 7840

def make(options):
    if "fault" in options:
        raise ImportError(options["fault"])
    if "child" in options:
        options["child"] = subprocess.Popen(["sleep", "60"])
        with open(options["log"], "w") as log:
            log.write(str(options["child"].pid))
    return Contender(pieces, 8000, {{"fake": "1.0"}}, "a note")

serve(make)
"""


def fake(folder: Path, **options: object) -> Worker:
    """A peer that makes a second of silence out of any text, and notes who is asked what."""
    script = folder / "fake.py"
    script.write_text(FAKE.format(workers=str(WORKERS)))
    given = {"name": "fake", "log": str(folder / "asked"), **options}
    return Worker([sys.executable, str(script), json.dumps(given)], os.environ, folder / "log")


def rows_of(**medians: float) -> list[Row]:
    """Rows by 'contender/figure/case'."""
    return [
        Row(figure, contender, "", case, 5, value, value * 2, "ms")
        for (contender, figure, case), value in ((tuple(key.split("/")), v) for key, v in medians.items())
    ]


def test_a_worker_measures_first_piece_with_sound_total_and_processor_time(tmp_path: Path) -> None:
    worker = fake(tmp_path)
    try:
        assert (worker.versions, worker.notes) == ({"fake": "1.0"}, "a note")
        answers = [worker.ask(text) for text in ("one", "two")]
        memory = worker.memory()
    finally:
        worker.stop()
    for answer in answers:
        assert 20 <= answer.first_ms < (answer.total_ms or 0)
        assert answer.total_ms is not None
        assert answer.total_ms >= 50
        assert answer.cpu_s is not None
        assert 0.03 <= answer.cpu_s < answer.total_ms / 1000
        assert answer.audio_s == 1.0
    assert 0 < memory.private_mb < memory.peak_rss_mb
    assert "a remark" in (tmp_path / "log").read_text()
    worker.stop()  # a second call does nothing


@pytest.mark.parametrize(
    ("text", "said"),
    [("raise", "RuntimeError: cannot say this"), ("die", "has ended"), ("nothing", "gave no sound")],
)
def test_a_worker_that_fails_says_why_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    worker = fake(tmp_path)
    try:
        worker.ask("one")
        with pytest.raises(EdgedError, match=said):
            worker.ask(text)
        with pytest.raises(EdgedError, match="has ended"):
            worker.ask("another")
    finally:
        worker.stop()


def test_a_worker_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(EdgedError, match="ImportError: No module named 'peer'"):
        fake(tmp_path, fault="No module named 'peer'")


def test_a_worker_takes_its_children_with_it(tmp_path: Path) -> None:
    worker = fake(tmp_path, child=True)
    child = Path(f"/proc/{(tmp_path / 'asked').read_text()}/cmdline")
    assert wait_for(lambda: "sleep" in child.read_text(), 5)
    worker.stop()
    assert wait_for(lambda: not child.exists() or not child.read_text(), 5)  # gone, or not yet collected


class Fakes:
    """A Place whose contenders are all fakes; `broken` does not start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def start(self, contender: Contender) -> Worker:
        folder = self._folder / contender.name
        folder.mkdir()
        fault = {"fault": "not for this machine"} if contender.name == "broken" else {}
        return fake(folder, name=contender.name, log=str(self._folder / "asked"), **fault)


def test_rounds_give_every_text_to_everyone_before_the_next_one(tmp_path: Path) -> None:
    wanted = tuple(Contender(name, "", "") for name in ("a", "broken", "b"))
    told: list[str] = []
    found = rounds.run(Fakes(tmp_path), wanted, 2, told.append, lengths=(30, 80))  # type: ignore[arg-type]
    asked = [line.split(":", 1) for line in (tmp_path / "asked").read_text().splitlines()]
    texts = [text for _, text in asked]
    assert texts[0::2] == texts[1::2]
    assert len(set(texts)) == 2 * (rounds.WARM_UP + 2)
    assert [name for name, _ in asked] == ["a", "b", "b", "a", "a", "b"] * 2
    assert found.missing == {"broken": "ImportError: not for this machine"}
    assert "broken: ImportError: not for this machine" in told
    first = [row for row in found.rows if row.name == "first_sample_ms"]
    assert [(row.voice, row.case, row.n) for row in first] == [
        *(("a", "30", 2), ("b", "30", 2)),
        *(("a", "80", 2), ("b", "80", 2)),
    ]


def test_who_fails_in_a_round_is_named_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        rounds, "texts", lambda chars: iter([f"{chars} one", f"{chars} two", f"{chars} three"])
    )
    place = Fakes(tmp_path)
    wanted = tuple(Contender(name, "", "") for name in ("a", "b"))
    start = place.start

    def started(contender: Contender) -> Worker:
        worker = start(contender)
        if contender.name == "a":
            os.kill(worker.pid, signal.SIGKILL)
        return worker

    monkeypatch.setattr(place, "start", started)
    found = rounds.run(place, wanted, 2, lambda _line: None, lengths=(30,))  # type: ignore[arg-type]
    assert list(found.missing) == ["a"]
    assert found.missing["a"].startswith("has ended")
    assert {row.voice for row in found.rows} == {"b"}


def test_what_cannot_be_told_has_no_figure() -> None:
    plays = Answer(first_ms=10.0, total_ms=None, cpu_s=None, audio_s=None)
    made = Answer(first_ms=20.0, total_ms=100.0, cpu_s=0.05, audio_s=2.0)
    memory = Memory(100.0, 50.0)
    playing = {figure.name: figure.row("x", "").p50 for figure in rounds.figures([plays], 80, memory)}
    assert playing["first_sample_ms"] == 10.0
    assert playing["total_ms"] is playing["rtf"] is playing["cpu_per_audio_s"] is None
    making = {figure.name: figure.row("x", "").p50 for figure in rounds.figures([made], 80, memory)}
    assert (making["total_ms"], making["rtf"], making["cpu_per_audio_s"]) == (100.0, 0.05, 0.025)
    assert (making["peak_rss_mb"], making["private_mb"]) == (100.0, 50.0)


def test_ratios_are_of_medians_and_of_those_who_took_part() -> None:
    rows = rows_of(
        **{
            "edged-joe/first_sample_ms/80": 15.0,
            "piper-tts/first_sample_ms/80": 150.0,
            "edged-joe/rtf/80": 0.03,
        }
    )
    found = {(one.peer, one.figure, one.case): one.value for one in ratios(rows)}
    assert found["piper-tts", "first_sample_ms", "80"] == pytest.approx(0.1)
    assert found["piper-tts", "rtf", "80"] is None
    assert {peer for peer, _, _ in found} == {"piper-tts"}


@pytest.mark.parametrize(
    ("ours", "said"), [(29.9, "bar holds"), (30.0, "bar holds"), (30.2, "MISSED"), (None, "not measured")]
)
def test_a_bar(ours: float | None, said: str) -> None:
    medians = {"piper-tts/first_sample_ms/80": 150.0}
    if ours is not None:
        medians["edged-joe/first_sample_ms/80"] = ours
    first = verdicts(rows_of(**medians), {"edged-joe", "piper-tts"})[0]
    assert first.said == said
    assert first.holds is (said == "bar holds")
    assert str(first).endswith(f"at most 0.2: {said}")


def test_bars_are_asked_of_who_was_to_take_part() -> None:
    everyone = {one.name for one in CONTENDERS}
    assert [one.bar for one in verdicts([], everyone)] == list(BARS)
    assert verdicts([], everyone - {"edged-joe", "edged-joe-daemon"}) == []
    assert {name for bar in BARS for name in (bar.edged, bar.peer)} <= everyone
    assert {name for pair in PAIRS for name in pair} <= everyone
    assert set(LOOKS) == everyone
    assert all((WORKERS / one.worker).is_file() for one in CONTENDERS)


def result() -> Result:
    """Two who were measured, one who was not."""
    rows = rows_of(
        **{
            f"{contender}/{figure}/{case}": value * int(case)
            for contender, value in (("edged-joe", 1.0), ("piper-tts", 4.0))
            for figure in ("first_sample_ms", "cpu_per_audio_s")
            for case in ("30", "80")
        }
    )
    measured = Measured(
        rows,
        {"edged-joe": {"edged": "9.9"}, "piper-tts": {"piper-tts": "8.8"}},
        {"edged-joe": "level mixed", "piper-tts": ""},
        {"streaming-vits": "cannot be installed: ERROR: none for this machine"},
    )
    about = {"cpu": "toy", "cores": 2, "memory_mb": 1, "arch": "x", "kernel": "6", "load_average": [0.0]}
    asked = {"edged-joe", "piper-tts", "streaming-vits"}
    return Result(about, {"edged": "9.9"}, 1, 5, measured, ratios(rows), verdicts(rows, asked))


def test_markdown_has_figures_ratios_bars_and_who_is_missing() -> None:
    said = as_markdown(result())
    assert "| edged-joe | 5 | 80.0 (160.0)" in said
    assert "| edged-joe ÷ piper-tts | 80         | 0.25" in said
    assert "edged-joe ÷ piper-tts: 0.25, at most 0.2: MISSED" in said
    assert "edged-joe ÷ streaming-vits: -, at most 0.8: not measured" in said
    assert "**streaming-vits**: not measured: cannot be installed: ERROR: none for this machine" in said
    assert "**edged-joe** (edged 9.9)" in said
    for line in said.splitlines():
        assert line.startswith("|") == line.endswith("|")


def test_json_has_the_same() -> None:
    content = json.loads(as_json(result()))
    assert content["contenders"]["streaming-vits"]["missing"].startswith("cannot be installed")
    assert content["contenders"]["piper-tts"]["versions"] == {"piper-tts": "8.8"}
    assert {row["contender"] for row in content["rows"]} == {"edged-joe", "piper-tts"}
    assert [bar["said"] for bar in content["bars"]] == [
        "MISSED",
        "not measured",
        "bar holds",
        "not measured",
    ]


def test_a_table_is_aligned() -> None:
    assert table(["", "b"], [["long", "1"], ["x", "22"]]) == (
        "|      | b  |\n|------|----|\n| long | 1  |\n| x    | 22 |\n"
    )


def test_the_picture(tmp_path: Path) -> None:
    file = tmp_path / "peers.png"
    draw(file, result().measured.rows, "toy")
    assert file.read_bytes().startswith(b"\x89PNG")


def test_a_peer_that_cannot_be_installed_is_a_line_and_exit_code_1(tmp_path: Path) -> None:
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "tests.bench.peers", "--only", "espeak-ng", "--repeat", "1"),
            *("--folder", str(tmp_path / "kept"), "--json", str(tmp_path / "peers.json")),
        ],
        env=os.environ | {"PIP_NO_INDEX": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr
    assert "**espeak-ng**: not measured: cannot be installed: ERROR: " in ended.stdout
    assert "Traceback" not in ended.stderr
    assert json.loads((tmp_path / "peers.json").read_text())["rows"] == []
