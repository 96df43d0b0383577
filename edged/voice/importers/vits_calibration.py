"""The sentences a voice is calibrated and measured with, as ids (sentences.json)."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edged.errors import VoiceError
from edged.voice.importers.vits_config import TEXT, PiperConfig
from edged.voice.importers.vits_distance import Sentences

_SEED = 7
_WORDS, _WORD_PHONEMES = (4, 60), (2, 8)
_MADE_UP = 16
_FRONT_END = "edged.text.piper"  # run as a process: the text room is not this one's to import


@dataclass(frozen=True, slots=True)
class Material:
    """Ids with speakers, and in words what they were made of."""

    calibration: Sentences
    evaluation: Sentences
    made_of: str


def material(config: PiperConfig, folder: Path) -> Material:
    """For one voice, whose phonemes lie in `folder`. Raises VoiceError.

    English is calibrated on the sentences of the list. Another language that espeak reads: on numbers
    and on the same sentences, read by its rules. A voice of characters: on words made of them.
    """
    listed = json.loads(Path(__file__).with_name("sentences.json").read_text(encoding="utf-8"))
    calibration, evaluation = listed["calibration"], listed["evaluation"]
    made_of = "the English sentences of sentences.json"
    if config.phoneme_type == TEXT:
        words = _made_up(config)
        calibration, evaluation = words[: _MADE_UP * 3 // 4], words[_MADE_UP * 3 // 4 :]
        made_of = "words made of the characters of the voice"
    elif config.language.split("-")[0] != "en":
        numbers = listed["numerals"]
        calibration = [*numbers[::2], *(s["text"] for s in calibration)]
        evaluation = [*numbers[1::2], *(s["text"] for s in evaluation[::2])]
        made_of = f"numbers and the sentences of sentences.json as espeak reads them in {config.espeak_voice}"
    ids = _ids(folder, [*calibration, *evaluation])
    speakers = [i * 7 % len(config.speakers) if config.speakers else None for i in range(len(ids))]
    pairs = [(i, s) for i, s in zip(ids, speakers, strict=True) if i.size > 2]
    cut = len(pairs) - len(evaluation)
    return Material(pairs[:cut], pairs[cut:], made_of)


def _made_up(config: PiperConfig) -> list[dict[str, str]]:
    """Lines of random words, the last ones very long."""
    generator = np.random.default_rng(_SEED)
    letters = [p for p in config.phoneme_ids if len(p) == 1 and p.isalpha()]
    if not letters:
        raise VoiceError(f"{config.file}: phoneme_id_map has no letters; the voice cannot be calibrated")
    lines = []
    for words in np.linspace(*_WORDS, _MADE_UP).astype(int):
        sizes = generator.integers(*_WORD_PHONEMES, words)
        lines.append({"phonemes": " ".join("".join(generator.choice(letters, n)) for n in sizes)})
    # Both the first three quarters and the rest get short and long ones.
    order = generator.permutation(_MADE_UP)
    return [lines[i] for i in order]


def _ids(folder: Path, items: list[Any]) -> list[Any]:
    command = [sys.executable, "-m", _FRONT_END, str(folder)]
    done = subprocess.run(command, input=json.dumps(items), capture_output=True, text=True, check=False)
    if done.returncode:
        raise VoiceError((done.stderr.strip().splitlines() or ["the phonemizer failed"])[-1])
    return [np.array(ids, np.int64) for ids in json.loads(done.stdout)]
