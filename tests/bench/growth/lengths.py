"""First audio and memory against the length of the text."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import islice

from edged.bench.rows import Figure
from edged.bench.texts import texts
from edged.errors import EdgedError
from edged.types import EventKind
from tests.bench.growth.board import (
    EVENT_LIMIT_S,
    PIPED,
    Board,
    Progress,
    first_sample_ms,
    forget_peak,
    peak_rss_mb,
)

LENGTHS_CHARS = (30, 100, 300, 1000, 3000, 10000)
WARM_UP = 5
WHOLE_TEXTS = 3
PAUSE_S = (0.03, 0.12)
"""Between two announcements, drawn anew each time, so that publishing keeps no step with the periods."""
SETTLE_S = 3.0
"""After the last announcement: housekeeping is done after one second."""
SEED = 1


def latency(board: Board, n: int, tell: Progress) -> Iterator[Figure]:
    """Row length_first_sample_ms: publish to first sample; the lengths take turns."""
    found: dict[int, list[float]] = {chars: [] for chars in LENGTHS_CHARS}
    sources = {chars: texts(chars) for chars in LENGTHS_CHARS}
    pauses = random.Random(SEED)
    with board.daemon(board.audible) as (_, client):
        for number in range(WARM_UP + n):
            tell(f"text length: {number} of {WARM_UP + n}")
            for chars in LENGTHS_CHARS:
                time.sleep(pauses.uniform(*PAUSE_S))
                measured = first_sample_ms(client, next(sources[chars]))
                if number >= WARM_UP:
                    found[chars].append(measured)
    for chars, values in found.items():
        yield Figure("length_first_sample_ms", str(chars), values, "ms")


def memory(board: Board, tell: Progress) -> Iterator[Figure]:
    """Rows length_peak_rss_mb and length_rss_mb: while whole texts are said, and afterwards at rest.

    The daemon writes to a pipe that is always ready: it makes all of the sound, as fast as it can.
    """
    with board.daemon(PIPED) as (daemon, client):
        for chars in LENGTHS_CHARS:
            forget_peak(daemon.pid)
            for number, text in enumerate(islice(texts(chars), WHOLE_TEXTS)):
                tell(f"memory, {chars} characters: {number} of {WHOLE_TEXTS}")
                sent = client.say(text)
                kinds = [event.kind for event in client.events_of({sent.id}, EVENT_LIMIT_S)]
                if EventKind.FINISHED not in kinds:
                    raise EdgedError(f"a text of {chars} characters was not finished")
            peak_mb = peak_rss_mb(daemon.pid)
            time.sleep(SETTLE_S)
            yield Figure("length_peak_rss_mb", str(chars), [peak_mb], "MiB")
            yield Figure("length_rss_mb", str(chars), [daemon.memory_mib()[0]], "MiB")
