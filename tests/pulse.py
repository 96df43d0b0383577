"""A sound card for tests without one: a private PulseAudio with a null sink, and a reader of what it got.

PortAudio looks at its surroundings once, when it is initialized, so a test that plays through it runs
its player in a subprocess with `SoundServer.env`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from edged.types import Int16

CHANNEL_MAPS = {
    1: "mono",
    2: "front-left,front-right",
    4: "front-left,front-right,rear-left,rear-right",
    8: "front-left,front-right,rear-left,rear-right,front-center,lfe,side-left,side-right",
}
START_LIMIT_S = 15.0
PROBE_FRAMES = 32


class SoundServer:
    """One PulseAudio with one null sink named `speaker`; `device` is its PortAudio name."""

    device = "speaker"

    def __init__(self, rate_hz: int, channels: int) -> None:
        self.rate_hz = rate_hz
        self.channels = channels
        self.folder = Path(tempfile.mkdtemp(prefix="edged-pulse-"))
        self._run = self.folder / "run"
        self._run.mkdir(mode=0o700)
        self._process: subprocess.Popen[bytes] | None = None
        self._captures: list[Capture] = []
        self._write_files()

    @property
    def address(self) -> str:
        """For PULSE_SERVER."""
        return f"unix:{self._run}/native"

    @property
    def pid(self) -> int:
        """Process id of the running server."""
        assert self._process
        return self._process.pid

    @property
    def env(self) -> dict[str, str]:
        """Environment of a process whose only sound device is this one."""
        return os.environ | {
            "PULSE_SERVER": self.address,
            "PULSE_RUNTIME_PATH": str(self._run),
            "PULSE_STATE_PATH": str(self._run),
            "PULSE_CLIENTCONFIG": str(self.folder / "client.conf"),
            "ALSA_CONFIG_PATH": str(self.folder / "asound.conf"),
        }

    def _write_files(self) -> None:
        (self.folder / "client.conf").write_text("autospawn = no\nenable-shm = no\n")
        (self.folder / "asound.conf").write_text(
            "</usr/share/alsa/alsa.conf>\n"
            f'pcm.{self.device} {{ type pulse server "{self.address}" device "speaker" '
            f"hint {{ show on description x }} }}\n"
        )

    def start(self) -> None:
        """Start the server and wait until it answers; also after `kill`."""
        (self._run / "native").unlink(missing_ok=True)
        sink = (
            f"module-null-sink sink_name=speaker format=s16le rate={self.rate_hz} channels={self.channels} "
            f"channel_map={CHANNEL_MAPS[self.channels]} norewinds=1"
        )
        self._process = subprocess.Popen(
            [
                *("pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no"),
                *("--disable-shm=yes", "--realtime=no", "--high-priority=no"),
                *("-L", f"module-native-protocol-unix auth-anonymous=1 socket={self._run}/native"),
                *("-L", sink),
            ],
            env=self.env,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "pulse.log").open("ab"),
        )
        deadline_s = time.monotonic() + START_LIMIT_S
        while not self._answers():
            if time.monotonic() > deadline_s or self._process.poll() is not None:
                raise RuntimeError(f"pulseaudio: {(self.folder / 'pulse.log').read_text()}")
            time.sleep(0.02)

    def _answers(self) -> bool:
        asked = subprocess.run(
            ["pactl", "list", "short", "sinks"], env=self.env, capture_output=True, check=False
        )
        return b"speaker" in asked.stdout

    def kill(self) -> None:
        """End the server as a crash does; captures end with it."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Stop the server in its tracks: it takes nothing and answers nothing."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def capture(self) -> Capture:
        """Begin to record what the sink plays; returns when the recording runs."""
        self._captures.append(Capture(self))
        return self._captures[-1]

    def close(self) -> None:
        """End everything and remove the folder."""
        for capture in self._captures:
            capture.stop()
        self.kill()
        shutil.rmtree(self.folder)


