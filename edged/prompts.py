"""Where the recorded prompts lie: what is said when a voice fails, one file a language."""

from __future__ import annotations

import sys
from pathlib import Path

TEXTS = {"en": "An announcement could not be spoken.", "zh": "有一条通知无法播报。"}
"""What a prompt says, by language."""

_FOLDERS = (
    Path(__file__).resolve().parent.parent / "models" / "prompts",  # run from its sources
    Path(sys.prefix) / "share" / "edged" / "prompts",  # installed
)


def prompt_file(language: str, state_dir: Path) -> Path | None:
    """`<language>.wav` of this board (made where a licence forbids shipping it), or of the package."""
    files = (folder / f"{language}.wav" for folder in (state_dir / "prompts", *_FOLDERS))
    return next((file for file in files if file.is_file()), None)
