"""A process that speaks for a while through the real synth thread and device, with or without load.

Run by `edged bench` as `python -m edged.bench.player`, since the sound system reads its surroundings
once per process. Threads: those of the daemon (synth, keeper, audio), the main thread, which feeds
the queue and looks at the fill level, and with load one spinning in Python and one per core in
onnxruntime. Prints a Report as JSON; what the voice gives for the same texts, rendered afterwards,
goes to a file.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from edged.audio.keeper import Keeper
from edged.audio.sinks import Output, make_sink
from edged.bench.texts import texts
from edged.config.load import load
from edged.config.model import DEFAULT_ZONE, Config
from edged.daemon import SWITCH_INTERVAL_S
from edged.errors import EdgedError, SinkError
from edged.health import lock
from edged.health.counters import SynthCounters
from edged.queue.announcements import Announcements
from edged.queue.journal import Journal
from edged.queue.mailbox import Mailbox
from edged.render import NO_CACHE, render
from edged.studio import Studio
from edged.synth import Player, SynthThread
from edged.types import Announcement, Event, EventKind, Int16, Utterance
from edged.voice import heap, store
from edged.voice.engines._ort import Network
from edged.voice.engines.hibari import FRONT
from edged.voices import Voices, store_dir

OPEN_LIMIT_S = 15.0
SPEECH_LIMIT_S = 60.0
"""Longest wait for one more event."""
LOOK_S = 0.005
AHEAD = 1
"""Utterances in the queue beside the one being said, so that it never runs out of work."""
TEXT_CHARS = 60
"""About three seconds each."""
LOAD_IDS = 300
"""Phonemes a run of the loading networks: about a long sentence."""
SETTLE_S = 1.0


@dataclass(frozen=True, slots=True)
class Report:
    """What came of it."""

    voice: str
    level: str
    rate_hz: int
    sink: str
    realtime: bool
    memory_lock: bool
    audio_s: float
    utterances: int
    failed: int
    underfills: int
    underfill_frames: int
    xruns: int
    tap_equal: bool
    spins: int
    runs: int
    """Rounds of the spinning thread and of the loading networks."""
    fill: list[tuple[float, float]]
    """(ms since the first text was queued, ms of sound in the ring)."""
    lengths: list[int]
    """Samples of each utterance in the file."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is wanted."""

    config_file: str
    seconds: float
    load: bool
    rendered_file: str
    chars: int = TEXT_CHARS
    utterances_max: int | None = None
    """End after so many texts, whatever was said."""
    look: bool = False
    """Note the fill level all the while."""


class Load:
    """Threads that keep the interpreter and every core busy until the block ends."""

    def __init__(self, config: Config) -> None:
        self.spins = self.runs = 0
        self._ended = threading.Event()
        front = store.current(store_dir(config), config.voice.name).folder / FRONT
        networks = [Network(front) for _ in os.sched_getaffinity(0)]
        self._threads = [threading.Thread(target=self._spin, name="load spin")]
        self._threads += [
            threading.Thread(target=self._infer, args=(network,), name="load onnxruntime")
            for network in networks
        ]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _spin(self) -> None:
        while not self._ended.is_set():
            self.spins += 1

    def _infer(self, network: Network) -> None:
        ids = (np.arange(LOAD_IDS, dtype=np.int64) % 30 + 1)[None]
        while not self._ended.is_set():
            network(ids=ids, speed=np.ones(1, np.float32))
            self.runs += 1


def main(task: Task) -> Report:
    """Speak, then compare. Raises EdgedError."""
    config = load(Path(task.config_file))
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    heap.keep_freed_memory()
    lock.set_thread_stack()
    lock.set_affinity(config.process.affinity)
    locked = config.process.memory_lock and lock.lock_memory().ok
    voices = Voices(config, lambda _line: None)
    voice = voices.get(None)
    said: list[Announcement] = []
    fill: list[tuple[float, float]] = []
    events: list[Event] = []
    with ExitStack() as stack:
        speaker = Speaker(config, voices, tap_frames=_tap_frames(task, voice.engine.sample_rate_hz))
        stack.callback(speaker.stop)
        output = speaker.start()
        load_threads = stack.enter_context(Load(config)) if task.load else None
        time.sleep(SETTLE_S)
        for event in speaker.speak(
            islice(texts(task.chars), task.utterances_max), task.seconds, said, fill if task.look else None
        ):
            events.append(event)
    # All threads of the speaker have ended: this thread may read the tap and use the voice.
    played = output.ring.read_tap()
    counters = output.ring.counters()
    rendered = [_rendered(announcement, voices, config, output.info.sample_rate_hz) for announcement in said]
    whole = np.concatenate(rendered)
    whole.tofile(task.rendered_file)
    return Report(
        voice=voice.name,
        level=voice.engine.level,
        rate_hz=output.info.sample_rate_hz,
        sink=f"{output.info.kind}: {output.info.device}",
        realtime=output.info.realtime,
        memory_lock=locked,
        audio_s=sum(event.audio_s or 0.0 for event in events),
        utterances=len(said),
        failed=sum(event.kind is not EventKind.FINISHED for event in events),
        underfills=counters.underfills,
        underfill_frames=counters.underfill_frames,
        xruns=counters.device_underflows,
        tap_equal=not counters.tap_lost_frames and bool(np.array_equal(played, whole)),
        spins=load_threads.spins if load_threads else 0,
        runs=load_threads.runs if load_threads else 0,
        fill=fill,
        lengths=[samples.size for samples in rendered],
    )


