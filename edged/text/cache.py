"""A least-recently-used cache bounded in bytes, with its counts.

Belongs to one thread (the synth thread); other threads only read the counters, which are plain
integers. Used for text -> phoneme ids, and for the sound of short repeated announcements.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruBytes(Generic[K, V]):
    """Maps keys to values until `capacity_bytes` is reached, then forgets the longest unused.

    `size(key, value)` gives the bytes of one entry. An entry larger than the whole capacity is not
    kept; a capacity of 0 keeps nothing. A value handed out is shared: it must not be changed.
    """

    def __init__(self, capacity_bytes: int, size: Callable[[K, V], int]) -> None:
        self.capacity_bytes = capacity_bytes
        self._size = size
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self.bytes = 0
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """The value, now the most recently used one, or None. Counts a hit or a miss."""
        entry = self._entries.get(key)
        if entry is None:
            self.misses += 1
            return None
        self.hits += 1
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V) -> None:
        """Keep a value, replacing an older one of the same key."""
        self._drop(key)
        size_bytes = self._size(key, value)
        if size_bytes > self.capacity_bytes:
            return
        self._entries[key] = (value, size_bytes)
        self.bytes += size_bytes
        while self.bytes > self.capacity_bytes:
            self._drop(next(iter(self._entries)))

    def clear(self) -> None:
        """Forget all entries; the counts go on."""
        self._entries.clear()
        self.bytes = 0

    def _drop(self, key: K) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.bytes -= entry[1]
