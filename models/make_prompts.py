"""Makes the recorded prompts: what is said when a voice fails. Run from the repository's root.

    python models/make_prompts.py

One WAV file a language, spoken by a voice whose licence lets its sound be passed on, and a manifest that
says which. Languages whose voices may not (Chinese) are rendered on the board when such a voice is
installed: see `edged.cli.voice_store`.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

from edged.audio.wavfile import write
from edged.config.model import Config
from edged.prompts import TEXTS
from edged.render import NO_CACHE, render
from edged.types import Announcement
from edged.voices import Voices

FOLDER = Path(__file__).parent / "prompts"
LICENCES = {"heart": "Apache-2.0"}


def main() -> None:
    """Write every prompt and the manifest."""
    config = Config()
    voice = Voices(config, lambda line: print(line, file=sys.stderr)).get(None)
    language = voice.language.split("-")[0]
    rate_hz = voice.engine.sample_rate_hz
    blocks = render(Announcement("", TEXTS[language]), voice, config, rate_hz, NO_CACHE)
    file = FOLDER / f"{language}.wav"
    write(file, np.concatenate([block.samples for block in blocks]), rate_hz)
    manifest = {
        file.name: {
            "text": TEXTS[language],
            "voice": voice.name,
            "version": voice.version,
            "licence": LICENCES[voice.name],
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        }
    }
    (FOLDER / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
