"""What describes a voice: its manifest, its name, its phonemes, and the two files of a Piper voice."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto

from edged.errors import VoiceError
from edged.text.piper import PHONEMES, PhonemeTable
from edged.types import PhonemeIds
from edged.voice import store as voice_store
from edged.voice.importers.vits import build, write_phonemes
from edged.voice.importers.vits_config import PiperConfig, find_network, read_config
from edged.voice.manifest import FORMATS, MANIFEST, Manifest, check_sizes, read_manifest, verify
from tests.fuzz.mutate import mutate
from tests.fuzz.search import Target
from tests.fuzz.targets.promises import feature, one_line, outcome, refusal
from tests.voice.vits import tiny

_JSON = (
    '"', ":", ",", "{", "}", "[", "]", "null", "true", "1", "-1", "1.5", "1e999", "NaN", "{}", "[]",
    '""', "[[", "../", "/etc/passwd", "\\u0000", "\\n", "\\ud800", "..", ".", "[" * 2000, '{"a":' * 2000,
    "9" * 60,
)  # fmt: skip
_MANIFEST_TOKENS = (
    *_JSON, '"name"', '"bytes"', '"sha256"', '"files"', '"format": 3', '"engine": "vits"',
    '"engine": "hibari"', '"levels"', '"speakers"', '"options"', '"licence"', '"source"', '"language"',
    '"sample_rate_hz"', "voice.json",
)  # fmt: skip
_CONFIG_TOKENS = (
    *_JSON, '"audio"', '"sample_rate"', '"espeak"', '"voice"', '"phoneme_type"', '"text"',
    '"PhonemeType.ESPEAK"', '"phoneme_id_map"', '"vowel_clusters"', '"num_speakers"', '"speaker_id_map"',
    '"default_speaker_id"', '"inference"', '"noise_scale"', '"language"', '"code"', '"^"', '"_"', '"$"',
    "99999999999",
)  # fmt: skip
_PHONEME_TOKENS = (
    *_JSON,
    '"type"',
    '"espeak_voice"',
    '"ids"',
    '"vowel_clusters"',
    '"^"',
    '"_"',
    '"$"',
    '"ə"',
)
_SAMPLE = "həlˈoʊ wˈɜːld. ɡ, ɝ! 你 a"


class _Store:
    """A store with one version whose voice.json is put there."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "store"
        self.version = self.store / "it" / "0123456789abcdef"
        self.version.mkdir(parents=True)
        (self.version / "front.onnx").write_bytes(b"abc")
        (self.store / "it" / voice_store.CURRENT).symlink_to(self.version.name)
        (folder / "outside").write_bytes(b"abc")

    def manifest(self, data: bytes) -> Iterable[Hashable]:
        """Whole and within its folder, or refused in a line."""
        (self.version / MANIFEST).write_bytes(data)
        made = outcome(lambda: voice_store.current(self.store, "it"), VoiceError)
        yield feature(made)
        assert voice_store.installed(self.store) == ("it",)
        held = outcome(lambda: voice_store.hold(self.store, "it"), VoiceError)
        if not isinstance(held, str):
            os.close(held[1])
        assert isinstance(made, str) == isinstance(held, str)
        if isinstance(made, str):
            return
        _check(made)
        yield feature(outcome(lambda: check_sizes(made), VoiceError))
        yield feature(outcome(lambda: verify(made), VoiceError))

    def name(self, data: bytes) -> Iterable[Hashable]:
        """A name as it comes in messages: never a place outside of the store."""
        name = data.decode("utf-8", "replace")
        is_name = voice_store.is_name(name)
        assert not is_name or (self.store / name).parent == self.store
        (self.version / MANIFEST).write_text(json.dumps(manifest()))
        found = outcome(lambda: voice_store.current(self.store, name), VoiceError)
        assert isinstance(found, Manifest) == (name == "it"), found
        if name != "it":
            yield is_name, feature(outcome(lambda: voice_store.remove(self.store, name), VoiceError))
        assert voice_store.installed(self.store) == ("it",)


