"""What must outlive a crash about messages not yet acknowledged: which are done, how often begun, how old.

A small append-only file of lines `<crc32> <verb> <values>`; no text of a message is in it. Lines
that do not check are passed over. When the disk refuses, the journal goes on in memory, says so
once, and writes the whole of itself as soon as the disk takes it again.

Appends are not synced: they outlive the process at once, a power cut after the kernel's write-back.
The synth thread begins and ends, the mqtt thread forgets; one lock guards all.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import zlib
from collections.abc import Iterable
from pathlib import Path

_log = logging.getLogger(__name__)

_COMPACT_BYTES = 65536
_KEYS_KEPT = 8192
"""Done keys kept at most; a broker has 65535 packet ids and rarely uses a hundred at once."""
_READ_BYTES = 16 * 1024 * 1024
"""Of a file longer than this only the end is read: it is not ours, or damaged."""


class Journal:
    """Keys are '<packet id>:<payload hash>' (Receipt.key); an empty key is never kept. Never raises."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._attempts: dict[str, int] = {}
        self._done: dict[str, None] = {}
        self._filters: tuple[str, ...] = ()
        self._begun: set[str] = set()
        self._received_ns: dict[str, int] = {}
        self._boot = _boot()
        self._fd: int | None = None
        self._appended_bytes = 0
        self._reported = False
        self._load()
        self._rewrite()

    def received(self, key: str, now_ns: int) -> int:
        """When a message came first, on CLOCK_MONOTONIC: before a crash, too, but not before this boot."""
        if not key:
            return now_ns
        with self._lock:
            if key not in self._received_ns:
                self._received_ns[key] = now_ns
                self._append("received", key, str(now_ns), self._boot)
            return self._received_ns[key]

    def begin(self, key: str) -> int:
        """Notes that speaking starts; returns which attempt this is, counted over process crashes.

        On disk before it returns. A second begin in one process is the same attempt (an
        announcement resumed after an interruption).
        """
        if not key:
            return 1
        with self._lock:
            if key not in self._begun:
                self._begun.add(key)
                self._attempts[key] = self._attempts.get(key, 0) + 1
                self._append("begin", key, str(self._attempts[key]))
            return self._attempts[key]

    def done(self, key: str) -> None:
        """The message is finished for good; only its acknowledgement is owed."""
        if not key:
            return
        with self._lock:
            self._forget(key)
            self._done[key] = None
            while len(self._done) > _KEYS_KEPT:
                del self._done[next(iter(self._done))]
            self._append("done", key)

    def is_done(self, key: str) -> bool:
        """Finished before, here or in an earlier process, and not yet known to be acknowledged."""
        with self._lock:
            return key in self._done

    def acked(self, key: str) -> None:
        """The broker has the acknowledgement: nothing need be kept."""
        with self._lock:
            if key in self._done or key in self._attempts or key in self._received_ns:
                self._forget(key)
                self._append("acked", key)

    def reused(self, mid: int) -> None:
        """The broker gave this packet id to a new message: what is kept of an older one is over."""
        with self._lock:
            for key in [
                k for k in {*self._done, *self._attempts, *self._received_ns} if k.startswith(f"{mid}:")
            ]:
                self._forget(key)
                self._append("acked", key)

    def clear(self) -> None:
        """The broker has no session of ours any more: every key is void, and every filter."""
        with self._lock:
            self._attempts.clear()
            self._done.clear()
            self._received_ns.clear()
            self._begun.clear()
            self._filters = ()
            self._rewrite()

    def filters(self) -> tuple[str, ...]:
        """Topic filters that the broker's session may still hold for us."""
        with self._lock:
            return self._filters

    def remember_filters(self, filters: Iterable[str]) -> None:
        """Kept so that a later run can end subscriptions that its configuration no longer has."""
        with self._lock:
            chosen = tuple(sorted(filters))
            if chosen != self._filters:
                self._filters = chosen
                self._append("filters", json.dumps(chosen))

    def close(self) -> None:
        """An orderly end: what was begun here and is not done has not brought the process down."""
        with self._lock:
            for key in self._begun & self._attempts.keys():
                self._attempts[key] -= 1
                if self._attempts[key] == 0:
                    del self._attempts[key]
            self._begun.clear()
            self._rewrite()
            self._close_file()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _forget(self, key: str) -> None:
        self._attempts.pop(key, None)
        self._received_ns.pop(key, None)
        self._done.pop(key, None)
        self._begun.discard(key)

    def _load(self) -> None:
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, self._path.stat().st_size - _READ_BYTES))
                lines = file.read(_READ_BYTES).split(b"\n")
        except FileNotFoundError:
            return
        except OSError as error:
            self._report(error)
            return
        damaged = sum(not self._replay(line) for line in lines if line)
        if damaged:
            _log.warning("%s: %d damaged lines passed over", self._path, damaged)

    def _replay(self, line: bytes) -> bool:
        """Applies one line; False when it does not check."""
        checksum, _, body = line.partition(b" ")
        if checksum != _checksum(body):
            return False
        verb, _, rest = body.decode("ascii", "replace").partition(" ")
        key, _, count = rest.partition(" ")
        if verb == "begin" and count.isdigit():
            self._attempts[key] = int(count)
        elif verb == "received":
            since_ns, _, boot = count.partition(" ")
            if boot == self._boot and since_ns.isdigit():
                self._received_ns[key] = int(since_ns)
        elif verb == "done":
            self._forget(key)
            self._done[key] = None
        elif verb == "acked":
            self._forget(key)
        elif verb == "filters":
            self._filters = tuple(json.loads(rest))
        return True

    def _append(self, *words: str) -> None:
        if self._fd is None or self._appended_bytes > _COMPACT_BYTES:
            self._rewrite()
            return
        line = _line(words)
        try:
            _write_all(self._fd, line)
            self._appended_bytes += len(line)
        except OSError as error:
            self._report(error)

    def _rewrite(self) -> None:
        """Replaces the file by what is true now, whole or not at all."""
        image = b"".join(
            [
                *(_line(("received", key, str(ns), self._boot)) for key, ns in self._received_ns.items()),
                *(_line(("begin", key, str(count))) for key, count in self._attempts.items()),
                *(_line(("done", key)) for key in self._done),
                *([_line(("filters", json.dumps(self._filters)))] if self._filters else []),
            ]
        )
        fresh = self._path.with_name(self._path.name + ".new")
        self._close_file()
        fd = None
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
            _write_all(fd, image)
            os.fdatasync(fd)
            fresh.replace(self._path)
        except OSError as error:
            if fd is not None:
                os.close(fd)
            self._report(error)
            return
        self._fd, self._appended_bytes = fd, 0
        if self._reported:
            self._reported = False
            _log.warning("%s: written again", self._path)

    def _report(self, error: OSError) -> None:
        self._close_file()
        if not self._reported:
            self._reported = True
            _log.warning(
                "%s: %s; going on in memory, a crash may repeat an announcement: "
                "free the disk or mend state_dir",
                self._path,
                error.strerror or error,
            )

    def _close_file(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _boot() -> str:
    """Tells the boots of this machine apart: the monotonic clock begins anew with each."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8]
    except OSError:
        return "unknown"


def _checksum(body: bytes) -> bytes:
    return b"%08x" % zlib.crc32(body)


def _line(words: Iterable[str]) -> bytes:
    body = " ".join(words).encode("ascii")
    return _checksum(body) + b" " + body + b"\n"


def _write_all(fd: int, data: bytes) -> None:
    """A short write is a full disk: the next one raises and names it."""
    while data:
        data = data[os.write(fd, data) :]
