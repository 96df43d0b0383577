"""hibari by its Python interface, which its command uses: one piece a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hibari import Hibari
from serving import Contender, serve, versions_of


def make(options: dict[str, Any]) -> Contender:
    tts = Hibari(threads=options["threads"])

    def pieces(text: str) -> Iterator[int]:
        for samples in tts.stream(text):
            yield samples.size

    return Contender(pieces, tts.sample_rate, versions_of("hibari-tts", "onnxruntime", "numpy", "scipy"))


if __name__ == "__main__":
    serve(make)
