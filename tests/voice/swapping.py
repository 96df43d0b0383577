"""`python -m tests.voice.swapping STORE SWAPS`: exchanges two voices while the synth thread speaks.

A process of its own, because it is about memory. Prints what it found as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from edged.config.model import AudioConfig, CacheConfig, Config, VoiceConfig
from edged.health.sensors import Sensors
from edged.render import PcmCache, render
from edged.types import Announcement, EventKind, Int16
from edged.voice import heap
from edged.voices import Voices
from tests.daemon.test_synth import Board

NAMES = ("heart", "mind")
SETTLE_S = 0.5


def main(store: str, swaps: int) -> None:
    heap.keep_freed_memory()
    threading.stack_size(512 * 1024)
    config = Config(
        state_dir=store,
        voice=VoiceConfig(store=store, keep=1),
        audio=AudioConfig(lead_in_ms=0),
        cache=CacheConfig(pcm_kib=0),
    )
    lines: list[str] = []
    voices = Voices(config, lambda _line: None, lines.append)
    for name in NAMES:
        rendered("Ready.", name, config)
    with tempfile.TemporaryDirectory() as folder:
        board = Board(Path(folder))
        board.studio.voice = voices.get
        found = speak(board, voices, swaps, config)
    exchanged = sum("speaks from now on" in line for line in lines)
    print(json.dumps({**found, "exchanged": exchanged}))


def speak(board: Board, voices: Voices, swaps: int, config: Config) -> dict[str, object]:
    """How many utterances were heard as synthesized, which voices spoke them, memory after each tenth."""
    resident_mb = []
    during = said = equal = 0
    spoke: set[str] = set()
    for swap in range(swaps):
        board.heard["default"].clear()
        board.events.clear()
        texts: dict[str, str] = {}
        say(board, texts, f"Number {swap} goes on while the other voice is loaded.")
        board.turn(3)
        during += board.players[0].speech is not None
        voices.speak_with(NAMES[(swap + 1) % 2])
        while not voices.idle(0):
            board.turn(periods=1)
            time.sleep(0.001)
            if board.players[0].speech is None:
                say(board, texts, f"Still loading {len(texts)}.")
        board.finish()
        say(board, texts, f"Now it is me, {swap}.")
        board.finish()
        ends = [event for event in board.events if event.kind is EventKind.FINISHED]
        expected = [rendered(texts[event.id or ""], event.voice or "", config) for event in ends]
        said += len(texts)
        equal += len(ends) if are_all_heard(expected, board.sound()) else 0
        spoke |= {event.voice or "" for event in ends}
        if swap % (swaps // 10) == swaps // 10 - 1:
            time.sleep(SETTLE_S)
            heap.trim()
            resident_mb.append(Sensors().read().rss_mb or 0.0)
    return {
        "said": said,
        "heard_as_made": equal,
        "voices": sorted(spoke),
        "during": during,
        "resident_mb": resident_mb,
    }


def say(board: Board, texts: dict[str, str], text: str) -> None:
    texts[str(len(texts))] = text
    board.offer(text, id=str(len(texts) - 1))


def are_all_heard(expected: list[Int16], heard: Int16) -> bool:
    """One after the other, to the sample, with nothing but exact zeros between them."""
    at = 0
    for samples in expected:
        sound = np.trim_zeros(samples)
        at += int(np.argmax(heard[at:] != 0))
        if not np.array_equal(heard[at : at + sound.size], sound):
            return False
        at += sound.size
    return not heard[at:].any()


def rendered(text: str, name: str, config: Config) -> Int16:
    """The text by a voice that was loaded for this alone."""
    if name not in RENDERERS:
        alone = Config(state_dir=config.state_dir, voice=VoiceConfig(store=config.voice.store, name=name))
        RENDERERS[name] = Voices(alone, lambda _line: None)
    voice = RENDERERS[name].get(None)
    cache = PcmCache(0, lambda _key, samples: samples.nbytes)
    blocks = render(Announcement("", text), voice, config, voice.engine.sample_rate_hz, cache)
    return np.concatenate([block.samples for block in blocks])


RENDERERS: dict[str, Voices] = {}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
