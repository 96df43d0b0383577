"""How many messages a topic may bring: a token bucket for each, so that a flood costs little. Pure.

A message that finds no token left is dropped by whoever asked; of each flood one message is told.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import Enum

_BUCKETS = 256
"""Kept at most, the last used ones: a filter with wildcards takes any number of topics."""
_BACKLOG_S = 10.0


class Passage(Enum):
    """What becomes of one message."""

    FREE = "free"
    FIRST_OVER = "first over"
    """Over the limit, and the first one since the bucket was full: to be told."""
    OVER = "over"


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_s: float
    told: bool = False


class RateLimit:
    """Buckets by key. `limits` gives tokens a second and the size of a bucket, read for every message.

    `now_s` is a clock in seconds. Not thread-safe.
    """

    def __init__(self, limits: Callable[[], tuple[float, int]], now_s: Callable[[], float]) -> None:
        self._limits = limits
        self._now_s = now_s
        self._buckets: OrderedDict[Hashable, _Bucket] = OrderedDict()
        self._backlog = 0
        self._backlog_end_s = 0.0

    def expect_backlog(self, messages: int) -> None:
        """So many may come at once in the next ten seconds: what waited at the broker is no flood."""
        self._backlog = messages
        self._backlog_end_s = self._now_s() + _BACKLOG_S

    def take(self, key: Hashable) -> Passage:
        """One message of `key` asks to pass."""
        now_s = self._now_s()
        if self._backlog > 0 and now_s < self._backlog_end_s:
            self._backlog -= 1
            return Passage.FREE
        per_s, size = self._limits()
        bucket = self._buckets.setdefault(key, _Bucket(size, now_s))
        self._buckets.move_to_end(key)
        if len(self._buckets) > _BUCKETS:
            self._buckets.popitem(last=False)
        bucket.tokens = min(size, bucket.tokens + (now_s - bucket.filled_s) * per_s)
        bucket.filled_s = now_s
        bucket.told = bucket.told and bucket.tokens < size
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return Passage.FREE
        told, bucket.told = bucket.told, True
        return Passage.OVER if told else Passage.FIRST_OVER
