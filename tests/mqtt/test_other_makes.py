"""Clients of other makes: mosquitto's own (C), and MQTT.js (JavaScript) in Home Assistant's part."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from edged.config.model import Config, VoiceConfig
from edged.mqtt.topics import device_id
from edged.voices import Voices
from tests.broker import Broker
from tests.daemon.harness import STORE, Daemon
from tests.mqtt.conftest import MakeBoard

FLOW = Path(__file__).parent / "flow"


@pytest.mark.parametrize("version", ["mqttv5", "mqttv311"])
def test_mosquitto_publishes_and_hears_the_events(
    broker: Broker, base: str, make_board: MakeBoard, version: str
) -> None:
    board = make_board(broker.port)
    where = ("-h", "127.0.0.1", "-p", str(broker.port), "-V", version, "-q", "1")
    heard = subprocess.Popen(
        ["mosquitto_sub", *where, "-t", f"{base}/event", "-t", f"{base}/availability", "-C", "3", "-W", "10"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert heard.stdout is not None
    assert heard.stdout.readline() == "online\n"
    text = '{"text":"Grüße","id":"küche"}'
    subprocess.run(["mosquitto_pub", *where, "-t", f"{base}/say", "-m", text], check=True, timeout=10)
    board.wait_texts("Grüße")
    board.finish(board.offered[0])
    events = [json.loads(line) for line in heard.communicate(timeout=10)[0].splitlines()]
    assert [(event["event"], event["id"]) for event in events] == [
        ("accepted", "küche"),
        ("finished", "küche"),
    ]


@pytest.fixture(scope="module")
def flow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The flow with MQTT.js beside it, as npm installs it."""
    folder = tmp_path_factory.mktemp("flow")
    shutil.copytree(FLOW, folder, dirs_exist_ok=True)
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=100)
    return folder / "flow.cjs"


@pytest.fixture
def daemon(tmp_path: Path, broker: Broker, base: str) -> Iterator[Daemon]:
    """The whole daemon with the real voice, its sound taken in real time by nobody."""
    Voices(Config(voice=VoiceConfig(store=str(STORE))), print)
    hub = {"prefix": f"{base}-hub"}
    with Daemon(tmp_path, broker.port, base, audio={"sink": "null"}, home_assistant=hub) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["5", "4"])
def test_a_flow_publishes_and_the_event_comes_back(
    flow: Path, daemon: Daemon, broker: Broker, base: str, protocol: str
) -> None:
    command = ["node", str(flow), str(broker.port), base, f"{base}-hub", protocol]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["device"] == f"{base}-hub/device/{device_id(base)}/config"
    assert result["availability"] == "online"
    assert result["finished"]["audio_s"] > 0.5
    assert result["finished"]["voice"] == "heart"
    assert result["volume"] == 0.35
    assert "heart" in result["voice"]
    assert result["stopped"] in ("dropped", "failed")
    assert result["missing"] == [], "every template reads what the state has"
