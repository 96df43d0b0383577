"""The C core under two threads: with sanitizers in C, and from Python through the installed module."""

from __future__ import annotations

import random
import shutil
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from edged.audio.ring import Ring

CORE = Path(__file__).parents[2] / "edged" / "audio" / "_rt"
STRESS = Path(__file__).with_name("stress.c")
SANITIZERS = {"thread": "thread", "memory": "address,undefined"}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_in_c_with_sanitizers(tmp_path: Path, compiler: str, sanitizer: str) -> None:
    assert shutil.which(compiler), f"{compiler} is missing"
    binary = tmp_path / "stress"
    flags = ["-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fno-sanitize-recover=all"]
    flags += [f"-fsanitize={SANITIZERS[sanitizer]}", f"-I{CORE}"]
    sources = [str(STRESS), str(CORE / "core.c")]
    subprocess.run([compiler, *flags, *sources, "-o", str(binary), "-lpthread", "-lm"], check=True)
    ran = subprocess.run([str(binary), "1.0", "7"], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "stream:" in ran.stdout
    assert "cut:" in ran.stdout


MARKS_WAITING = 1000


def test_from_python() -> None:
    """The same as in C: a counter goes through in random blocks, nothing lost, doubled or reordered."""
    ring = Ring(period_frames=100, channels=1, rate_hz=24000, capacity_frames=3000, tap_frames=1 << 18)
    heard: list[int] = []
    stop = threading.Event()

    def read() -> None:
        randomly = random.Random(1)
        while not stop.is_set():
            block = ring.render(randomly.randrange(700))
            heard.extend(block[: ring.sounding_frames].tolist())

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    randomly = random.Random(2)
    written, tags = 0, 0
    taken: list[int] = []
    end_s = time.monotonic() + 1.5
    while time.monotonic() < end_s:
        count = randomly.randrange(1, 700)
        room = tags - len(taken) < MARKS_WAITING  # a reader that is not scheduled reports none
        if (ring.capacity_frames - ring.fill_frames) and room and randomly.randrange(3) == 0:
            ring.mark(tags)
            tags += 1
        written += ring.write((np.arange(written, written + count) % 30000 + 1).astype(np.int16))
        taken += [mark.tag for mark in ring.taken()]
    ring.feeding(False)
    deadline_s = time.monotonic() + 10
    while (len(taken) < tags or ring.fill_frames) and time.monotonic() < deadline_s:
        taken += [mark.tag for mark in ring.taken()]
        time.sleep(0.001)
    stop.set()
    thread.join()
    expected = (np.arange(written) % 30000 + 1).astype(np.int16)
    assert written > 30000
    assert np.array_equal(np.array(heard, np.int16), expected)
    assert taken == list(range(tags))
    counters = ring.counters()
    assert counters.frames_played == written
    assert np.array_equal(ring.read_tap(), expected[: expected.size - counters.tap_lost_frames])
