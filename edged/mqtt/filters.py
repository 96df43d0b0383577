"""Topic filters: what they match, cover and share. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

_MAX_BYTES = 65535
"""Length of an MQTT string (MQTT 5, 1.5.4)."""


def problem(topic_filter: str) -> str | None:
    """Why this is not a filter we can subscribe to, or None."""
    levels = topic_filter.split("/")
    faults = {
        "is empty": not topic_filter,
        f"is longer than {_MAX_BYTES} bytes": len(topic_filter.encode("utf-8", "replace")) > _MAX_BYTES,
        "contains a NUL character": "\0" in topic_filter,
        "is a shared subscription, which lets another board take the message": levels[0] == "$share",
        'has "#" elsewhere than alone in its last level': any("#" in level for level in levels[:-1])
        or ("#" in levels[-1] and levels[-1] != "#"),
        'has "+" beside other characters': any("+" in level and level != "+" for level in levels),
    }
    return next((fault for fault, found in faults.items() if found), None)


def covers(wide: str, narrow: str) -> bool:
    """Every topic that matches `narrow` also matches `wide`; `narrow` may be a plain topic.

    A wildcard at the start of a filter does not take topics that begin with `$` (MQTT 5, 4.7.2).
    """
    if _dollar_kept_out(wide, narrow):
        return False
    wide_levels, narrow_levels = wide.split("/"), narrow.split("/")
    for index, level in enumerate(wide_levels):
        if level == "#":
            return True
        if index >= len(narrow_levels):
            return False
        other = narrow_levels[index]
        if other == "#" or level not in ("+", other):
            return False
    return len(wide_levels) == len(narrow_levels)


def overlap(one: str, two: str) -> bool:
    """Some topic matches both."""
    if _dollar_kept_out(one, two) or _dollar_kept_out(two, one):
        return False
    first, second = one.split("/"), two.split("/")
    for left, right in zip(first, second, strict=False):
        if "#" in (left, right):
            return True
        if left != right and "+" not in (left, right):
            return False
    longer = max(first, second, key=len)
    shorter = min(len(first), len(second))
    # '/#' takes its own parent level, too, but a topic of no characters does not exist.
    return len(first) == len(second) or (longer[shorter:] == ["#"] and longer[:shorter] != [""])


def join(one: str, two: str) -> str:
    """The narrowest single filter that covers two overlapping ones."""
    first, second = one.split("/"), two.split("/")
    levels: list[str] = []
    for left, right in zip(first, second, strict=False):
        if "#" in (left, right):
            return "/".join([*levels, "#"])
        levels.append(left if left == right else "+")
    return "/".join(levels if len(first) == len(second) else [*levels, "#"])


def disjoint(topic_filters: Iterable[str]) -> tuple[str, ...]:
    """Filters that together cover all the given ones and of which no two overlap.

    A broker may deliver a message once for every subscription that matches it (MQTT 5, 3.3.4;
    mosquitto does), and such a copy cannot be told from a second publish: so two never match.
    """
    chosen = list(dict.fromkeys(topic_filters))
    while True:
        pair = next(((a, b) for a, b in combinations(chosen, 2) if overlap(a, b)), None)
        if pair is None:
            return tuple(chosen)
        joined = join(*pair)
        chosen = [each for each in chosen if not covers(joined, each)] + [joined]


def _dollar_kept_out(wide: str, narrow: str) -> bool:
    """A filter that begins with a wildcard does not match topics that begin with `$`."""
    return wide[:1] in ("+", "#") and narrow.startswith("$")
