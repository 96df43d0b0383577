"""Where a recording and what was played differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edged.types import Int16

PROBE_FRAMES = 32
"""So many samples of speech in a row do not occur twice."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """`gaps`: places in mid-utterance where something is missing or stands between two neighbours."""

    gaps: int
    gap_frames: int
    lost_frames: int
    """Samples played that are not in the recording, or not where they belong."""

    @property
    def equal(self) -> bool:
        """Every utterance lies in the recording in one piece."""
        return not self.gaps


def compare(played: Sequence[Int16], recorded: Int16) -> Comparison:
    """Follow utterances int16 [n], in order, through a recording int16 [m].

    What lies between two utterances does not count.
    """
    haystack = recorded.tobytes()
    gaps = gap_frames = lost = at = 0
    for whole in played:
        utterance = np.trim_zeros(whole)
        start = _find(recorded, haystack, utterance, 0, at)
        if start is None:
            gaps += 1
            lost += utterance.size
            continue
        at = start[1]
        done = start[0]
        gaps += done > 0
        lost += done
        while done < utterance.size:
            same = _equal_frames(utterance[done:], recorded[at:])
            done, at = done + same, at + same
            if done == utterance.size:
                break
            found = _find(recorded, haystack, utterance, done, at)
            if found is None:
                gaps += 1
                lost += utterance.size - done
                break
            skipped, put_in = found[0] - done, found[1] - at - (found[0] - done)
            gaps += 1
            gap_frames += max(0, put_in)
            lost += skipped
            done, at = found
    return Comparison(gaps, gap_frames, lost)


def _equal_frames(a: Int16, b: Int16) -> int:
    """Frames at the start of both that are equal."""
    n = min(a.size, b.size)
    differ = np.flatnonzero(a[:n] != b[:n])
    return int(differ[0]) if differ.size else n


def _find(recorded: Int16, haystack: bytes, utterance: Int16, begin: int, at: int) -> tuple[int, int] | None:
    """(frame of the utterance, frame of the recording) where they meet again, None where they do not.

    Found by a stretch that is not nearly silent; what is equal before it counts, too.
    """
    for start in range(begin, utterance.size - PROBE_FRAMES + 1, PROBE_FRAMES):
        probe = utterance[start : start + PROBE_FRAMES]
        if np.count_nonzero(probe) < PROBE_FRAMES // 2:
            continue
        needle = probe.tobytes()
        index = haystack.find(needle, 2 * at)
        while index >= 0 and index % 2:
            index = haystack.find(needle, index + 1)
        if index >= 0:
            found = index // 2
            before = _equal_frames(utterance[begin:start][::-1], recorded[at:found][::-1])
            return start - before, found - before
    return None
