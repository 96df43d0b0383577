"""Thread `watch`: notices that the configuration file has changed, and tells the supervisor.

It waits in inotify on every folder through which the file is reached: its own, and where a link
stands on the way, the link's and the target's. So a file written in place, renamed over, deleted
and made again, or exchanged by turning a link is noticed alike, once it has been quiet for 200 ms.
Whoever calls `watch` hands it a callback; it runs on this thread and should only wake another.
Alone writes: the last seen identity of the file. It never reads the file.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import watchfiles

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

Identity = tuple[int, ...]


@contextlib.contextmanager
def watch(path: Path, on_change: Callable[[], None], seen: Identity | None = None) -> Iterator[None]:
    """Calls `on_change` after each change of the file at `path` while the context lasts.

    `seen` is the `identity` taken before the file was last read, so that a change between then and
    now is told too. It does not matter whether the file or its folder is there. Ends within 0.3 s.
    """
    # watchfiles would write a line for each change of any file in the folder.
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    watcher = _Watcher(path, on_change, identity(path) if seen is None else seen)
    watcher.start()
    try:
        yield
    finally:
        watcher.stopping.set()
        watcher.join(STOP_LIMIT_S)


class _Watcher(threading.Thread):
    def __init__(self, path: Path, on_change: Callable[[], None], seen: Identity) -> None:
        super().__init__(name="watch", daemon=True)
        self.stopping = threading.Event()
        self._path = path
        self._on_change = on_change
        self._seen = seen

    def run(self) -> None:
        while not self.stopping.is_set():
            self._look()
            try:
                self._watch(_folders(self._path))
            except (OSError, RuntimeError):
                # A folder is missing, or the kernel's inotify limits are reached: look by hand.
                self.stopping.wait(RETRY_S)

    def _watch(self, folders: list[str]) -> None:
        """Returns when stopped, or when the way to the file leads through other folders."""
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
            if _folders(self._path) != folders or [identity(folder) for folder in folders] != known:
                return

    def _look(self) -> None:
        """Tells of a change once the file is quiet: it may be in the middle of being written."""
        now = identity(self._path)
        if now == self._seen:
            return
        deadline_s = time.monotonic() + LONGEST_WAIT_S
        before: Identity | None = None
        while now != before and time.monotonic() < deadline_s:
            if self.stopping.wait(QUIET_S):
                return
            before, now = now, identity(self._path)
        self._seen = now
        self._on_change()


def identity(path: str | Path) -> Identity:
    """Differs whenever what stands there may have changed; () where nothing does.

    Of a folder only which one it is, for its times change with every file in it. Of a file also its
    size and times, the inode's own included, which no program can set back.
    """
    try:
        found = os.stat(path)
    except OSError:
        return ()
    if os.path.isdir(path):
        return (found.st_dev, found.st_ino)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _folders(path: Path) -> list[str]:
    """Every folder in which a change can make `path` mean another file, in a fixed order."""
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
    return sorted(set(found))
