"""How the time that a text takes grows with its length: what is not linear shows when a text is repeated."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tests.fuzz.search import Target, attempt

_SHORT_CHARS, _LONG_CHARS = 4_000, 20_000
_TRIED = 40


def growth(target: Target, corpus: Sequence[bytes]) -> str:
    """The worst ratio of the times a character of 20,000 and of 4,000 characters, as a line for people.

    Each of some inputs is repeated to both lengths; linear is about 1, quadratic 5.
    """
    worst, slowest_s, which = 0.0, 0.0, b""
    for data in corpus[:: max(1, len(corpus) // _TRIED)]:
        text = data.decode("utf-8", "replace")
        if not text:
            continue
        short_s, long_s = (_spent_s(target, text, chars) for chars in (_SHORT_CHARS, _LONG_CHARS))
        slowest_s = max(slowest_s, long_s)
        ratio = long_s / short_s * _SHORT_CHARS / _LONG_CHARS
        if ratio > worst:
            worst, which = ratio, data
    return (
        f"repeated to {_LONG_CHARS} characters: at most {slowest_s:.2f} s, and {worst:.1f} times as long a"
        f" character as at {_SHORT_CHARS} ({which[:60]!r})"
    )


def _spent_s(target: Target, text: str, chars: int) -> float:
    data = (text * (chars // len(text) + 1))[:chars].encode("utf-8", "surrogatepass")
    begun_s = time.perf_counter()
    attempt(target, data)
    return time.perf_counter() - begun_s
