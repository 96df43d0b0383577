"""configs/reference.md is current, and what it lists is what the code listens to, publishes and reads."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from edged.cli.manual import EVENT, KINDS, MESSAGE, NOTICE, STATE, manual
from edged.config.fields import keys, root
from edged.config.model import Config, HermesConfig
from edged.mqtt import codec, hermes
from edged.mqtt.discovery import discovery_of
from edged.mqtt.topics import USES, Topics
from edged.types import Event, EventKind
from tests.broker import Broker, Listener
from tests.daemon.harness import Daemon

REPO = Path(__file__).parents[2]
TOLD_IN_WORDS = {"each filter of `mqtt.topics`", "the response topic of a message"}
PUBLISH = re.compile(r"Received PUBLISH from (edged-\S+) \(d\d, q(\d), r(\d), m\d+, '([^']+)'")
SUBSCRIBE = re.compile(r"(?m)^\d+: (edged-\S+) (\d) (\S+)$")


def test_the_committed_file_is_up_to_date() -> None:
    assert (REPO / "configs/reference.md").read_text() == manual(), (
        "edged check --manual > configs/reference.md"
    )


def test_every_key_of_the_configuration_is_in_it() -> None:
    listed = [
        f"{section}.{key}".removeprefix("At the top.")
        for section, body in re.findall(r"(?ms)^### (.+?)\n(.*?)(?=^### |\Z)", manual())
        for key in re.findall(r"(?m)^\| `(\w+)` \|", body)
    ]
    named = [f"{name}.NAME.{key}" for name, each in root().named.items() for key in each.item.keys]
    assert listed == [key.path for key in keys()] + named


def test_no_cell_breaks_its_table() -> None:
    """A bar or a line break in a text of the model would; so would a name in angle brackets, as a tag."""
    columns = 0
    for line in manual().splitlines():
        columns = line.count("|") if line.startswith("| ") and not columns else columns
        if line.startswith("|"):
            assert line.count("|") == columns, line
        else:
            columns = 0
            assert "|" not in line
        assert not re.search(r"(?<!\\)<", re.sub(r"`[^`]*`", "", line)), line


def test_every_topic_that_the_code_names_is_in_it() -> None:
    config = Config(node="NODE", hermes=HermesConfig(enabled=True))
    topics = Topics.of(config)
    named = {value for value in vars(topics).values() if isinstance(value, str)} - {"NODE", "homeassistant/"}
    named |= {*topics.subscribed, *topics.control}
    named |= {value for value in vars(hermes).values() if isinstance(value, str) and "hermes/" in value[:7]}
    discovery = discovery_of(config, topics)
    assert discovery is not None
    named.add(re.sub(r"edged_\w+", "<device>", discovery.topic))
    shown = {"edged/NODE": "<base>", "homeassistant/": "<prefix>/", "say/+": "say/<zone>"}
    for part, stands in shown.items():
        named = {name.replace(part, stands) for name in named}
    named = {"<base>/probe/<command>" if name == "<base>/probe" else name for name in named} - {"<base>"}
    assert named == {use.topic for use in USES} - TOLD_IN_WORDS


def test_every_member_of_a_message_and_of_an_event_is_in_it() -> None:
    assert list(MESSAGE) == ["text", *[key for key in MESSAGE if key in codec._KEYS]]
    assert set(MESSAGE) | {"message", "speak"} == {*codec._TEXT_KEYS, *codec._KEYS}
    assert all(f"`{key}`" in MESSAGE["text"] for key in codec._TEXT_KEYS[1:])
    whole = {field.name: 1.0 for field in fields(Event)} | {
        "kind": EventKind.FINISHED,
        "zones_ms": {"a": 1.0},
    }
    assert list(EVENT) == list(codec.parse_object(codec.encode_event(Event(**whole))))  # type: ignore[arg-type]
    assert set(KINDS) == set(EventKind)


def test_every_notice_is_in_it() -> None:
    """Their names stand in calls of `notice`, and of what the studio is given to report by."""
    found = set()
    for file in (REPO / "edged").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            called = (
                node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
            )
            if (
                called in ("notice", "_report")
                and len(node.args) == 2
                and isinstance(node.args[0], ast.Constant)
            ):
                found.add(node.args[0].value)
    assert found == set(re.findall(r"`(\w+)`:", NOTICE["what"]))


def test_what_a_daemon_subscribes_and_publishes_is_in_it(
    start: Callable[..., Daemon], broker: Broker, base: str
) -> None:
    """A running daemon, as the broker sees it: topics, QoS and retained are those that are listed, and
    the state has exactly the members that are listed."""
    daemon = start(
        hermes={"enabled": True},
        mqtt={"topics": ["house/news"]},
        process={"memory_lock": True, "realtime": True},
    )
    with Listener(broker.port, f"{base}/#", "hermes/#") as client:
        client.publish(f"{base}/say", '{"text": "Tea.", "id": "1"}', ResponseTopic="answers/here")
        client.publish("hermes/tts/say", '{"text": "Tea.", "id": "2"}')
        client.publish("hermes/tts/say", '{"text": "Tea.", "id": "3", "volume": 2}')
        for ended in ("1", "2"):
            client.wait_event(base, "finished", 30, id=ended)
        client.wait_event(base, "failed", 30, id="3")
        (state, *_) = client.on(f"{base}/state")
    assert daemon.stop() == 0
    assert set(state.json) == set(STATE)

    device = re.compile(r"edged_[0-9a-f]{12}")
    listed = {(use.topic, use.direction): (use.qos, use.retained) for use in USES}
    published = {
        (_shown(device.sub("<device>", topic), base), "out"): (int(qos), retained == "1")
        for _, qos, retained, topic in PUBLISH.findall(broker.log)
    }
    subscribed = {
        (_shown(topic, base), "in"): (int(qos), False)
        for _, qos, topic in SUBSCRIBE.findall(broker.log)
        if topic != f"{base}/availability"  # to contradict a late last will
    }
    not_by_the_daemon = {("<base>/probe/<command>", "in")}
    assert published | subscribed == {key: listed[key] for key in listed.keys() - not_by_the_daemon}


def _shown(topic: str, base: str) -> str:
    """As it is listed."""
    told = {"house/news": "each filter of `mqtt.topics`", "answers/here": "the response topic of a message"}
    topic = re.sub(f"^{re.escape(base)}/", "<base>/", topic).replace("say/+", "say/<zone>")
    return told.get(topic, re.sub("^homeassistant/", "<prefix>/", topic))
