"""Home Assistant: what the board says of itself, when, and how it is taken away again."""

from __future__ import annotations

import json
import logging
import re
import time
from pathlib import Path
from typing import Any

import pytest

from edged import cli
from edged.config.model import MqttConfig
from edged.mqtt import announcer, client
from edged.mqtt.codec import Reload, SetVoice, SetVolume, Stop
from edged.mqtt.discovery import Discovery
from edged.mqtt.topics import Topics, device_id
from edged.types import Priority
from tests.broker import Broker, Listener, until
from tests.mqtt import documented
from tests.mqtt.conftest import MakeBoard

BOTH = pytest.mark.parametrize("protocol", ["5", "3.1.1"])
PREFIX = "homeassistant"


def described(
    node: str = "kitchen", voices: tuple[str, ...] = ("heart", "zh-baker"), **mqtt: Any
) -> dict[str, Any]:
    """The payload as Home Assistant parses it."""
    topics = Topics(node, MqttConfig(**mqtt))
    members: dict[str, Any] = json.loads(Discovery(topics, PREFIX).payload(voices))
    return members


@pytest.fixture(params=["kitchen", "raspberrypi", "Küche 2", "厨房", "a" * 200])
def payload(request: pytest.FixtureRequest) -> dict[str, Any]:
    return described(request.param)


def test_every_field_is_documented_and_none_is_missing(payload: dict[str, Any]) -> None:
    assert documented.ROOT_REQUIRED <= payload.keys() <= documented.ROOT
    assert payload["dev"].keys() <= documented.DEVICE
    assert payload["dev"]["ids"]
    assert documented.ORIGIN_REQUIRED <= payload["o"].keys() <= documented.ORIGIN
    for each in payload["availability"]:
        assert documented.AVAILABILITY_REQUIRED <= each.keys() <= documented.AVAILABILITY
    for component in payload["cmps"].values():
        kind = component["p"]
        required = documented.COMPONENT_REQUIRED | documented.REQUIRED[kind]
        assert required <= component.keys() <= documented.PLATFORMS[kind]


def test_identifiers_and_values_are_of_the_documented_kind(payload: dict[str, Any]) -> None:
    components = payload["cmps"]
    for name in [*payload["dev"]["ids"], *components]:
        assert re.fullmatch(documented.IDENTIFIER, name)
    unique = [component["unique_id"] for component in components.values()]
    entities = [component["default_entity_id"] for component in components.values()]
    assert len(set(unique)) == len(set(entities)) == len(components)
    assert "object_id" not in json.dumps(payload)
    for component in components.values():
        kind = component["p"]
        assert re.fullmatch(documented.ENTITY_ID, component["default_entity_id"])
        assert component["default_entity_id"].split(".")[0] == kind
        assert component.get("entity_category", "config") in documented.ENTITY_CATEGORIES
        if kind == "sensor":
            assert component.get("entity_category") != "config", "not allowed for what only reads"
        if "device_class" in component:
            units = documented.DEVICE_CLASSES[kind, component["device_class"]]
            assert component.get("unit_of_measurement") in units
        if "state_class" in component:
            assert component["state_class"] in documented.STATE_CLASSES
        if "icon" in component:
            assert component["icon"].startswith("mdi:")


def test_the_device_and_its_entities() -> None:
    payload = described()
    kinds = {key: component["p"] for key, component in payload["cmps"].items()}
    assert kinds == {
        "announce": "notify",
        "alarm": "notify",
        "volume": "number",
        "voice": "select",
        "stop": "button",
        "speaking": "binary_sensor",
        "queue": "sensor",
        "rtf": "sensor",
        "temperature": "sensor",
        "level": "sensor",
        "first_audio": "sensor",
    }
    assert payload["dev"]["ids"] == [device_id("edged/kitchen")]
    assert payload["dev"]["name"] == "kitchen"
    assert payload["availability"] == [{"topic": "edged/kitchen/availability"}]
    assert payload["cmps"]["voice"]["options"] == ["heart", "zh-baker"]
    assert payload["cmps"]["announce"]["default_entity_id"] == "notify.kitchen_announce"
    volume = payload["cmps"]["volume"]
    assert (volume["min"], volume["max"], volume["step"]) == (0, 1, 0.05)


