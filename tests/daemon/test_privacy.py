"""With privacy.wipe nothing of what was said can be found in the daemon's memory afterwards."""

from __future__ import annotations

import re
import wave
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.broker import Listener
from tests.daemon.harness import Daemon

TEXT = "The door of the north entrance has been opened."
WINDOW_FRAMES = 64
FILE_BUFFER_FRAMES = 8192
"""The file of the wav sink keeps what it wrote last until more is written."""


def memory_of(pid: int) -> Iterator[bytes]:
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    with Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
        for line in maps:
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if found is None:
                continue
            begin, end = (int(number, 16) for number in found.groups())
            memory.seek(begin)
            try:
                yield memory.read(end - begin)
            except OSError:  # device memory
                continue


def found_in_memory(daemon: Daemon) -> int:
    """How many stretches of what was played are there, of those looked for."""
    with wave.open(str(daemon.folder / "out.wav")) as wav:
        played = np.frombuffer(wav.readframes(wav.getnframes()), np.int16)
    loud = np.flatnonzero(np.abs(played[:-FILE_BUFFER_FRAMES]) > 1000)[:: 50 * WINDOW_FRAMES]
    assert loud.size > 5
    windows = [played[at : at + WINDOW_FRAMES].tobytes() for at in loud]
    assert daemon.process is not None
    return sum(any(window in piece for window in windows) for piece in memory_of(daemon.process.pid))


@pytest.mark.parametrize("wipe", [True, False])
def test_what_was_said_is_overwritten(
    start: Callable[..., Daemon], listen: Listener, base: str, wipe: bool
) -> None:
    daemon = start(privacy={"wipe": wipe}, cache={"pcm_max_chars": 1000})
    listen.publish(f"{base}/say", f'{{"text": "{TEXT}", "id": "a"}}')
    listen.wait_event(base, "finished", 30, id="a")
    assert (found_in_memory(daemon) == 0) is wipe
    said = (TEXT.encode(), TEXT.encode("utf-16-le"))
    assert daemon.process is not None
    if wipe:
        assert not any(text in piece for piece in memory_of(daemon.process.pid) for text in said)
    assert TEXT not in daemon.log()
