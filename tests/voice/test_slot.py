"""Voices are exchanged while they speak: a fault changes nothing, no sample is lost, memory comes back."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edged.config.model import Config, VoiceConfig
from edged.errors import VoiceError, VoiceNotReady
from edged.voice import store as voice_store
from edged.voice.load import trial_text
from edged.voice.manifest import MANIFEST
from edged.voice.slot import Slot, Wish
from edged.voice.store import build_folder, publish
from edged.voices import Voices
from tests.ramp_voice import RampVoice


class Loads:
    """Loads voices of ramps; `gate` holds the loader up, `fault` makes it fail."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.fault: Exception | None = None
        self.asked: list[str] = []
        self.lines: list[str] = []

    def __call__(self, wish: Wish) -> Any:
        self.asked.append(wish.name)
        assert self.gate.wait(10)
        if self.fault:
            raise self.fault
        voice = RampVoice()
        voice.name = wish.name
        return voice

    def slot(self, keep: int = 2) -> Slot:
        return Slot(self(Wish("first")), keep, self, lambda _v, _w: True, self.lines.append, lambda: None)


@pytest.fixture
def loads() -> Loads:
    return Loads()


def test_the_voice_that_speaks_is_exchanged_when_the_other_one_is_ready(loads: Loads) -> None:
    slot = loads.slot()
    loads.gate.clear()
    slot.wish(Wish("second", speaks=True))
    assert slot.get(None).name == "first"
    assert not slot.idle(0.01)
    loads.gate.set()
    assert slot.idle(5)
    assert slot.get(None).name == "second"
    assert loads.lines == ["voice second, level ramp, speaks from now on"]


def test_a_loaded_voice_is_not_loaded_again(loads: Loads) -> None:
    slot = loads.slot()
    for name in ("second", "first", "second"):
        slot.wish(Wish(name, speaks=True))
        assert slot.idle(5)
        assert slot.get(None).name == name
    assert loads.asked == ["first", "second"]


@pytest.mark.parametrize("fault", [VoiceError("voice second: weights.onnx: is empty"), RuntimeError("a\nb")])
def test_a_voice_that_does_not_load_changes_nothing_and_is_one_line(loads: Loads, fault: Exception) -> None:
    slot = loads.slot()
    loads.fault = fault
    slot.wish(Wish("second", speaks=True))
    assert slot.idle(5)
    assert slot.get(None).name == "first"
    assert len(loads.lines) == 1
    assert loads.lines[0].endswith("; voice first goes on")
    assert "\n" not in loads.lines[0]
    loads.fault = None
    slot.wish(Wish("second", speaks=True))
    assert slot.idle(5)
    assert slot.get(None).name == "second"


def test_a_voice_that_a_message_names_is_loaded_and_does_not_take_over(loads: Loads) -> None:
    slot = loads.slot()
    loads.gate.clear()
    for _ in range(3):
        with pytest.raises(VoiceNotReady):
            slot.get("second")
    loads.gate.set()
    assert slot.idle(5)
    assert loads.asked == ["first", "second"]
    assert (slot.get("second").name, slot.get(None).name) == ("second", "first")


def test_a_voice_that_failed_is_not_tried_for_every_message(loads: Loads) -> None:
    slot = loads.slot()
    loads.fault = VoiceError("no such thing")
    with pytest.raises(VoiceNotReady):
        slot.get("second")
    assert slot.idle(5)
    for _ in range(3):
        with pytest.raises(VoiceError, match="no such thing"):
            slot.get("second")
    assert loads.asked == ["first", "second"]


def test_wishes_during_a_load_are_answered_in_order_and_the_last_one_speaks(loads: Loads) -> None:
    slot = loads.slot(keep=4)
    loads.gate.clear()
    for name in ("second", "third", "second", "fourth"):
        slot.wish(Wish(name, speaks=True))
    loads.gate.set()
    assert slot.idle(5)
    assert slot.get(None).name == "fourth"
    assert sorted(slot.names()) == ["first", "fourth", "second", "third"]


def test_no_more_voices_stay_than_are_to_be_kept_and_the_speaking_one_always(loads: Loads) -> None:
    slot = loads.slot(keep=2)
    for name in ("second", "third", "fourth"):
        with pytest.raises(VoiceNotReady):
            slot.get(name)
        assert slot.idle(5)
        slot.tidy()
        assert set(slot.names()) == {"first", name}
    assert slot.get(None).name == "first"


def test_voices_that_one_announcement_needs_do_not_push_each_other_out(loads: Loads) -> None:
    slot = loads.slot(keep=1)
    for name in ("second", "third"):
        with pytest.raises(VoiceNotReady):
            slot.get(name)
        assert slot.idle(5)
    assert [slot.get(name).name for name in ("second", "third", None)] == ["second", "third", "first"]
    assert loads.asked == ["first", "second", "third"]
    slot.tidy()
    assert slot.names() == ("first",)


