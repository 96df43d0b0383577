"""A process that speaks all the while and exchanges the voice under it, again and again.

Run by `edged bench --voice` as `python -m edged.bench.swaps`. Threads: those of the daemon (synth, keeper,
loader) and the main thread, which queues texts and wishes for the other level. Everything that the device
takes is kept and compared, at the end, with what each level gives for the same texts. Prints a Swapped as
JSON.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from edged.audio.sinks import Output
from edged.bench.alignment import compare
from edged.bench.player import Speaker
from edged.bench.texts import texts
from edged.config.load import load
from edged.config.model import Config
from edged.daemon import SWITCH_INTERVAL_S
from edged.errors import EdgedError
from edged.health import lock
from edged.health.sensors import Sensors
from edged.render import NO_CACHE, render
from edged.types import Announcement, EventKind, Int16, Voice
from edged.voice import heap
from edged.voice.load import LoadedVoice, Setting, load_voice
from edged.voices import Voices, front_end, store_dir

TEXT_CHARS = 30
TEXT_S = 8.0
"""Longer than any text of so many characters."""
LOOKS = 8
SETTLE_S = 0.5
"""Until the voice before has gone."""
TIDY_S = 1.5
"""And then until the synth thread has given back what it worked with."""
LOAD_LIMIT_S = 30.0


@dataclass(frozen=True, slots=True)
class Swapped:
    """What came of it. `during`: exchanges that were wished for while something was being said."""

    said: int
    lost_samples: int
    during: int
    exchanged: int
    voices_left: int
    """Beside the one that speaks, at most: exchanged, and still in memory after the last word was said."""
    resident_mb: list[float]


def main(config_file: str, levels: Sequence[str], swaps: int) -> Swapped:
    """Speak and exchange, then compare. Raises EdgedError."""
    config = load(Path(config_file))
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    heap.keep_freed_memory()
    lock.set_thread_stack()
    lines: list[str] = []
    voices = Voices(config, lambda _line: None, lines.append)
    speaker = Speaker(config, voices, int((swaps + 1) * TEXT_S * (config.audio.rate_hz or 0)))
    try:
        output = speaker.start()
        said, spoke, during, looks = _swapped(speaker, voices, config.voice.name, levels, swaps)
    finally:
        speaker.stop()
    aside = {level: _loaded(config, level) for level in levels}
    expected = [
        _rendered(text, aside[level], config, output) for text, level in zip(said, spoke, strict=True)
    ]
    lost = compare(expected, output.ring.read_tap()).lost_frames
    exchanged = sum("speaks from now on" in line for line in lines)
    left = max(look.voices for look in looks) - 1
    return Swapped(len(said), lost, during, exchanged, left, [look.resident_mb for look in looks])


@dataclass(frozen=True, slots=True)
class _Look:
    """A moment of silence."""

    voices: int
    resident_mb: float


def _look() -> _Look:
    time.sleep(SETTLE_S)
    voices = sum(isinstance(thing, LoadedVoice) for thing in gc.get_objects())
    time.sleep(TIDY_S)
    heap.trim()
    return _Look(voices, Sensors().read().rss_mb or 0.0)


def _swapped(
    speaker: Speaker, voices: Voices, name: str, levels: Sequence[str], swaps: int
) -> tuple[list[str], list[str], int, list[_Look]]:
    """Texts, the level that said each, exchanges under speech, and looks in the silence after some."""
    source = texts(TEXT_CHARS)
    said: list[str] = []
    spoke: list[str] = []
    looks: list[_Look] = []
    during = 0
    step = max(2, swaps // LOOKS // 2 * 2)  # of two: always the same level
    for swap in range(swaps):
        said.append(next(source))
        speaker.offer(Announcement(id=str(swap), text=said[-1]))
        speaker.next_event(EventKind.STARTED)
        voices.speak_with(name, levels[(swap + 1) % 2])
        if not voices.idle(LOAD_LIMIT_S):
            raise EdgedError(f"voice {name} was not loaded within {LOAD_LIMIT_S:.0f} s")
        during += speaker.speaks
        spoke.append(speaker.next_event(EventKind.FINISHED).level or "")
        if swap % step == step - 1:
            looks.append(_look())
    return said, spoke, during, looks


def _loaded(config: Config, level: str) -> Voice:
    """The voice in one level, for this alone."""
    setting = Setting(level, config.voice.threads)
    return load_voice(store_dir(config), config.voice.name, 0, front_end, lambda _manifest: setting)


def _rendered(text: str, voice: Voice, config: Config, output: Output) -> Int16:
    blocks = render(Announcement("", text), voice, config, output.info.sample_rate_hz, NO_CACHE)
    return np.concatenate([block.samples for block in blocks])


if __name__ == "__main__":
    try:
        print(json.dumps(asdict(main(**json.loads(sys.argv[1])))))
    except EdgedError as error:
        sys.exit(" ".join(str(error).split()))
