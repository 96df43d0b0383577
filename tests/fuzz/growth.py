"""How the time that a text takes grows with its length: what is not linear shows when a text is repeated."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tests.fuzz.search import Finding, Target, attempt

_SHORT_CHARS, _LONG_CHARS = 4_000, 20_000
_TRIED = 40
_MOST = 3.0
"""Times as long a character: linear is about 1, quadratic 5."""


def growth(target: Target, corpus: Sequence[bytes]) -> tuple[str, list[Finding]]:
    """The worst ratio of the times a character of 20,000 and of 4,000 characters, as a line for people; and
    what broke a promise at such a length, or grew faster than the text.

    Each of some inputs is repeated to both lengths.
    """
    worst, slowest_s, which = 0.0, 0.0, b""
    findings: list[Finding] = []
    for data in corpus[:: max(1, len(corpus) // _TRIED)]:
        text = data.decode("utf-8", "replace")
        if not text:
            continue
        (short_s, one), (long_s, other) = (_spent(target, text, n) for n in (_SHORT_CHARS, _LONG_CHARS))
        findings += [found for found in (one, other) if found is not None]
        slowest_s = max(slowest_s, long_s)
        ratio = long_s / short_s * _SHORT_CHARS / _LONG_CHARS
        if ratio > worst:
            worst, which = ratio, data
    if worst > _MOST:
        slower = f"{worst:.1f} times as long a character at {_LONG_CHARS} as at {_SHORT_CHARS}"
        findings.append(Finding(target.name, which, slower, f"growth of {target.name}"))
    line = (
        f"repeated to {_LONG_CHARS} characters: at most {slowest_s:.2f} s, and {worst:.1f} times as long a"
        f" character as at {_SHORT_CHARS} ({which[:60]!r})"
    )
    return line, findings


def _spent(target: Target, text: str, chars: int) -> tuple[float, Finding | None]:
    data = (text * (chars // len(text) + 1))[:chars].encode("utf-8", "surrogatepass")
    begun_s = time.perf_counter()
    finding, _ = attempt(target, data)
    return time.perf_counter() - begun_s, finding
