"""What only files and pipes do: a process that is killed, a reader that leaves, a disk that is full."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import wave
from pathlib import Path

import numpy as np
import pytest

from edged.audio.sinks import StdoutSink, WavSink
from edged.config.model import AudioConfig
from edged.errors import SinkError
from edged.types import Int16
from tests.audio.harness import player_command
from tests.audio.scenarios import feed, say, wait
from tests.audio.signals import noise

LIMIT_S = 20.0


def read_wav(path: Path) -> Int16:
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24000)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.int16)


def wav_sink(path: Path) -> WavSink:
    return WavSink(AudioConfig(sink="wav", wav_file=str(path)))


def test_a_wav_file_is_whole_when_the_process_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "killed.wav"
    command = player_command("long", {"sink": "wav", "wav_file": str(path)}, tmp_path)
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        assert wait(lambda: path.exists() and path.stat().st_size > 20000)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    heard = read_wav(path)
    assert heard.size > 9000
    assert np.array_equal(heard, noise(heard.size, 1))


def test_a_wav_file_goes_on_after_the_device_was_released(tmp_path: Path) -> None:
    path = tmp_path / "twice.wav"
    path.write_bytes(b"something else that was there before" * 10)
    sink = wav_sink(path)
    for seed in (1, 2):
        output = sink.open()
        say(output.ring, noise(3000, seed))
        sink.close(output, drain=True)
        sink.close(output, drain=True)  # a second time does nothing
    assert np.array_equal(read_wav(path), np.concatenate([noise(3000, 1), noise(3000, 2)]))


def test_a_gap_in_mid_utterance_is_in_the_file_and_silence_between_is_not(tmp_path: Path) -> None:
    path = tmp_path / "gap.wav"
    sink = wav_sink(path)
    output = sink.open()
    ring = output.ring
    time.sleep(0.1)
    ring.feeding(True)
    feed(ring, noise(3000, 1))
    assert wait(lambda: ring.counters().underfill_frames > 2000)
    feed(ring, noise(3000, 2))
    ring.feeding(False)
    assert wait(lambda: ring.fill_frames == 0)
    time.sleep(0.1)
    sink.close(output, drain=True)
    heard = read_wav(path)
    gap = output.ring.counters().underfill_frames
    assert heard.size == 6000 + gap
    assert np.array_equal(heard[:3000], noise(3000, 1))
    assert not heard[3048 : 3000 + gap].any()
    assert np.array_equal(heard[3048 + gap :], noise(3000, 2)[48:])


def test_a_disk_that_is_full_at_the_start_is_told_and_nothing_leaks(tmp_path: Path) -> None:
    full = tmp_path / "full.wav"
    full.symlink_to("/dev/full")
    sink = wav_sink(full)
    before = os.listdir("/proc/self/fd")
    with pytest.raises(SinkError, match=r"full\.wav: No space left on device; set audio\.wav_file"):
        sink.open()
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_a_file_that_can_grow_no_more_is_a_fault_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "full.wav"
    command = player_command("until_fault", {"sink": "wav", "wav_file": str(path)}, tmp_path)
    limited = ["bash", "-c", 'ulimit -f 8 && exec "$@"', "bash", *command]
    subprocess.run(limited, check=True, timeout=LIMIT_S, capture_output=True)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["fault"] == f"{path}: File too large"
    assert report["close_s"] < 2.0
    heard = read_wav(path)
    assert np.array_equal(heard, noise(heard.size, 1))


def test_a_reader_that_leaves_is_a_fault() -> None:
    read_fd, write_fd = os.pipe()
    sink = StdoutSink(AudioConfig(sink="stdout"), fd=write_fd)
    output = sink.open()
    assert sink.fault(output) is None
    os.close(read_fd)
    say(output.ring, noise(3000, 1))
    assert wait(lambda: sink.fault(output) is not None)
    assert sink.fault(output) == "standard output: Broken pipe"
    before_s = time.monotonic()
    sink.close(output, drain=True)
    assert time.monotonic() - before_s < 2.0
    os.close(write_fd)


def test_a_slow_reader_holds_the_ring_up_but_not_the_heartbeat() -> None:
    read_fd, write_fd = os.pipe()
    sink = StdoutSink(AudioConfig(sink="stdout"), fd=write_fd)
    output = sink.open()
    ring = output.ring
    spoken = noise(ring.capacity_frames + 40000, 1)  # more than pipe and ring hold
    at = 0

    def stuck() -> bool:
        nonlocal at
        at += ring.write(spoken[at : at + 1000])
        return ring.fill_frames == ring.capacity_frames

    assert wait(lambda: stuck() and at > ring.capacity_frames)
    played, callbacks = ring.counters().frames_played, ring.counters().callbacks
    assert wait(lambda: ring.counters().callbacks > callbacks + 3)
    assert ring.counters().frames_played == played
    heard = b""
    while len(heard) < 2 * spoken.size:
        at += ring.write(spoken[at : at + 1000])
        heard += os.read(read_fd, 65536)
    assert np.array_equal(np.frombuffer(heard, "<i2"), spoken)
    sink.close(output, drain=True)
    os.close(read_fd)
    os.close(write_fd)


def test_closed_standard_output_is_told(tmp_path: Path) -> None:
    command = player_command("plain", {"sink": "stdout"}, tmp_path)
    ran = subprocess.run(
        ["bash", "-c", '"$@" >&-', "bash", *command], capture_output=True, timeout=LIMIT_S, check=False
    )
    assert b"standard output is closed; give it a pipe" in ran.stderr
