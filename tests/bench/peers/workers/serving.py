"""The worker's side: one contender behind a pipe, a JSON line a request. Only the standard library.

Run by the Python of each contender. Says `{"ready": ...}` once, then answers `{"text": ...}` with what it
measured, or `{"error": ...}` and ends. Whatever else is printed goes to standard error.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Any

CPU_CLOCK_OF_PROCESS = 2
"""CPUCLOCK_SCHED of the kernel's posix-timers.h: nanoseconds of all threads, ended ones too."""


def cpu_s(pid: int) -> float:
    """Processor time of a process so far, and of the ended children of this one."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = time.clock_gettime(~pid << 3 | CPU_CLOCK_OF_PROCESS)
    return own + children.ru_utime + children.ru_stime


class Contender:
    """Text to sound in pieces, as its own interface gives them."""

    def __init__(
        self,
        pieces: Callable[[str], Iterator[int]],
        rate_hz: int,
        versions: Mapping[str, str],
        notes: str = "",
        pid: int | None = None,
    ) -> None:
        """`pieces` gives the samples in each piece, when the caller has it; `pid` does the work."""
        self._pieces = pieces
        self._rate_hz = rate_hz
        self.versions = dict(versions)
        self.notes = notes
        self.pid = os.getpid() if pid is None else pid

    def measure(self, text: str) -> dict[str, float | None]:
        """One request, from the text in hand to its last sample."""
        first_s, samples = None, 0
        begun_cpu_s, begun_s = cpu_s(self.pid), time.monotonic()
        for count in self._pieces(text):
            if count and first_s is None:
                first_s = time.monotonic() - begun_s
            samples += count
        total_s, spent_s = time.monotonic() - begun_s, cpu_s(self.pid) - begun_cpu_s
        if first_s is None:
            raise ValueError("gave no sound")
        return {
            "first_ms": 1000 * first_s,
            "total_ms": 1000 * total_s,
            "cpu_s": spent_s,
            "audio_s": samples / self._rate_hz,
        }


def versions_of(*packages: str) -> dict[str, str]:
    """Of installed packages."""
    return {package: version(package) for package in packages}


def limit_threads(count: int) -> None:
    """Let every onnxruntime session of this process have so many threads, where nothing else says so."""
    import onnxruntime

    class Limited(onnxruntime.SessionOptions):
        def __init__(self) -> None:
            super().__init__()
            self.intra_op_num_threads = count

    onnxruntime.SessionOptions = Limited


def serve(make: Callable[[dict[str, Any]], Any]) -> None:
    """Build the contender from the options in the first argument, and answer until the pipe is closed."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a library's own remarks must not get among the answers

    def answer(content: Mapping[str, object]) -> None:
        print(json.dumps(content), file=answers, flush=True)

    try:
        contender = make(json.loads(sys.argv[1]))
        ready = {"pid": contender.pid, "versions": contender.versions, "notes": contender.notes}
        answer({"ready": ready})
        for line in sys.stdin:
            answer(contender.measure(json.loads(line)["text"]))
    except Exception as error:  # whatever a peer raises becomes its line in the result
        answer({"error": f"{type(error).__name__}: {' '.join(str(error).split())}"})
        raise
