"""What the soak says of a run: each thing that must not be, made on purpose, is called by its name."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from edged.bench.services import RATE_HZ
from edged.types import Int16, Priority
from tests.audio.signals import noise
from tests.daemon.harness import wait_for
from tests.soak import long_run
from tests.soak.faults import CALM_S, KINDS, plan
from tests.soak.found import Piece, find
from tests.soak.sender import messages
from tests.soak.verdict import Fault, Published, Rendition, Verdict, judge

S = 1_000_000_000
ONE, TWO = noise(RATE_HZ, 1), noise(RATE_HZ, 2)
SILENCE = np.zeros(RATE_HZ // 2, np.int16)


def pieces(*parts: Int16) -> list[Piece]:
    return find(np.concatenate([SILENCE, *parts, SILENCE]), {"one": ONE, "two": TWO})


def test_each_rendition_is_found_where_it_lies() -> None:
    found = pieces(TWO, SILENCE, ONE, ONE)
    assert [(piece.id, piece.begin, piece.is_whole) for piece in found] == [
        ("two", RATE_HZ // 2, True),
        ("one", 2 * RATE_HZ, True),
        ("one", 3 * RATE_HZ, True),
    ]
    assert found[0].end == found[0].whole_end == found[0].begin + RATE_HZ


def test_a_gap_with_all_samples_around_it_is_no_cut() -> None:
    (piece,) = pieces(ONE[:5000], SILENCE, ONE[5000:])
    assert piece.is_whole
    assert piece.gap_frames == SILENCE.size


@pytest.mark.parametrize(
    ("part", "at_start", "at_end"),
    [
        (ONE[240:], True, False),
        (ONE[:-240], False, True),
        (np.concatenate([ONE[:9000], ONE[9240:]]), False, False),
        (np.concatenate([ONE[:9000], SILENCE[:240], ONE[9240:]]), False, False),
    ],
)
def test_what_is_missing_is_found_and_where(part: Int16, at_start: bool, at_end: bool) -> None:
    (piece,) = pieces(part)
    assert 240 <= piece.missing_frames < 400
    assert (piece.missing_at_start, piece.missing_at_end) == (at_start, at_end)


def test_a_beginning_and_the_whole_are_two_renditions() -> None:
    first, second = pieces(ONE[:6000], SILENCE, ONE)
    assert not first.is_whole
    assert abs(first.end - first.begin - 6000) < RATE_HZ // 16
    assert second.is_whole


def rendition(
    id: str, begin_s: float, missing_ms: int = 0, length_s: float = 1.0, recording_end_s: float | None = None
) -> Rendition:
    """`missing_ms` at the end."""
    frames = missing_ms * RATE_HZ // 1000
    begin, whole_end = int(begin_s * RATE_HZ), int((begin_s + length_s) * RATE_HZ)
    piece = Piece(id, begin, whole_end - frames, whole_end, frames, False, missing_ms > 0, 0, 0)
    end_ns = None if recording_end_s is None else int(recording_end_s * S)
    heard_ns, whole_ns = (int(frame / RATE_HZ * S) for frame in (piece.end, piece.whole_end))
    return Rendition(piece, int(begin_s * S), heard_ns, whole_ns, end_ns)


def verdict_of(*heard: Rendition, faults: tuple[Fault, ...] = (), at_risk: bool = False) -> Verdict:
    published = [
        Published("a", Priority.NORMAL, at_risk),
        Published("b", Priority.NORMAL),
        Published("u", Priority.URGENT),
    ]
    others = [rendition(id, at_s) for id, at_s in (("b", 50.0), ("u", 60.0))]
    known = {each.piece.id for each in heard}
    heard = (*heard, *(each for each in others if each.piece.id not in known))
    return judge(published, sorted(heard, key=lambda each: each.begin_ns), faults)


KILL = (Fault("daemon", 2 * S),)
WRONG = {
    "lost": (),
    "repeated": (rendition("a", 1), rendition("a", 3)),
    "cut": (rendition("a", 1, missing_ms=10),),
    "out_of_order": (rendition("a", 55),),
}


@pytest.mark.parametrize("what", WRONG)
def test_each_thing_that_must_not_be_is_called_by_its_name(what: str) -> None:
    verdict = verdict_of(*WRONG[what])
    counted = {name: getattr(verdict, name) for name in WRONG}
    assert counted == {**dict.fromkeys(WRONG, 0), what: 1}
    assert len(verdict.faults_found) == 1
    assert verdict.faults_found[0].startswith(("a: ", "b: said before a"))


@pytest.mark.parametrize(
    ("heard", "faults"),
    [
        ((rendition("a", 1),), ()),
        ((rendition("a", 1), rendition("a", 3)), KILL),
        ((rendition("a", 1.5, missing_ms=500), rendition("a", 3)), KILL),
        ((rendition("a", 1.5, missing_ms=500), rendition("u", 2.1), rendition("a", 3)), ()),
        ((rendition("a", 1, missing_ms=50, recording_end_s=2.01),), (Fault("sound", 2 * S),)),
    ],
)
def test_what_has_a_reason_is_good(heard: tuple[Rendition, ...], faults: tuple[Fault, ...]) -> None:
    verdict = verdict_of(*heard, faults=faults)
    assert verdict.is_good, verdict.faults_found
    assert verdict.spoken == verdict.published == 3


@pytest.mark.parametrize("underfilled", [False, True])
def test_the_soft_samples_behind_an_underfill_are_no_cut(underfilled: bool) -> None:
    risen = ONE[9000:9048] * (np.arange(48) / 49)
    (piece,) = pieces(ONE[:9000], SILENCE[:300], risen.astype(np.int16), ONE[9048:])
    published = [Published("one", Priority.NORMAL, underfilled=underfilled)]
    verdict = judge(published, [Rendition(piece, S, 2 * S, 2 * S)], ())
    assert (verdict.spoken, verdict.softened, verdict.cut) == ((1, 1, 0) if underfilled else (0, 0, 1))


@pytest.mark.parametrize(
    ("heard", "faults"),
    [
        ((rendition("a", 1.5, missing_ms=500),), KILL),  # never said whole
        ((rendition("a", 1), rendition("a", 5)), (Fault("daemon", 4 * S),)),  # not in flight
        ((rendition("a", 1), rendition("a", 3)), (Fault("broker", 2 * S),)),  # no excuse for that
        ((rendition("a", 1, missing_ms=50, recording_end_s=1.95),), (Fault("sound", int(1.95 * S)),)),
    ],
)
def test_a_reason_goes_no_further_than_its_moment(
    heard: tuple[Rendition, ...], faults: tuple[Fault, ...]
) -> None:
    assert not verdict_of(*heard, faults=faults).is_good


def test_a_lost_session_is_counted_apart() -> None:
    verdict = verdict_of(at_risk=True)
    assert verdict.is_good
    assert (verdict.at_risk["lost"], verdict.spoken) == (1, 2)


def test_the_plan_of_faults() -> None:
    planned = list(plan(480, 1))
    assert planned == list(plan(480, 1)) != list(plan(480, 2))
    assert {kind for _, kind in planned} == set(KINDS)
    assert all(before[0] < after[0] and before[1] != after[1] for before, after in pairwise(planned))
    assert planned[-1][0] <= 480 - CALM_S


def test_every_text_is_said_once() -> None:
    made = list(messages(1000, 1))
    assert len({message.text for message in made}) == len({message.published.id for message in made}) == 1000
    assert {message.published.priority for message in made} == set(Priority)


@pytest.mark.parametrize("language", ["en-us", "zh"])
def test_every_hundred_of_the_long_run_has_the_same_lengths(language: str) -> None:
    made = long_run.mixed_texts(language, 300, seed=1)
    lengths = [sorted(map(len, made[at : at + 100])) for at in (0, 100, 200)]
    assert lengths[0] == lengths[1] == lengths[2]
    assert (lengths[0][0], lengths[0][-1]) == (1, 400)
    assert made[:100] != made[100:200]


def soak(folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.soak", "--json", str(folder / "figures.json"), *more]
    return subprocess.Popen(
        command,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )


def running(folder: Path) -> list[str]:
    """What was started by a soak with this TMPDIR and runs, sorted."""
    known = ("edged", "mosquitto", "parec", "pulseaudio")
    names = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"TMPDIR={folder}\0".encode() in (process / "environ").read_bytes():
                words = (process / "cmdline").read_bytes().decode().split("\0")
                names.append(next((n for n in known if n in (Path(words[0]).name, *words[1:3])), "soak"))
        except OSError:  # it has ended meanwhile
            continue
    return sorted(names)


@pytest.mark.slow
def test_a_short_run_from_end_to_end() -> None:
    with tempfile.TemporaryDirectory() as name:
        command = soak(Path(name), "--seconds", "25", "--announcements", "12")
        said, _ = command.communicate(timeout=110)
        assert command.returncode == 0, said
        figures = json.loads((Path(name) / "figures.json").read_text())
    assert figures["published"] == figures["spoken"] == 12
    assert sum(figures["faults"].values()) >= 1


@pytest.mark.slow
def test_ctrl_c_leaves_nothing_running() -> None:
    with tempfile.TemporaryDirectory() as name:  # a short path: sockets lie in it
        folder = Path(name)
        command = soak(folder)
        wanted = ["edged", "mosquitto", "parec", "pulseaudio", "soak"]
        try:
            wait_for(lambda: running(folder) == wanted, 20, "all that a soak consists of")
            time.sleep(2)
        finally:
            os.kill(command.pid, signal.SIGINT)
            said, _ = command.communicate(timeout=30)
        assert command.returncode == 130, said
        assert running(folder) == []
        assert list(folder.iterdir()) == []
