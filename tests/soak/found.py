"""Where announcements lie in a recording, and how much of each is there. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from edged.bench.alignment import compare
from edged.bench.services import RATE_HZ
from edged.types import Int16

PROBES = 16
"""Places looked for in each announcement; a sixteenth of one is still seen."""
PROBE_FRAMES = 48
LOUD = 150
"""A probe whose loudest sample is below this may lie in another announcement's silence, too."""
APART_S = 3.0
"""Two places of one announcement further apart than this are two renditions, whatever was put in."""
AROUND_S = 0.3
EDGE_S = 0.25
"""Length of the beginning and of the end that are looked at alone where samples are missing."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One rendition of one announcement in one recording, whole or not."""

    id: str
    begin: int
    """Frame of the recording where its first sample lies, or would lie."""
    end: int
    """Frame of the recording behind the last of it that is there."""
    whole_end: int
    """Frame behind its last sample, there or not."""
    missing_frames: int
    missing_at_start: bool
    missing_at_end: bool
    gaps: int
    gap_frames: int
    """Put in between two of its samples: by an underfill, or by a sound server that came too late."""

    @property
    def is_whole(self) -> bool:
        """Every sample of it is there, in order."""
        return not self.missing_frames


def find(recording: Int16, wanted: Mapping[str, Int16]) -> list[Piece]:
    """Every rendition of `wanted` (id: int16 [n]) in int16 [m], in the order of the recording."""
    haystack = recording.tobytes()
    pieces = [piece for id, whole in wanted.items() for piece in _renditions(id, whole, recording, haystack)]
    return sorted(pieces, key=lambda piece: piece.begin)


def _renditions(id: str, whole: Int16, recording: Int16, haystack: bytes) -> Iterator[Piece]:
    sound = np.trim_zeros(whole)
    groups = _groups(sorted(_hits(sound, haystack)))
    around = int(AROUND_S * RATE_HZ)
    for number, group in enumerate(groups):
        (first_at, first_place), (last_at, last_place) = group[0], group[-1]
        begin = first_at - first_place
        until = last_at + sound.size - last_place + around
        if number + 1 < len(groups):
            until = min(until, groups[number + 1][0][0])
        from_frame = max(0, begin - around)
        window = recording[from_frame : max(until, last_at + PROBE_FRAMES)]
        compared = compare([sound], window)
        edge = int(EDGE_S * RATE_HZ)
        at_start = compared.lost_frames > 0 and compare([sound[:edge]], window).lost_frames > 0
        at_end = compared.lost_frames > 0 and compare([sound[-edge:]], window).lost_frames > 0
        whole_end = last_at + sound.size - last_place
        end = min(last_at + PROBE_FRAMES, whole_end) if at_end else whole_end
        lost, gaps, put_in = compared.lost_frames, compared.gaps, compared.gap_frames
        yield Piece(id, begin, end, whole_end, lost, at_start, at_end, gaps, put_in)


def _hits(sound: Int16, haystack: bytes) -> Iterator[tuple[int, int]]:
    """(frame of the recording, frame of the announcement) of all places that are found."""
    for place in np.linspace(0, sound.size - PROBE_FRAMES, PROBES).astype(int):
        probe = sound[place : place + PROBE_FRAMES]
        if np.abs(probe.astype(np.int32)).max() < LOUD:
            continue
        needle = probe.tobytes()
        at = haystack.find(needle)
        while at >= 0:
            if at % 2 == 0:
                yield at // 2, int(place)
            at = haystack.find(needle, at + 1)


def _groups(hits: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """One group a rendition: within one the announcement goes forward."""
    groups: list[list[tuple[int, int]]] = []
    for at, place in hits:
        if groups and place > groups[-1][-1][1] and at - groups[-1][-1][0] < APART_S * RATE_HZ:
            groups[-1].append((at, place))
        else:
            groups.append([(at, place)])
    return groups
