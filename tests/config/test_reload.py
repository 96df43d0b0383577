"""What a reload takes over and what waits for a restart."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from edged.config.fields import keys, value_at
from edged.config.model import AudioConfig, Config, MqttConfig, TlsConfig, ZoneConfig
from edged.config.reload import Change, compare, merge_live
from tests.config.strategies import configs

OLD = Config()
NEW = Config(
    node="kitchen",
    mqtt=MqttConfig(password="hunter2", tls=TlsConfig(enabled=True)),
    audio=AudioConfig(volume=0.5, period_ms=6, sentence_pause_ms=100),
)


def test_changes_are_told_apart() -> None:
    change = compare(OLD, NEW)
    assert change.live == ("audio.volume", "audio.sentence_pause_ms")
    assert change.restart == ("node", "mqtt.password", "mqtt.tls.enabled", "audio.period_ms")


def test_the_log_line_names_keys_and_no_values() -> None:
    assert str(compare(OLD, NEW)) == (
        "applied: audio.volume, audio.sentence_pause_ms; "
        "needs a restart: node, mqtt.password, mqtt.tls.enabled, audio.period_ms"
    )
    assert str(compare(OLD, OLD)) == "nothing changed"
    assert not compare(OLD, OLD)


def test_only_live_keys_are_taken_over_and_the_rest_stays_pending() -> None:
    merged = merge_live(OLD, NEW)
    assert merged == replace(OLD, audio=replace(OLD.audio, volume=0.5, sentence_pause_ms=100))
    assert compare(merged, NEW) == Change(live=(), restart=compare(OLD, NEW).restart)


def test_a_value_set_while_running_stays_where_the_file_did_not_change() -> None:
    running = replace(OLD, audio=replace(OLD.audio, volume=0.2))
    edited = replace(OLD, audio=replace(OLD.audio, sentence_pause_ms=50))
    merged = merge_live(running, edited, compare(OLD, edited).live)
    assert (merged.audio.volume, merged.audio.sentence_pause_ms) == (0.2, 50)


def test_a_restart_key_is_not_taken_over_even_when_named() -> None:
    assert merge_live(OLD, NEW, ("node", "audio.period_ms")) == OLD


def test_a_zone_is_compared_by_its_name() -> None:
    old = replace(OLD, zones=(ZoneConfig("attic"), ZoneConfig("hall", device="USB")))
    new = replace(OLD, zones=(ZoneConfig("hall", device="HDMI", volume=0.5), ZoneConfig("attic")))
    assert compare(old, new) == Change(live=("zones.hall.volume",), restart=("zones.hall.device",))
    merged = merge_live(old, new)
    assert merged.zones == (ZoneConfig("attic"), ZoneConfig("hall", device="USB", volume=0.5))
    assert compare(OLD, old).restart == ("zones.attic", "zones.hall")
    assert merge_live(OLD, old) == OLD


@given(configs(), configs(), st.booleans())
def test_any_two(old: Config, new: Config, by_name: bool) -> None:
    change = compare(old, new)
    merged = merge_live(old, new, change.live if by_name else None)
    for key in keys():
        assert value_at(merged, key.path) == value_at(new if key.live else old, key.path)
    assert compare(merged, new).restart == change.restart
    assert not compare(old, merged).restart