class Capture:
    """A running recording of a SoundServer's sink."""

    def __init__(self, server: SoundServer) -> None:
        self._channels = server.channels
        self._data = bytearray()
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [
                *("parec", "--device=speaker.monitor", "--raw", "--format=s16le", "--latency-msec=20"),
                *(f"--rate={server.rate_hz}", f"--channels={server.channels}"),
                f"--channel-map={CHANNEL_MAPS[server.channels]}",
            ],
            env=server.env,
            stdout=subprocess.PIPE,
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        deadline_s = time.monotonic() + START_LIMIT_S
        while not self._data:
            if time.monotonic() > deadline_s:
                raise RuntimeError("parec records nothing")
            time.sleep(0.01)

    def _read(self) -> None:
        assert self._process.stdout
        while piece := os.read(self._process.stdout.fileno(), 65536):
            with self._lock:
                self._data.extend(piece)

    def samples(self) -> Int16:
        """All recorded so far, int16 [frames, channels]."""
        with self._lock:
            whole = len(self._data) // (2 * self._channels) * 2 * self._channels
            return np.frombuffer(bytes(self._data[:whole]), np.int16).reshape(-1, self._channels)

    def stop(self) -> Int16:
        """End the recording; all of it."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait()
        self._thread.join()
        return self.samples()


@dataclass(frozen=True)
class Alignment:
    """Where the samples that were played lie in a recording."""

    offset: int | None
    """Frame of the recording where the first one lies; None: not found at all."""
    exact: bool
    """All of them lie there in one piece."""
    gaps: tuple[tuple[int, int], ...]
    """(frame of what was played, frames put in before it), one for each gap."""
    lost_frames: int
    """Frames played that were not found anywhere behind their predecessors."""


def align(played: Int16, recorded: Int16) -> Alignment:
    """Find int16 [n] in int16 [m]; `played` must not repeat itself within a probe of 32 samples."""
    haystack, at = recorded.tobytes(), 0
    probes: list[tuple[int, int]] = []
    for start in range(0, played.size - PROBE_FRAMES + 1, PROBE_FRAMES):
        found = _find(haystack, played[start : start + PROBE_FRAMES].tobytes(), at)
        if found is not None:
            probes.append((start, found - start))
            at = 2 * (found + PROBE_FRAMES)
    if not probes:
        return Alignment(None, False, (), played.size)
    offset = probes[0][1]
    lost = probes[0][0]
    gaps = []
    for (before, offset_before), (start, offset_here) in pairwise(probes):
        if offset_here != offset_before:
            gaps.append((start, offset_here - offset_before))
        between = played[before + PROBE_FRAMES : start]
        heard = recorded[before + PROBE_FRAMES + offset_before : start + offset_here]
        if not _has_only_a_gap(between, heard):
            lost += between.size
    exact = offset >= 0 and np.array_equal(recorded[offset : offset + played.size], played)
    return Alignment(offset, exact, tuple(gaps), lost)


def _has_only_a_gap(played: Int16, heard: Int16) -> bool:
    """`heard` is `played`, whole or with one stretch put in somewhere."""
    put_in = heard.size - played.size
    if put_in < 0:
        return False
    same = int(np.argmin(np.append(played == heard[: played.size], False)))
    return bool(np.array_equal(played[same:], heard[same + put_in :]))


def _find(haystack: bytes, needle: bytes, start: int) -> int | None:
    """Index in samples of a needle of int16, found at even bytes only."""
    at = haystack.find(needle, start)
    while at >= 0 and at % 2:
        at = haystack.find(needle, at + 1)
    return at // 2 if at >= 0 else None


@pytest.fixture
def sound_server() -> Iterator[Callable[..., SoundServer]]:
    """Makes started sound servers: `sound_server(rate_hz=24000, channels=1)`; all end with the test."""
    servers: list[SoundServer] = []

    def make(rate_hz: int = 24000, channels: int = 1, *, start: bool = True) -> SoundServer:
        servers.append(SoundServer(rate_hz, channels))
        if start:
            servers[-1].start()
        return servers[-1]

    yield make
    for server in servers:
        server.close()
