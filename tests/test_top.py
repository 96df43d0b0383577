"""`edged top`: from the retained state to lines, once and on a terminal."""

from __future__ import annotations

import argparse
import json
import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from edged.cli import top
from edged.errors import EdgedError
from tests.broker import Broker, Listener, base, broker, until

__all__ = ["base", "broker"]

STATE: dict[str, Any] = {
    "version": "1.2.3",
    "level": 1,
    "levels": 3,
    "level_reason": "temperature 78.0 °C, soft limit 75.0 °C",
    "precision": "int8",
    "frame_ms": 24,
    "rtf_1m": 0.4321,
    "fill_ms": 350.0,
    "buffer_ms": 700,
    "temp_c": 78.04,
    "throttled": True,
    "pressure_percent": 12.3,
    "queue": 2,
    "speaking": "door\x1b[2J",
    "first_audio_ms_p50": 20.04,
    "first_audio_ms_p95": 31.2,
    "device_latency_ms": 24.0,
    "xruns": 4,
    "underfills": 0,
    "finished": 7,
    "failed": 0,
    "dropped": 1,
    "expired": 0,
    "rss_mb": 101.4,
    "voice": "heart",
    "volume": 0.5,
    "sink": "null, 24000 Hz",
    "zones": {"attic": "lost: unplugged"},
    "broker": "connected to localhost, MQTT 5",
}
RUN = (
    "import sys; from edged import cli; cli.COMMANDS.setdefault('top', ('edged.cli.top', 'show the daemon'));"
    "sys.exit(cli.main(sys.argv[1:]))"
)


def plain(_code: str, text: str) -> str:
    return text


@pytest.fixture
def config(tmp_path: Path, broker: Broker, base: str) -> Path:
    file = tmp_path / "edged.yaml"
    file.write_text(f"node: top\nmqtt:\n  host: 127.0.0.1\n  port: {broker.port}\n  base: {base}\n")
    return file


@pytest.fixture
def board(broker: Broker, base: str) -> Any:
    with Listener(broker.port) as listener:
        listener.publish(f"{base}/availability", "online", retain=True)
        listener.publish(f"{base}/state", json.dumps(STATE), retain=True)
        yield listener


def test_once_it_shows_what_the_daemon_says(
    config: Path, board: Listener, base: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert top.run(argparse.Namespace(config=config, once=True)) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"edged 1.2.3  {base}  online",
        "",
        "level        1 of 2  int8, period 24 ms",
        "             temperature 78.0 °C, soft limit 75.0 °C",
        "speed        RTF 0.432 over a minute",
        "fill level   [##########          ] 350 ms",
        "temperature  78.0 °C  slowed down",
        "processors   pressure 12 %",
        "queue        2 waiting, speaking door [2J",
        "first audio  p50 20.0 ms, p95 31.2 ms, device latency 24.0 ms",
        "gaps         4 xruns, 0 underfills",
        "said         7 finished, 0 failed, 1 dropped, 0 expired",
        "memory       101 MB resident",
        "voice        heart, volume 0.50",
        "sound        null, 24000 Hz",
        "  attic      lost: unplugged",
        "broker       connected to localhost, MQTT 5",
    ]


def test_what_is_not_there_and_what_is_behind_the_last_level() -> None:
    lines = top.picture({"level": 3, "levels": 3, "config_error": "line 3: x"}, "edged/a", None, 20.0, plain)
    assert lines[0] == "edged -  edged/a  no word, unchanged for 20 s"
    assert lines[2] == "level        3 of 2: only sound that is kept  -, period - ms"
    assert "fill level   [                    ] - ms" in lines
    assert lines[-1] == "refused      line 3: x"
    assert top.picture({"level": "fp32", "levels": "x"}, "b", "offline", 0.0, plain)[2].startswith(
        "level        -"
    )


def test_nobody_there_is_one_line(
    config: Path, broker: Broker, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(top, "FIRST_STATE_S", 0.2)
    with pytest.raises(EdgedError, match=f"no daemon has been seen under {base}; start it"):
        top.run(argparse.Namespace(config=config, once=True))


def test_on_a_terminal_it_is_live_and_leaves_it_as_it_was(config: Path, board: Listener, base: str) -> None:
    ours, theirs = pty.openpty()
    shown = bytearray()

    def read() -> None:
        try:
            while piece := os.read(ours, 4096):
                shown.extend(piece)
        except OSError:
            return  # the other end is closed

    command = [sys.executable, "-c", RUN, "top", "-c", str(config)]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        reader = threading.Thread(target=read)
        reader.start()
        try:
            until(lambda: b"1 of 2" in shown, 20, shown.decode)
            board.publish(f"{base}/state", json.dumps({**STATE, "level": 0, "queue": 5}), retain=True)
            until(lambda: b"0 of 2" in shown and b"5 waiting" in shown, 10, shown.decode)
            board.publish(f"{base}/availability", "offline", retain=True)
            until(lambda: b"  offline" in shown, 10, shown.decode)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(10)
        reader.join()
    os.close(ours)
    assert process.returncode == 130
    text = shown.decode()
    assert text.startswith("\033[?1049h\033[?25l")
    assert text.endswith("\033[?25h\033[?1049l")
    assert "Traceback" not in text
