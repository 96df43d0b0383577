"""The services that a benchmark starts for itself."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from edged.bench.services import (
    LOOPBACK,
    RATE_HZ,
    Broker,
    Processes,
    Service,
    SoundServer,
    StreamClock,
    program,
    wait_for,
)
from edged.errors import EdgedError

TONE = (8000 * np.sin(2 * np.pi * 440 * np.arange(RATE_HZ) / RATE_HZ)).astype(np.int16)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def test_broker_answers_until_it_is_stopped(tmp_path: Path) -> None:
    processes = Processes()
    broker = Broker(processes, tmp_path)
    assert listens(broker.port)
    processes.stop()
    assert not listens(broker.port)


def test_sound_server_plays_and_is_recorded_until_it_is_stopped(tmp_path: Path) -> None:
    assert SoundServer.absent() is None
    processes = Processes()
    server = SoundServer(processes, tmp_path)
    recording = server.record()
    play = ["pacat", "--raw", "--format=s16le", f"--rate={RATE_HZ}", "--channels=1", "--latency-msec=100"]
    subprocess.run(play, input=TONE.tobytes(), env=server.env, check=True)
    heard = wait_for(lambda: np.count_nonzero(recording.samples()) > TONE.size // 2, 10)
    samples = recording.stop()
    processes.stop()
    assert heard
    assert TONE[1000:1200].tobytes() in samples.tobytes()
    assert (
        b"speaker"
        not in subprocess.run(
            ["pactl", "list", "short", "sinks"], env=server.env, capture_output=True, check=False
        ).stdout
    )


def test_a_tool_that_is_missing_is_named_with_its_package() -> None:
    with pytest.raises(EdgedError, match=r"^no-such-tool is not installed; apt install some-package$"):
        program("no-such-tool", "some-package")


def test_a_sound_server_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert SoundServer.absent() == "pulseaudio is not installed; apt install pulseaudio"


def test_a_service_that_will_not_end_is_ended(tmp_path: Path) -> None:
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(99)"
    service = Service([sys.executable, "-c", deaf], tmp_path / "log", os.environ)
    assert wait_for(lambda: service.last_line() == "deaf", 10)
    service.stop(limit_s=0.2)
    assert service.process.returncode == -signal.SIGKILL


def test_the_promptest_delivery_tells_the_time() -> None:
    frames = np.arange(1, 401) * 240  # a piece every 10 ms
    late_ns = np.random.default_rng(1).integers(2_000_000, 30_000_000, frames.size)
    late_ns[::50] = 100_000
    arrived_ns = 7_000_000_000 + frames * 10_000_000 // 240 + late_ns
    clock = StreamClock(np.stack([arrived_ns, frames], axis=1))
    for frame in (300, 24_000, 95_000):
        assert clock.ns(frame) == pytest.approx(7_000_000_000 + frame / RATE_HZ * 1e9 + 100_000, abs=1000)
    assert abs(clock.frame(7_000_000_000 + 2_000_000_000) - 48_000) <= 3 * 240
