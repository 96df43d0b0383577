"""The timing process of `edged voice measure`: one level, one number of threads, several schedules.

Its argument is the task as JSON; each row it has measured goes to standard output as a line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

from edged.errors import EdgedError
from edged.health.sensors import Sensors
from edged.voice import heap, ladder
from edged.voice import store as voice_store
from edged.voice.load import LoadedVoice, Setting, load_voice, trial_text
from edged.voices import front_end

SCHEDULES = ((8, 16, 32, 64, 96), (8, 28, 64), (16, 32, 64, 96), (32, 64, 96))
"""Frames of the first chunks; the last number repeats."""

TEXTS: tuple[str, ...] = (
    "Dinner will be ready in a bit.",
    "The garage door has been open for ten minutes, and it is getting cold in there.",
    "When the train finally reached the station after a long delay in the mountains, the passengers stepped"
    " out into the cold evening air, gathered their bags and coats, and walked slowly toward the small cafe"
    " on the other side of the square, where somebody had already lit the lamps and put the kettle on to"
    " boil.",
)
"""Of ladder.TEXT_CHARS characters, about."""


def main(task: dict[str, object]) -> None:
    """Print a row a schedule."""
    heap.keep_freed_memory()
    store, name = Path(str(task["store"])), str(task["name"])
    setting = Setting(str(task["level"]), int(str(task["threads"])))
    voice = load_voice(store, name, 0, front_end, lambda _manifest: setting)
    texts = TEXTS
    if voice.language == "zh" or not all(voice.phonemize(text).speakable for text in texts):  # other letters
        known = f"{trial_text(voice_store.current(store, name))} "
        texts = tuple((known * 20)[:chars] for chars in ladder.TEXT_CHARS)
    for chunks in SCHEDULES:
        voice.use_chunks(chunks)
        row = _measured(voice, setting, chunks, texts, int(str(task["repeat"])))
        print(json.dumps(asdict(row)), flush=True)


def _measured(
    voice: LoadedVoice, setting: Setting, chunks: tuple[int, ...], texts: tuple[str, ...], repeat: int
) -> ladder.Row:
    runs = [[_run(voice, text, seed) for seed in range(repeat)] for text in texts]
    heap.trim()
    memory = Sensors().read()
    return ladder.Row(
        level=setting.level,
        threads=setting.threads,
        chunks=chunks,
        first_audio_ms=tuple(round(min(run[0] for run in of), 2) for of in runs),
        rtf=round(min(run[1] / run[2] for run in runs[-1]), 5),
        tolerance=round(max(run[3] for run in runs[-1]), 2),
        rss_mb=memory.rss_mb or 0.0,
        private_dirty_mb=memory.private_dirty_mb or 0.0,
        distance_db=voice.distance_db,
    )


def _run(voice: LoadedVoice, text: str, seed: int) -> tuple[float, float, float, float]:
    """(ms to the first chunk, seconds in all, seconds of sound, how many times slower it may become)."""
    begun_s = time.monotonic()
    first_s, made_s, slower = 0.0, 0.0, float("inf")
    for chunk in voice.engine.stream(voice.phonemize(text), 1.0, seed):
        now_s = time.monotonic()
        if made_s:
            slower = min(slower, made_s / (now_s - first_s))
        else:
            first_s = now_s
        made_s += chunk.samples.size / chunk.sample_rate_hz
    spent_s = time.monotonic() - begun_s
    return 1000 * (first_s - begun_s), spent_s, made_s, float(np.minimum(slower, 1000.0))


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]))
    except EdgedError as fault:
        sys.exit(str(fault))
