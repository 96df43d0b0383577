from edged.health.heartbeat import Heartbeats

S = 1_000_000_000


class HandClock:
    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


def test_silent_threads_are_named_until_they_beat_again():
    clock = HandClock()
    beats = Heartbeats(clock)
    beats.beat("synth")
    clock.now_ns = 4 * S
    beats.beat("mqtt")
    clock.now_ns = 9 * S
    assert beats.stale(10) == []
    assert beats.stale(8) == ["synth"]
    assert beats.stale(4) == ["synth", "mqtt"]
    beats.beat("synth")
    assert beats.stale(4) == ["mqtt"]


def test_a_forgotten_thread_may_be_silent():
    clock = HandClock()
    beats = Heartbeats(clock)
    beats.beat("mqtt")
    clock.now_ns = 60 * S
    beats.forget("mqtt")
    beats.forget("never there")
    assert beats.stale(1) == []
    beats.beat("mqtt")
    clock.now_ns = 120 * S
    assert beats.stale(1) == ["mqtt"]
