"""The daemon over a real sound system: what the card played is what was synthesized, or said again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edged.voices import Voices
from tests.broker import Broker, Listener, until
from tests.daemon.harness import Daemon
from tests.daemon.test_announce import rendered
from tests.pulse import Alignment, Capture, SoundServer, align

MakeServer = Callable[..., SoundServer]
AUDIO = {
    "sink": "alsa",
    "device": SoundServer.device,
    "rate_hz": 24000,  # the server's own, so that every sample arrives as it was rendered
    "period_ms": 24,
    "latency_ms": 100,
    "lead_in_ms": 200,
}


@pytest.fixture
def board(
    tmp_path: Path, broker: Broker, base: str, voices: Voices, sound_server: MakeServer
) -> Iterator[Callable[..., tuple[Daemon, SoundServer]]]:
    """A daemon whose only sound device is a server of its own."""
    daemons: list[Daemon] = []

    def make(plugged: bool = True, **sections: Any) -> tuple[Daemon, SoundServer]:
        server = sound_server(start=plugged)
        sections = {"audio": AUDIO | sections.pop("audio", {}), **sections}
        daemons.append(Daemon(tmp_path, broker.port, base, env=server.env, **sections))
        daemons[-1].start()
        return daemons[-1], server

    yield make
    for daemon in daemons:
        daemon.kill()
        print(daemon.log())


def heard_whole(capture: Capture, expected: np.ndarray) -> Alignment:
    """Wait until every sample is in the recording, and end it."""
    until(lambda: align(expected, capture.samples()[:, 0]).lost_frames == 0, 5, "every sample of it")
    return align(expected, capture.stop()[:, 0])


def test_first_and_last_syllable_of_a_cold_device(
    board: Callable[..., tuple[Daemon, SoundServer]], listen: Listener, base: str, voices: Voices
) -> None:
    """C46, C47: the device is released in silence and wakes again for each message."""
    daemon, server = board(audio={"idle_close_s": 1})
    for text in ("Stop the pump", "Lights are red"):
        until(lambda: "released after" in daemon.log().splitlines()[-1], 20, "the device is released")
        capture = server.capture()
        listen.publish(f"{base}/say", f'{{"text":"{text}","id":"{text}"}}')
        listen.wait_event(base, "finished", 20, id=text)
        assert heard_whole(capture, rendered(voices, text)).exact


def test_finished_means_that_the_last_sample_has_left(
    board: Callable[..., tuple[Daemon, SoundServer]], listen: Listener, base: str, voices: Voices
) -> None:
    _, server = board()
    text = "All of this must have been heard before it is called finished."
    capture = server.capture()
    listen.publish(f"{base}/say", f'{{"text":"{text}","id":"a"}}')
    event = listen.wait_event(base, "finished", 20, id="a")
    at_finished = capture.samples().shape[0]
    expected = rendered(voices, text)
    found = heard_whole(capture, expected)
    assert found.offset is not None
    behind_ms = (found.offset + expected.size - at_finished) / 24
    # the recording itself lags: 20 ms asked for, and the server's block of the same size
    assert behind_ms < 60, f"{behind_ms:.0f} ms were still to come"
    assert event["device_latency_ms"] > 0


def test_without_a_card_it_waits_and_speaks_when_there_is_one(
    board: Callable[..., tuple[Daemon, SoundServer]], listen: Listener, base: str, voices: Voices
) -> None:
    daemon, server = board(plugged=False)
    assert "sound default: " in daemon.log()
    listen.publish(f"{base}/say", '{"text":"Too old by then","id":"old","ttl_s":1}')
    listen.publish(f"{base}/say", '{"text":"Heard at last","id":"new"}')
    listen.wait_event(base, "expired", 20, id="old")
    server.start()
    capture = server.capture()
    listen.wait_event(base, "finished", 30, id="new")
    until(lambda: np.any(capture.samples()), 5, "sound")
    assert daemon.log().count("sound default: ") <= 4, "one line for each change of state"


def test_a_sound_server_that_dies_in_mid_sentence(
    board: Callable[..., tuple[Daemon, SoundServer]], listen: Listener, base: str, voices: Voices
) -> None:
    daemon, server = board()
    text = "This sentence is interrupted by the loss of its card, and said again whole."
    listen.publish(f"{base}/say", f'{{"text":"{text}","id":"a"}}')
    listen.wait_event(base, "started", 20, id="a")
    server.kill()
    until(lambda: "lost" in daemon.log(), 20, "the loss is noticed")
    server.start()
    capture = server.capture()
    listen.wait_event(base, "finished", 40, id="a")
    heard_whole(capture, rendered(voices, text))
    assert sum(event["event"] == "finished" for event in listen.events(base)) == 1


def test_a_sound_server_that_dies_with_the_last_of_it_in_its_buffer(
    board: Callable[..., tuple[Daemon, SoundServer]], listen: Listener, base: str, voices: Voices
) -> None:
    _, server = board()
    text = "The last syllable of this has been handed over and not been played."
    expected = rendered(voices, text)
    listen.publish(f"{base}/say", f'{{"text":"{text}","id":"a"}}')
    event = listen.wait_event(base, "started", 20, id="a")
    end_s = event["first_sample_ns"] / 1e9 + event["device_latency_ms"] / 1e3 + expected.size / 24000
    time.sleep(max(0.0, end_s - 0.06 - time.monotonic()))
    server.kill()
    server.start()
    capture = server.capture()
    listen.wait_event(base, "finished", 40, id="a")
    heard_whole(capture, expected)
    assert sum(event["event"] == "finished" for event in listen.events(base)) == 1
