"""Several zones on one engine, and phrases that were rendered beforehand: when their first samples come.

The zones are silent sinks that keep real time: so many sound cards a machine seldom has, and what is asked
is how the engine is shared. Single zones, all zones and four texts at once take turns in one run.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median

from edged.bench.daemon import caller
from edged.bench.engine import text_to_first_ms
from edged.bench.latency import EVENT_LIMIT_S, SEED, WARM_UP
from edged.bench.rows import Figure
from edged.bench.surroundings import NO_CACHES, Surroundings
from edged.bench.texts import texts
from edged.config.model import Config
from edged.errors import EdgedError
from edged.mqtt.caller import Caller
from edged.types import Event, EventKind, Voice

ZONES = 4
PERIOD_MS = 12
PAUSE_S = (0.1, 0.1 + 0.001 * PERIOD_MS)
"""Before a message, drawn anew over one period: what ended with a period must not begin in step with it."""
FAST = 2.0
"""Speed at which they are said: only the beginning counts."""
CHARS = 30
RENDER_LIMIT_S = 60.0

Progress = Callable[[str], None]


def figures(
    around: Surroundings, voice: Voice, config: Config, n: int, progress: Progress
) -> Iterator[Figure]:
    """Rows zones_first_sample_ms (single, all, all-last, last-of-four, engine-alone) and the two ratios.

    From the receipt to the first sample. `all` has the figure of each zone, `all-last` that of the zone which
    is last to start: the periods of several devices do not begin together, so it is later by chance alone.
    all_to_single_ratio compares the medians of `all` and `single`; last_of_four_ratio is against four times
    the first audio of the engine alone (in this process, in its turn) and one period.
    """
    zones: dict[str, dict[str, object]] = {f"zone{number}": {} for number in range(2, ZONES + 1)}
    daemon = around.daemon(_silent(), cache=NO_CACHES, zones=zones)
    alone: list[float] = []
    single: list[float] = []
    everywhere: list[float] = []
    slowest: list[float] = []
    last: list[float] = []
    try:
        with caller(around.broker_port()) as client:
            source, pause = texts(CHARS), random.Random(SEED)  # noqa: S311 (no secret)
            for number in range(WARM_UP + n):
                progress(f"zones: {number} of {WARM_UP + n}")
                one, whole, *four = islice(source, 2 + ZONES)
                is_counted = number >= WARM_UP
                (event,) = _said(client, pause, [(None, one)])
                single += [event.first_audio_ms or 0.0] * is_counted
                (event,) = _said(client, pause, [("all", whole)])
                everywhere += list((event.zones_ms or {}).values()) * is_counted
                slowest += [event.first_audio_ms or 0.0] * is_counted
                events = _said(client, pause, list(zip([None, *zones], four, strict=True)))
                last += [_last_ms(events)] * is_counted
                time.sleep(pause.uniform(*PAUSE_S))
                alone += [text_to_first_ms(voice, config, next(source))] * is_counted
    finally:
        daemon.stop()
    yield Figure("zones_first_sample_ms", "single", single, "ms")
    yield Figure("zones_first_sample_ms", "all", everywhere, "ms")
    yield Figure("zones_first_sample_ms", "all-last", slowest, "ms")
    yield Figure("zones_first_sample_ms", "last-of-four", last, "ms")
    yield Figure("zones_first_sample_ms", "engine-alone", alone, "ms")
    yield Figure("all_to_single_ratio", "4", [median(everywhere) / median(single)], "")
    yield Figure("last_of_four_ratio", "4", [median(last) / (ZONES * median(alone) + PERIOD_MS)], "")


def phrase_figures(around: Surroundings, n: int, progress: Progress) -> Iterator[Figure]:
    """Row phrase_first_sample_ms: publish to first sample of a prerendered phrase, at the sound device."""
    phrases = list(islice(texts(CHARS), n))
    caches = {**NO_CACHES, "phrases": phrases}
    daemon = around.daemon(around.audio(PERIOD_MS), cache=caches)
    try:
        _await_rendered(daemon.state_dir / "phrases", n, progress)
        found = []
        with caller(around.broker_port()) as client:
            pause = random.Random(SEED)  # noqa: S311 (no secret)
            for text in phrases:
                time.sleep(pause.uniform(*PAUSE_S))
                sent = client.say(text)
                for event in client.events_of({sent.id}, EVENT_LIMIT_S):
                    if event.kind is EventKind.STARTED and event.first_sample_ns:
                        found.append((event.first_sample_ns - sent.published_ns) / 1e6)
                        client.stop(sent.id)
    finally:
        daemon.stop()
    yield Figure("phrase_first_sample_ms", str(CHARS), found[WARM_UP:], "ms")


def _silent() -> dict[str, object]:
    return {"sink": "null", "rate_hz": 24000, "period_ms": PERIOD_MS, "lead_in_ms": 0}


def _said(client: Caller, pause: random.Random, messages: list[tuple[str | None, str]]) -> list[Event]:
    """Say one text a zone, all at once; their final events."""
    time.sleep(pause.uniform(*PAUSE_S))
    sent = [client.say(text, zone=zone, speed=FAST) for zone, text in messages]
    events = client.events_of({each.id for each in sent}, EVENT_LIMIT_S)
    finals = [event for event in events if event.kind is EventKind.FINISHED]
    if len(finals) < len(sent):
        raise EdgedError(f"{len(sent) - len(finals)} of {len(sent)} announcements were not finished")
    return finals


def _last_ms(events: list[Event]) -> float:
    """From the first receipt to the first sample that came last."""
    starts_ns = [event.first_sample_ns or 0 for event in events]
    receipts_ns = [(e.first_sample_ns or 0) - (e.first_audio_ms or 0.0) * 1e6 for e in events]
    return (max(starts_ns) - min(receipts_ns)) / 1e6


def _await_rendered(folder: Path, count: int, progress: Progress) -> None:
    deadline_s = time.monotonic() + RENDER_LIMIT_S + count
    while (ready := len(list(folder.glob("*.phrase")))) < count:
        progress(f"phrase_first_sample_ms: {ready} of {count} rendered")
        if time.monotonic() > deadline_s:
            raise EdgedError(f"only {ready} of {count} phrases were rendered")
        time.sleep(0.2)
