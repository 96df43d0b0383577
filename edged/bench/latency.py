"""From the publish call to the first sample: as the audio callback takes it, and as it is recorded."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from edged.bench.daemon import caller
from edged.bench.rows import Figure
from edged.bench.services import Recording
from edged.bench.surroundings import NO_CACHES, Surroundings
from edged.bench.texts import texts
from edged.errors import EdgedError
from edged.mqtt.caller import Caller
from edged.types import Event, EventKind, Int16

WARM_UP = 5
PAUSE_S = (0.03, 0.12)
"""Between two announcements, drawn anew each time, so that publishing keeps no step with the periods."""
REST_S = 3.0
"""A daemon that was silent for so long has done its housekeeping and has cold caches."""
EVENT_LIMIT_S = 60.0
ONSET_LEVEL = 328
"""Magnitude of the first sample that counts as audible: 1 % of full scale, -40 dB."""
AUDIBLE_S = 0.4
"""After its start, a text is audible and recorded within so long."""
SILENT_S = 0.4
"""After its end, the recording is silent again within so long."""
SEED = 1

Progress = Callable[[str], None]


@dataclass(slots=True)
class Heard:
    """Values of one case, in order."""

    first_sample_ms: list[float] = field(default_factory=list)
    device_latency_ms: list[float] = field(default_factory=list)
    stop_to_dropped_ms: list[float] = field(default_factory=list)
    """From the publish call of a stop until its event is here: both ways through the broker included."""


def figures(around: Surroundings, n: int, n_long: int, n_rested: int, progress: Progress) -> Iterator[Figure]:
    """Rows publish_to_first_sample_ms, device_latency_ms and stop_to_dropped_ms, at both short periods."""
    for period_ms, suffix in ((12, ""), (6, "-6ms")):
        daemon = around.daemon(around.audio(period_ms), cache=NO_CACHES)
        try:
            with caller(around.broker_port()) as client:
                _speak(client, 30, WARM_UP, PAUSE_S, lambda _: None)
                cases = [("30", 30, n), ("300", 300, n), ("3000", 3000, n_long)]
                if not suffix:
                    cases.append(("10000", 10000, n_long))
                for case, chars, count in cases:
                    heard = _speak(client, chars, count, PAUSE_S, _counted(progress, case + suffix, count))
                    yield Figure("publish_to_first_sample_ms", case + suffix, heard.first_sample_ms, "ms")
                    if chars == 30:
                        yield Figure("device_latency_ms", f"{period_ms}ms", heard.device_latency_ms, "ms")
                        yield Figure("stop_to_dropped_ms", f"{period_ms}ms", heard.stop_to_dropped_ms, "ms")
                rest = (REST_S, REST_S + 0.1)
                case = f"30-rested{suffix}"
                rested = _speak(client, 30, n_rested, rest, _counted(progress, case, n_rested))
                yield Figure("publish_to_first_sample_ms", case, rested.first_sample_ms, "ms")
        finally:
            daemon.stop()


def _counted(progress: Progress, case: str, count: int) -> Callable[[int], None]:
    return lambda done: progress(f"publish_to_first_sample_ms {case}: {done} of {count}")


def _speak(
    client: Caller, chars: int, count: int, pause_s: tuple[float, float], done: Callable[[int], None]
) -> Heard:
    """Publish texts one after another; each is stopped as soon as it has started."""
    heard = Heard()
    source = random.Random(SEED)  # noqa: S311 (no secret)
    stopped_ns = 0
    for number, text in enumerate(islice(texts(chars), count)):
        time.sleep(source.uniform(*pause_s))
        sent = client.say(text)
        for event in client.events_of({sent.id}, EVENT_LIMIT_S):
            if event.kind is EventKind.STARTED:
                first_ns, latency_ms = _started(event)
                heard.first_sample_ms.append((first_ns - sent.published_ns) / 1e6)
                heard.device_latency_ms.append(latency_ms)
                stopped_ns = time.monotonic_ns()
                client.stop(sent.id)
            elif event.kind is EventKind.DROPPED:
                heard.stop_to_dropped_ms.append((time.monotonic_ns() - stopped_ns) / 1e6)
        if len(heard.first_sample_ms) <= number:
            raise EdgedError(f"announcement {number + 1} of {chars} characters was never started")
        done(number + 1)
    return heard


def _started(event: Event) -> tuple[int, float]:
    if event.first_sample_ns is None:
        raise EdgedError("the daemon's event 'started' has no first_sample_ns; is it of another version?")
    return event.first_sample_ns, event.device_latency_ms or 0.0


def onset_figures(around: Surroundings, n: int, progress: Progress) -> Iterator[Figure]:
    """Row publish_to_onset_ms: the publish call to the first audible sample in the recording.

    Case 30 takes the first sample of at least 1 % of full scale, case 30-nonzero the first that is not
    zero; the voice begins softly, and what lies between the two is its own.
    """
    server = around.sound()
    if server is None:
        for case in ("30", "30-nonzero"):
            yield Figure("publish_to_onset_ms", case, (), "ms", around.no_recording)
        return
    daemon = around.daemon(around.audio(12), cache=NO_CACHES)
    try:
        recording = server.record()
        try:
            with caller(around.broker_port()) as client:
                onsets = _onsets(client, recording, n, progress)
        finally:
            recording.stop()
    finally:
        daemon.stop()
    yield Figure("publish_to_onset_ms", "30", [audible for audible, _ in onsets], "ms")
    yield Figure("publish_to_onset_ms", "30-nonzero", [nonzero for _, nonzero in onsets], "ms")


def _onsets(client: Caller, recording: Recording, n: int, progress: Progress) -> list[tuple[float, float]]:
    measured: list[tuple[float, float]] = []
    source = random.Random(SEED)  # noqa: S311 (no secret)
    for number, text in enumerate(islice(texts(30), WARM_UP + n)):
        time.sleep(SILENT_S + source.uniform(*PAUSE_S))
        sent = client.say(text)
        for event in client.events_of({sent.id}, EVENT_LIMIT_S):
            if event.kind is EventKind.STARTED:
                time.sleep(AUDIBLE_S)
                client.stop(sent.id)
        clock, samples = recording.clock(), recording.samples()
        begin = clock.frame(sent.published_ns)
        found = [_first(samples, begin, level) for level in (ONSET_LEVEL, 1)]
        if None in found:
            raise EdgedError("an announcement is missing in the recording; is this machine overloaded?")
        audible_ms, nonzero_ms = ((clock.ns(int(at or 0)) - sent.published_ns) / 1e6 for at in found)
        if number >= WARM_UP:
            measured.append((audible_ms, nonzero_ms))
            progress(f"publish_to_onset_ms: {len(measured)} of {n}")
    return measured


def _first(samples: Int16, begin: int, level: int) -> int | None:
    """Frame of the first sample at or behind `begin` with at least this magnitude."""
    loud = np.flatnonzero(np.abs(samples[begin:].astype(np.int32)) >= level)
    return begin + int(loud[0]) if loud.size else None