def _tap_frames(task: Task, voice_rate_hz: int) -> int:
    """Room for all that is said, at up to twice the voice's rate, and the utterances over the limit."""
    return int((task.seconds + (AHEAD + 1) * task.chars / 8 + 10) * 2 * voice_rate_hz)


def _rendered(announcement: Announcement, voices: Voices, config: Config, rate_hz: int) -> Int16:
    cache = NO_CACHE
    blocks = render(announcement, voices.get(None), config, rate_hz, cache)
    return np.concatenate([block.samples for block in blocks])


class Speaker:
    """Keeper and synth thread around a queue, as the daemon builds them."""

    def __init__(self, config: Config, voices: Voices, tap_frames: int) -> None:
        self._config = config
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._mailbox = Mailbox(Announcements(config.queue.bound, (DEFAULT_ZONE,)))
        self._folder = tempfile.TemporaryDirectory(prefix="edged-bench-")
        self._journal = Journal(Path(self._folder.name) / "journal")
        self._keeper = Keeper(
            {DEFAULT_ZONE: make_sink(config.audio, config.process, tap_frames)},
            on_change=self._mailbox.wake,
            on_hang=_exit_hung,
            beat=lambda: None,
        )
        self._synth = SynthThread(
            [
                Player(
                    DEFAULT_ZONE,
                    lambda: self._keeper.current(DEFAULT_ZONE),
                    lambda: self._keeper.need(DEFAULT_ZONE),
                    lambda: str(self._keeper.state(DEFAULT_ZONE)),
                )
            ],
            self._mailbox,
            self._journal,
            Studio(
                voices.get,
                voices.for_language,
                voices.substitute,
                prompts=lambda _language: None,
                cache=NO_CACHE,
                phrases=None,
                report=lambda _what, _line: None,
            ),
            lambda: config,
            SynthCounters(),
            self._events.put,
            beat=lambda: None,
            trim=heap.trim,
            rest=lambda: None,
        )

    def start(self) -> Output:
        """Open the device, start the thread. Raises SinkError."""
        self._keeper.start()
        self._keeper.wait_known(OPEN_LIMIT_S)
        output = self._keeper.current(DEFAULT_ZONE)
        if output is None:
            raise SinkError(f"{self._keeper.state(DEFAULT_ZONE)}; name another with --device")
        self._output = output
        self._synth.start()
        return output

    def stop(self) -> None:
        """Let what is said end, then close."""
        self._synth.drain()
        if not self._synth.join(OPEN_LIMIT_S):
            self._synth.cut()
        self._keeper.stop()
        self._journal.close()
        self._folder.cleanup()

    def speak(
        self,
        source: Iterator[str],
        seconds: float,
        said: list[Announcement],
        fill: list[tuple[float, float]] | None,
    ) -> Iterator[Event]:
        """Queue texts until so much has been said; their final events. `said` and `fill` grow with it."""
        started_s = time.monotonic()
        audio_s = 0.0
        open_count = 0
        while True:
            while audio_s < seconds and open_count <= AHEAD and (text := next(source, None)):
                said.append(Announcement(id=str(len(said)), text=text))
                self.offer(said[-1])
                open_count += 1
            if not open_count:
                return
            event = self._next_final(started_s, fill)
            open_count -= 1
            audio_s += event.audio_s or 0.0
            yield event

    @property
    def speaks(self) -> bool:
        """Something is being said."""
        return self._synth.speaking is not None

    def next_event(self, kind: EventKind) -> Event:
        """Wait for one of a kind. Raises EdgedError when it ends otherwise, or nothing comes."""
        while True:
            try:
                event = self._events.get(timeout=SPEECH_LIMIT_S)
            except queue.Empty:
                raise self._silence() from None
            if event.kind is kind:
                return event
            if event.kind.is_final:
                raise EdgedError(f"announcement {event.id} ended as {event.kind.value}: {event.reason}")

    def offer(self, announcement: Announcement) -> None:
        """Queue it."""
        now_ns = time.monotonic_ns()
        deadline_ns = now_ns + int(self._config.queue.ttl_s * 1e9)
        self._mailbox.offer(Utterance(announcement, now_ns, deadline_ns), now_ns, 0.0)

    def _next_final(self, started_s: float, fill: list[tuple[float, float]] | None) -> Event:
        limit_s = time.monotonic() + SPEECH_LIMIT_S
        while time.monotonic() < limit_s:
            if fill is not None:
                fill.append((round(1000 * (time.monotonic() - started_s), 1), round(self._fill_ms(), 1)))
            try:
                event = self._events.get(timeout=SPEECH_LIMIT_S if fill is None else LOOK_S)
            except queue.Empty:
                continue
            if event.kind.is_final:
                return event
        raise self._silence()

    def _silence(self) -> EdgedError:
        return EdgedError(
            f"nothing was finished for {SPEECH_LIMIT_S:.0f} s, sound: {self._keeper.state(DEFAULT_ZONE)}; "
            "is this machine overloaded?"
        )

    def _fill_ms(self) -> float:
        return 1000 * self._output.ring.fill_frames / self._output.info.sample_rate_hz


def _exit_hung() -> None:
    """A sound device call that does not return cannot be undone inside this process."""
    print("the sound system hangs; run it again, or name another device with --device", file=sys.stderr)
    os._exit(1)


def _command_line(words: list[str]) -> int:
    fields: dict[str, Any] = json.loads(words[0])
    try:
        report = main(Task(**fields))
    except EdgedError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 1
    json.dump(asdict(report), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(_command_line(sys.argv[1:]))
