"""Prerendered phrases: on disk, checked, bounded; made in idle time, played instead of the voice."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from edged.cli import main
from edged.config.model import CacheConfig, ChimeConfig
from edged.phrases import Phrases
from edged.types import EventKind
from edged.voices import Voices
from tests.daemon.harness import STORE
from tests.daemon.test_announce import rendered
from tests.daemon.test_synth import Board
from tests.ramp_voice import samples_of


def test_what_was_put_is_what_comes_back(tmp_path: Path) -> None:
    phrases = Phrases(tmp_path / "phrases", 1 << 20)
    assert phrases.get(("a", 1)) is None
    phrases.put(("a", 1), samples_of("a phrase"))
    assert ("a", 1) in phrases
    np.testing.assert_array_equal(phrases.get(("a", 1)), samples_of("a phrase"))
    assert phrases.get(("a", 2)) is None
    assert phrases.clear() == 1
    assert phrases.get(("a", 1)) is None


@pytest.mark.parametrize(
    "damage", [lambda raw: raw[:-2], lambda raw: raw[:100], lambda raw: b"", lambda raw: raw[:-1] + b"?"]
)
def test_a_damaged_file_is_removed(tmp_path: Path, damage: object) -> None:
    phrases = Phrases(tmp_path, 1 << 20)
    phrases.put("a", samples_of("a phrase"))
    (file,) = tmp_path.glob("*.phrase")
    file.write_bytes(damage(file.read_bytes()))
    assert phrases.get("a") is None
    assert not list(tmp_path.iterdir())


def test_the_longest_unused_go(tmp_path: Path) -> None:
    phrases = Phrases(tmp_path, 5000)
    for age, name in enumerate("abc"):
        phrases.put(name, np.ones(1000, np.int16))
        (newest,) = [f for f in tmp_path.glob("*.phrase") if f.stat().st_mtime > 10**9]
        os.utime(newest, (age + 1, age + 1))
    assert [name in phrases for name in "abc"] == [False, True, True]
    phrases.get("b")
    phrases.put("d", np.ones(1000, np.int16))
    assert [name in phrases for name in "abcd"] == [False, True, False, True]


def prerendering(folder: Path, **config: object) -> Board:
    board = Board(folder, **config)
    phrases = ("The gate is open.", "...", "Second one. With two parts.")
    board.config = replace(board.config, cache=CacheConfig(pcm_kib=0, phrases=phrases))
    return board


def render_all(board: Board) -> int:
    return sum(1 for _ in iter(lambda: board.studio.prerender(board.config), False))


def test_rendered_in_idle_time_chunk_by_chunk_and_then_played_without_the_voice(tmp_path: Path) -> None:
    board = prerendering(tmp_path, chime=ChimeConfig())
    assert render_all(board) > 10
    assert render_all(board) == 0
    board.voice.engine.texts.clear()
    for text in ("The gate is open.", "Second one. With two parts.", "Not listed."):
        board.heard["default"].clear()
        board.offer(text, id=text)
        board.finish()
        assert board.events[-1].kind is EventKind.FINISHED
        pause = np.zeros(180 * 24000 // 1000, np.int16)
        parts = [samples_of(part.strip() + ".") for part in text.split(".") if part]
        expected = np.concatenate([piece for part in parts for piece in (part, pause)][:-1])
        np.testing.assert_array_equal(board.sound(), expected)
    assert board.voice.engine.texts == ["Not listed."]


def test_another_speed_or_level_is_another_phrase(tmp_path: Path) -> None:
    board = prerendering(tmp_path)
    render_all(board)
    board.voice.engine.texts.clear()
    board.offer("The gate is open.", id="a", speed=1.5)
    board.finish()
    board.voice.engine.level = "fp32"
    board.offer("The gate is open.", id="b")
    board.finish()
    assert board.voice.engine.texts == ["The gate is open."] * 2


def test_a_voice_that_fails_is_not_asked_for_ever(tmp_path: Path) -> None:
    board = prerendering(tmp_path)
    board.voice.engine.failures = 1
    render_all(board)
    assert len(list((tmp_path / "phrases").iterdir())) == 1
    assert render_all(board) == 0


def test_a_damaged_one_is_rendered_again(tmp_path: Path) -> None:
    board = prerendering(tmp_path)
    render_all(board)
    for file in (tmp_path / "phrases").iterdir():
        file.write_bytes(b"damaged")
    board.offer("The gate is open.", id="a")
    board.finish()
    np.testing.assert_array_equal(board.sound(), samples_of("The gate is open."))
    assert render_all(board) > 0
    board.voice.engine.texts.clear()
    board.offer("The gate is open.", id="b")
    board.finish()
    assert board.voice.engine.texts == []


def test_the_command_renders_a_file_and_says_what_found_no_room(
    voices: Voices, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "nice", lambda _by: 0)  # of the test's own process
    config, texts = tmp_path / "edged.yaml", tmp_path / "texts"
    config.write_text(
        yaml.safe_dump({"state_dir": str(tmp_path), "voice": {"store": str(STORE)}, "cache": {"disk_mib": 1}})
    )
    texts.write_text("The door is open.\n\n...\n")
    assert main(["prerender", "-c", str(config), str(texts)]) == 0
    assert "1/2 The door is open." in capsys.readouterr().out
    (file,) = (tmp_path / "phrases").glob("*.phrase")
    stored = np.frombuffer(file.read_bytes()[-2000:], "<i2")
    assert stored.tobytes() in rendered(voices, "The door is open.").tobytes()
    texts.write_text("\n".join(f"A long announcement with the number {n} in it, and more." for n in range(9)))
    assert main(["prerender", "-c", str(config), str(texts)]) == 1
    assert "phrases found no room (cache.disk_mib is 1)" in capsys.readouterr().err
    assert main(["prerender", "-c", str(config), "--clear"]) == 0
    assert main(["prerender", "-c", str(config)]) == 1
    assert "nothing to render" in capsys.readouterr().err
