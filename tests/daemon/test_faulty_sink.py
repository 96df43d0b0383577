"""Queue, synth thread and keeper over a sound device that is busy, vanishes, and comes back otherwise."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from edged.audio.keeper import Keeper
from edged.audio.sinks import NullSink, Output
from edged.config.model import AudioConfig, CacheConfig, Config
from edged.errors import SinkError
from edged.health.counters import SynthCounters
from edged.queue.announcements import Announcements
from edged.queue.journal import Journal
from edged.queue.mailbox import Mailbox
from edged.render import NO_CACHE
from edged.studio import Studio
from edged.synth import Player, SynthThread
from edged.types import Announcement, Event, EventKind, Utterance
from tests.broker import until
from tests.ramp_voice import RATE_HZ, RampVoice, samples_of


class FaultySink(NullSink):
    """A silent sink in real time whose faults the test sets."""

    def __init__(self) -> None:
        super().__init__(AudioConfig(sink="null", lead_in_ms=0, period_ms=12, rate_hz=RATE_HZ))
        self.refusal: str | None = None
        self.opened: list[Output] = []
        self.tries = 0
        self.heard: list[np.ndarray] = []

    def open(self) -> Output:
        self.tries += 1
        if self.refusal:
            raise SinkError(self.refusal)
        self.opened.append(super().open())
        return self.opened[-1]

    def vanish(self, refusal: str) -> None:
        """The card is pulled: no callback comes any more, and opening fails until it is back."""
        self.refusal = refusal
        self.heard.append(self.played())
        super().close(self.opened[-1], drain=False)

    def back(self, rate_hz: int = RATE_HZ) -> None:
        """It is plugged in again, perhaps as another device with another rate."""
        self.__dict__.update(NullSink(AudioConfig(sink="null", period_ms=12, rate_hz=rate_hz)).__dict__)
        self.refusal = None


class Board:
    def __init__(self, folder: Path, sink: FaultySink) -> None:
        self.sink = sink
        self.events: list[Event] = []
        self.config = Config(audio=AudioConfig(lead_in_ms=0), cache=CacheConfig(pcm_kib=0))
        self.mailbox = Mailbox(Announcements(64, ("default",)))
        self.keeper = Keeper(
            {"default": sink}, on_change=self.mailbox.wake, on_hang=lambda: None, beat=lambda: None
        )
        player = Player(
            "default",
            lambda: self.keeper.current("default"),
            lambda: self.keeper.need("default"),
            lambda: str(self.keeper.state("default")),
        )
        self.voice = RampVoice()
        self.synth = SynthThread(
            [player],
            self.mailbox,
            Journal(folder / "journal"),
            Studio(
                lambda _name: self.voice,
                lambda _lang: None,
                lambda _voice: None,
                lambda _lang: None,
                NO_CACHE,
                None,
                lambda _what, _line: None,
            ),
            lambda: self.config,
            SynthCounters(),
            self.events.append,
            beat=lambda: None,
            trim=lambda: None,
            rest=lambda: None,
        )
        self.keeper.start()
        self.synth.start()

    def offer(self, id: str, text: str, ttl_s: float = 60.0) -> None:
        now_ns = time.monotonic_ns()
        utterance = Utterance(Announcement(id, text), now_ns, now_ns + int(ttl_s * 1e9))
        self.events += self.mailbox.offer(utterance, now_ns, 600.0)

    def final(self, id: str) -> Event:
        def found() -> Event | None:
            return next((e for e in list(self.events) if e.id == id and e.kind.is_final), None)

        event = until(found, 20, f"the end of {id}")
        assert isinstance(event, Event)
        return event

    def stop(self) -> None:
        self.synth.cut()
        assert self.synth.join(5)
        self.keeper.stop()


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Callable[[FaultySink], Board]]:
    made: list[Board] = []

    def make(sink: FaultySink) -> Board:
        made.append(Board(tmp_path, sink))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def holds(sound: np.ndarray, text: str) -> bool:
    return samples_of(text).tobytes() in sound.tobytes()


def test_a_device_that_is_busy_for_a_while_is_waited_for(board: Callable[[FaultySink], Board]) -> None:
    sink = FaultySink()
    sink.refusal = "card0 is busy (held by mpd); stop it, or share the device"
    speaking = board(sink)
    speaking.offer("a", "Waited for.")
    time.sleep(1.0)
    assert speaking.events[-1].kind is EventKind.ACCEPTED
    sink.refusal = None
    assert speaking.final("a").kind is EventKind.FINISHED
    assert holds(sink.played(), "Waited for.")


def test_one_that_stays_busy_costs_each_message_its_own_deadline_and_little_else(
    board: Callable[[FaultySink], Board], caplog: pytest.LogCaptureFixture
) -> None:
    sink = FaultySink()
    sink.refusal = "card0 is busy (held by mpd); stop it, or share the device"
    with caplog.at_level(logging.INFO, "edged"):
        speaking = board(sink)
        speaking.offer("short", "Too late.", ttl_s=1.5)
        speaking.offer("long", "In time.", ttl_s=30)
        began_s = time.process_time()
        expired = speaking.final("short")
        spent_s = time.process_time() - began_s
    assert expired.kind is EventKind.EXPIRED
    assert "card0 is busy (held by mpd)" in str(expired.reason)
    assert spent_s < 0.5, "it waits, it does not spin"
    told = [record.message for record in caplog.records if "busy" in record.message]
    assert len(told) == 1
    sink.refusal = None
    assert speaking.final("long").kind is EventKind.FINISHED
    assert holds(sink.played(), "In time.")
    assert not holds(sink.played(), "Too late.")


@pytest.mark.parametrize("rate_hz", [RATE_HZ, 48000])
def test_one_that_is_pulled_in_mid_sentence_says_it_again_whole_when_it_is_back(
    board: Callable[[FaultySink], Board], rate_hz: int
) -> None:
    sink = FaultySink()
    speaking = board(sink)
    text = "This one is cut in its middle by a hand."
    speaking.offer("a", text)
    until(lambda: any(e.kind is EventKind.STARTED for e in speaking.events), 10, "the start")
    time.sleep(0.3)
    sink.vanish("no card named 'USB'; plug it in")
    until(lambda: speaking.keeper.current("default") is None, 10, "the loss to be seen")
    speaking.offer("b", "The next one.")
    time.sleep(0.5)
    sink.back(rate_hz)
    assert speaking.final("a").kind is EventKind.FINISHED
    assert speaking.final("b").kind is EventKind.FINISHED
    assert not holds(sink.heard[0], text)
    if rate_hz == RATE_HZ:
        assert holds(sink.played(), text)
        assert holds(sink.played(), "The next one.")
    assert speaking.final("a").audio_s == pytest.approx(samples_of(text).size / RATE_HZ, abs=0.01)
    assert sum(e.kind.is_final for e in speaking.events) == 2
