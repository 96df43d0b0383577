"""A voice that an emulated processor can bear, and the script that makes the scripted one on the board."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

from edged.voice.importers.vits import build
from tests.board.image import Say
from tests.voice.vits import tiny

RATE_HZ = 24_000
FRAMES_PER_LETTER = 40
"""Of 16 samples: the letters of a sentence then last about as long as spoken ones."""
MAKE_SCRIPTED = Path(__file__).parents[2] / "models/make_scripted.py"


def pack(cache: Path, say: Say) -> Path:
    """A tar with voices/pebble/… as in a store, and make_scripted.py.

    `pebble` is a network of a few kilobytes in the form of a Piper voice that reads letters, so no
    phonemizer is needed. It says noise, but always the same for the same text.
    """
    say("making the voice pebble")
    folder = cache / "voices"
    shutil.rmtree(folder, ignore_errors=True)
    tiny.FRAMES_PER_ID = FRAMES_PER_LETTER
    audio = {"sample_rate": RATE_HZ, "quality": "tiny"}
    file = tiny.write(folder / "network", "random", phoneme_type="text", audio=audio)
    build(file, folder / "voices", "pebble", (), lambda line: None)
    packed = cache / "voices.tar"
    with tarfile.open(packed, "w") as tar:
        tar.add(folder / "voices", "voices")
        tar.add(MAKE_SCRIPTED, MAKE_SCRIPTED.name)
    return packed
