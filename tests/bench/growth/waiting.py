"""An urgent announcement, and memory, against how many others wait."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import islice

from edged.bench.rows import Figure
from edged.bench.texts import texts
from edged.errors import EdgedError
from edged.mqtt.caller import Caller
from edged.types import EventKind
from tests.bench.growth.board import EVENT_LIMIT_S, Board, Progress, first_sample_ms

WAITING = (1, 10, 100, 1000)
QUEUE = {"bound": 1100, "ttl_s": 3600}
BATCH = 16
"""Published before their acceptance is waited for."""
CHARS = 30
SPOKEN_CHARS = 3000
"""Of what is being said meanwhile: long enough that nobody's turn comes."""
PAUSE_S = (0.1, 0.2)
SEED = 2


def figures(board: Board, n: int, tell: Progress) -> Iterator[Figure]:
    """Rows waiting_first_sample_ms and waiting_rss_mb.

    The urgent one interrupts what is being said, which then goes on; it is stopped once it has begun.
    """
    pauses = random.Random(SEED)
    for count in WAITING:
        found = []
        with board.daemon(board.audible, queue=QUEUE) as (daemon, client):
            source = texts(CHARS)
            first_sample_ms(client, next(source))  # warm
            _fill(client, [next(texts(SPOKEN_CHARS)), *islice(source, count)], count, tell)
            for number in range(n):
                tell(f"{count} waiting: {number} of {n}")
                time.sleep(pauses.uniform(*PAUSE_S))
                found.append(first_sample_ms(client, next(source), priority="urgent"))
            rss_mb = daemon.memory_mib()[0]
        yield Figure("waiting_first_sample_ms", str(count), found, "ms")
        yield Figure("waiting_rss_mb", str(count), [rss_mb], "MiB")


def _fill(client: Caller, wanted: list[str], count: int, tell: Progress) -> None:
    for at in range(0, len(wanted), BATCH):
        tell(f"{count} waiting: {at} of them queued")
        open_ids = {client.say(text, priority="low").id for text in wanted[at : at + BATCH]}
        for event in client.events_of(set(open_ids), EVENT_LIMIT_S):
            if event.kind is not EventKind.ACCEPTED and event.kind is not EventKind.STARTED:
                raise EdgedError(
                    f"an announcement that was to wait ended as {event.kind.value}: {event.reason}"
                )
            open_ids.discard(event.id or "")
            if not open_ids:
                break
        if open_ids:
            raise EdgedError(f"{len(open_ids)} announcements were not accepted")