def test_what_is_being_loaded_is_not_tidied_away(loads: Loads) -> None:
    slot = loads.slot(keep=1)
    loads.gate.clear()
    with pytest.raises(VoiceNotReady):
        slot.get("second")
    slot.tidy()
    loads.gate.set()
    assert slot.idle(5)
    assert slot.get("second").name == "second"


def test_a_voice_lives_as_long_as_its_last_user(loads: Loads) -> None:
    slot = loads.slot(keep=1)
    gc.disable()  # as in mid-utterance: references alone must do
    try:
        user = slot.get(None)
        gone = weakref.ref(user)
        slot.wish(Wish("second", speaks=True))
        assert slot.idle(5)
        assert gone() is user
        del user
        assert gone() is None
    finally:
        gc.enable()


@pytest.fixture(scope="module")
def two_voices(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with `heart` and a `mind` that sounds otherwise."""
    folder = tmp_path_factory.mktemp("two")
    add(folder, store, "heart", lambda weights: weights)
    add(folder, store, "mind", lambda weights: weights * np.float32(0.98))
    return folder


def add(target: Path, source: Path, name: str, change: Callable[[Any], Any]) -> None:
    heart = voice_store.current(source, "heart").folder
    described = json.loads((heart / MANIFEST).read_text())
    with build_folder(target) as build:
        for file in heart.iterdir():
            (build / file.name).write_bytes(file.read_bytes())
        weights = build / "decoder.onnx.data"
        change(np.fromfile(weights, np.float32)).tofile(weights)
        described = {k: v for k, v in described.items() if k not in ("format", "files")}
        publish(build, target, described | {"name": name, "levels": ["mixed"]})


@pytest.mark.slow
def test_a_hundred_swaps_under_speech_lose_no_sample_and_no_memory(two_voices: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.voice.swapping", str(two_voices), "100"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["heard_as_made"] == found["said"] >= 200
    assert found["voices"] == ["heart", "mind"]
    assert found["exchanged"] == 100
    assert found["during"] == 100
    assert max(found["resident_mb"]) - min(found["resident_mb"]) < 10, found["resident_mb"]


def voices_of(store: Path, name: str = "heart", keep: int = 2) -> tuple[Voices, list[str]]:
    lines: list[str] = []
    config = Config(state_dir=str(store), voice=VoiceConfig(store=str(store), name=name, keep=keep))
    return Voices(config, lambda _line: None, lines.append), lines


def test_a_version_is_held_while_its_voice_is_loaded(two_voices: Path) -> None:
    voices, _ = voices_of(two_voices, keep=1)
    first = voices.get(None)
    add(two_voices, two_voices, "heart", lambda weights: weights * np.float32(0.99))
    folder = two_voices / "heart" / first.version
    assert folder.exists()
    voices.speak_with("heart")
    assert voices.idle(10)
    assert voices.get(None).version != first.version
    assert voice_store.collect(two_voices, "heart") == ()
    version = first.version
    del first
    assert voice_store.collect(two_voices, "heart") == (version,)


def test_a_voice_with_bad_weights_is_refused_and_the_old_one_goes_on(two_voices: Path) -> None:
    add(two_voices, two_voices, "mute", lambda weights: weights * np.float32(np.nan))
    voices, lines = voices_of(two_voices)
    voices.speak_with("mute")
    assert voices.idle(10)
    assert voices.get(None).name == "heart"
    assert len(lines) == 1
    assert lines[0] == "the voice gave samples that are not numbers; install it again; voice heart goes on"


def test_an_unknown_voice_is_one_line_with_what_there_is(two_voices: Path) -> None:
    voices, lines = voices_of(two_voices)
    with pytest.raises(VoiceError, match=r"'brain' is not installed in .*installed: heart, m"):
        voices.get("brain")
    voices.speak_with("brain")
    assert voices.idle(10)
    assert lines[0].startswith("voice 'brain' is not installed in ")


def test_another_installed_voice_speaks_where_the_configured_one_is_damaged(
    two_voices: Path, caplog: pytest.LogCaptureFixture
) -> None:
    add(two_voices, two_voices, "broken", lambda weights: weights)
    (voice_store.current(two_voices, "broken").folder / "front.onnx").write_bytes(b"")
    voices, _ = voices_of(two_voices, "broken")
    assert voices.get(None).name == "heart"
    assert "front.onnx: is empty" in caplog.text
    assert "voice heart speaks instead" in caplog.text


@pytest.mark.parametrize(
    ("phonemes", "said"),
    [
        ({"type": "text", "ids": {"^": [1], "_": [0], " ": [3], "ї": [4], "ж": [5]}}, "ї ж"),
        ({"type": "espeak", "ids": {"ж": [5]}}, "The voice is loaded"),
    ],
)
def test_a_voice_is_tried_with_what_it_can_say(
    two_voices: Path, tmp_path: Path, phonemes: dict[str, object], said: str
) -> None:
    heart = voice_store.current(two_voices, "heart")
    (tmp_path / "phonemes.json").write_text(json.dumps(phonemes))
    assert trial_text(replace(heart, folder=tmp_path, engine="vits")).startswith(said)
    assert trial_text(heart).startswith("The voice is loaded")
