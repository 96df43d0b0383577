"""What a run with faults has shown: every announcement that was published against what was recorded. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from edged.bench.services import RATE_HZ
from edged.types import Priority
from tests.soak.found import Piece

_S = 1_000_000_000
NEAR_S = 0.5
"""A rendition and the fault that excuses it are at most so far apart: device latency, event, recording."""
UNRECORDED_S = 0.1
"""So much of the last sound of a killed sound server may be played and not yet with the recorder."""

SLOPE_FRAMES = 96
"""After an underfill the C core slopes 2 ms up; a comparison by probes of 32 calls up to so many missing."""


@dataclass(frozen=True, slots=True)
class Published:
    """One announcement in the order of publishing."""

    id: str
    priority: Priority
    at_risk: bool = False
    """A broker lost its session meanwhile."""
    underfilled: bool = False
    """The daemon has said that its ring ran short in it: it begins softly again behind that gap."""


@dataclass(frozen=True, slots=True)
class Fault:
    """`kind` is one of `daemon`, `sound`, `broker`, `broker_wiped`; `at_ns` when it was inflicted."""

    kind: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Rendition:
    """A piece of a recording on CLOCK_MONOTONIC."""

    piece: Piece
    begin_ns: int
    end_ns: int
    """When what is there of it ends."""
    whole_end_ns: int
    cut_recording_ns: int | None = None
    """When the recording ended, where it ended in this piece."""


@dataclass(slots=True)
class Verdict:
    """`faults_found` are lines for people, one for each thing that must not be."""

    published: int = 0
    spoken: int = 0
    lost: int = 0
    repeated: int = 0
    cut: int = 0
    out_of_order: int = 0
    excused: Counter[str] = field(default_factory=Counter)
    """Repeated or broken off for a reason: in flight at a kill, or interrupted by an urgent one."""
    at_risk: Counter[str] = field(default_factory=Counter)
    """What became of those whose broker lost its session: counted apart."""
    ends_not_recorded: int = 0
    """Played to the end by the clock of the recording, whose last moments went with its server."""
    softened: int = 0
    """Whole, but for the slopes beside an underfill."""
    recordings_with_gaps: int = 0
    gap_ms: float = 0.0
    faults_found: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Nothing was lost, repeated without excuse, cut or out of order."""
        return not (self.lost or self.repeated or self.cut or self.out_of_order)


def judge(
    published: Sequence[Published], renditions: Iterable[Rendition], faults: Sequence[Fault]
) -> Verdict:
    """`renditions` in the order of time."""
    verdict = Verdict(published=len(published))
    of_id: dict[str, list[Rendition]] = {each.id: [] for each in published}
    urgent = {each.id for each in published if each.priority is Priority.URGENT}
    for rendition in renditions:
        of_id[rendition.piece.id].append(rendition)
    urgent_begins_ns = [r.begin_ns for id in urgent for r in of_id[id]]
    spoken_ns: dict[str, int] = {}
    for each in published:
        whole_ns = _judge_one(each, of_id[each.id], faults, urgent_begins_ns, verdict)
        if whole_ns is not None:
            spoken_ns[each.id] = whole_ns
    verdict.spoken = len(spoken_ns)
    _judge_order(published, spoken_ns, verdict)
    return verdict


def _judge_one(
    each: Published,
    heard: Sequence[Rendition],
    faults: Sequence[Fault],
    urgent_begins_ns: Sequence[int],
    verdict: Verdict,
) -> int | None:
    """When it was first said whole."""
    whole_ns: int | None = None
    for number, rendition in enumerate(heard):
        whole = rendition.piece.is_whole
        if rendition.piece.gap_frames:
            verdict.recordings_with_gaps += 1
            verdict.gap_ms += 1000 * rendition.piece.gap_frames / RATE_HZ
        if not whole and _only_the_recording_ended(rendition):
            whole = True
            verdict.ends_not_recorded += 1
        if not whole and each.underfilled and _only_softened(rendition.piece):
            whole = True
            verdict.softened += 1
        if whole and whole_ns is None:
            whole_ns = rendition.begin_ns
        excuse = _excuse(rendition, faults, () if each.priority is Priority.URGENT else urgent_begins_ns)
        comes_again = number + 1 < len(heard)
        if whole and comes_again:
            _count(each, verdict, "repeated", excuse, f"{each.id}: said whole, and again")
        elif not whole and not (excuse and comes_again):
            _count(each, verdict, "cut", None, f"{each.id}: {_missing(rendition.piece)}")
        elif not whole:
            verdict.excused[f"broken off: {excuse}"] += 1
    if not heard:
        _count(each, verdict, "lost", None, f"{each.id}: never heard")
    return whole_ns


def _count(each: Published, verdict: Verdict, what: str, excuse: str | None, line: str) -> None:
    if excuse:
        verdict.excused[f"{what}: {excuse}"] += 1
    elif each.at_risk and what != "cut":
        verdict.at_risk[what] += 1
    else:
        setattr(verdict, what, getattr(verdict, what) + 1)
        verdict.faults_found.append(line)


def _only_the_recording_ended(rendition: Rendition) -> bool:
    """It had left the sound server by the clock, all but the last moment is there."""
    piece, ended_ns = rendition.piece, rendition.cut_recording_ns
    return (
        ended_ns is not None
        and piece.missing_at_end
        and not piece.missing_at_start
        and piece.missing_frames < UNRECORDED_S * RATE_HZ
        and rendition.whole_end_ns <= ended_ns
    )


def _only_softened(piece: Piece) -> bool:
    return piece.gap_frames > 0 and piece.missing_frames <= piece.gaps * SLOPE_FRAMES


def _excuse(rendition: Rendition, faults: Sequence[Fault], urgent_begins_ns: Sequence[int]) -> str | None:
    near_ns = int(NEAR_S * _S)
    for fault in faults:
        if fault.kind in ("daemon", "sound") and abs(fault.at_ns - rendition.end_ns) < near_ns:
            return f"{fault.kind} killed"
    if any(-near_ns < begin_ns - rendition.end_ns < near_ns for begin_ns in urgent_begins_ns):
        return "urgent"
    return None


def _judge_order(published: Sequence[Published], spoken_ns: dict[str, int], verdict: Verdict) -> None:
    for priority in Priority:
        latest_ns, latest = 0, ""
        for each in published:
            begin_ns = spoken_ns.get(each.id)
            if each.priority is not priority or begin_ns is None or each.at_risk:
                continue
            if begin_ns < latest_ns:
                verdict.out_of_order += 1
                verdict.faults_found.append(f"{each.id}: said before {latest}, which was published before it")
            else:
                latest_ns, latest = begin_ns, each.id


def _missing(piece: Piece) -> str:
    where = [
        *(["at the start"] if piece.missing_at_start else []),
        *(["at the end"] if piece.missing_at_end else []),
    ]
    return f"{1000 * piece.missing_frames / RATE_HZ:.0f} ms missing {' and '.join(where) or 'inside'}"
