"""From a published message to the samples that left the daemon, with a real broker and voice."""

from __future__ import annotations

import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from edged.config.model import Config
from edged.render import PcmCache, render
from edged.types import Announcement
from edged.voices import Voices
from tests.broker import Listener, until
from tests.daemon.harness import Daemon

RATE_HZ = 24000


def rendered(voices: Voices, text: str, **members: object) -> np.ndarray:
    """int16 samples that the voice gives for a text, at its own rate."""
    cache = PcmCache(0, lambda _key, samples: samples.nbytes)
    announcement = Announcement("x", text, **members)  # type: ignore[arg-type]
    blocks = render(announcement, voices.get(None), Config(), RATE_HZ, cache)
    return np.concatenate([block.samples for block in blocks])


def played(file: Path) -> np.ndarray:
    with wave.open(str(file)) as wav:
        assert (wav.getframerate(), wav.getnchannels(), wav.getsampwidth()) == (RATE_HZ, 1, 2)
        return np.frombuffer(wav.readframes(wav.getnframes()), np.int16)


def holds(sound: np.ndarray, part: np.ndarray) -> bool:
    """`part` is in `sound`, every sample."""
    return part.tobytes() in sound.tobytes()


def test_what_is_published_is_played_sample_by_sample(
    start: Callable[..., Daemon], listen: Listener, base: str, voices: Voices
) -> None:
    daemon = start()
    texts = [
        "Dinner is ready.",
        "The door of the garage is open, and it has been raining since noon. Mind the step!",
    ]
    for number, text in enumerate(texts):
        listen.publish(f"{base}/say", f'{{"text": "{text}", "id": "m{number}"}}')
    finals = [listen.wait_event(base, "finished", 30, id=f"m{number}") for number in range(2)]
    assert daemon.stop() == 0
    sound = played(daemon.folder / "out.wav")
    for text, final in zip(texts, finals, strict=True):
        expected = rendered(voices, text)
        assert holds(sound, expected)
        assert final["audio_s"] == pytest.approx(expected.size / RATE_HZ, abs=0.001)
        assert final["voice"] == "heart"
        assert final["underfills"] == 0
        assert 0 < final["rtf"] < 5
    kinds = [(event["event"], event["id"]) for event in listen.events(base)]
    assert kinds.index(("started", "m0")) < kinds.index(("finished", "m0")) < kinds.index(("started", "m1"))


def test_speed_volume_and_voice_of_a_message(
    start: Callable[..., Daemon], listen: Listener, base: str, voices: Voices
) -> None:
    daemon = start()
    listen.publish(f"{base}/say", '{"text":"Slow and low","id":"a","speed":0.5,"volume":0.25}')
    listen.publish(f"{base}/say", '{"text":"By nobody","id":"b","voice":"nobody"}')
    listen.wait_event(base, "finished", 30, id="a")
    assert listen.wait_event(base, "finished", 30, id="b")["voice"] == "heart"
    daemon.stop()
    sound = played(daemon.folder / "out.wav")
    slow = rendered(voices, "Slow and low", speed=0.5, volume=0.25)
    assert holds(sound, slow)
    assert slow.size > 1.6 * rendered(voices, "Slow and low").size
    assert holds(sound, rendered(voices, "By nobody"))


def test_payloads_of_every_shape(start: Callable[..., Daemon], listen: Listener, base: str) -> None:
    """C34, C41, C29: what is no announcement is one event, and the next one is spoken."""
    start()
    refused: list[bytes] = [
        b'["a","b"]',
        b"null",
        b'{"text":5}',
        b'{"txt":"hi"}',
        b'{"text":"hi"',
        b"Kit\xff\xfechen",
    ]
    for payload in [b"Kettle done", b"42", b"22.5", *refused, b"", b"  \n\t ", "……！？。".encode(), b"---"]:
        listen.publish(f"{base}/say", payload)
    listen.publish(f"{base}/say", '{"text":"Done","id":"last"}')
    listen.wait_event(base, "finished", 60, id="last")
    events = listen.events(base)
    failed = [event["reason"] for event in events if event["event"] == "failed"]
    assert len(failed) == len(refused), failed
    assert any("invalid utf-8" in reason for reason in failed)
    finished = [event.get("reason") for event in events if event["event"] == "finished"]
    assert finished == [None] * 3 + ["nothing to speak"] * 4 + [None]


