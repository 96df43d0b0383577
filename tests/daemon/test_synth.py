"""The synth thread's turns, driven by hand: the real ring and queue, a voice of ramps, no thread."""

from __future__ import annotations

import gc
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edged.audio.ring import Ring
from edged.audio.sinks import Output
from edged.audio.tone import alert_tone, chime
from edged.audio.wavfile import write
from edged.config.model import AudioConfig, CacheConfig, ChimeConfig, Config, QueueConfig
from edged.health.counters import SynthCounters
from edged.phrases import Phrases
from edged.queue.announcements import Announcements
from edged.queue.journal import Journal
from edged.queue.mailbox import Mailbox
from edged.render import PcmCache
from edged.studio import Studio
from edged.synth import Player, SynthThread
from edged.types import Announcement, Event, EventKind, Priority, Receipt, SinkInfo, Utterance
from tests.ramp_voice import RATE_HZ, RampVoice, samples_of

PERIOD = RATE_HZ * 12 // 1000


class Board:
    """A daemon's inside with the device's side turned by hand."""

    def __init__(self, folder: Path, zones: tuple[str, ...] = ("default",), **config: object) -> None:
        self.config = Config(audio=AudioConfig(lead_in_ms=0), cache=CacheConfig(pcm_kib=0), **config)  # type: ignore[arg-type]
        self.outputs: dict[str, Output | None] = {}
        self.events: list[Event] = []
        self.voice = RampVoice()
        self.substitute: RampVoice | None = None
        self.by_language: dict[str, RampVoice] = {}
        self.prompts: dict[str, Path] = {}
        self.notices: list[tuple[str, str]] = []
        self.tidied: list[str] = []
        self.mailbox = Mailbox(Announcements(64, zones))
        self.journal = Journal(folder / "journal")
        self.players = [
            Player(z, lambda z=z: self.outputs[z], lambda: None, lambda: "lost: unplugged")  # type: ignore[misc]
            for z in zones
        ]
        for zone in zones:
            self.plug(zone)
        self.phrases = Phrases(folder / "phrases", 1 << 20)
        self.studio = Studio(
            lambda _name: self.voice,
            self.by_language.get,
            lambda _voice: self.substitute,
            self.prompts.get,
            PcmCache(self.config.cache.pcm_kib * 1024, lambda _key, samples: samples.nbytes),
            self.phrases,
            lambda what, line: self.notices.append((what, line)),
        )
        self.synth = SynthThread(
            self.players,
            self.mailbox,
            self.journal,
            self.studio,
            lambda: self.config,
            SynthCounters(),
            self.events.append,
            beat=lambda: None,
            trim=lambda: self.tidied.append("trim"),
            rest=lambda: self.tidied.append("rest"),
        )
        self.heard: dict[str, list[np.ndarray]] = {zone: [] for zone in zones}

    def plug(self, zone: str) -> None:
        info = SinkInfo("hand", "hand", RATE_HZ, 1, PERIOD, 0.0, False)
        self.outputs[zone] = Output(Ring(PERIOD, 1, RATE_HZ, RATE_HZ // 2), info, time.monotonic_ns())

    def offer(self, text: str, id: str = "a", zone: str | None = None, mid: int = 0, **more: object) -> None:
        now_ns = time.monotonic_ns()
        receipt = Receipt(0, mid, 1, f"{mid}:x") if mid else None
        announcement = Announcement(id, text, zone=zone, **more)  # type: ignore[arg-type]
        self.events += self.mailbox.offer(
            Utterance(announcement, now_ns, now_ns + 10**11, receipt), now_ns, 600.0
        )

    def play(self, periods: int = 1) -> None:
        for _ in range(periods):
            for zone, output in self.outputs.items():
                if output:
                    self.heard[zone].append(output.ring.render(PERIOD).copy())

    def turn(self, turns: int = 1, periods: int = 1) -> None:
        for _ in range(turns):
            self.synth._turn()
            self.play(periods)

    def finish(self) -> None:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            self.turn()
            time.sleep(0.0005)  # the last block sounds for a period of real time
            if not len(self.mailbox) and not any(p.speech for p in self.players):
                return
        raise AssertionError(f"not finished: {self.kinds()}")

    def sound(self, zone: str = "default") -> np.ndarray:
        """What was heard, without the silence at both ends."""
        whole = np.concatenate(self.heard[zone])
        used = np.flatnonzero(whole)
        return whole[used[0] : used[-1] + 1] if used.size else whole[:0]

    def kinds(self) -> list[tuple[str, str | None]]:
        return [(event.kind.value, event.id) for event in self.events]


@pytest.fixture
def board(tmp_path: Path) -> Board:
    return Board(tmp_path)


def test_what_is_heard_is_what_was_synthesized_and_the_events_tell_it(board: Board) -> None:
    board.offer("First one. Second one.")
    board.finish()
    pause = np.zeros(180 * RATE_HZ // 1000, np.int16)
    expected = np.concatenate([samples_of("First one."), pause, samples_of("Second one.")])
    np.testing.assert_array_equal(board.sound(), expected)
    assert board.kinds() == [("accepted", "a"), ("started", "a"), ("finished", "a")]
    final = board.events[-1]
    assert final.audio_s == pytest.approx(expected.size / RATE_HZ)
    assert final.underfills == 0
    assert final.first_audio_ms is not None
    assert final.first_audio_ms >= 0


def test_finished_comes_only_after_the_last_sample(board: Board) -> None:
    board.offer("Ten chars.")
    for _ in range(100):
        board.synth._turn()
    taken = 0
    while board.kinds()[-1] != ("finished", "a"):
        assert taken < 10 * 600 + 10 * PERIOD
        board.play()
        taken += PERIOD
        board.synth._turn()
        time.sleep(0.013)  # the period in which the last block is still sounding
    assert taken >= 10 * 600


def test_nothing_to_speak_runs_no_model(board: Board) -> None:
    for text in ("", "  \n\t ", "……！？。", "---", "🍕"):
        board.offer(text, id=text)
    board.offer("Test", id="last")
    board.finish()
    finals = [event for event in board.events if event.kind.is_final]
    assert [event.reason for event in finals] == ["nothing to speak"] * 5 + [None]
    assert board.voice.engine.texts == ["Test"]
    assert not any(event.kind is EventKind.STARTED and event.id != "last" for event in board.events)


def test_urgent_interrupts_and_the_cut_one_is_said_again_from_its_sentence(board: Board) -> None:
    board.offer("Sentence number one. Sentence number two.", id="low")
    while not board.heard["default"] or len(board.heard["default"]) * PERIOD < 20 * 600 + 5000:
        board.turn()
    board.offer("Fire.", id="fire", priority=Priority.URGENT)
    board.finish()
    assert board.kinds() == [
        ("accepted", "low"),
        ("started", "low"),
        ("accepted", "fire"),
        ("started", "fire"),
        ("finished", "fire"),
        ("started", "low"),
        ("finished", "low"),
    ]
    tail = samples_of("Sentence number two.")
    np.testing.assert_array_equal(board.sound()[-tail.size :], tail)


def test_urgent_interrupts_and_drops_by_configuration(tmp_path: Path) -> None:
    board = Board(tmp_path, queue=QueueConfig(interrupted="drop"))
    board.offer("A long one that is cut.", id="low")
    board.turn(5)
    board.offer("Fire.", id="fire", priority=Priority.URGENT)
    board.finish()
    assert ("dropped", "low") in board.kinds()
    assert board.kinds()[-1] == ("finished", "fire")


def test_stop_of_one_and_of_all(board: Board) -> None:
    board.offer("A long announcement to be stopped.", id="a")
    board.offer("Waiting one.", id="b")
    board.offer("Waiting two.", id="c")
    board.turn(4)
    board.synth.stop("b")
    board.synth.stop("a")
    board.finish()
    reasons = {event.id: event.reason for event in board.events if event.kind is EventKind.DROPPED}
    assert reasons == {"a": "stopped", "b": "stopped"}
    assert board.kinds()[-1] == ("finished", "c")
    board.offer("One more.", id="d")
    board.turn(2)
    board.synth.stop(None)
    board.turn(2)
    assert board.kinds()[-1] == ("dropped", "d")


def test_a_failing_voice_is_tried_again_then_the_tone_sounds(board: Board) -> None:
    board.voice.engine.failures = 1
    board.offer("Once more.", id="a")
    board.finish()
    assert board.kinds()[-1] == ("finished", "a")
    np.testing.assert_array_equal(board.sound(), samples_of("Once more."))
    board.heard["default"].clear()
    board.voice.engine.failures = 2
    board.offer("Never.", id="b")
    board.finish()
    assert (board.events[-1].kind, board.events[-1].reason) == (EventKind.FAILED, "bad audio: NaN")
    tone = alert_tone(RATE_HZ)
    used = np.flatnonzero(tone)
    np.testing.assert_array_equal(board.sound(), tone[used[0] : used[-1] + 1])
    board.offer("Normal again.", id="c")
    board.finish()
    assert board.kinds()[-1] == ("finished", "c")


@pytest.mark.parametrize("speaker", [9999, True, "nobody"])
def test_a_speaker_that_the_voice_does_not_have_is_refused_without_a_sound(
    board: Board, speaker: int | str
) -> None:
    board.offer("Never.", id="a", speaker=speaker)
    board.finish()
    assert board.kinds()[-1] == ("failed", "a")
    assert "valid is 0 to 1, or a name: low, high" in str(board.events[-1].reason)
    assert board.sound().size == 0
    board.offer("Said.", id="b", speaker="high")
    board.finish()
    np.testing.assert_array_equal(board.sound(), samples_of("Said."))


def test_another_voice_of_the_language_says_what_the_first_one_cannot(board: Board) -> None:
    board.substitute = RampVoice()
    board.substitute.name = "other"
    board.voice.engine.failures = 2
    board.offer("All of it.", id="a")
    board.finish()
    assert (board.events[-1].kind, board.events[-1].voice) == (EventKind.FINISHED, "other")
    assert board.events[-1].reason == "voice other after: bad audio: NaN"
    np.testing.assert_array_equal(board.sound(), samples_of("All of it."))
    assert board.notices == [
        ("fallback", "announcement a: retry after: bad audio: NaN"),
        ("fallback", "announcement a: voice other after: bad audio: NaN"),
    ]


def test_then_the_prompt_of_the_language_then_the_tone(board: Board, tmp_path: Path) -> None:
    prompt = samples_of("a prompt")
    board.prompts["en"] = tmp_path / "en.wav"
    write(board.prompts["en"], prompt, RATE_HZ)
    board.voice.engine.failures = 2
    board.offer("Never.", id="a")
    board.finish()
    assert (board.events[-1].kind, board.events[-1].reason) == (EventKind.FAILED, "bad audio: NaN")
    np.testing.assert_array_equal(board.sound(), prompt)
    assert [line.split(": ")[1].split(" after")[0] for _, line in board.notices] == ["retry", "prompt"]
    board.prompts["en"].write_bytes(b"<html>")
    board.heard["default"].clear()
    board.voice.engine.failures = 2
    board.offer("Never.", id="b")
    board.finish()
    tone = alert_tone(RATE_HZ)
    used = np.flatnonzero(tone)
    np.testing.assert_array_equal(board.sound(), tone[used[0] : used[-1] + 1])


@pytest.mark.parametrize(
    ("asked", "configured", "heard"),
    [
        (None, None, None),
        (None, "gong", "gong"),
        (False, "gong", None),
        (True, "gong", "gong"),
        (True, None, "ding"),
        ("alarm", "gong", "alarm"),
        ("mine", None, "mine"),
        ("none such", None, None),
        ("../mine", None, None),
        ("/etc/hostname", None, None),
    ],
)
def test_a_chime_and_then_the_words_without_a_gap(
    tmp_path: Path, asked: str | bool | None, configured: str | None, heard: str | None
) -> None:
    write(tmp_path / "mine.wav", samples_of("mine"), RATE_HZ)
    board = Board(tmp_path, chime=ChimeConfig(high=configured, folder=str(tmp_path)))
    board.offer("The pump.", chime=asked, priority=Priority.HIGH)
    board.finish()
    assert board.kinds()[-1] == ("finished", "a")
    sound = chime(heard, RATE_HZ, tmp_path) if heard else np.zeros(0, np.int16)
    sound = sound[np.flatnonzero(sound)[0] :] if heard else sound
    np.testing.assert_array_equal(board.sound(), np.concatenate([sound, samples_of("The pump.")]))
    assert board.events[-1].underfills == 0


def test_each_language_is_said_by_a_voice_that_speaks_it(board: Board) -> None:
    chinese = RampVoice()
    chinese.language = "zh-cn"
    board.by_language["zh"] = chinese
    board.offer("Platform 3, 北京 express. 现在开门！", id="a")
    board.finish()
    assert board.voice.engine.texts == ["Platform three", "express."]
    assert chinese.engine.texts == ["北京", "现在开门！"]
    pause = np.zeros(180 * RATE_HZ // 1000, np.int16)
    parts = ["Platform three", "北京", "express."]
    expected = [samples_of(part) for part in parts] + [pause, samples_of("现在开门！")]
    np.testing.assert_array_equal(board.sound(), np.concatenate(expected))


def test_chinese_without_a_chinese_voice_is_said_in_pinyin(board: Board) -> None:
    board.offer("Exit 北京. Next.", id="a")
    board.finish()
    assert board.voice.engine.texts == ["Exit", "bei jing", "Next."]
    assert board.events[-1].kind is EventKind.FINISHED


def test_no_chime_where_there_is_nothing_to_say(board: Board) -> None:
    board.offer("...", chime="gong")
    board.finish()
    assert board.events[-1].reason == "nothing to speak"
    assert board.sound().size == 0


def test_for_all_zones_it_is_synthesized_once_and_heard_everywhere(tmp_path: Path) -> None:
    zones = ("default", "attic", "hall")
    board = Board(tmp_path, zones)
    board.offer("For everybody. Twice over.", zone="all", chime="ding")
    board.finish()
    assert board.voice.engine.texts == ["For everybody.", "Twice over."]
    words = np.concatenate(
        [samples_of("For everybody."), np.zeros(180 * RATE_HZ // 1000, np.int16), samples_of("Twice over.")]
    )
    for zone in zones:
        np.testing.assert_array_equal(board.sound(zone)[-words.size :], words)
    finished = [event for event in board.events if event.kind is EventKind.FINISHED]
    assert sorted(event.zone or "" for event in finished) == ["attic", "default", "hall"]
    assert not board.studio._shared


def test_for_all_zones_one_without_a_device_does_not_hold_up_the_end(tmp_path: Path) -> None:
    board = Board(tmp_path, ("default", "attic"))
    board.outputs["attic"] = None
    board.offer("For everybody.", zone="all")
    board.finish()
    kinds = [(event.kind.value, event.zone) for event in board.events if event.kind.is_final]
    assert kinds == [("finished", "default"), ("expired", "attic")]
    assert board.events[-1].reason == "the other zones have said it; lost: unplugged"


def test_a_voice_that_fails_for_all_zones_is_tried_again_in_each(tmp_path: Path) -> None:
    zones = ("default", "attic")
    board = Board(tmp_path, zones)
    board.voice.engine.failures = 1
    board.offer("For everybody.", zone="all")
    board.finish()
    for zone in zones:
        np.testing.assert_array_equal(board.sound(zone), samples_of("For everybody."))


def test_what_was_heard_of_a_lost_device_fails_by_configuration(tmp_path: Path) -> None:
    board = Board(tmp_path, queue=QueueConfig(lost_device="fail"))
    board.offer("Cut in the middle of it.", id="a")
    board.turn(8)
    board.outputs["default"] = None
    board.turn(2)
    board.plug("default")
    board.offer("Goes on.", id="b")
    board.finish()
    ends = [(event.kind.value, event.id, event.reason) for event in board.events if event.kind.is_final]
    assert ends == [("failed", "a", "cut: lost: unplugged"), ("finished", "b", None)]


def test_what_waited_for_a_device_in_vain_says_so(board: Board) -> None:
    board.outputs["default"] = None
    now_ns = time.monotonic_ns()
    late = Utterance(Announcement("a", "Too late."), now_ns - 10**9, now_ns - 1)
    board.mailbox.offer(late, now_ns - 10**8, 0)
    board.turn()
    assert board.events[-1].kind is EventKind.EXPIRED
    assert str(board.events[-1].reason).endswith("; lost: unplugged")


def test_a_device_that_vanishes_has_the_announcement_said_again_whole(board: Board) -> None:
    board.offer("Said again from the start.", id="a")
    board.turn(6)
    board.outputs["default"] = None
    board.turn(5)
    assert board.kinds()[-1] == ("started", "a")
    board.plug("default")
    board.heard["default"].clear()
    board.finish()
    np.testing.assert_array_equal(board.sound(), samples_of("Said again from the start."))
    assert board.kinds()[-1] == ("finished", "a")


def test_several_players_are_fed_side_by_side_first_chunks_first(tmp_path: Path) -> None:
    board = Board(tmp_path, zones=("kitchen", "hall"))
    board.offer("A rather long text for the kitchen.", id="k", zone="kitchen")
    board.synth._turn()
    board.synth._turn()
    board.offer("A rather long text for the hall.", id="h", zone="hall")
    board.synth._turn()
    board.synth._turn()
    assert board.players[1].speech is not None
    assert board.players[1].speech.first_written, "the second zone waits for the first one's whole text"
    board.finish()
    np.testing.assert_array_equal(board.sound("kitchen"), samples_of("A rather long text for the kitchen."))
    np.testing.assert_array_equal(board.sound("hall"), samples_of("A rather long text for the hall."))


def test_short_repeats_come_from_the_cache(tmp_path: Path) -> None:
    board = Board(tmp_path)
    board.studio._cache = PcmCache(1 << 20, lambda _key, samples: samples.nbytes)
    for n in range(3):
        board.heard["default"].clear()
        board.offer("Same again. And on.", id=str(n))
        board.finish()
        pause = np.zeros(180 * RATE_HZ // 1000, np.int16)
        expected = np.concatenate([samples_of("Same again."), pause, samples_of("And on.")])
        np.testing.assert_array_equal(board.sound(), expected)
    assert board.voice.engine.texts == ["Same again.", "And on."]
    assert (board.studio._cache.hits, board.studio._cache.misses) == (2, 1)


def test_a_message_that_was_begun_twice_and_never_ended_is_poisoned(tmp_path: Path) -> None:
    for _ in range(2):
        crashed = Board(tmp_path)
        crashed.offer("Kills.", id="a", mid=7)
        crashed.turn(2)
    board = Board(tmp_path)
    board.offer("Kills.", id="a", mid=7)
    board.finish()
    assert (board.events[-1].kind, board.events[-1].reason) == (EventKind.FAILED, "poisoned")
    assert board.voice.engine.texts == []


def test_an_interruption_is_no_new_start(board: Board) -> None:
    board.offer("Interrupted many times over.", id="a", mid=7)
    for n in range(4):
        board.turn(3)
        board.offer("Fire.", id=f"fire {n}", priority=Priority.URGENT)
        board.turn(1)
    board.finish()
    assert board.kinds()[-1] == ("finished", "a")


def test_nothing_is_cut_or_said_again_once_the_device_has_the_last_sample(board: Board) -> None:
    board.offer("Short.", id="a")
    while not (board.players[0].speech and board.players[0].speech.is_taken):
        board.turn()
    board.offer("Fire.", id="fire", priority=Priority.URGENT)
    board.synth.stop("a")
    board.outputs["default"], output = None, board.outputs["default"]
    board.synth._turn()
    board.outputs["default"] = output
    board.finish()
    assert board.kinds() == [
        ("accepted", "a"),
        ("started", "a"),
        ("accepted", "fire"),
        ("finished", "a"),
        ("started", "fire"),
        ("finished", "fire"),
    ]


def test_a_stop_reaches_what_was_received_before_it_and_nothing_else(board: Board) -> None:
    board.offer("A long announcement that is cut.", id="a")
    board.turn(4)
    board.offer("Fire.", id="fire", priority=Priority.URGENT)
    board.turn(1)  # `a` is put back
    board.synth.stop(None)
    board.offer("After the stop.", id="b")
    board.finish()
    ends = {id: kind for kind, id in board.kinds() if EventKind(kind).is_final}
    assert ends == {"a": "dropped", "fire": "dropped", "b": "finished"}


def test_an_interrupted_one_that_began_in_time_does_not_expire(board: Board) -> None:
    now_ns = time.monotonic_ns()
    begun = Utterance(Announcement("a", "Began in time, went on late."), now_ns, now_ns + 50_000_000)
    board.mailbox.offer(begun, now_ns, 0)
    board.turn(3)
    board.offer("Fire, and it takes a while to say.", id="fire", priority=Priority.URGENT)
    board.turn(1)
    time.sleep(0.06)
    board.finish()
    assert board.kinds()[-1] == ("finished", "a")


def test_a_lead_in_longer_than_the_ring_is_played_whole(tmp_path: Path) -> None:
    board = Board(tmp_path)
    board.config = replace(board.config, audio=AudioConfig(lead_in_ms=1500))
    board.plug("default")
    board.offer("Woken.")
    board.finish()
    whole = np.concatenate(board.heard["default"])
    assert np.flatnonzero(whole)[0] > 1.4 * RATE_HZ
    np.testing.assert_array_equal(board.sound(), samples_of("Woken."))
    assert board.events[-1].underfills == 0


def test_no_garbage_collection_while_something_is_said(board: Board) -> None:
    try:
        board.offer("Said without a pause.")
        board.turn(2)
        assert not gc.isenabled()
        board.finish()
        assert not gc.isenabled(), "the next one may follow at once"
        board.synth._tidy(in_silence=True)
        assert gc.isenabled()
    finally:
        gc.enable()


def test_between_two_announcements_memory_is_given_back_and_no_voice_let_go(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edged.synth.TIDY_AT_LEAST_S", 0.0)
    try:
        board.offer("one.", "a")
        board.finish()
        assert board.tidied == ["trim"]
        board.synth._untidy = True
        board.synth._tidy(in_silence=True)
        assert board.tidied == ["trim", "rest", "trim"]
    finally:
        gc.enable()
