"""`edged doctor --measure`: what memory lock, affinity, SCHED_FIFO and period bring on this very machine.

The real daemon runs for a few seconds with all of them, then with each one switched off or changed, beside
as many busy processes as there are processors: without them nothing would differ.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any

from edged.bench.daemon import caller
from edged.bench.services import Processes
from edged.bench.surroundings import NO_CACHES, Surroundings
from edged.bench.texts import texts
from edged.config.model import Config, ProcessConfig
from edged.errors import EdgedError
from edged.health.counters import Window
from edged.mqtt.caller import Caller
from edged.types import EventKind

WARM_UP = 3
PAUSE_S = 0.1
EVENT_LIMIT_S = 30.0
STATE_LIMIT_S = 2.5
"""The state follows a change within a second."""
CHARS = 30
PERIODS_MS = (6, 12, 24)
CARDS = Path("/proc/asound/cards")
SPIN = "while True: pass"


@dataclass(frozen=True, slots=True)
class Way:
    """One way to run the daemon."""

    name: str
    process: ProcessConfig
    period_ms: int


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured of one way; `remark` where a right was refused."""

    name: str
    n: int
    first_audio_ms_p50: float
    first_audio_ms_p95: float
    xruns: int
    underfills: int
    remark: str


def run(config: Config, seconds: float, load: bool, as_json: bool) -> int:
    """0. Raises EdgedError where the daemon or what it needs does not start."""
    results: list[Result] = []
    with Surroundings(config, device(config), _tell) as around, _busy((os.cpu_count() or 1) if load else 0):
        for way in ways(config):
            _tell(f"{way.name} …")
            results.append(_measured(around, way, seconds))
    if as_json:
        print(json.dumps([asdict(result) for result in results], indent=1, ensure_ascii=False))
    else:
        print("\n".join(table(results)))
    return 0


def device(config: Config) -> str | None:
    """The configured sound device, the default one where there is a card, else None: a private server."""
    if config.audio.sink != "alsa":
        return None
    if config.audio.device:
        return config.audio.device
    try:
        cards = CARDS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return "default" if "[" in cards else None


def ways(config: Config) -> Iterator[Way]:
    """All on, each one off, other periods, and all on again: what differs then is chance."""
    affinity = "auto" if config.process.affinity == "off" else config.process.affinity
    on = replace(config.process, memory_lock=True, realtime=True, affinity=affinity)
    period_ms = config.audio.period_ms
    yield Way(f"all on, period {period_ms} ms", on, period_ms)
    yield Way("memory lock off", replace(on, memory_lock=False), period_ms)
    yield Way("affinity off", replace(on, affinity="off"), period_ms)
    yield Way("SCHED_FIFO off", replace(on, realtime=False), period_ms)
    for other_ms in PERIODS_MS:
        if other_ms != period_ms:
            yield Way(f"period {other_ms} ms", on, other_ms)
    yield Way("all on, once more", on, period_ms)


def _measured(around: Surroundings, way: Way, seconds: float) -> Result:
    process = {
        "memory_lock": way.process.memory_lock,
        "realtime": way.process.realtime,
        "realtime_priority": way.process.realtime_priority,
        "affinity": way.process.affinity,
    }
    daemon = around.daemon(
        around.audio(way.period_ms), cache=NO_CACHES, process=process, governor={"enabled": False}
    )
    try:
        with caller(around.broker_port()) as client:
            client.watch_state()
            before = _state(client)
            if str(before.get("sink")).startswith("lost"):
                raise EdgedError(f"sound: {before['sink']}; a running daemon holds it: systemctl stop edged")
            heard = _speak(client, seconds)
            after = _state(client) or before
    finally:
        daemon.stop()
    found = heard.percentiles()
    if found is None:
        raise EdgedError(f"{way.name}: nothing was said in {seconds:g} s; give it more by --seconds")
    return Result(
        way.name,
        found.n,
        round(found.p50, 1),
        round(found.p95, 1),
        _difference(before, after, "xruns"),
        _difference(before, after, "underfills"),
        _refused(way, after),
    )


def _speak(client: Caller, seconds: float) -> Window:
    """From the publish call to the first sample, text after text; each is stopped when it has started."""
    heard = Window(10_000)
    deadline_s = 0.0
    for number, text in enumerate(cycle(texts(CHARS))):
        if number == WARM_UP:
            deadline_s = time.monotonic() + seconds
        if number >= WARM_UP and time.monotonic() > deadline_s:
            return heard
        time.sleep(PAUSE_S)
        sent = client.say(text)
        for event in client.events_of({sent.id}, EVENT_LIMIT_S):
            if event.kind is EventKind.STARTED and event.first_sample_ns is not None:
                if number >= WARM_UP:
                    heard.add((event.first_sample_ns - sent.published_ns) / 1e6)
                client.stop(sent.id)
    return heard


def _state(client: Caller) -> dict[str, Any]:
    """What the daemon says of itself now: the last of what comes within the limit."""
    deadline_s = time.monotonic() + STATE_LIMIT_S
    state: dict[str, Any] = {}
    while (left_s := deadline_s - time.monotonic()) > 0:
        state = client.next_state(left_s) or state
    return state


def _difference(before: dict[str, Any], after: dict[str, Any], key: str) -> int:
    return int(after.get(key) or 0) - int(before.get(key) or 0)


def _refused(way: Way, state: dict[str, Any]) -> str:
    """Rights that were asked for and not given: then there is nothing to compare."""
    refused = []
    if way.process.memory_lock and str(state.get("memory_lock", "")).startswith("not locked"):
        refused.append("memory lock")
    if way.process.realtime and not state.get("realtime"):
        refused.append("SCHED_FIFO")
    return f"not obtained: {', '.join(refused)}" if refused else ""


def table(results: Sequence[Result]) -> list[str]:
    """A line each, with the difference from the first; no colour."""
    base = results[0]
    lines = [f"{'':<24} {'first audio p50':>15} {'p95':>9} {'':>9} {'xruns':>6} {'':>5} {'underfills':>10}"]
    for result in results:
        p95 = f"{result.first_audio_ms_p95 - base.first_audio_ms_p95:+.1f}" if result is not base else ""
        xruns = f"{result.xruns - base.xruns:+d}" if result is not base else ""
        lines.append(
            f"{result.name:<24} {result.first_audio_ms_p50:>12.1f} ms {result.first_audio_ms_p95:>6.1f} ms "
            f"{p95:>9} {result.xruns:>6} {xruns:>5} {result.underfills:>10}  {result.remark}".rstrip()
        )
    chance = abs(results[-1].first_audio_ms_p95 - base.first_audio_ms_p95)
    lines.append(
        f"differences of p95 below {max(chance, 1.0):.1f} ms are chance: the first and the last line"
    )
    return lines


@contextmanager
def _busy(count: int) -> Iterator[None]:
    """So many processes that want a processor all the time."""
    processes = Processes()
    try:
        for _ in range(count):
            processes.start([sys.executable, "-c", SPIN], Path(os.devnull))
        yield
    finally:
        processes.stop()


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
