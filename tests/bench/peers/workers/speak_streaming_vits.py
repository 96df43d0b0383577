"""streaming-vits by its Python interface, with the schedule that its own `calibrate` wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from serving import Contender, serve, versions_of
from streaming_vits import Speaker

WHOLE_CHARS = 500
"""Below, a text is one segment anyhow, and need not be looked at for that."""


def make(options: dict[str, Any]) -> Contender:
    speaker = Speaker(model=options["voice"], tokens="", data_dir="", num_threads=options["threads"])
    tts = speaker.tts

    def pieces(text: str) -> Iterator[int]:
        for segment in [text] if len(text) <= WHOLE_CHARS else speaker.split(text):
            for chunk in tts.stream(segment):
                yield chunk.audio.size

    profile = tts.profile
    phonemizer = "piper-phonemize" if tts.phonemizer._piper else "the program espeak-ng"
    calibrated = "calibrated" if profile.calibrated else "not calibrated"
    notes = (
        f"{calibrated}, chunks {profile.schedule}, margins {profile.left} and {profile.right}, "
        f"phonemes by {phonemizer}, {'cached-state' if tts.cached else 'windowed'} decoder"
    )
    versions = versions_of("streaming-vits", "onnxruntime", "numpy")
    return Contender(pieces, tts.sample_rate, versions, notes)


if __name__ == "__main__":
    serve(make)
