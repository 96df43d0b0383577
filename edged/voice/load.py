"""From the store to a voice that is ready to speak, and from nothing to the store.

`load_voice` runs before READY on the main thread, later on the loader thread; what it returns belongs
to the synth thread from then on.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.errors import VoiceError
from edged.types import Engine, PhonemeIds
from edged.voice import store as voice_store
from edged.voice.catalog import CatalogEntry, catalog
from edged.voice.engines._ort import Network
from edged.voice.engines.hibari import SPELLING, DecoderShape, HibariEngine
from edged.voice.engines.source_filter import FrameShape
from edged.voice.store import Manifest

FrontEnd = Callable[[str], PhonemeIds]
SpellingNet = Callable[[NDArray[np.int64]], NDArray[np.int64]]
FrontEndFactory = Callable[[Path, SpellingNet, int], FrontEnd]
"""(folder of the version, net for unknown words, cache in bytes) -> sentence to ids."""

# Long enough for every size of chunk; its last word is in no dictionary.
_WARM_UP = "The voice is loaded and ready to speak, here and now, for edged."

_BUILDER_STOP_S = 5.0


class LoadedVoice:
    """See `edged.types.Voice`. `phonemize` is the text room's front end, with its cache inside."""

    def __init__(self, manifest: Manifest, engine: Engine, phonemize: FrontEnd) -> None:
        self.name = manifest.name
        self.version = manifest.version
        self.language = manifest.language
        self.engine = engine
        self.phonemize = phonemize


def load_voice(
    store: Path, name: str, threads: int, ids_cache_bytes: int, front_end: FrontEndFactory
) -> LoadedVoice:
    """Load and warm the current version of a voice; its files are mapped, so they must not be changed.

    Raises VoiceError, in one line: not installed (with what is), a file missing or damaged, another
    engine, a network that does not run or gives no sound.
    """
    manifest = voice_store.current(store, name)
    voice_store.check_sizes(manifest)
    if manifest.engine != "hibari":
        raise VoiceError(f"{manifest.folder}: engine {manifest.engine!r} is unknown to this edged; update it")
    try:
        engine = HibariEngine(
            manifest.folder,
            FrameShape(manifest.sample_rate_hz, manifest.options["fft"], manifest.options["hop"]),
            DecoderShape(
                manifest.options["layers"], manifest.options["channels"], manifest.options["kernel"]
            ),
            manifest.options["space_id"],
            manifest.levels[0],
            threads,
        )
    except (KeyError, IndexError) as error:
        raise VoiceError(
            f"{manifest.folder}/{voice_store.MANIFEST}: {error} is missing; install the voice again"
        ) from error
    spelling = Network(manifest.folder / SPELLING, threads)
    phonemize = front_end(manifest.folder, lambda chars: spelling(chars=chars)[0], ids_cache_bytes)
    for _ in engine.stream(phonemize(_WARM_UP), 1.0, 0):
        pass
    return LoadedVoice(manifest, engine, phonemize)


def ensure_installed(store: Path, name: str, progress: Callable[[str], None]) -> None:
    """Install a voice of the catalog that is absent, or was built from another version.

    Runs the builder as a process; `progress` gets its lines. Raises VoiceError in one line: unknown
    voice, or what the builder said. Interrupted, it stops the builder, which leaves nothing behind.
    """
    entry = catalog().get(name)
    try:
        manifest = voice_store.current(store, name)
        voice_store.check_sizes(manifest)
    except VoiceError:
        if entry is None:
            raise
    else:
        if entry is None or manifest.source_version == entry.version:
            return
    _run_builder(entry, store, progress)


def _run_builder(entry: CatalogEntry, store: Path, progress: Callable[[str], None]) -> None:
    command = [sys.executable, "-m", entry.builder, str(store)]
    pipe: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
    }
    last = ""
    with subprocess.Popen(command, text=True, **pipe) as builder:
        try:
            for line in builder.stdout or ():
                last = line.strip()
                progress(f"voice {entry.name}: {last}")
        except BaseException:
            builder.terminate()  # it removes what it has begun
            try:
                builder.wait(_BUILDER_STOP_S)
            except subprocess.TimeoutExpired:
                builder.kill()
            raise
    if builder.returncode:
        raise VoiceError(
            f"voice {entry.name} was not installed: {last or f'builder ended with {builder.returncode}'}"
        )
