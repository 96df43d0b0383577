"""Where the ids of a long text are cut, for FastSpeech2's attention sees all of what it is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_IDS = 180
"""Of one run of the encoder: 60 characters, 1,000 frames at the usual pace."""

LONG_IDS, CLAUSE_IDS = 96, 24
"""A text of more than 30 characters is cut at its first clause, if that is worth 8 characters."""

CLAUSE_PAUSE_FRAMES = 16
"""Behind a clause where it was cut. Uncut the voice is silent for 25 frames, and 8 are in the two ends."""

_END_IDS = 2  # silence and end mark


@dataclass(frozen=True, slots=True)
class Part:
    """Ids of one run of the network, with silence at both ends."""

    ids: NDArray[np.int64]
    pause_frames: int
    """Of silence to be added behind it."""


def bounded(ids: NDArray[np.int64], break_ids: Sequence[int]) -> Iterator[Part]:
    """`ids` cut into parts of at most MAX_IDS, each with the silence and end mark of the whole.

    `break_ids` stand between words, the best place for a cut (the end of a clause) first; a part ends
    at the best break there is, the break left out. More than LONG_IDS are also cut at their first
    clause, so that a long text is heard as soon as a short one.
    """
    rest = Part(ids, 0)
    if ids.size > LONG_IDS:
        clauses = CLAUSE_IDS + np.flatnonzero(ids[CLAUSE_IDS : MAX_IDS - _END_IDS] == break_ids[0])
        if clauses.size:
            first, rest = _apart(rest, int(clauses[0]), break_ids)
            yield first
    while rest.ids.size > MAX_IDS:
        first, rest = _apart(rest, _place(rest.ids, break_ids, 2, MAX_IDS - _END_IDS), break_ids)
        yield first
    yield rest


def halved(part: Part, break_ids: Sequence[int]) -> tuple[Part, Part]:
    """A part of at least 8 ids cut in its middle half, at the best break there is."""
    size = part.ids.size
    return _apart(part, _place(part.ids, break_ids, size // 4, size * 3 // 4), break_ids)


def _place(ids: NDArray[np.int64], break_ids: Sequence[int], least: int, most: int) -> int:
    """The last place from `least` to `most` with the best break."""
    for break_id in break_ids:
        places = np.flatnonzero(ids[least:most] == break_id)
        if places.size:
            return least + int(places[-1])
    return most


def _apart(part: Part, place: int, break_ids: Sequence[int]) -> tuple[Part, Part]:
    """Before and behind a place; a break that is there is left out, and heard as a pause."""
    found = part.ids[place]
    behind = part.ids[place + int(found in break_ids) :]
    return (
        Part(
            np.concatenate((part.ids[:place], part.ids[-_END_IDS:])),
            CLAUSE_PAUSE_FRAMES if found == break_ids[0] else 0,
        ),
        Part(np.concatenate((part.ids[:1], behind)), part.pause_frames),
    )
