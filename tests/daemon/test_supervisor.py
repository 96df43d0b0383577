"""The supervisor's watch: who is silent, the watchdog is not fed for."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from edged.config.model import Config
from edged.health.heartbeat import Heartbeats
from edged.health.notify import Notifier
from edged.supervisor import CurrentConfig, Parts, Supervisor, Wake


class Watched:
    """A supervisor whose parts do what the test says, and the service manager's end of the socket."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 0
        self.stale_streams: list[str] = []
        self.beats = Heartbeats(lambda: self.now_ns)
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind(str(folder / "notify"))
        self.manager.settimeout(0.2)
        monkeypatch.setenv("NOTIFY_SOCKET", str(folder / "notify"))
        self.supervisor = Supervisor(None, CurrentConfig(Config()), self.beats, Notifier(), Wake())
        self.supervisor.attach(
            Parts(
                drain=lambda: None,
                cut=lambda: None,
                joined=lambda _s: True,
                stop_speaking=lambda _id: None,
                apply=lambda: None,
                state=lambda: {
                    "speaking": None,
                    "queue": 0,
                    "voice": "ramp",
                    "level": 0,
                    "sink": "hand",
                    "broker": "none",
                },
                publish_state=lambda _state: None,
                notice=lambda _what, _reason: None,
                stale=lambda: self.stale_streams,
                speak_with=lambda _name: None,
                voice_files=dict,
                govern=lambda _limits, _now_ns: None,
            )
        )

    def feeds(self) -> bool:
        """One tick; whether it fed the watchdog."""
        self.supervisor._tick()
        told = b""
        try:
            while True:
                told += self.manager.recv(4096)
        except TimeoutError:
            return b"WATCHDOG=1" in told


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(tmp_path, monkeypatch)


def test_a_silent_synth_thread_starves_the_watchdog(watched: Watched) -> None:
    watched.beats.beat("synth")
    assert watched.feeds()
    watched.now_ns = 13 * 10**9
    assert not watched.feeds()
    watched.beats.beat("synth")
    assert watched.feeds()


def test_a_thread_that_rests_may_be_silent_until_its_next_beat(watched: Watched) -> None:
    watched.beats.beat("mqtt")
    watched.beats.forget("mqtt")
    watched.now_ns = 13 * 10**9
    assert watched.feeds(), "opening a connection may block"
    watched.beats.beat("mqtt")
    watched.now_ns = 26 * 10**9
    assert not watched.feeds()


def test_an_open_stream_that_takes_nothing_starves_the_watchdog(watched: Watched) -> None:
    assert watched.feeds()
    watched.stale_streams = ["default"]
    assert not watched.feeds()
