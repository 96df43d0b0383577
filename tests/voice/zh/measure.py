"""Times the installed voice: `python -m tests.voice.zh.measure STORE`, each level in a process of its own.

From ids to the first chunk and to the last one, of 30 characters, one thread: wall-clock and CPU time,
median of 15 runs after one that warms up. `in one run` is the largest of them all. Memory is the
process's: Python, numpy, onnxruntime and the voice, without a text front end.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from edged.health.sensors import Sensors
from edged.types import PhonemeIds
from edged.voice import heap, store
from edged.voice.engines.fastspeech2 import FastSpeech2Engine, open_engine
from tests.voice.zh import pinyin

RUNS = 15


def run(engine: FastSpeech2Engine, ids: PhonemeIds) -> tuple[float, float, float, float, float]:
    """Wall ms and CPU ms to the first chunk, wall s and CPU s in all, seconds of sound."""
    wall_s, cpu_s, first, samples = time.perf_counter(), time.process_time(), (0.0, 0.0), 0
    for chunk in engine.stream(ids, 1.0):
        if not samples:
            first = 1000 * (time.perf_counter() - wall_s), 1000 * (time.process_time() - cpu_s)
        samples += chunk.samples.size
    return (*first, time.perf_counter() - wall_s, time.process_time() - cpu_s, samples / 24_000)


def measure(folder: Path, level: str) -> None:
    heap.keep_freed_memory()
    engine = open_engine(store.current(folder, "zh-baker"), level, 1)
    ids = PhonemeIds(pinyin.ids(pinyin.MEETING), pinyin.MEETING)
    run(engine, ids)
    figures = np.array([run(engine, ids) for _ in range(RUNS)])
    first_ms, first_cpu_ms, spent_s, cpu_s, length_s = map(statistics.median, figures.T)
    memory = Sensors().read()
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{level}: first audio {first_ms:.1f} ms (CPU {first_cpu_ms:.1f}, largest {figures[:, 0].max():.1f}),"
        f" RTF {spent_s / length_s:.4f} (CPU {cpu_s / length_s:.4f},"
        f" largest {figures[:, 2].max() / length_s:.4f}), {length_s:.2f} s of sound,"
        f" peak RSS {peak_mb:.0f} MB, private dirty {memory.private_dirty_mb:.0f} MB"
    )


if __name__ == "__main__":
    if len(sys.argv) > 2:
        measure(Path(sys.argv[1]), sys.argv[2])
    else:
        for name in store.current(Path(sys.argv[1]), "zh-baker").levels:
            command = [sys.executable, "-m", "tests.voice.zh.measure", sys.argv[1], name]
            subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