def test_the_model_is_what_the_device_tree_says(tmp_path: Path) -> None:
    (tmp_path / "proc/device-tree").mkdir(parents=True)
    (tmp_path / "proc/device-tree/model").write_bytes(b"Raspberry Pi 5 Model B Rev 1.0\0")
    members = Discovery(Topics("x", MqttConfig()), PREFIX, tmp_path).members(())
    assert members["dev"]["mdl"] == "Raspberry Pi 5 Model B Rev 1.0"


def test_the_id_is_of_the_machine_and_the_daemon_and_tells_nothing(tmp_path: Path) -> None:
    """Boards are often called alike, and a board may run several daemons."""
    for name, identity in (("a", "0123456789abcdef"), ("b", "fedcba9876543210")):
        (tmp_path / name / "etc").mkdir(parents=True)
        (tmp_path / name / "etc/machine-id").write_text(f"{identity}\n")
    ids = [
        device_id(base, tmp_path / name) for base, name in (("x", "a"), ("x", "a"), ("x", "b"), ("y", "a"))
    ]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3
    assert all(re.fullmatch(r"edged_[0-9a-f]{12}", each) for each in ids)


def filled(template: str, value: str) -> str:
    """What Home Assistant makes of our command templates: they hold this one expression."""
    assert template.count("{{ value | tojson }}") == 1
    return template.replace("{{ value | tojson }}", json.dumps(value))


@BOTH
def test_what_home_assistant_sends_is_obeyed(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str
) -> None:
    prefix = f"{base}-hub"
    board = make_board(broker.port, protocol=protocol, home_assistant=prefix)
    with Listener(broker.port, f"{prefix}/device/+/config") as hub:
        until(lambda: hub.heard)
        components = hub.heard[0].json["cmps"]
        said = 'Say "hi" {{ now() }} \\ äöü\n2'
        for key in ("announce", "alarm"):
            hub.publish(components[key]["command_topic"], filled(components[key]["command_template"], said))
        board.wait_texts(said, said)
        priorities = [utterance.announcement.priority for utterance in board.offered]
        assert priorities == [Priority.NORMAL, Priority.URGENT]
        hub.publish(components["volume"]["command_topic"], "0.35")
        hub.publish(components["voice"]["command_topic"], "heart")
        hub.publish(components["stop"]["command_topic"], components["stop"]["payload_press"])
        until(lambda: len(board.controls) == 3)
        assert board.controls == [SetVolume(0.35), SetVoice("heart"), Stop(None)]


@BOTH
def test_told_at_every_start_of_home_assistant_and_kept_by_the_broker(
    broker: Broker, base: str, make_board: MakeBoard, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcer, "_LATER_S", (0.3, 0.4))
    monkeypatch.setattr(client, "_BEAT_S", 0.05)
    prefix = f"{base}-hub"
    board = make_board(broker.port, protocol=protocol, home_assistant=prefix, topics=(f"{prefix}/#",))
    with Listener(broker.port, f"{prefix}/device/#") as hub:
        until(lambda: len(hub.heard) == 1)
        assert hub.heard[0].topic == f"{prefix}/device/{device_id(base)}/config"
        hub.publish(f"{prefix}/status", "offline")
        hub.publish(f"{prefix}/status", "online")
        began_s = time.monotonic()
        until(lambda: len(hub.heard) == 2)
        assert time.monotonic() - began_s > 0.25, "a short while later"
        assert hub.heard[1].payload == hub.heard[0].payload
        hub.publish(f"{base}/say", "end")
        board.wait_texts("end")
    assert board.link.counts.refused == 0
    with Listener(broker.port, f"{prefix}/device/#") as fresh:
        until(lambda: fresh.heard)
        assert fresh.heard[0].retain


def test_other_voices_are_told(
    broker: Broker, base: str, make_board: MakeBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcer, "_LOOK_EVERY_S", 0.1)
    monkeypatch.setattr(client, "_BEAT_S", 0.05)
    prefix = f"{base}-hub"
    board = make_board(broker.port, home_assistant=prefix)
    with Listener(broker.port, f"{prefix}/device/#") as hub:
        until(lambda: hub.heard)
        board.voices.append("zh-baker")
        until(lambda: len(hub.heard) == 2)
        time.sleep(0.3)
    assert [heard.json["cmps"]["voice"]["options"] for heard in hub.heard] == [
        ["heart"],
        ["heart", "zh-baker"],
    ]


