"""The rounds: every contender says the same text, one after the other, then the next text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice

from edged.bench.rows import Figure, Row
from edged.bench.texts import texts
from edged.errors import EdgedError
from tests.bench.peers.contenders import Contender, Place
from tests.bench.peers.venvs import Tell
from tests.bench.peers.worker import Answer, Memory, Worker

LENGTHS_CHARS = (30, 80, 300, 3000)
WARM_UP = 1
"""Texts of each length that every contender says and that do not count."""


@dataclass(slots=True)
class Measured:
    """What came of a run."""

    rows: list[Row] = field(default_factory=list)
    """`name` is the figure, `voice` the contender, `case` the characters."""
    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    """Contender -> why it has no rows, or no more rows."""


def repeats(chars: int, repeat: int) -> int:
    """Texts of a length: long ones take longer and vary less."""
    return repeat if chars < 300 else max(3, repeat // (2 if chars < 3000 else 5))


def run(
    place: Place,
    contenders: tuple[Contender, ...],
    repeat: int,
    tell: Tell,
    lengths: tuple[int, ...] = LENGTHS_CHARS,
) -> Measured:
    """Start all, measure all, end all. A contender that fails becomes a line in `missing`."""
    found = Measured()
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for contender in contenders:
            try:
                worker = place.start(contender)
            except EdgedError as error:
                _lose(found, contender.name, error, tell)
                continue
            stack.callback(worker.stop)
            workers[contender.name] = worker
            found.versions[contender.name] = worker.versions
            found.notes[contender.name] = worker.notes
        for chars in lengths:
            found.rows += _rounds(workers, chars, repeats(chars, repeat), found, tell)
    return found


def _rounds(workers: dict[str, Worker], chars: int, count: int, found: Measured, tell: Tell) -> Iterator[Row]:
    """Rows of one length; who fails leaves `workers`."""
    answers: dict[str, list[Answer]] = {name: [] for name in workers}
    for number, text in enumerate(islice(texts(chars), WARM_UP + count)):
        tell(f"{chars} characters: {number + 1} of {WARM_UP + count}")
        for name in _in_turn(workers, number):
            try:
                answer = workers[name].ask(text)
            except EdgedError as error:
                _lose(found, name, error, tell)
                workers.pop(name).stop()  # one that still computes would slow the others
                continue
            if number >= WARM_UP:
                answers[name].append(answer)
    for name, worker in list(workers.items()):
        try:
            memory = worker.memory()
        except OSError as error:
            _lose(found, name, EdgedError(f"has ended: {error.strerror}"), tell)
            del workers[name]
            continue
        yield from (figure.row(name, "") for figure in figures(answers[name], chars, memory))


def _in_turn(workers: Mapping[str, Worker], number: int) -> list[str]:
    """Each begins in its turn, so that nobody always follows the same one."""
    names = list(workers)
    begin = number % max(1, len(names))
    return names[begin:] + names[:begin]


def _lose(found: Measured, name: str, error: EdgedError, tell: Tell) -> None:
    found.missing[name] = " ".join(str(error).split())
    tell(f"{name}: {found.missing[name]}")


def figures(answers: list[Answer], chars: int, memory: Memory) -> Iterator[Figure]:
    """What is told of one contender and one length."""
    case = str(chars)
    totals = [answer for answer in answers if answer.total_ms is not None and answer.audio_s]
    spent = [answer for answer in answers if answer.cpu_s is not None and answer.audio_s]
    yield Figure("first_sample_ms", case, [answer.first_ms for answer in answers], "ms")
    yield Figure("total_ms", case, [answer.total_ms or 0.0 for answer in totals], "ms")
    yield Figure("rtf", case, [(a.total_ms or 0.0) / 1000 / (a.audio_s or 1.0) for a in totals], "")
    yield Figure("cpu_per_audio_s", case, [(a.cpu_s or 0.0) / (a.audio_s or 1.0) for a in spent], "s/s")
    yield Figure("peak_rss_mb", case, [memory.peak_rss_mb], "MiB")
    yield Figure("private_mb", case, [memory.private_mb], "MiB")
