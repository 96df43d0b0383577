"""The long run: mixed announcements, voices and reloads; nothing may grow and nothing become slower.

One announcement at a time, so that the first-audio figure has no queue in it. Every hundred has the
same lengths and the same changes, so that the first and the last of them can be compared.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from edged.bench.services import LOOPBACK, RATE_HZ, Processes
from edged.bench.texts import texts
from edged.config.model import MqttConfig
from edged.errors import EdgedError, VoiceError
from edged.mqtt.caller import Caller
from edged.mqtt.topics import Topics
from edged.types import Event, EventKind
from edged.voice import store as voice_store
from tests.broker import Broker, Listener
from tests.daemon.harness import Daemon
from tests.pulse import SoundServer
from tests.soak.board import AUDIO, BASE, fds_and_threads, rss_mib
from tests.soak.faults import RSS_LIMIT_MB, Progress

BLOCK = 100
"""Announcements after which memory, descriptors and threads are looked at."""
LONGEST_CHARS = 400
SWAP_EVERY, RELOAD_EVERY = 25, 20
SPEED = 2.0
HEARD_S = 1.0
"""An announcement is stopped so long after it was published ..."""
TO_THE_END_EVERY = 10
"""... except every tenth."""
PAUSE_S = (0.03, 0.12)
SETTLE_S = 2.5
"""A second of silence, then the daemon collects its garbage and gives memory back."""
EVENT_LIMIT_S = 120.0
VOICE_LIMIT_S = 60.0
SLOWER_LIMIT = 1.2
FDS_LIMIT, THREADS_LIMIT = 2, 1
"""More than after the first block that are no growth: a voice being let go, a connection just opened."""
TEXTS_IN = ("en", "zh")
CHINESE = (
    *("厨房的窗户还开着", "洗衣机已经洗完了", "客厅现在有二十六度", "门口有人在等你", "水泵停止工作了"),
    *("今天下午三点有雨", "车库门没有关好", "晚饭准备好了", "请把孩子的书包带上", "电池还剩百分之十五"),
)


@dataclass(frozen=True, slots=True)
class Run:
    """What is asked for."""

    announcements: int
    seed: int
    voice: str
    store: Path


@dataclass(frozen=True, slots=True)
class Speaker:
    """A voice by its name and the language its texts are in."""

    name: str
    language: str


@dataclass(frozen=True, slots=True)
class Look:
    """The daemon's process after a block."""

    after: int
    rss_mb: float
    fds: int
    threads: int


@dataclass(slots=True)
class Heard:
    """What came of all of them."""

    first_audio_ms: list[float] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    looks: list[Look] = field(default_factory=list)
    swaps: int = 0
    reloads: int = 0
    underfills: int = 0
    underfilled: list[str] = field(default_factory=list)
    """Those said to their end in which the ring ran short; a stopped one does not tell."""
    languages: int = 1
    """Of the voices."""

    def end(self, event: Event, text: str) -> None:
        """Count how one ended."""
        if event.underfills:
            load = os.getloadavg()[0]
            self.underfilled.append(f"{len(text)} characters, {event.voice}, load {load:.1f}")
        self.ends["stopped" if event.reason == "stopped" else event.kind.value] += 1


def speakers(wanted: Run, tell: Progress) -> tuple[list[Speaker], str]:
    """The wanted voice and a second one, of another language where one is installed; and that in words."""
    first = Speaker(wanted.voice, voice_store.current(wanted.store, wanted.voice).language)
    others = []
    for name in voice_store.installed(wanted.store):
        try:
            other = Speaker(name, voice_store.current(wanted.store, name).language)
        except VoiceError as error:
            tell(str(error))
            continue
        if name != wanted.voice and other.language[:2] in TEXTS_IN:
            others.append(other)
    foreign = [other for other in others if other.language[:2] != first.language[:2]]
    if foreign:
        other = foreign[0]
        return [first, other], f"{first.name} ({first.language}) and {other.name} ({other.language})"
    if others:
        other = others[0]
        said = f"{first.name} and {other.name}: no voice of a second language in {wanted.store}"
        return [first, other], said
    return [first], f"{first.name} alone: no second voice in {wanted.store}, so none is exchanged"


