"""Whether a command printed what the page shows. Pure.

What is shown is an example: a number stands for any number, a path from the root for any such path, a
row of = for any row, `…` at the end of a line for the rest of it, and `…` alone for any lines or none.
Everything else is as it stands there.
"""

from __future__ import annotations

import re

_EXAMPLE = re.compile(r"…|(?<![\w.])/[\w./-]+|={3,}|\d+(?:[.:]\d+)*")
_STANDS_FOR = (
    ("…", r".*"),
    ("/", r"/[\w./-]+"),
    ("=", r"={3,}"),
)
_NUMBER = r"\d+(?:[.:]\d+)*"


def difference(shown: str, printed: str) -> str | None:
    """None where `printed` is as `shown`, else the first shown line that is missing, and what is there."""
    lines = [line.rstrip() for line in printed.splitlines()]
    at, may_skip = 0, False
    for line in shown.splitlines():
        if line.strip() == "…":
            may_skip = True
            continue
        candidates = range(at, len(lines)) if may_skip else range(at, min(at + 1, len(lines)))
        found = next((number for number in candidates if _pattern(line).fullmatch(lines[number])), None)
        if found is None:
            there = lines[at] if at < len(lines) else "the end"
            return f"shown: {line!r}, printed: {there!r}"
        at, may_skip = found + 1, False
    if at < len(lines) and not may_skip:
        return f"not shown: {lines[at]!r}"
    return None


def _pattern(line: str) -> re.Pattern[str]:
    parts, at = [], 0
    for match in _EXAMPLE.finditer(line):
        parts.append(re.escape(line[at : match.start()]))
        parts.append(next((any_ for begin, any_ in _STANDS_FOR if match[0].startswith(begin)), _NUMBER))
        at = match.end()
    return re.compile("".join(parts) + re.escape(line[at:].rstrip()))
