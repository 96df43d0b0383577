"""edged without a device: text to blocks of samples, through the whole text front end, caches off."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from serving import Contender, serve, versions_of

from edged import __version__
from edged.config.load import load
from edged.daemon import SWITCH_INTERVAL_S
from edged.render import NO_CACHE, render
from edged.types import Announcement
from edged.voice import heap
from edged.voices import Voices


def make(options: dict[str, Any]) -> Contender:
    config = load(Path(options["config"]))
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    heap.keep_freed_memory()  # as the daemon does
    voice = Voices(config, lambda _line: None, no_other=True).get(None)
    rate_hz = voice.engine.sample_rate_hz

    def pieces(text: str) -> Iterator[int]:
        for block in render(Announcement("", text), voice, config, rate_hz, NO_CACHE):
            yield block.samples.size

    versions = {"edged": __version__, **versions_of("onnxruntime", "numpy")}
    return Contender(pieces, rate_hz, versions, f"level {voice.engine.level}, voice {voice.version}")


if __name__ == "__main__":
    serve(make)
