import pytest

from edged.health.counters import Counters, RtfMinute, Window
from edged.types import Event, EventKind

S = 1_000_000_000


def test_percentiles_are_nearest_rank():
    window = Window()
    for value in range(1, 101):
        window.add(float(value))
    assert window.percentiles() is not None
    assert (window.percentiles().n, window.percentiles().p50, window.percentiles().p95) == (100, 50.0, 95.0)


def test_one_value_is_every_percentile_and_none_is_none():
    window = Window()
    assert window.percentiles() is None
    window.add(7.5)
    assert (window.percentiles().p50, window.percentiles().p95) == (7.5, 7.5)


def test_window_forgets_the_oldest():
    window = Window(size=3)
    for value in (100.0, 1.0, 2.0, 3.0):
        window.add(value)
    assert (window.percentiles().n, window.percentiles().p95) == (3, 3.0)


def test_rtf_is_of_the_last_minute_only():
    rtf = RtfMinute()
    assert rtf.value(0) is None
    rtf.add(1.0, 1.0, 10 * S)
    rtf.add(0.1, 9.0, 40 * S)
    assert rtf.value(40 * S) == pytest.approx(1.1 / 10)
    assert rtf.value(80 * S) == pytest.approx(0.1 / 9)
    assert rtf.value(200 * S) is None


def test_rtf_slot_of_an_earlier_minute_is_not_added_to():
    rtf = RtfMinute()
    rtf.add(5.0, 1.0, 10 * S)
    rtf.add(0.1, 1.0, 70 * S)
    assert rtf.value(70 * S) == pytest.approx(0.1)


def test_snapshot_sums_the_threads_and_carries_first_audio():
    counters = Counters()
    counters.mqtt.count(Event(EventKind.DROPPED, "a"))
    counters.synth.count(Event(EventKind.DROPPED, "b"))
    counters.synth.count(Event(EventKind.STARTED, "c", first_audio_ms=99.0))
    counters.synth.count(Event(EventKind.FINISHED, "c", first_audio_ms=12.34))
    counters.synth.rtf.add(0.01, 2.0, 5 * S)
    snapshot = counters.snapshot(5 * S)
    assert snapshot["dropped"] == 2
    assert snapshot["finished"] == 1
    assert snapshot["first_audio_ms_p50"] == 12.3
    assert snapshot["rtf_1m"] == 0.005


def test_snapshot_of_a_fresh_daemon_has_every_key():
    snapshot = Counters().snapshot(0)
    assert {kind.value for kind in EventKind} <= set(snapshot)
    assert snapshot["first_audio_ms_p95"] is None
    assert snapshot["rtf_1m"] is None
