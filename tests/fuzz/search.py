"""The search for inputs that break a promise: from the corpus on, by what reaches something new.

An input that does is kept and changed further; one that breaks a promise is made small and written down.
"""

from __future__ import annotations

import hashlib
import random
import signal
import time
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from tests.fuzz.coverage import PRODUCT, Coverage
from tests.fuzz.mutate import mutate

HANG_S = 10.0
_TARGETS = str(Path(__file__).parent / "targets")
_SHRINK_RUNS = 400
_SHRINK_S = 10.0
_OLD_PICK = 0.3
"""Share of the inputs that are made of any one of the corpus; the rest, of the newest."""


@dataclass(frozen=True)
class Target:
    """One part of the product that is fed."""

    name: str
    run: Callable[[bytes], Iterable[Hashable]]
    """Feed it: raises whatever breaks a promise; gives what makes this input another kind than others."""
    tokens: tuple[str, ...]
    binary: bool = False
    """Changed as bytes; all others as characters, and as bytes now and then."""
    limit: int = 3000
    """Characters at most."""
    change: Callable[[bytes, random.Random], bytes] | None = None
    """A way of its own to make another input of one."""


@dataclass(frozen=True)
class Finding:
    """An input that broke a promise."""

    target: str
    data: bytes
    what: str
    where: str
    """The line that raised, of the product or of the promise: one of a kind is enough."""


@dataclass
class Search:
    """The state of one target's search."""

    target: Target
    chance: random.Random
    coverage: Coverage = field(default_factory=Coverage)
    corpus: list[bytes] = field(default_factory=list)
    findings: dict[str, Finding] = field(default_factory=dict)
    runs: int = 0
    slowest_s: float = 0.0
    slowest: bytes = b""

    def replay(self, inputs: Iterable[bytes]) -> None:
        """Run given inputs; all are kept."""
        for data in inputs:
            self._try(data)
            self.corpus.append(data)

    def step(self) -> bytes | None:
        """Run one new input; it is returned where it reached something new."""
        data = self._next()
        if self._try(data) > 0:
            self.corpus.append(data)
            return data
        return None

    def _next(self) -> bytes:
        target, chance = self.target, self.chance
        if not self.corpus:
            self.corpus.append(b"")
        newest = self.corpus[-max(20, len(self.corpus) // 4) :]
        data = chance.choice(self.corpus if chance.random() < _OLD_PICK else newest)
        if target.change is not None:
            return target.change(data, chance)
        others = [chance.choice(self.corpus) for _ in range(3)]
        as_bytes = target.binary or chance.random() < 0.05
        text, rest = _text(data, as_bytes), [_text(other, as_bytes) for other in others]
        return _bytes(mutate(text, target.tokens, rest, chance, target.limit), as_bytes)

    def _try(self, data: bytes) -> int:
        self.runs += 1
        begun_s = time.monotonic()
        finding, new = attempt(self.target, data, self.coverage)
        spent_s = time.monotonic() - begun_s
        if spent_s > self.slowest_s:
            self.slowest_s, self.slowest = spent_s, data
        if finding is not None and finding.where not in self.findings:
            self.findings[finding.where] = finding
            self.findings[finding.where] = shrunk(self.target, finding)
        return 0 if finding else new


class Hang(BaseException):
    """Took longer than HANG_S. No Exception: what is fed may take any of those for a fault of its input."""


def attempt(target: Target, data: bytes, coverage: Coverage | None = None) -> tuple[Finding | None, int]:
    """What is wrong with how an input was taken, and how much new it reached."""
    new = 0
    try:
        with _limited():
            if coverage is None:
                list(target.run(data))
            else:
                new = coverage.run(lambda: list(target.run(data)))
    except (Exception, Hang) as error:  # any: which one it is, is the finding
        return Finding(target.name, data, _what(error), _where(error)), 0
    return None, new


def shrunk(target: Target, finding: Finding) -> Finding:
    """A smaller input with the same fault, found by leaving out ever smaller pieces."""
    until_s = time.monotonic() + _SHRINK_S
    best, text = finding, _text(finding.data, target.binary)
    size, runs = max(1, len(text) // 2), 0
    while runs < _SHRINK_RUNS and time.monotonic() < until_s:
        at, is_smaller = 0, False
        while at < len(text) and runs < _SHRINK_RUNS and time.monotonic() < until_s:
            runs += 1
            shorter = text[:at] + text[at + size :]
            found, _ = attempt(target, _bytes(shorter, target.binary))
            if found is not None and found.where == finding.where:
                best, text, is_smaller = found, shorter, True
            else:
                at += size
        if size == 1 and not is_smaller:
            break
        size = max(1, size // 2)
    return best


def distilled(target: Target, inputs: Iterable[bytes]) -> list[bytes]:
    """The inputs, short ones first, that together reach all that they reach."""
    coverage = Coverage()
    return [
        data
        for data in sorted(set(inputs), key=lambda data: (len(data), data))
        if attempt(target, data, coverage)[1] > 0
    ]


def inputs_of(folder: Path) -> Iterator[bytes]:
    """The files of a corpus, in order."""
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        yield file.read_bytes()


def write(folder: Path, data: bytes, prefix: str = "") -> Path:
    """Put an input into a corpus, under a name made of its content."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{prefix}{hashlib.sha256(data).hexdigest()[:10]}"
    file.write_bytes(data)
    return file


def _text(data: bytes, as_bytes: bool) -> str:
    if as_bytes:
        return data.decode("latin-1")
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def _bytes(text: str, as_bytes: bool) -> bytes:
    """As many tokens are no Latin-1, what is none becomes its UTF-8."""
    if not as_bytes:
        return text.encode("utf-8", "surrogatepass")
    return b"".join(
        bytes([ord(char)]) if ord(char) < 256 else char.encode("utf-8", "surrogatepass") for char in text
    )


@contextmanager
def _limited() -> Iterator[None]:
    """Raises Hang in what is inside when it takes too long."""

    def stop(_signal: int, _frame: FrameType | None) -> Any:
        raise Hang(f"took longer than {HANG_S:g} s")

    old = signal.signal(signal.SIGALRM, stop)
    outer_s, _ = signal.setitimer(signal.ITIMER_REAL, HANG_S)  # of a test that is itself limited
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, outer_s)
        signal.signal(signal.SIGALRM, old)


def _what(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:400]


def _where(error: BaseException) -> str:
    """The two innermost lines of ours: of the product and of what a target asks of it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if f.filename.startswith((PRODUCT, _TARGETS))][-2:]
    lines = [f"{f.filename.rsplit('/', 1)[-1]}:{f.lineno}" for f in ours]
    return f"{type(error).__name__} at {' > '.join(lines)}"
