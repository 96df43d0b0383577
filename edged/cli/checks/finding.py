"""What a check of `edged doctor` is given and what it says."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from edged.config.model import Config
from edged.errors import EdgedError


class Level(str, Enum):
    """FAIL: edged cannot speak. WARN: it can, but something is not as it should be."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked at, what is the case, and how to mend it."""

    level: Level
    what: str
    fact: str
    mend: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.fact}" + (f" -> {self.mend}" if self.mend else "")


def ok(what: str, fact: str) -> Finding:
    """As it should be."""
    return Finding(Level.OK, what, fact)


def warn(what: str, fact: str, mend: str) -> Finding:
    """Works, but should be mended."""
    return Finding(Level.WARN, what, fact, mend)


def fail(what: str, fact: str, mend: str) -> Finding:
    """Does not work until mended."""
    return Finding(Level.FAIL, what, fact, mend)


def failed(what: str, error: EdgedError, mend: str) -> Finding:
    """An error of ours: its line has the fact before the first '; ' and the mend behind it."""
    fact, _, own_mend = str(error).partition("; ")
    return fail(what, fact.removeprefix(f"{what} "), own_mend or mend)


@dataclass(frozen=True, slots=True)
class Board:
    """What the checks look at. The roots are the system's, or a test's folders.

    The checks import the parts they need inside their functions: what does not load is a finding.
    """

    config_file: Path | None
    config: Config
    sysfs: Path = Path("/sys")
    proc: Path = Path("/proc")
    dev: Path = Path("/dev")

    def as_user(self) -> str:
        """Who is looking, for facts that are true for this user only."""
        try:
            return pwd.getpwuid(os.geteuid()).pw_name
        except KeyError:  # a user id without a name, as in containers
            return f"user {os.geteuid()}"


Check = Callable[[Board], Iterator[Finding]]
