"""Thread `watch`: notices that the configuration or a file it names has changed; tells the supervisor.

It waits in inotify on every folder through which a file is reached: its own, and where a link
stands on the way, the link's and the target's. So a file written in place, renamed over, deleted
and made again, or exchanged by turning a link is noticed alike, once it has been quiet for 200 ms.
Whoever calls `watch` hands it a callback; it runs on this thread and should only wake another.
Alone writes: the last seen identity of each file. It never reads one.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import watchfiles

from edged.config.identity import Identity, identity

QUIET_S = 0.2
LONGEST_WAIT_S = 2.0
"""A file that never comes to rest is reported this often."""
STEP_MS = 100
"""How soon an event is seen, and the end of the thread. Each step costs a short wake-up."""
RETRY_S = 1.0
"""While a folder is missing or the kernel has no watch left, the file is looked at this often."""
LOOK_AGAIN_MS = 5000
"""Catches what no event tells: a change before the watch was set, a folder exchanged as a whole."""
LINKS_LIMIT = 40

STOP_LIMIT_S = 2.0

Files = Callable[[], Mapping[Path, Identity]]
"""What is to be watched now, each with its `identity` before it was last read."""


@contextlib.contextmanager
def watch(files: Files, on_change: Callable[[], None]) -> Iterator[None]:
    """Calls `on_change` after each change of one of the files while the context lasts.

    A change since the given identity was taken is told too. `files` is asked again and again, on this
    thread: what it no longer names is left alone, what it names anew is watched within LOOK_AGAIN_MS.
    It does not matter whether a file or its folder is there. Ends within 0.3 s.
    """
    # watchfiles would write a line for each change of any file in the folder.
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    watcher = _Watcher(files, on_change)
    watcher.start()
    try:
        yield
    finally:
        watcher.stopping.set()
        watcher.join(STOP_LIMIT_S)


class _Watcher(threading.Thread):
    def __init__(self, files: Files, on_change: Callable[[], None]) -> None:
        super().__init__(name="watch", daemon=True)
        self.stopping = threading.Event()
        self._files = files
        self._on_change = on_change
        self._seen: dict[Path, Identity] = {}

    def run(self) -> None:
        while not self.stopping.is_set():
            self._look()
            try:
                self._watch(self._folders())
            except (OSError, RuntimeError):
                # A folder is missing, or the kernel's inotify limits are reached: look by hand.
                self.stopping.wait(RETRY_S)

    def _watch(self, folders: list[str]) -> None:
        """Returns when stopped, or when the way to the files leads through other folders."""
        known = [identity(folder) for folder in folders]
        for _ in watchfiles.watch(
            *folders,
            watch_filter=None,
            step=STEP_MS,
            stop_event=self.stopping,
            rust_timeout=LOOK_AGAIN_MS,
            yield_on_timeout=True,
            recursive=False,
        ):
            self._look()
            if self._folders() != folders or [identity(folder) for folder in folders] != known:
                return

    def _folders(self) -> list[str]:
        return sorted({folder for path in self._seen for folder in _folders(path)})

    def _look(self) -> None:
        """Tells of a change once the files are quiet: one may be in the middle of being written."""
        self._seen = {path: self._seen.get(path, first) for path, first in self._files().items()}
        now = self._now()
        if now == self._seen:
            return
        deadline_s = time.monotonic() + LONGEST_WAIT_S
        before: dict[Path, Identity] | None = None
        while now != before and time.monotonic() < deadline_s:
            if self.stopping.wait(QUIET_S):
                return
            before, now = now, self._now()
        self._seen = now
        self._on_change()

    def _now(self) -> dict[Path, Identity]:
        return {path: identity(path) for path in self._seen}


def _folders(path: Path) -> list[str]:
    """Every folder in which a change can make `path` mean another file."""
    rest = list(reversed(Path(os.path.abspath(path)).parts))
    here = rest.pop()
    found: list[str] = []
    links = 0
    while rest:
        entry = os.path.join(here, rest.pop())
        if os.path.islink(entry) and links < LINKS_LIMIT:
            links += 1
            found.append(here)
            target = os.path.normpath(os.path.join(here, os.readlink(entry)))
            rest.extend(reversed(Path(target).parts))
            here = rest.pop()
        else:
            here = entry
    found.append(os.path.dirname(here))
    return found
