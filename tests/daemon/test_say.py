"""`edged say` as a user calls it: through the daemon, directly, into a file, into a pipe."""

from __future__ import annotations

import subprocess
import sys
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import yaml

from edged.voices import Voices
from tests.broker import Listener
from tests.daemon.harness import STORE, Daemon
from tests.daemon.test_announce import rendered


def edged(*words: str, stdin: str = "", timeout_s: float = 60) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "edged", *words]
    return subprocess.run(command, check=False, input=stdin.encode(), capture_output=True, timeout=timeout_s)


def test_through_the_daemon_it_waits_and_prints_the_figures(start: Callable[..., Daemon]) -> None:
    daemon = start()
    said = edged("say", "-c", str(daemon.config_file), "Dinner", "is", "ready")
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith(b"finished: voice heart, first audio ")
    lines = edged("say", "-c", str(daemon.config_file), "-", stdin="One.\nTwo.\n---\n")
    assert [line.split(b":")[0] for line in lines.stdout.splitlines()] == [b"finished"] * 3
    again = [edged("say", "-c", str(daemon.config_file), "--id", "same", "Once") for _ in range(2)]
    assert [each.returncode for each in again] == [0, 0]
    assert again[1].stdout.startswith(b"duplicate")


def test_without_a_daemon_it_says_so_in_one_line(tmp_path: Path, broker: object, base: str) -> None:
    daemon = Daemon(tmp_path, broker.port, base)  # type: ignore[attr-defined]
    daemon.write_config()
    said = edged("say", "-c", str(daemon.config_file), "Nobody hears")
    assert said.returncode == 1
    assert said.stderr.decode().count("\n") == 1
    assert b"no daemon is online" in said.stderr


def test_no_wait_leaves_the_message_with_the_broker(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    daemon = start()
    daemon.stop()
    said = edged("say", "-c", str(daemon.config_file), "--no-wait", "--id", "later", "Later")
    assert (said.returncode, said.stdout) == (0, b"")
    daemon.start()
    listen.wait_event(base, "finished", 20, id="later")


def test_into_a_wav_file_and_a_pipe(tmp_path: Path, voices: Voices) -> None:
    config = tmp_path / "edged.yaml"
    config.write_text(yaml.safe_dump({"voice": {"store": str(STORE)}}))
    file = tmp_path / "said.wav"
    said = edged("say", "-c", str(config), "--wav", str(file), "Into a file.")
    assert said.returncode == 0, said.stderr
    expected = rendered(voices, "Into a file.")
    with wave.open(str(file)) as wav:
        np.testing.assert_array_equal(np.frombuffer(wav.readframes(wav.getnframes()), np.int16), expected)
    piped = edged("say", "-c", str(config), "--stdout", "Into a file.")
    np.testing.assert_array_equal(np.frombuffer(piped.stdout, np.int16), expected)
    refused = edged("say", "-c", str(config), "--wav", str(tmp_path / "no" / "such.wav"), "x")
    assert refused.returncode == 1
    assert refused.stderr.decode().count("\n") == 1


def test_directly_through_the_configured_sink(tmp_path: Path, voices: Voices) -> None:
    config = tmp_path / "edged.yaml"
    out = tmp_path / "out.wav"
    sections = {
        "voice": {"store": str(STORE)},
        "audio": {"sink": "wav", "wav_file": str(out), "lead_in_ms": 0},
    }
    config.write_text(yaml.safe_dump(sections))
    said = edged("say", "-c", str(config), "--direct", "--volume", "0.5", "Straight out.")
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith(b"finished: voice heart")
    with wave.open(str(out)) as wav:
        heard = np.frombuffer(wav.readframes(wav.getnframes()), np.int16)
    assert rendered(voices, "Straight out.", volume=0.5).tobytes() in heard.tobytes()


def test_values_out_of_bounds_are_told(tmp_path: Path) -> None:
    said = edged("say", "--speed", "9", "x")
    assert said.returncode == 1
    assert b"--speed" in said.stderr


def test_a_closed_pipe_ends_it(tmp_path: Path, voices: Voices) -> None:
    config = tmp_path / "edged.yaml"
    config.write_text(yaml.safe_dump({"voice": {"store": str(STORE)}, "audio": {"sink": "stdout"}}))
    text = "Nobody listens to this rather long announcement. " * 20
    for words in (["--direct"], ["--stdout"]):
        command = [sys.executable, "-m", "edged", "say", "-c", str(config), *words, text]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as said:
            assert said.stdout
            assert said.stdout.read(1000)
            said.stdout.close()
            assert said.wait(30) != 0
            assert said.stderr
            complaint = said.stderr.read().decode()
        assert "Traceback" not in complaint
        assert complaint.count("edged: ") <= 1


def test_the_stdout_sink_gives_samples_alone(tmp_path: Path, voices: Voices) -> None:
    config = tmp_path / "edged.yaml"
    sections = {"voice": {"store": str(STORE)}, "audio": {"sink": "stdout", "lead_in_ms": 0}}
    config.write_text(yaml.safe_dump(sections))
    said = edged("say", "-c", str(config), "--direct", "Samples alone.")
    assert said.returncode == 0, said.stderr
    heard = np.frombuffer(said.stdout[: len(said.stdout) // 2 * 2], np.int16)
    used = np.flatnonzero(heard)
    expected = rendered(voices, "Samples alone.")
    loud = np.flatnonzero(expected)
    np.testing.assert_array_equal(heard[used[0] : used[-1] + 1], expected[loud[0] : loud[-1] + 1])
    assert b"finished: " in said.stderr