def test_taken_away_when_it_is_switched_off_or_moved(
    broker: Broker, base: str, make_board: MakeBoard, tmp_path: Path
) -> None:
    old, new = f"{base}-old", f"{base}-new"
    memory = tmp_path / "discovery"
    with Listener(broker.port, f"{old}/#", f"{new}/#") as hub:
        for prefix, kept in ((old, [old]), (new, [new]), (None, [])):
            board = make_board(broker.port, home_assistant=prefix)
            wanted = [f"{each}/device/{device_id(base)}/config" for each in kept]
            until(lambda wanted=wanted: memory.exists() and memory.read_text().splitlines() == wanted)
            board.link.stop(3)
        before = len(hub.heard)
        make_board(broker.port).link.stop(3)
        assert len(hub.heard) == before, "nothing is left to be taken away"
    with Listener(broker.port, f"{old}/#", f"{new}/#", f"{base}/availability") as fresh:
        until(lambda: fresh.last(f"{base}/availability") == b"offline")
        assert [heard.topic for heard in fresh.heard] == [f"{base}/availability"]


def test_a_folder_that_takes_no_file_is_told_once_and_stops_nothing(
    broker: Broker, base: str, make_board: MakeBoard, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "discovery").mkdir()
    board = make_board(broker.port, home_assistant=f"{base}-hub")
    with Listener(broker.port, f"{base}-hub/device/#") as hub:
        until(lambda: hub.heard)
    assert board.link.status.connected
    (line,) = [each for each in caplog.messages if "discovery" in each]
    assert line.endswith("Is a directory; the device may stay in Home Assistant")


def test_a_store_that_cannot_be_read_ends_no_connection(
    broker: Broker, base: str, make_board: MakeBoard, caplog: pytest.LogCaptureFixture
) -> None:
    class Unreadable(list[str]):
        def __iter__(self) -> Any:
            raise OSError(13, "Permission denied")

    board = make_board(broker.port, start=False, home_assistant=f"{base}-hub")
    board.voices = Unreadable()
    board.link.start()
    board.wait_up()
    with Listener(broker.port) as publisher:
        publisher.publish(f"{base}/reload", "")
        until(lambda: board.controls == [Reload()])
    assert board.link.counts.reconnects == 0
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def configured(tmp_path: Path, port: int, base: str, **home_assistant: Any) -> list[str]:
    file = tmp_path / "edged.yaml"
    sections = {
        "node": "hall",
        "state_dir": str(tmp_path / "state"),
        "mqtt": {"host": "127.0.0.1", "port": port, "base": base},
        "home_assistant": {"prefix": f"{base}-hub", **home_assistant},
    }
    file.write_text(json.dumps(sections))
    return ["--config", str(file)]


def test_the_command_shows_and_removes(
    broker: Broker,
    base: str,
    make_board: MakeBoard,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = configured(tmp_path, broker.port, base)
    board = make_board(broker.port, node="hall", home_assistant=f"{base}-hub")
    board.voices.clear()
    with Listener(broker.port, f"{base}-hub/device/#") as hub:
        until(lambda: hub.heard)
        assert cli.main(["discovery", "show", *options]) == 0
        topic, shown = capsys.readouterr().out.split("\n", 1)
        assert topic == hub.heard[0].topic
        assert json.loads(shown) | {"cmps": None} == hub.heard[0].json | {"cmps": None}
        assert cli.main(["discovery", "remove", *options]) == 0
        until(lambda: hub.last(topic) == b"")
    said = capsys.readouterr().out
    assert said.startswith(f"removed: {topic}\n")
    assert "home_assistant: {enabled: false}" in said
    with Listener(broker.port, f"{base}-hub/#", f"{base}/availability") as fresh:
        until(lambda: fresh.last(f"{base}/availability"))
        assert len(fresh.heard) == 1


def test_the_command_says_so_where_no_broker_is(
    tmp_path: Path, base: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["discovery", "remove", *configured(tmp_path, 1, base)]) == 1
    assert capsys.readouterr().err.count("\n") == 1
