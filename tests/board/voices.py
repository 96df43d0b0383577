"""Two small voices of our own for the board, as installed versions: cheap enough for an emulated processor.

Networks of a few kilobytes in the form of a Piper voice that reads letters, so no phonemizer is needed.
What they say is noise, but always the same noise for the same text.
"""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

from edged.voice.importers.vits import build
from tests.board.image import Say
from tests.voice.vits import tiny

RATE_HZ = 24_000
NAMES = {"pebble": "random", "ramp": "ramp"}
FRAMES_PER_LETTER = 40
"""Of 16 samples: the letters of a sentence then last about as long as spoken ones."""


def pack(cache: Path, say: Say) -> Path:
    """A tar of voices/NAME/…, as in a store."""
    say(f"making the voices {' and '.join(NAMES)}")
    folder = cache / "voices"
    shutil.rmtree(folder, ignore_errors=True)
    tiny.FRAMES_PER_ID = FRAMES_PER_LETTER
    for name, kind in NAMES.items():
        file = tiny.write(
            folder / "networks" / name,
            kind,
            phoneme_type="text",
            audio={"sample_rate": RATE_HZ, "quality": "tiny"},
        )
        build(file, folder / "voices", name, (), lambda line: None)
    packed = cache / "voices.tar"
    with tarfile.open(packed, "w") as tar:
        tar.add(folder / "voices", "voices")
    return packed