def run(wanted: Run, folder: Path, tell: Progress) -> tuple[dict[str, object], list[str]]:
    """The whole run: its figures, and what was not as it must be; `folder` keeps the logs."""
    chosen, said = speakers(wanted, tell)
    tell(said)
    broker, sound = Broker(folder / "broker"), SoundServer(RATE_HZ, 1)
    daemon = Daemon(
        folder,
        broker.port,
        BASE,
        voice={"name": wanted.voice, "store": str(wanted.store), "keep": 1, "speed": SPEED},
        env=sound.env,
        audio={**AUDIO, "volume": 1.0},
        process={"memory_lock": True},
    )
    heard = Heard(languages=len({speaker.language[:2] for speaker in chosen}))
    interrupts = Processes().interrupts
    with interrupts:
        try:
            with interrupts.held():
                broker.start()
                sound.start()
                daemon.start()
            mqtt = MqttConfig(host=LOOPBACK, port=broker.port, base=BASE)
            with (
                Caller(mqtt, Topics("test", mqtt)) as client,
                Listener(broker.port, f"{BASE}/state") as state,
            ):
                _announce(wanted, chosen, client, daemon, heard, tell)
                heard.underfills = json.loads(state.last(f"{BASE}/state") or b"{}")["underfills"]
        finally:
            with interrupts.held():
                daemon.kill()
                sound.close()
                broker.stop()
    return _figures(wanted, said, heard)


