from __future__ import annotations

from pathlib import Path

import pytest

from edged.config.model import MqttConfig
from edged.mqtt import filters
from edged.mqtt.topics import Topics, default_client_id, default_node


def topics(*more: str, base: str | None = None) -> Topics:
    return Topics("kitchen", MqttConfig(base=base, topics=more))


def test_the_topics_lie_under_the_base() -> None:
    mine = topics()
    assert mine.base == "edged/kitchen"
    assert mine.subscribed == ("edged/kitchen/say", "edged/kitchen/say/+")
    assert set(mine.control) == {
        "edged/kitchen/stop",
        "edged/kitchen/volume/set",
        "edged/kitchen/voice/set",
        "edged/kitchen/reload",
    }
    assert mine.warnings == ()


def test_a_base_of_ones_own() -> None:
    assert topics(base="home/hall").say == "home/hall/say"


@pytest.mark.parametrize(
    ("topic", "zone", "spoken"),
    [
        ("edged/kitchen/say", None, True),
        ("edged/kitchen/say/attic", "attic", True),
        ("edged/kitchen/say/", None, True),
        ("edged/kitchen/say/attic/left", None, False),
        ("edged/kitchen/state", None, False),
        ("edged/hall/say", None, False),
    ],
)
def test_what_is_spoken_and_where(topic: str, zone: str | None, spoken: bool) -> None:
    mine = topics()
    assert (mine.zone_of(topic), mine.is_spoken(topic)) == (zone, spoken)


def test_own_topics_are_never_spoken_even_where_a_filter_takes_them() -> None:
    mine = topics("home/+/say/#", "home/#", "homeassistant/#", base="home/kitchen/say")
    for own in ("availability", "state", "event", "stop", "volume/set", "voice/set", "reload", "probe/x1"):
        assert not mine.is_spoken(f"home/kitchen/say/{own}"), own
    assert not mine.is_spoken("homeassistant/device/edged_kitchen/config")
    assert mine.is_spoken("home/kitchen/say/door")
    assert mine.is_spoken("home/kitchen/say/say")
    assert sum(filters.covers(each, "home/kitchen/say/door") for each in mine.subscribed) == 1


@pytest.mark.parametrize(
    "end",
    ["event", "state", "availability", "stop", "volume/set", "voice/set", "reload", "probe/caller-1"],
)
def test_topics_of_another_board_are_never_spoken_through_a_configured_filter(end: str) -> None:
    mine = topics("home/#", base="home/hall/say")
    assert not mine.is_spoken(f"home/attic/{end}")
    assert mine.is_spoken(f"home/attic/{end}/note")
    assert mine.is_spoken(f"home/attic/my{end}")


def test_what_home_assistant_says_is_never_spoken() -> None:
    mine = topics("#", "homeassistant/#")
    assert not mine.is_spoken("homeassistant/status")
    assert not mine.is_spoken("homeassistant/sensor/door/config")
    assert mine.is_spoken("home/homeassistant/door")


def test_a_zone_may_bear_the_name_of_a_topic_for_machines() -> None:
    mine = topics("home/#", base="home/hall")
    assert mine.is_spoken("home/hall/say/state")
    assert not mine.is_spoken("home/attic/say/state")


def test_a_filter_that_takes_nothing_but_topics_for_machines_is_told() -> None:
    (first, second) = topics("doors/+/state", "homeassistant/status", "doors/+/+").warnings
    assert first.startswith('mqtt.topics: "doors/+/state" takes topics for machines only')
    assert second.startswith('mqtt.topics: "homeassistant/status" takes topics for machines only')


def test_filters_that_take_own_topics_are_told() -> None:
    (first, second) = topics("home/+/say/#", "home/#", base="home/kitchen/say").warnings
    assert first.startswith('mqtt.topics: "home/+/say/#" also matches home/kitchen/say/availability')
    assert second.startswith('mqtt.topics: "home/#" also matches home/kitchen/say/availability')


def test_partly_overlapping_filters_are_joined_and_told() -> None:
    mine = topics("home/+/say", "home/hall/+")
    assert mine.subscribed[-1] == "home/+/+"
    assert mine.is_spoken("home/hall/door")
    assert not mine.is_spoken("home/attic/door"), "taken by the join alone"
    assert ['"home/+/+" is subscribed' in warning for warning in mine.warnings] == [True]


def test_a_bad_filter_is_left_out_and_told() -> None:
    mine = topics("a/#/b", "good/one")
    assert mine.subscribed == ("edged/kitchen/say", "edged/kitchen/say/+", "good/one")
    (warning,) = mine.warnings
    assert warning.startswith('mqtt.topics: "a/#/b" has "#" elsewhere')


@pytest.mark.parametrize(
    ("topic", "prefix", "fault"),
    [
        ("caller/1/answer", "", None),
        ("caller/1/answer", "caller/", None),
        ("caller/1/answer", "answers/", "mqtt.response_prefix"),
        ("edged/kitchen/say", "", "listened to"),
        ("edged/kitchen/say/attic", "", "listened to"),
        ("edged/kitchen/stop", "", "listened to"),
        ("edged/kitchen/availability", "", "published here"),
        ("doors/front", "", "listened to"),
        ("caller/+/x", "", "no topic name"),
        ("caller/#", "", "no topic name"),
        ("", "", "no topic name"),
    ],
)
def test_where_a_response_may_go(topic: str, prefix: str, fault: str | None) -> None:
    found = topics("doors/#").response_fault(topic, prefix)
    assert found is None if fault is None else fault in (found or "")


def machine(root: Path, machine_id: str, serial: str | None = None) -> Path:
    (root / "etc").mkdir(parents=True)
    (root / "etc/machine-id").write_text(machine_id + "\n")
    if serial is not None:
        (root / "proc/device-tree").mkdir(parents=True)
        (root / "proc/device-tree/serial-number").write_text(serial + "\0")
    return root


def test_the_client_id_is_stable_and_unique_per_machine(tmp_path: Path) -> None:
    one = machine(tmp_path / "one", "a" * 32)
    two = machine(tmp_path / "two", "b" * 32)
    clone = machine(tmp_path / "clone", "a" * 32, "100000001")
    twin = machine(tmp_path / "twin", "a" * 32, "100000002")
    ids = [default_client_id("raspberrypi", root) for root in (one, two, clone, twin)]
    assert len(set(ids)) == 4
    assert ids[0] == default_client_id("raspberrypi", one)
    assert ids[0].startswith("edged-raspberrypi-")
    assert len(ids[0].rsplit("-", 1)[1]) == 8


def test_a_machine_without_an_id_still_has_a_stable_client_id(tmp_path: Path) -> None:
    assert default_client_id("küche/1", tmp_path) == default_client_id("küche/1", tmp_path)
    assert default_client_id("küche/1", tmp_path).startswith("edged-k-che-1-")


def test_the_default_node_is_one_topic_level() -> None:
    assert default_node()
    assert not set(default_node()) & set("/+#\0 ")
