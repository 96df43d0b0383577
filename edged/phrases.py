"""Prerendered phrases on disk: fixed announcements that start in the time of the ring alone.

One file a phrase, named by the hash of all that its sound depends on; in it the hash of its samples, which
is compared at each reading. Used by the synth thread, and by `edged prerender` in a process of its own.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Hashable
from pathlib import Path

import numpy as np

from edged.types import Int16

log = logging.getLogger("edged.phrases")

_MAGIC = b"edged phrase 1\n"
_HASH_BYTES = 32
_NAME_CHARS = 32


class Phrases:
    """A folder of phrases of at most `limit_bytes` in all; the longest unused go."""

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        """The folder is made when the first phrase is kept."""
        self._folder = folder
        self._limit_bytes = limit_bytes
        self.damaged = 0
        """Files found damaged and removed so far."""

    def __contains__(self, key: Hashable) -> bool:
        return self._file(key).is_file()

    def get(self, key: Hashable) -> Int16 | None:
        """Samples int16 [n] mono at the voice's rate, or None; a damaged file is removed."""
        file = self._file(key)
        try:
            raw = file.read_bytes()
        except OSError:
            return None
        head = len(_MAGIC) + _HASH_BYTES
        if raw[: len(_MAGIC)] != _MAGIC or raw[len(_MAGIC) : head] != hashlib.sha256(raw[head:]).digest():
            log.warning("%s: damaged, removed; rendered again", file)
            file.unlink(missing_ok=True)
            self.damaged += 1
            return None
        os.utime(file)
        return np.frombuffer(raw, "<i2", offset=head)

    def put(self, key: Hashable, samples: Int16) -> None:
        """Keep a phrase. Raises OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = samples.astype("<i2").tobytes()
        aside = self._folder / f".{os.getpid()}"
        try:
            aside.write_bytes(_MAGIC + hashlib.sha256(content).digest() + content)
            aside.replace(self._file(key))
        finally:
            aside.unlink(missing_ok=True)
        self._shrink()

    def clear(self) -> int:
        """Remove all; how many there were."""
        files = self._files()
        for file in files:
            file.unlink(missing_ok=True)
        return len(files)

    def _shrink(self) -> None:
        oldest_first = sorted(self._files(), key=lambda file: file.stat().st_mtime_ns)
        total = sum(file.stat().st_size for file in oldest_first)
        for file in oldest_first:
            if total <= self._limit_bytes:
                return
            total -= file.stat().st_size
            file.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return list(self._folder.glob("*.phrase"))

    def _file(self, key: Hashable) -> Path:
        name = hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).hexdigest()[:_NAME_CHARS]
        return self._folder / f"{name}.phrase"
