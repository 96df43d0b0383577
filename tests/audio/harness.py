"""Plays a scenario through a sink of any kind and collects what was heard, always int16 [n, channels]."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edged.types import Int16
from tests.pulse import SoundServer, align

KINDS = ("alsa", "null", "wav", "stdout")
RATE_HZ = 24000
LIMIT_S = 60.0
CALM_TRIES = 4
"""A sound server on a busy machine puts gaps in; the sink's own faults come every time."""


@dataclass(frozen=True)
class Heard:
    """What came out of a sink, and what its process reported."""

    samples: Int16
    report: dict[str, Any]
    log: str

    @property
    def mono(self) -> Int16:
        return np.ascontiguousarray(self.samples[:, 0])


def sounding(samples: Int16) -> Int16:
    """From the first to the last sample that is not zero."""
    places = np.flatnonzero(samples)
    return samples[places[0] : places[-1] + 1] if places.size else samples[:0]


class Studio:
    """Makes sinks play; starts the sound server that is needed in `servers`, which are by channels."""

    def __init__(self, servers: dict[int, SoundServer], folder: Path) -> None:
        self._servers = servers
        self._folder = folder

    def play(self, kind: str, scenario: str, speakers: int = 1, **keys: object) -> Heard:
        """Run it once; `speakers` is how many channels the device has."""
        settings: dict[str, object] = {
            "sink": kind,
            "rate_hz": RATE_HZ,
            "period_ms": 24,
            "channels": speakers,
        } | keys
        if kind == "alsa":
            return self._play_device(scenario, speakers, settings)
        settings["wav_file"] = str(self._folder / "heard.wav")
        done = run_player(scenario, settings, self._folder, dict(os.environ))
        report = json.loads((self._folder / "report.json").read_text())
        samples = self._collect(kind, done.stdout).reshape(-1, 1 if kind == "stdout" else speakers)
        return Heard(samples, report, done.stderr.decode())

    def play_calm(
        self, kind: str, scenario: str, calm: Callable[[Heard], bool], speakers: int = 1, **keys: object
    ) -> Heard:
        """Run it until it is `calm`: the sound server has put no gap in. A few times at most."""
        for _ in range(CALM_TRIES):
            heard = self.play(kind, scenario, speakers, **keys)
            if kind != "alsa" or calm(heard):
                break
        return heard

    def play_exact(
        self, kind: str, scenario: str, expected: Int16, speakers: int = 1, **keys: object
    ) -> Heard:
        """Run it until the sound server has put no gap into `expected`."""
        return self.play_calm(
            kind, scenario, lambda heard: align(expected, heard.mono).exact, speakers, **keys
        )

    def _play_device(self, scenario: str, speakers: int, settings: dict[str, object]) -> Heard:
        if speakers not in self._servers:
            self._servers[speakers] = SoundServer(RATE_HZ, speakers)
            self._servers[speakers].start()
        server = self._servers[speakers]
        capture = server.capture()
        done = run_player(
            scenario, {"device": "speaker", "latency_ms": 100} | settings, self._folder, server.env
        )
        report = json.loads((self._folder / "report.json").read_text())
        return Heard(capture.stop(), report, done.stderr.decode())

    def _collect(self, kind: str, stdout: bytes) -> Int16:
        if kind == "stdout":
            return np.frombuffer(stdout, "<i2").astype(np.int16)
        if kind == "null":
            loaded: Int16 = np.load(self._folder / "heard.npy")
            return loaded
        with wave.open(str(self._folder / "heard.wav")) as file:
            return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.int16)


def run_player(
    scenario: str, settings: dict[str, object], folder: Path, env: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Run a scenario to its end; raises where its process fails."""
    return subprocess.run(
        player_command(scenario, settings, folder), env=env, capture_output=True, timeout=LIMIT_S, check=True
    )


def player_command(scenario: str, settings: dict[str, object], folder: Path) -> list[str]:
    return [
        sys.executable,
        "-m",
        "tests.audio.player",
        scenario,
        json.dumps(settings),
        str(folder / "report.json"),
    ]