def _check(made: Manifest) -> None:
    for text in (
        made.name,
        made.version,
        made.language,
        made.engine,
        made.source_package,
        made.source_version,
    ):
        one_line(text or "-")
    for text in (made.licence.weights, made.licence.package, made.licence.training_data, made.licence.note):
        assert isinstance(text, str)
    assert type(made.sample_rate_hz) is int
    assert 1000 <= made.sample_rate_hz <= 400_000
    assert made.levels
    for word in (*made.levels, *made.speakers):
        assert isinstance(word, str)
    assert all(isinstance(key, str) for key in made.options)
    assert made.size_bytes >= 0
    for entry in made.files:
        assert voice_store.is_name(entry.name), f"{entry.name!r} is no file of the version"
        assert (made.folder / entry.name).parent == made.folder


def manifest(**changes: Any) -> dict[str, Any]:
    """A voice.json as the importer of Piper voices writes it, for the one file `front.onnx`."""
    return {
        "format": FORMATS["vits"],
        "name": "it",
        "language": "en-us",
        "engine": "vits",
        "sample_rate_hz": 22050,
        "licence": {"package": "MIT", "weights": "MIT", "training_data": "CC0", "note": ""},
        "source": {"package": "it.onnx", "version": "0123", "url": "", "files": {"it.onnx": "00"}},
        "levels": ["mixed", "fp32"],
        "speakers": [],
        "options": {"hop": 256, "gain": 1.0, "default_speaker": 0, "levels": {"fp32": {}, "mixed": {}}},
        "files": [
            {
                "name": "front.onnx",
                "bytes": 3,
                "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            }
        ],
        **changes,
    }


def phonemes(folder: Path, data: bytes) -> Iterable[Hashable]:
    """The phonemes of an installed Piper voice: a table that gives ids, or a refusal."""
    (folder / PHONEMES).write_bytes(data)
    table = outcome(lambda: PhonemeTable(folder), VoiceError)
    yield feature(table)
    if isinstance(table, PhonemeTable):
        made = outcome(table.phonemizer, VoiceError)
        yield feature(made)
        said = table.ids(_SAMPLE)
        assert isinstance(said, PhonemeIds)
        assert said.ids.ndim == 1
        assert (said.ids >= 0).all()


def voice_config(folder: Path, data: bytes) -> Iterable[Hashable]:
    """The configuration of a Piper voice: all of it within bounds, and its phonemes can be read back."""
    network = folder / "it.onnx"
    network.with_name("it.onnx.json").write_bytes(data)
    warned: list[str] = []
    config = outcome(lambda: read_config(network, warned.append), VoiceError)
    yield feature(config)
    for line in warned:
        yield "".join(filter(str.isalpha, one_line(line)))[-20:]
    if not isinstance(config, PiperConfig):
        return
    one_line(config.language, 100)
    assert len(config.espeak_voice) <= 100
    assert len(config.speakers) <= 100_000
    for name in config.speakers:
        one_line(name or "-", 200)
    assert not config.speakers or 0 <= config.default_speaker < len(config.speakers)
    assert all(0 <= number < 1 << 31 for ids in config.phoneme_ids.values() for number in ids)
    write_phonemes(config, folder / PHONEMES)
    PhonemeTable(folder).ids(_SAMPLE)
    yield bool(config.speakers), config.phoneme_type, bool(config.vowel_clusters)


def network(folder: Path, data: bytes) -> Iterable[Hashable]:
    """A network to be imported: a voice, or a refusal that leaves nothing behind and nothing changed."""
    source, store = folder / "it.onnx", folder / "made"
    source.write_bytes(data)
    (folder / "it.onnx.json").write_text(json.dumps(tiny.config()))
    before = sorted(os.listdir(folder))
    told: list[str] = []
    try:
        made = build(find_network(source), store, "it", (), told.append)
    except VoiceError as error:
        yield refusal(error)
        assert not store.exists() or not list(store.iterdir()), "something was left behind"
    else:
        yield "made"
        verify(read_manifest(made.folder))
    finally:
        shutil.rmtree(store, ignore_errors=True)
    for line in told:
        one_line(line)
    assert sorted(set(os.listdir(folder)) - {"made"}) == [name for name in before if name != "made"]


def other_network(data: bytes, chance: random.Random) -> bytes:
    """A network with something in it exchanged; now and then bytes."""
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception:  # what is no network any more is changed as bytes
        chance = random.Random(chance.random())
    if not model.graph.node or chance.random() < 0.2:
        text = mutate(data.decode("latin-1"), (), (), chance, len(data) + 100)
        return text.encode("latin-1", "replace")
    for _ in range(chance.choice((1, 1, 2, 4))):
        _change(model.graph, chance)
    return bytes(model.SerializeToString())


def _change(graph: Any, chance: random.Random) -> None:
    nodes = list(graph.node)
    if not nodes:
        return
    node, other = chance.choice(nodes), chance.choice(nodes)
    kind = chance.randrange(11)
    if kind == 0:
        graph.node.remove(node)
    elif kind == 1 and node.input and other.output:
        node.input[chance.randrange(len(node.input))] = chance.choice(list(other.output))
    elif kind == 2:
        node.op_type = other.op_type
    elif kind == 3:
        del (node.input if chance.random() < 0.5 else node.output)[chance.choice((0, -1)) :]
    elif kind == 4 and graph.initializer:
        weight = chance.choice(list(graph.initializer))
        weight.dims[:] = chance.choice(
            ([], [0], [1 << 40], [-1], [1, 2], [*weight.dims, 1], list(weight.dims)[::-1])
        )
    elif kind == 5 and graph.initializer:
        weight = chance.choice(list(graph.initializer))
        weight.data_location = TensorProto.EXTERNAL
        del weight.external_data[:]
        for key, value in (
            ("location", chance.choice(("../outside", "/etc/passwd", "it.onnx.json"))),
            ("offset", "0"),
        ):
            weight.external_data.add(key=key, value=value)
    elif kind == 6 and node.attribute:
        attribute = chance.choice(list(node.attribute))
        attribute.i = chance.choice((-1, 0, 1, 7, 1 << 40))
        attribute.ints[:] = chance.choice(([], [0], [-1], [1 << 40], [3, 3]))
    elif kind == 7 and (values := [*graph.input, *graph.output]):
        chance.choice(values).name = node.output[0] if node.output else "x"
    elif kind == 8 and graph.initializer:
        weight = chance.choice(list(graph.initializer))
        if weight.data_type == TensorProto.INT64 and weight.raw_data:
            number = chance.choice((0, -1, 2, 1 << 20, 1 << 31, 1 << 40))
            weight.raw_data = number.to_bytes(8, "little", signed=True) * (len(weight.raw_data) // 8)
    elif kind == 9:
        graph.node.add().CopyFrom(other)
    else:
        node.domain, node.name = (
            chance.choice(("", "ai.onnx.ml", "com.microsoft")),
            chance.choice(("", "\n", "x" * 300)),
        )


def targets(scratch: Path) -> list[Target]:
    """`manifest`, `voice_name`, `phonemes`, `voice_config` and `network`."""
    folders = {name: scratch / name for name in ("voices", "voice")}
    for folder in folders.values():
        folder.mkdir()
    store, voice = _Store(folders["voices"]), folders["voice"]
    return [
        Target("manifest", store.manifest, _MANIFEST_TOKENS, limit=20_000),
        Target(
            "voice_name", store.name, ("../", "/", ".", "it", "current", ".build-x", "a" * 300), limit=6000
        ),
        Target("phonemes", lambda data: phonemes(voice, data), _PHONEME_TOKENS, limit=20_000),
        Target("voice_config", lambda data: voice_config(voice, data), _CONFIG_TOKENS, limit=20_000),
        Target(
            "network", lambda data: network(voice, data), (), binary=True, change=other_network, limit=40_000
        ),
    ]
