"""What the allocator gives back, also where memory is locked (which the kernel otherwise prevents)."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from edged.health.lock import lock_memory
from edged.voice import heap

def field(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":")) // 1024

heap.keep_freed_memory()
if sys.argv[1] == "locked":
    assert lock_memory().ok, lock_memory().text
blocks = [np.ones(40_000, np.uint8) for _ in range(3000)]
kept = blocks[::500]
full = field("VmRSS")
del blocks
heap.trim()
print(full - field("VmRSS"), field("VmLck"))
"""


@pytest.mark.parametrize("state", ["locked", "unlocked"])
def test_freed_memory_goes_back_to_the_system(state: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, state], check=True, capture_output=True, text=True, timeout=60
    )
    returned_mb, locked_mb = map(int, done.stdout.split())
    assert returned_mb > 80
    assert (locked_mb > 0) is (state == "locked")
