"""First audio, memory and processor time at rest against the number of zones."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from edged.bench.latency import SEED
from edged.bench.rows import Figure
from edged.bench.texts import texts
from edged.errors import EdgedError
from edged.mqtt.caller import Caller
from edged.types import EventKind
from tests.bench.growth.board import EVENT_LIMIT_S, SILENT, Board, Progress, first_sample_ms

ZONES = (1, 2, 4, 8)
CHARS = 30
FAST = 2.0
"""Speed of what is said to its end: only the beginning counts."""
PAUSE_S = (0.1, 0.115)
"""Drawn anew: what ended with a period must not begin the next one in step with it."""
WARM_UP = 3
REST_S = 5.0
SETTLE_S = 2.0


def figures(board: Board, n: int, tell: Progress) -> Iterator[Figure]:
    """Rows zones_single_ms, zones_all_ms, zones_rss_mb and zones_idle_cpu_percent, on silent sinks.

    zones_single_ms is from the publish call to the first sample of one zone, zones_all_ms from the receipt to
    the first sample of the zone that is last to start.
    """
    for count in ZONES:
        others: dict[str, dict[str, object]] = {f"zone{number}": {} for number in range(2, count + 1)}
        single, everywhere = [], []
        with board.daemon(SILENT, zones=others) as (daemon, client):
            source, pause = texts(CHARS), random.Random(SEED)
            for number in range(WARM_UP + n):
                tell(f"{count} zones: {number} of {WARM_UP + n}")
                one = first_sample_ms(client, next(source))
                time.sleep(pause.uniform(*PAUSE_S))
                whole = _everywhere_ms(client, next(source))
                time.sleep(pause.uniform(*PAUSE_S))
                if number >= WARM_UP:
                    single.append(one)
                    everywhere.append(whole)
            time.sleep(SETTLE_S)
            begun_s, begun_cpu_s = time.monotonic(), daemon.cpu_s()
            time.sleep(REST_S)
            percent = 100 * (daemon.cpu_s() - begun_cpu_s) / (time.monotonic() - begun_s)
            rss_mb = daemon.memory_mib()[0]
        yield Figure("zones_single_ms", str(count), single, "ms")
        yield Figure("zones_all_ms", str(count), everywhere, "ms")
        yield Figure("zones_rss_mb", str(count), [rss_mb], "MiB")
        yield Figure("zones_idle_cpu_percent", str(count), [percent], "%")


def _everywhere_ms(client: Caller, text: str) -> float:
    sent = client.say(text, zone="all", speed=FAST)
    for event in client.events_of({sent.id}, EVENT_LIMIT_S):
        if event.kind is EventKind.FINISHED and event.first_audio_ms is not None:
            return event.first_audio_ms
    raise EdgedError("an announcement for all zones was not finished")
