"""Work done beforehand: one, four and eight `edged prerender` processes at once.

Each renders its own texts into a folder of its own, with the voices of one store. Starting and loading do
not count: what is told is of the time in which all of them render.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, pairwise

from edged.bench.daemon import CPU_CLOCK_OF_PROCESS
from edged.bench.rows import Figure
from edged.bench.texts import texts
from edged.errors import EdgedError
from edged.voice.store import current
from edged.voices import store_dir
from tests.bench.growth.board import Board, Progress, peak_rss_mb

CONCURRENT = (1, 4, 8)
CHARS = 80
PHRASE_HEAD_BYTES = 15 + 32
"""Of a kept phrase: a line and a hash, see edged/phrases.py."""
SAMPLE_BYTES = 2
LINE_LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Done:
    """One text of a process: when it was done, and the process's CPU time until then."""

    at_s: float
    cpu_s: float
    audio_s: float = 0.0


class Renderer:
    """One process and what is known of it."""

    def __init__(self, board: Board, lines: list[str]) -> None:
        self._folder = board.new_folder("batch")
        self._rate_hz = current(store_dir(board.config), board.config.voice.name).sample_rate_hz
        voice = board.config.voice
        content = {
            "state_dir": str(self._folder / "state"),
            "voice": {"name": voice.name, "store": voice.store, "threads": 1},
            "cache": {"disk_mib": 1024},
        }
        config, given = self._folder / "edged.yaml", self._folder / "texts"
        config.write_text(json.dumps(content))  # JSON is YAML, too
        given.write_text("\n".join(lines) + "\n")
        self._service = board.processes.start(
            [sys.executable, "-m", "edged", "prerender", "--config", str(config), str(given)],
            self._folder / "log",
            os.environ | {"PYTHONUNBUFFERED": "1"},
            subprocess.PIPE,
        )
        self._wanted = len(lines)
        self._ends: list[Done] = []
        self.peak_mb = 0.0

    @property
    def output(self) -> int:
        """What to wait for before `see`."""
        assert self._service.process.stdout is not None
        return self._service.process.stdout.fileno()

    def see(self) -> bool:
        """Take in what it printed; False when all its texts are done. Raises EdgedError where it fails."""
        printed = os.read(self.output, 65536)
        if not printed:
            raise EdgedError(f"edged prerender: {self._service.last_line()}")
        pid = self._service.process.pid
        now = Done(time.monotonic(), time.clock_gettime(~pid << 3 | CPU_CLOCK_OF_PROCESS))
        self._ends += [now] * printed.count(b"\n")
        with suppress(StopIteration):  # it has ended: what it had before is near enough
            self.peak_mb = peak_rss_mb(pid)
        return len(self._ends) < self._wanted

    def done(self) -> list[Done]:
        """All texts in order, with the sound that was kept of each."""
        kept = (self._folder / "state" / "phrases").glob("*.phrase")
        stats = sorted((file.stat() for file in kept), key=lambda stat: stat.st_mtime_ns)
        lengths = [(stat.st_size - PHRASE_HEAD_BYTES) / SAMPLE_BYTES / self._rate_hz for stat in stats]
        return [Done(end.at_s, end.cpu_s, audio_s) for end, audio_s in zip(self._ends, lengths, strict=True)]


def figures(board: Board, n: int, tell: Progress) -> Iterator[Figure]:
    """Rows batch_text_ms (one text, as each process sees it), batch_cpu_per_audio_s, batch_speed (seconds of
    sound a second, of all together) and batch_peak_rss_mb (one process)."""
    for count in CONCURRENT:
        tell(f"{count} at once: {n} texts each")
        source = texts(CHARS)
        renderers = [Renderer(board, list(islice(source, n))) for _ in range(count)]
        _await(renderers)
        yield from _told(count, [each.done() for each in renderers])
        yield Figure("batch_peak_rss_mb", str(count), [each.peak_mb for each in renderers], "MiB")


def _await(renderers: list[Renderer]) -> None:
    with selectors.DefaultSelector() as selector:
        for each in renderers:
            selector.register(each.output, selectors.EVENT_READ, each)
        while selector.get_map():
            ready = selector.select(LINE_LIMIT_S)
            if not ready:
                raise EdgedError(f"edged prerender rendered nothing for {LINE_LIMIT_S:.0f} s")
            for key, _ in ready:
                if not key.data.see():
                    selector.unregister(key.fd)


def _told(count: int, by_process: list[list[Done]]) -> Iterator[Figure]:
    begin_s = max(done[0].at_s for done in by_process)
    end_s = min(done[-1].at_s for done in by_process)
    spans_ms, cpu_s, audio_s = [], 0.0, 0.0
    for done in by_process:
        for before, after in pairwise(done):
            if begin_s <= before.at_s and after.at_s <= end_s:
                spans_ms.append(1000 * (after.at_s - before.at_s))
                cpu_s += after.cpu_s - before.cpu_s
                audio_s += after.audio_s
    if not audio_s:
        raise EdgedError(f"{count} processes never rendered at the same time; use a larger --repeat")
    yield Figure("batch_text_ms", str(count), spans_ms, "ms")
    yield Figure("batch_cpu_per_audio_s", str(count), [cpu_s / audio_s], "s/s")
    yield Figure("batch_speed", str(count), [audio_s / (end_s - begin_s)], "s/s")
