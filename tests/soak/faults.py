"""The run with faults: announcements go on while broker, sound server and daemon are killed at random."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from edged.bench.services import RATE_HZ, Processes
from edged.config.model import Config, VoiceConfig
from edged.types import Int16
from edged.voices import Voices
from tests.daemon.test_announce import rendered
from tests.soak.board import BASE, Board, Recorded
from tests.soak.found import find
from tests.soak.sender import Sender
from tests.soak.verdict import Rendition, Verdict, judge

KINDS = ("daemon", "sound", "broker", "sound", "daemon", "broker", "daemon_and_broker", "broker_wiped")
"""In every bag of faults, in random order; the last one is a restart without persistence."""
FIRST_S, CALM_S = 6.0, 8.0
BETWEEN_S = (8.0, 22.0)
NEAR_END_S = 0.2
"""What ends so shortly before the end of a recording ends with it."""
QUIET_S = 6.0
"""The daemon says nothing and waits for nothing for so long: no event will come any more."""
END_LIMIT_S = 180.0
SAY_EVERY_S = 10.0
RSS_LIMIT_MB = 10.0

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Run:
    """What is asked for."""

    seconds: float
    announcements: int
    seed: int
    voice: str
    store: Path


def plan(seconds: float, seed: int) -> Iterator[tuple[float, str]]:
    """(second, kind) of every fault; no kind twice in a row, none in the last seconds."""
    source = random.Random(seed)
    at_s, last = FIRST_S, ""
    while True:
        bag = source.sample(KINDS, len(KINDS))
        for kind in bag:
            if kind == last:
                continue
            if at_s > seconds - CALM_S:
                return
            yield at_s, kind
            last = kind
            at_s += source.uniform(*BETWEEN_S)


def run(wanted: Run, folder: Path, tell: Progress) -> tuple[dict[str, object], list[str]]:
    """The whole run: its figures, and what was not as it must be; `folder` keeps the logs."""
    processes = Processes()
    with processes.interrupts:
        with Board(processes, folder, wanted.voice, wanted.store, wanted.seed) as board:
            sender = Sender(board.broker.port, BASE, wanted.announcements, wanted.seconds, wanted.seed)
            try:
                _drive(wanted, board, sender, tell)
                recorded = board.finish()
            finally:
                sender.close()
        tell("comparing what was recorded with what the voice gives")
        verdict = _judge(wanted, sender, recorded, board, folder)
        if not verdict.is_good:
            for number, each in enumerate(recorded):
                np.save(folder / f"recording-{number}.npy", each.samples)
    found = figures(wanted, board, sender, verdict)
    growth_mb = max((life.growth_mb or 0.0 for life in board.lives), default=0.0)
    grown = [f"memory grew by {growth_mb:.1f} MiB after the warm-up"] if growth_mb > RSS_LIMIT_MB else []
    return found, verdict.faults_found + grown


def _drive(wanted: Run, board: Board, sender: Sender, tell: Progress) -> None:
    began_s = said_s = time.monotonic()
    faults = plan(wanted.seconds, wanted.seed)
    due = next(faults, None)
    sender.start()
    quiet_since_s = time.monotonic()
    while True:
        now_s = time.monotonic() - began_s
        if due is not None and now_s >= due[0]:
            tell(f"{now_s:4.0f} s: {due[1]}")
            board.inflict(due[1], sender.paused, sender.publish_again)
            due = next(faults, None)
        sender.look()
        if not sender.daemon_is_quiet or not sender.has_ended:
            quiet_since_s = time.monotonic()
        if sender.has_ended and due is None:
            quiet = time.monotonic() - quiet_since_s > QUIET_S
            if not sender.open or quiet or now_s > wanted.seconds + END_LIMIT_S:
                break
        if time.monotonic() - said_s > SAY_EVERY_S:
            said_s = time.monotonic()
            tell(f"{now_s:4.0f} s: {len(sender.sent)} published, {sender.finals} ended, {_memory(board)}")
        time.sleep(0.1)
    time.sleep(1.0)  # the last sound reaches the recorder


def _memory(board: Board) -> str:
    last = board.lives[-1].rss
    return f"{last[-1][1]:.0f} MiB" if last else "daemon just started"


def _judge(wanted: Run, sender: Sender, recorded: Sequence[Recorded], board: Board, folder: Path) -> Verdict:
    voice = VoiceConfig(name=wanted.voice, store=str(wanted.store))
    voices = Voices(Config(voice=voice, state_dir=str(folder / "state")), lambda _: None)
    texts: Mapping[str, Int16] = {each.published.id: rendered(voices, each.text) for each in sender.sent}
    renditions = [rendition for each in recorded for rendition in _renditions(each, texts)]
    published = [
        replace(each.published, underfilled=each.published.id in sender.underfilled) for each in sender.sent
    ]
    return judge(published, renditions, board.faults)


def _renditions(recorded: Recorded, texts: Mapping[str, Int16]) -> Iterator[Rendition]:
    for piece in find(recorded.samples, texts):
        begin_ns, end_ns, whole_ns = map(recorded.clock.ns, (piece.begin, piece.end, piece.whole_end))
        ends_here = recorded.samples.size - piece.end < NEAR_END_S * RATE_HZ
        yield Rendition(piece, begin_ns, end_ns, whole_ns, recorded.killed_ns if ends_here else None)


def figures(wanted: Run, board: Board, sender: Sender, verdict: Verdict) -> dict[str, object]:
    """What goes into the JSON."""
    growths = [life.growth_mb for life in board.lives if life.growth_mb is not None]
    return {
        "mode": "faults",
        "seconds": wanted.seconds,
        "seed": wanted.seed,
        "voice": wanted.voice,
        "published": verdict.published,
        "spoken": verdict.spoken,
        "lost": verdict.lost,
        "repeated": verdict.repeated,
        "cut": verdict.cut,
        "out_of_order": verdict.out_of_order,
        "faults": board.counts(),
        "excused": dict(verdict.excused),
        "after_restarts_without_persistence": {
            "published_meanwhile": sum(each.published.at_risk for each in sender.sent),
            "lost": verdict.at_risk["lost"],
            "repeated": verdict.at_risk["repeated"],
        },
        "rss_growth_mb": round(max(growths), 2) if growths else None,
        "daemon_lives": len(board.lives),
        "daemon_lives_measured": len(growths),
        "underfills": sender.underfilled.total(),
        "softened_by_underfills": verdict.softened,
        "recordings_with_gaps": verdict.recordings_with_gaps,
        "recording_gap_ms": round(verdict.gap_ms),
        "ends_not_recorded": verdict.ends_not_recorded,
        "events": dict(sender.events),
    }
