"""The command's side of a worker: start it, ask it, look at its memory, end it with all it started."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edged.errors import EdgedError

READY_LIMIT_S = 180.0
ANSWER_LIMIT_S = 300.0
END_LIMIT_S = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """One request. None where the contender plays in real time, so that it cannot be told."""

    first_ms: float
    """Request to first sample."""
    total_ms: float | None
    cpu_s: float | None
    audio_s: float | None


@dataclass(frozen=True, slots=True)
class Memory:
    """Of the process that does the work, in MiB."""

    peak_rss_mb: float
    private_mb: float


class Worker:
    """A contender in a process of its own; warm when the constructor returns. `stop` ends it."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], log_file: Path) -> None:
        """Raises EdgedError with what it said where it does not start."""
        self._log_file = log_file
        self._unread = b""
        with log_file.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=dict(env),
                start_new_session=True,
            )
        try:
            ready = self._answer(READY_LIMIT_S)["ready"]
        except BaseException:
            self.stop()
            raise
        self.pid: int = ready["pid"]
        self.versions: dict[str, str] = ready["versions"]
        self.notes: str = ready["notes"]

    def ask(self, text: str) -> Answer:
        """Have a text made into sound. Raises EdgedError."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"text": text}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise EdgedError(f"has ended: {self._last_line()}") from None
        return Answer(**self._answer(ANSWER_LIMIT_S))

    def memory(self) -> Memory:
        """As /proc says: the peak since its start, and what no other process shares."""
        status = _kib(Path(f"/proc/{self.pid}/status"))
        rollup = _kib(Path(f"/proc/{self.pid}/smaps_rollup"))
        return Memory(status["VmHWM"] / 1024, (rollup["Private_Dirty"] + rollup["Private_Clean"]) / 1024)

    def stop(self) -> None:
        """Close its pipe, and end it with its children where that is not enough."""
        assert self._process.stdin is not None
        with suppress(OSError):  # it has ended before it read all
            self._process.stdin.close()
        try:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_LIMIT_S)
        finally:
            with suppress(ProcessLookupError):  # nothing of it is left
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()

    def _answer(self, limit_s: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        deadline_s = time.monotonic() + limit_s
        while b"\n" not in self._unread:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0 or not select.select([self._process.stdout], [], [], left_s)[0]:
                raise EdgedError(f"no answer within {limit_s:.0f} s")
            piece = os.read(self._process.stdout.fileno(), 65536)
            if not piece:
                raise EdgedError(f"has ended: {self._last_line()}")
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        content: dict[str, Any] = json.loads(line)
        if "error" in content:
            raise EdgedError(content["error"])
        return content

    def _last_line(self) -> str:
        lines = self._log_file.read_text(errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")


def _kib(file: Path) -> dict[str, int]:
    pairs = (line.split(":", 1) for line in file.read_text().splitlines() if line.rstrip().endswith(" kB"))
    return {name: int(rest.split()[0]) for name, rest in pairs}
