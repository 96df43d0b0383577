"""espeak-ng's library in its synchronous mode: pieces as its callback gets them (60 ms by default)."""

from __future__ import annotations

import ctypes
import queue
import threading
from collections.abc import Iterator
from typing import Any

import espeakng_loader
from serving import Contender, serve, versions_of

# Of speak_lib.h.
AUDIO_OUTPUT_SYNCHRONOUS = 2
CHARS_UTF8 = 1
POS_CHARACTER = 1
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


class Espeak:
    """The library with its English voice."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(espeakng_loader.get_library_path())
        self._library.espeak_Info.restype = ctypes.c_char_p
        self.version = self._library.espeak_Info(None).decode()
        data = espeakng_loader.get_data_path().encode()
        self.rate_hz: int = self._library.espeak_Initialize(AUDIO_OUTPUT_SYNCHRONOUS, 0, data, 0)
        if self.rate_hz <= 0 or self._library.espeak_SetVoiceByName(b"en-us"):
            raise RuntimeError("espeak-ng does not start")
        self._pieces: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._callback = CALLBACK(self._take)  # the library keeps only a pointer to it
        self._library.espeak_SetSynthCallback(self._callback)

    def _take(self, _samples: Any, count: int, _events: Any) -> int:
        self._pieces.put(count)
        return 0

    def pieces(self, text: str) -> Iterator[int]:
        """Samples in each buffer; the library works on a thread of its own meanwhile."""
        worker = threading.Thread(target=self._speak, args=(text.encode(),))
        worker.start()
        while (count := self._pieces.get()) is not None:
            yield count
        worker.join()

    def _speak(self, text: bytes) -> None:
        self._library.espeak_Synth(text, len(text) + 1, 0, POS_CHARACTER, 0, CHARS_UTF8, None, None)
        self._pieces.put(None)


def make(_options: dict[str, Any]) -> Contender:
    espeak = Espeak()
    versions = {"espeak-ng": espeak.version, **versions_of("espeakng-loader")}
    return Contender(espeak.pieces, espeak.rate_hz, versions)


if __name__ == "__main__":
    serve(make)