def test_retained_messages_are_not_spoken_and_duplicates_only_by_id(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    """C37, C38."""
    listen.publish(f"{base}/say", "Retained", retain=True)
    daemon = start()
    for text in (
        "Twice on purpose",
        "Twice on purpose",
        '{"text":"Once","id":"one"}',
        '{"text":"Once","id":"one"}',
    ):
        listen.publish(f"{base}/say", text)
    listen.publish(f"{base}/say", '{"text":"Last","id":"last"}')
    listen.wait_event(base, "finished", 60, id="last")
    daemon.stop()
    daemon.start()
    listen.publish(f"{base}/say", '{"text":"After","id":"after"}')
    listen.wait_event(base, "finished", 60, id="after")
    kinds = [event["event"] for event in listen.events(base)]
    assert kinds.count("finished") == 5
    assert kinds.count("duplicate") == 1
    listen.publish(f"{base}/say", b"", retain=True)


def test_state_and_availability(
    start: Callable[..., Daemon], listen: Listener, base: str, broker: object
) -> None:
    """C43: both retained; a clean stop says offline itself, a kill has the broker say it."""
    daemon = start()
    until(lambda: listen.last(f"{base}/availability") == b"online", 10, "online")
    state = until(lambda: listen.on(f"{base}/state"), 10, "the state")[-1].json
    assert state["voice"] == "heart"
    assert {
        "speaking",
        "queue",
        "level",
        "frame_ms",
        "volume",
        "rss_mb",
        "version",
        "rtf_1m",
        "xruns",
    } <= set(state)
    daemon.stop()
    until(lambda: listen.last(f"{base}/availability") == b"offline", 10, "offline")
    daemon.start()
    until(lambda: listen.last(f"{base}/availability") == b"online", 10, "online")
    daemon.kill()
    until(lambda: listen.last(f"{base}/availability") == b"offline", 60, "the last will")
    daemon.start()
    until(lambda: listen.last(f"{base}/availability") == b"online", 10, "online")
    with Listener(broker.port, f"{base}/availability") as fresh:  # type: ignore[attr-defined]
        until(lambda: fresh.last(f"{base}/availability") == b"online", 10, "retained online")
    daemon.stop()


def test_long_texts_start_at_once_and_stop_at_once(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    """C31: ten thousand characters without punctuation, of words, of one word, of Chinese."""
    start()
    texts = {
        "words": "alpha beta gamma " * 588,
        "word": "x" * 10_000,
        "chinese": "天气很好" * 2500,
    }
    for id, text in texts.items():
        listen.publish(f"{base}/say", f'{{"text":"{text}","id":"{id}"}}')
        listen.wait_event(base, "started", 20, id=id)
        listen.publish(f"{base}/stop", id, qos=0)
        assert listen.wait_event(base, "dropped", 20, id=id)["reason"] == "stopped"
    listen.publish(f"{base}/say", '{"text":"' + "y" * 20_001 + '","id":"over"}')
    assert "too long" in listen.wait_event(base, "failed", 10, id="over")["reason"]


def test_control_characters_and_tags_leave_no_words(
    start: Callable[..., Daemon], listen: Listener, base: str, voices: Voices
) -> None:
    """C32, C35."""
    daemon = start()
    listen.publish(f"{base}/say", r'{"text":"Door\u0000 open\u001b[31m now\u200b","id":"a"}')
    listen.publish(f"{base}/say", 'Wait <prosody rate="slow">here</prosody> & there')
    listen.publish(f"{base}/say", '{"text":"Last","id":"last"}')
    listen.wait_event(base, "finished", 60, id="last")
    daemon.stop()
    sound = played(daemon.folder / "out.wav")
    assert holds(sound, rendered(voices, "Door open now"))
    assert holds(sound, rendered(voices, "Wait here & there"))
