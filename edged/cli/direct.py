"""`edged say --direct | --wav | --stdout`: the voice in this process, without daemon and broker."""

from __future__ import annotations

import argparse
import queue
import sys
import tempfile
import time
import wave
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np

from edged.audio.keeper import Keeper
from edged.audio.sinks import make_sink
from edged.cli.report import figures
from edged.config.load import find, load
from edged.config.model import DEFAULT_ZONE, Config
from edged.errors import EdgedError, SinkError
from edged.health.counters import SynthCounters
from edged.prompts import prompt_file
from edged.queue.announcements import Announcements
from edged.queue.journal import Journal
from edged.queue.mailbox import Mailbox
from edged.render import NO_CACHE, render
from edged.studio import Studio
from edged.synth import Player, SynthThread
from edged.types import Announcement, Event, EventKind, Int16, Utterance
from edged.voices import Voices, state_dir

OPEN_LIMIT_S = 15.0
LOOK_AGAIN_S = 0.3


def say_directly(args: argparse.Namespace, announcements: Iterator[Announcement]) -> int:
    """Speak each announcement here; 0 when all were spoken."""
    config = load(find(args.config))
    if args.voice:
        config = replace(config, voice=replace(config.voice, name=args.voice))
    voices = Voices(config, _progress, no_other=args.voice is not None)
    if args.wav:
        return _to_wav(args.wav, announcements, voices, config)
    if args.stdout:
        if sys.stdout is None:
            raise EdgedError("standard output is closed; give it a pipe or a file")
        for samples in _samples(announcements, voices, config):
            sys.stdout.buffer.write(samples.tobytes())
        return 0
    return _to_device(announcements, voices, config, args.timeout)


def _progress(line: str) -> None:
    if sys.stderr.isatty():
        print(line, file=sys.stderr)


def _samples(announcements: Iterator[Announcement], voices: Voices, config: Config) -> Iterator[Int16]:
    """Blocks of all announcements at the rate of the default voice, with the sentence pause between them."""
    voice = voices.get(None)
    rate_hz = voice.engine.sample_rate_hz
    pause = np.zeros(0, np.int16)
    for announcement in announcements:
        for block in render(
            *(announcement, voice, config, rate_hz, NO_CACHE),
            more=voices.ready(announcement.text, announcement.lang),
        ):
            if pause.size and block.samples.size:
                yield pause
                pause = pause[:0]
            yield block.samples
        pause = np.zeros(config.audio.sentence_pause_ms * rate_hz // 1000, np.int16)


def _to_wav(file: Path, announcements: Iterator[Announcement], voices: Voices, config: Config) -> int:
    voice = voices.get(None)
    frames, started_s, first_s = 0, time.monotonic(), 0.0
    try:
        with file.open("wb") as raw, wave.open(raw, "wb") as wav:
            wav.setnchannels(1)
            wav.setsampwidth(2)
            wav.setframerate(voice.engine.sample_rate_hz)
            for samples in _samples(announcements, voices, config):
                if samples.size and not frames:
                    first_s = time.monotonic() - started_s
                frames += samples.size
                wav.writeframes(samples.tobytes())
    except OSError as error:
        raise EdgedError(f"{file}: {error.strerror}; name a file in a folder you may write to") from None
    audio_s = frames / voice.engine.sample_rate_hz
    if not frames:
        print(f"{file}: nothing to speak")
        return 0
    first_ms, rtf = 1000 * first_s, (time.monotonic() - started_s) / audio_s
    print(f"{file}: voice {voice.name}, first chunk {first_ms:.1f} ms, {audio_s:.2f} s, RTF {rtf:.4f}")
    return 0


def _to_device(
    announcements: Iterator[Announcement], voices: Voices, config: Config, timeout_s: float
) -> int:
    """The daemon's own path from the queue on, so that what is heard is what the daemon would say."""
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    mailbox = Mailbox(Announcements(config.queue.bound, (DEFAULT_ZONE,)))
    failed = 0
    with ExitStack() as stack:
        keeper = Keeper(
            {DEFAULT_ZONE: make_sink(config.audio, config.process)},
            on_change=mailbox.wake,
            on_hang=lambda: None,
            beat=lambda: None,
        )
        stack.callback(keeper.stop)
        keeper.start()
        if not keeper.wait_known(OPEN_LIMIT_S) or keeper.current(DEFAULT_ZONE) is None:
            raise SinkError(f"{keeper.state(DEFAULT_ZONE)}; name a device in audio.device, or use --wav FILE")
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="edged-"))
        synth = SynthThread(
            [
                Player(
                    DEFAULT_ZONE,
                    lambda: keeper.current(DEFAULT_ZONE),
                    lambda: keeper.need(DEFAULT_ZONE),
                    lambda: str(keeper.state(DEFAULT_ZONE)),
                )
            ],
            mailbox,
            Journal(Path(folder) / "journal"),
            Studio(
                voices.get,
                voices.for_language,
                voices.substitute,
                lambda language: prompt_file(language, state_dir(config)),
                NO_CACHE,
                None,
                lambda _what, line: print(line, file=sys.stderr),
            ),
            lambda: config,
            SynthCounters(),
            events.put,
            beat=lambda: None,
            trim=lambda: None,
            rest=lambda: None,
        )
        stack.callback(synth.join, 2.0)
        stack.callback(synth.cut)
        synth.start()
        for number, announcement in enumerate(announcements):
            now_ns = time.monotonic_ns()
            named = replace(announcement, id=announcement.id or str(number), zone=None)
            ttl_s = announcement.ttl_s or config.queue.ttl_s
            for event in mailbox.offer(Utterance(named, now_ns, now_ns + int(ttl_s * 1e9)), now_ns, 0.0):
                events.put(event)
            event = _final(events, keeper, now_ns + int(timeout_s * 1e9))
            failed += event.kind is not EventKind.FINISHED
            print(figures(event), file=sys.stderr if config.audio.sink == "stdout" else sys.stdout)
    return 1 if failed else 0


def _final(events: queue.SimpleQueue[Event], keeper: Keeper, until_ns: int) -> Event:
    """The announcement's end. Raises SinkError where the device is lost or takes too long."""
    while time.monotonic_ns() < until_ns:
        try:
            event = events.get(timeout=LOOK_AGAIN_S)
        except queue.Empty:
            if keeper.current(DEFAULT_ZONE) is None:
                raise SinkError(f"{keeper.state(DEFAULT_ZONE)}; not spoken to its end") from None
            continue
        if event.kind.is_final:
            return event
    raise SinkError(f"{keeper.state(DEFAULT_ZONE)}: not spoken within --timeout")
