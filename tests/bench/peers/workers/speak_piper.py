"""piper-tts by its Python interface: one piece a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from serving import Contender, limit_threads, serve, versions_of


def make(options: dict[str, Any]) -> Contender:
    limit_threads(options["threads"])  # it has no option for that
    from piper import PiperVoice

    voice = PiperVoice.load(options["voice"])

    def pieces(text: str) -> Iterator[int]:
        for chunk in voice.synthesize(text):
            yield chunk.audio_int16_array.size

    return Contender(pieces, voice.config.sample_rate, versions_of("piper-tts", "onnxruntime", "numpy"))


if __name__ == "__main__":
    serve(make)
