"""The recorded prompts in the repository: whole, licensed, and found by a program run from its sources."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from edged.audio.wavfile import read_at
from edged.prompts import TEXTS, prompt_file

FOLDER = Path(__file__).parents[1] / "models" / "prompts"


def test_each_is_what_its_manifest_says() -> None:
    manifest = json.loads((FOLDER / "manifest.json").read_text())
    assert {file.name for file in FOLDER.glob("*.wav")} == set(manifest)
    for name, facts in manifest.items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == facts["sha256"]
        assert facts["text"] == TEXTS[name.removesuffix(".wav")]
        assert facts["licence"] == "Apache-2.0"


def test_it_is_found_and_can_be_played_and_the_boards_own_comes_first(tmp_path: Path) -> None:
    file = prompt_file("en", tmp_path)
    assert file == FOLDER / "en.wav"
    sound = read_at(file, 48000)
    assert 1.0 < sound.size / 48000 < 5.0
    assert np.abs(sound).max() > 3000
    assert prompt_file("zh", tmp_path) is None
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "zh.wav").touch()
    assert prompt_file("zh", tmp_path) == tmp_path / "prompts" / "zh.wav"