def _announce(
    wanted: Run, chosen: Sequence[Speaker], client: Caller, daemon: Daemon, heard: Heard, tell: Progress
) -> None:
    source = random.Random(wanted.seed)
    made = {
        speaker.language: mixed_texts(speaker.language, wanted.announcements, wanted.seed)
        for speaker in chosen
    }
    speaker = chosen[0]
    for number in range(wanted.announcements):
        if number and number % SWAP_EVERY == 0 and len(chosen) > 1:
            speaker = chosen[number // SWAP_EVERY % len(chosen)]
            if client.use_voice(speaker.name, VOICE_LIMIT_S) is None:
                raise EdgedError(f"voice {speaker.name} was not exchanged within {VOICE_LIMIT_S:.0f} s")
            heard.swaps += 1
        if number % RELOAD_EVERY == RELOAD_EVERY // 2:
            _reload(daemon, number // RELOAD_EVERY)
            heard.reloads += 1
        time.sleep(source.uniform(*PAUSE_S))
        text = made[speaker.language][number]
        _say(client, text, number % TO_THE_END_EVERY == 0, heard)
        if (number + 1) % BLOCK == 0 or number + 1 in (wanted.announcements, _early(wanted)):
            heard.looks.append(_look(daemon, number + 1))
            tell(str(heard.looks[-1]))


def _say(client: Caller, text: str, to_the_end: bool, heard: Heard) -> None:
    """Say it to its end, or stop it HEARD_S after it was published, but not before it has begun."""
    sent, heard_until_s = client.say(text), time.monotonic() + HEARD_S
    for event in client.events_of({sent.id}, EVENT_LIMIT_S):
        if event.kind.is_final:
            heard.end(event, text)
            return
        if event.kind is EventKind.STARTED:
            heard.first_audio_ms.append(event.first_audio_ms or 0.0)
            break
    first_s = EVENT_LIMIT_S if to_the_end else max(0.0, heard_until_s - time.monotonic())
    for limit_s in (first_s, EVENT_LIMIT_S):
        for event in client.events_of({sent.id}, limit_s):
            if event.kind.is_final:
                heard.end(event, text)
                return
        client.stop(sent.id)
    raise EdgedError(f"{text[:20]!r} did not end within {EVENT_LIMIT_S:.0f} s")


def mixed_texts(language: str, count: int, seed: int) -> list[str]:
    """One for each number, 1 to LONGEST_CHARS characters, short ones more often, equal lengths in a block."""
    source = random.Random(f"{seed} {language}")
    lengths = np.geomspace(1, LONGEST_CHARS, BLOCK).round().astype(int).tolist()
    clauses = texts(LONGEST_CHARS)
    made: list[str] = []
    while len(made) < count:
        source.shuffle(lengths)
        for chars in lengths:
            number = str(len(made))
            if language.startswith("zh"):
                said = "，".join(source.choices(CHINESE, k=1 + chars // 6))
                made.append(f"{said[: max(1, chars - 1)]}。" if chars > 1 else number[-1])
            else:
                made.append(f"{number[::-1]} {next(clauses)} {next(clauses)}"[:chars])
    return made


def _reload(daemon: Daemon, turn: int) -> None:
    """A changed file, an unusable one with the signal, and the good one with the signal again."""
    if turn % 3 == 1:
        daemon.config_file.write_text("audio: {volume: loud}\n")
    else:
        daemon.sections["audio"]["volume"] = 0.8 + 0.1 * (turn % 2)
        daemon.write_config()
    if turn % 3:
        daemon.signal(signal.SIGHUP)


def _look(daemon: Daemon, after: int) -> Look:
    time.sleep(SETTLE_S)
    assert daemon.process is not None
    pid = daemon.process.pid
    if daemon.process.poll() is not None:
        raise EdgedError(f"the daemon has ended: {daemon.log().strip().splitlines()[-1]}")
    return Look(after, round(rss_mib(pid) or 0.0, 2), *fds_and_threads(pid))


def _early(wanted: Run) -> int:
    """The announcement after which nothing may grow: the hundredth, in a short run the middle one."""
    return min(BLOCK, max(1, wanted.announcements // 2))


def _figures(wanted: Run, said: str, heard: Heard) -> tuple[dict[str, object], list[str]]:
    early = next(look for look in heard.looks if look.after == _early(wanted))
    last = heard.looks[-1]
    part = _early(wanted)
    first_p95, last_p95 = (float(np.percentile(ms, 95)) for ms in _ends_of(heard.first_audio_ms, part))
    ratio = last_p95 / first_p95
    wrong = [
        *_grew("memory", last.rss_mb - early.rss_mb, RSS_LIMIT_MB, "MiB"),
        *_grew("open files", last.fds - early.fds, FDS_LIMIT, ""),
        *_grew("threads", last.threads - early.threads, THREADS_LIMIT, ""),
        *_grew("first audio, p95", round(ratio, 2), SLOWER_LIMIT, f"times that of the first {part}"),
        *([f"{heard.underfills} underfills"] if heard.underfills else []),
        *([f"{len(heard.underfilled)} with underfills"] if heard.underfilled else []),
        *(f"{count} {end}" for end, count in heard.ends.items() if end not in ("finished", "stopped")),
        *([] if len(heard.first_audio_ms) == wanted.announcements else ["some never began"]),
        *([] if heard.languages > 1 else ["no voice of a second language is installed"]),
    ]
    return {
        "mode": "long",
        "announcements": wanted.announcements,
        "seed": wanted.seed,
        "voices": said,
        "sink": "alsa, a PulseAudio that plays to nowhere in real time",
        "speed": SPEED,
        "faster_by": f"stopped after {HEARD_S:g} s of sound, but every {TO_THE_END_EVERY}th said to its end",
        "ends": dict(heard.ends),
        "voice_swaps": heard.swaps,
        "reloads": heard.reloads,
        "underfills": heard.underfills,
        "underfilled": heard.underfilled,
        "rss_growth_mb": round(last.rss_mb - early.rss_mb, 2),
        "fds": [early.fds, last.fds],
        "threads": [early.threads, last.threads],
        "first_audio_p95_ms": [round(first_p95, 2), round(last_p95, 2)],
        "first_audio_p95_ratio": round(ratio, 3),
        "rss_mb": {str(look.after): look.rss_mb for look in heard.looks},
    }, wrong


def _ends_of(values: Sequence[float], count: int) -> Iterator[Sequence[float]]:
    yield values[:count]
    yield values[-count:]


def _grew(what: str, by: float, limit: float, unit: str) -> list[str]:
    return [f"{what}: {by:.2f} {unit}, at most {limit:g} are right".replace(" ,", ",")] if by > limit else []
