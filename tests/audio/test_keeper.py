"""The keeper over a real sound server that is missing, killed, started again, or stands still."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edged.audio.keeper import Keeper, Phase
from edged.audio.sinks import NullSink, Output, WavSink, make_sink
from edged.config.model import AudioConfig, ProcessConfig
from edged.errors import SinkError
from tests.audio.harness import KINDS, RATE_HZ, Studio, player_command, run_player
from tests.audio.scenarios import feed, wait
from tests.audio.signals import noise
from tests.pulse import SoundServer, align

DEVICE: dict[str, object] = {
    "sink": "alsa",
    "device": "speaker",
    "rate_hz": RATE_HZ,
    "period_ms": 24,
    "latency_ms": 100,
}
LIMIT_S = 20.0

MakeServer = Callable[..., SoundServer]


@pytest.mark.parametrize("kind", KINDS)
def test_opens_speaks_and_closes_with_drain(studio: Studio, kind: str) -> None:
    expected = noise(8000, 1)
    heard = studio.play_exact(kind, "keep_open", expected)
    assert align(expected, heard.mono).exact
    assert heard.report["known"]
    assert heard.report["spoke"]
    assert heard.report["changes"] == ["opening", "open", "closed"]
    assert heard.report["hangs"] == 0
    assert f"{RATE_HZ} Hz, 1 ch, period 24 ms" in heard.report["state"]


@pytest.mark.parametrize("kind", ["alsa", "null"])
def test_released_in_silence_and_opened_on_demand(studio: Studio, kind: str) -> None:
    report = studio.play(kind, "keep_idle").report
    assert report["checks"] == [True] * 4
    assert report["changes"] == ["opening", "open", "closed", "opening", "open", "closed"]


class Steps:
    """A scenario that waits for the test between its steps."""

    def __init__(self, scenario: str, folder: Path, env: dict[str, str]) -> None:
        self._report = folder / "report.json"
        self._log = (folder / "log").open("w+")
        self._process = subprocess.Popen(
            player_command(scenario, DEVICE, folder),
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def reached(self, step: str) -> None:
        assert self._process.stdout
        assert self._process.stdout.readline().strip() == step

    def go_on(self) -> None:
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def outcome(self) -> tuple[dict[str, Any], str]:
        assert self._process.wait(LIMIT_S) == 0
        self._log.seek(0)
        return json.loads(self._report.read_text()), self._log.read()

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


def test_missing_then_there_then_killed_then_back(sound_server: MakeServer, tmp_path: Path) -> None:
    server = sound_server(RATE_HZ, 1, start=False)
    with Steps("keep_lost_and_found", tmp_path, server.env) as steps:
        steps.reached("known")
        time.sleep(1.0)  # several tries in vain
        server.start()
        steps.go_on()
        steps.reached("spoke")
        server.kill()
        steps.go_on()
        steps.reached("lost")
        time.sleep(1.0)
        server.start()
        capture = server.capture()
        steps.go_on()
        report, log = steps.outcome()
    recorded = capture.stop()
    assert report["checks"] == [True] * 7, report
    assert report["start"][0] == "lost"
    assert "sound device" in report["start"][1]
    # A try in vain may change the reason, and so tell the same phase again.
    phases = [phase for phase, _ in groupby(report["changes"])]
    assert phases == ["opening", "lost", "open", "lost", "open", "closed"]
    assert report["hangs"] == 0
    assert align(noise(8000, 2), np.ascontiguousarray(recorded[:, 0])).lost_frames == 0
    keeper_lines = [line for line in log.splitlines() if "edged.audio.keeper" in line]
    assert len(keeper_lines) <= 8, log
    assert "ALSA lib" not in log
    assert "jack" not in log.casefold()


def test_a_server_that_stands_still_is_told_as_a_hang(sound_server: MakeServer, tmp_path: Path) -> None:
    server = sound_server(RATE_HZ, 1)
    env = server.env | {"SERVER_PID": str(server.pid)}
    try:
        run_player("keep_frozen", DEVICE, tmp_path, env)
    finally:
        server.thaw()
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["told"]
    assert report["alive"]
    assert report["hangs"] == 1
    assert report["phase"] == "lost"
    assert "has not returned" in report["reason"]


def test_a_drain_that_never_ends_is_bounded(sound_server: MakeServer, tmp_path: Path) -> None:
    server = sound_server(RATE_HZ, 1)
    env = server.env | {"SERVER_PID": str(server.pid)}
    try:
        run_player("frozen_drain", DEVICE | {"drain_limit_ms": 500}, tmp_path, env)
    finally:
        server.thaw()
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["failure"].startswith("HungError: closing sound device 'speaker'")
    assert report["close_s"] < 15


class NoCard:
    """A sink whose device is missing a few times."""

    kind = "none"

    def __init__(self, misses: int) -> None:
        self.tries = 0
        self.rescans = 0
        self.changed = True
        self._misses = misses
        self._real = NullSink(AudioConfig(sink="null"))

    def open(self) -> Output:
        self.tries += 1
        if self.tries <= self._misses:
            raise SinkError("no card; plug it in")
        return self._real.open()

    def close(self, output: Output, drain: bool) -> None:
        self._real.close(output, drain)

    def fault(self, output: Output) -> str | None:
        return self._real.fault(output)

    def devices_changed(self) -> bool:
        return self.changed

    def rescan(self) -> None:
        self.rescans += 1


def test_every_try_after_a_failure_looks_for_devices_anew(caplog: pytest.LogCaptureFixture) -> None:
    sink = NoCard(3)
    keeper = Keeper({"zone": sink}, on_change=lambda: None, on_hang=lambda: None, beat=lambda: None)
    keeper.start()
    try:
        assert keeper.wait_known(LIMIT_S)
        assert str(keeper.state("zone")) == "lost: no card; plug it in"
        deadline_s = time.monotonic() + LIMIT_S
        while keeper.current("zone") is None and time.monotonic() < deadline_s:
            time.sleep(0.01)
        assert keeper.state("zone").phase is Phase.OPEN
        assert keeper.stale() == []
    finally:
        keeper.stop()
    assert sink.tries == 4
    assert sink.rescans == 3
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == [
        "sound zone: no card; plug it in"
    ]


def test_a_sink_that_plays_is_not_disturbed_by_the_search_for_another() -> None:
    """Looking for devices closes every stream, so it waits for silence and for a reason."""
    here, missing = NoCard(0), NoCard(1000)
    missing.changed = False
    keeper = Keeper(
        {"here": here, "missing": missing}, on_change=lambda: None, on_hang=lambda: None, beat=lambda: None
    )
    keeper.start()
    try:
        assert keeper.wait_known(LIMIT_S)
        first = keeper.current("here")
        assert first
        assert wait(lambda: missing.tries >= 3)
        assert keeper.current("here") is first
        assert missing.rescans == 0
        missing.changed = True
        enough = threading.Event()

        def speak() -> None:
            while not enough.is_set():
                feed(first.ring, noise(2000, 1))

        speaker = threading.Thread(target=speak)
        speaker.start()
        tries = missing.tries
        assert wait(lambda: missing.tries > tries)
        assert keeper.current("here") is first
        assert missing.rescans == 0
        enough.set()
        speaker.join()
        assert wait(lambda: missing.rescans > 0)
        assert wait(lambda: keeper.current("here") not in (None, first))
        assert first.ring.fill_frames == 0
    finally:
        keeper.stop()


def test_a_file_that_cannot_be_written_is_a_state_with_its_mend(tmp_path: Path) -> None:
    sink = WavSink(AudioConfig(sink="wav", wav_file=str(tmp_path / "no" / "such.wav")))
    with pytest.raises(SinkError, match=r"such\.wav: No such file or directory; set audio\.wav_file"):
        sink.open()


def test_a_missing_device_names_those_there_are(sound_server: MakeServer, tmp_path: Path) -> None:
    server = sound_server(RATE_HZ, 1)
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run_player("plain", DEVICE | {"device": "hw:7"}, tmp_path, server.env)
    assert (
        "no 'hw:7' sound device; set audio.device to (part of) one of: 'speaker'"
        in failed.value.stderr.decode()
    )


def test_the_factory_knows_every_kind() -> None:
    assert [make_sink(AudioConfig(sink=kind), ProcessConfig()).kind for kind in KINDS] == list(KINDS)
