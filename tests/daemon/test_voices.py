"""Voices of the running daemon: exchanged by a message, named by one, and what a damaged one does."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from edged.voice.manifest import MANIFEST
from edged.voice.store import build_folder, current, publish
from edged.voices import Voices
from tests.broker import Broker, Listener, until
from tests.daemon.harness import STORE, Daemon
from tests.daemon.test_announce import holds, played, rendered


@pytest.fixture(scope="module")
def two_voices(voices: Voices, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with `heart`, and with `mind`, which sounds otherwise."""
    folder = tmp_path_factory.mktemp("two")
    heart = current(STORE, "heart").folder
    for name, factor in (("heart", 1.0), ("mind", 0.98)):
        with build_folder(folder) as build:
            for file in heart.iterdir():
                shutil.copy(file, build / file.name)
            weights = build / "decoder.onnx.data"
            (np.fromfile(weights, np.float32) * np.float32(factor)).tofile(weights)
            about = json.loads((heart / MANIFEST).read_text())
            del about["format"], about["files"]
            levels = about["levels"] if factor == 1 else ["mixed"]  # the one whose weights are float32
            publish(build, folder, about | {"name": name, "levels": levels})
    return folder


def voice_command(daemon: Daemon, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "edged", "voice", *words, "-c", str(daemon.config_file)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def test_the_voice_is_exchanged_by_a_message_and_reports(
    start: Callable[..., Daemon], listen: Listener, base: str, two_voices: Path, voices: Voices
) -> None:
    daemon = start(voice={"store": str(two_voices), "keep": 1})
    listen.publish(f"{base}/say", '{"text": "This is the first voice.", "id": "a"}')
    assert listen.wait_event(base, "finished", 30, id="a")["voice"] == "heart"
    used = voice_command(daemon, "use", "mind")
    assert used.returncode == 0, used.stderr
    assert used.stdout.startswith("voice mind, level mixed, speaks from now on\nuntil it is restarted")
    listen.publish(f"{base}/say", '{"text": "And this is the second voice.", "id": "b"}')
    assert listen.wait_event(base, "finished", 30, id="b")["voice"] == "mind"
    refused = voice_command(daemon, "use", "brain")
    assert refused.returncode == 1
    assert "'brain' is not installed" in refused.stderr
    listen.publish(f"{base}/voice/set", "brain")
    until(lambda: "'brain' is not installed" in daemon.log(), 20, "the refusal")
    assert daemon.stop() == 0
    sound = played(daemon.folder / "out.wav")
    assert holds(sound, rendered(voices, "This is the first voice."))
    assert not holds(sound, rendered(voices, "And this is the second voice."))


def test_a_message_that_names_a_voice_waits_for_it_and_keeps_its_place(
    start: Callable[..., Daemon], listen: Listener, base: str, two_voices: Path
) -> None:
    start(voice={"store": str(two_voices)})
    listen.publish(f"{base}/say", '{"text": "One.", "id": "one", "voice": "mind"}')
    listen.publish(f"{base}/say", '{"text": "Two.", "id": "two"}')
    listen.publish(f"{base}/say", '{"text": "Three.", "id": "three", "voice": "brain"}')
    finals = [listen.wait_event(base, "finished", 30, id=id) for id in ("one", "two", "three")]
    assert [final["voice"] for final in finals] == ["mind", "heart", "heart"]
    ends = [h.json for h in listen.heard if h.topic == f"{base}/event" and h.json["event"] == "finished"]
    assert [end["id"] for end in ends] == ["one", "two", "three"]


def test_without_any_voice_it_ends_with_the_code_for_a_bad_configuration(
    tmp_path: Path, broker: Broker, base: str
) -> None:
    daemon = Daemon(tmp_path, broker.port, base, voice={"store": str(tmp_path / "empty"), "name": "brain"})
    daemon.start(ready=False, online=False)
    assert daemon.wait(60) == 78
    (line,) = [line for line in daemon.log().splitlines() if "brain" in line]
    assert "voice 'brain' is not installed in" in line
    assert "Traceback" not in daemon.log()
    daemon.kill()


def test_a_damaged_voice_is_named_and_another_one_speaks(
    start: Callable[..., Daemon], listen: Listener, base: str, two_voices: Path, tmp_path: Path
) -> None:
    store = tmp_path / "voices"
    shutil.copytree(two_voices, store, symlinks=True)
    weights = current(store, "mind").folder / "decoder.onnx.data"
    with weights.open("r+b") as file:
        file.truncate(1_000_000)
    daemon = start(voice={"store": str(store), "name": "mind"})
    assert "decoder.onnx.data: has 1000000 bytes instead of" in daemon.log()
    listen.publish(f"{base}/say", '{"text": "Still here.", "id": "a"}')
    assert listen.wait_event(base, "finished", 30, id="a")["voice"] == "heart"


def test_a_new_version_and_another_name_in_the_file_are_taken_up_while_it_runs(
    start: Callable[..., Daemon], listen: Listener, base: str, two_voices: Path, tmp_path: Path
) -> None:
    store = tmp_path / "voices"
    shutil.copytree(two_voices, store, symlinks=True)
    daemon = start(voice={"store": str(store)})
    first = current(store, "heart").version
    mind = current(store, "mind").folder
    with build_folder(store) as build:
        for file in mind.iterdir():
            shutil.copy(file, build / file.name)
        about = json.loads((mind / MANIFEST).read_text())
        del about["format"], about["files"]
        publish(build, store, about | {"name": "heart"})
    assert current(store, "heart").version != first
    until(lambda: "voice heart, level mixed, is loaded" in daemon.log(), 20, "the new version")
    daemon.sections["voice"]["name"] = "mind"
    daemon.write_config()
    until(lambda: "voice mind, level mixed, speaks from now on" in daemon.log(), 20, "the other voice")
    listen.publish(f"{base}/say", '{"text": "Who is it?", "id": "a"}')
    assert listen.wait_event(base, "finished", 30, id="a")["voice"] == "mind"
    daemon.sections["voice"]["name"] = "brain"
    daemon.write_config()
    until(lambda: "'brain' is not installed" in daemon.log(), 20, "the refusal")
    listen.publish(f"{base}/say", '{"text": "Still me.", "id": "b"}')
    assert listen.wait_event(base, "finished", 30, id="b")["voice"] == "mind"
