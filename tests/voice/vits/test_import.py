"""Importing a Piper voice: what is wrong with its files is said in one line, and nothing is half done."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from edged.errors import VoiceError
from edged.voice import store as voice_store
from edged.voice.importers import vits as importer
from edged.voice.importers.vits_config import read_config
from edged.voice.manifest import verify
from tests.voice.vits import tiny

IMPORTER = [sys.executable, "-m", "edged.voice.importers.vits"]
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 63201294\n"
PAGE = b"<!DOCTYPE html><html><head><title>voice.onnx at main</title></head></html>"


def said(source: Path, store: Path) -> str:
    """The one line of a refusal; the store stays empty."""
    lines: list[str] = []
    with pytest.raises(VoiceError) as raised:
        importer.build(source, store, "it", (), lines.append)
    assert "\n" not in str(raised.value)
    assert not store.exists() or not list(store.iterdir())
    return str(raised.value)


# C55: the network.


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (
            lambda f: f.write_bytes(f.read_bytes()[:2000]),
            r"tiny.onnx: cut short or not a network \(2000 bytes\)",
        ),
        (lambda f: f.write_bytes(b""), r"tiny.onnx: is empty"),
        (lambda f: f.write_bytes(POINTER), r"tiny.onnx: is a Git LFS pointer, .*git lfs pull"),
        (lambda f: f.write_bytes(PAGE), r"tiny.onnx: looks like HTML"),
        (lambda f: f.write_bytes(os.urandom(3000)), r"tiny.onnx: cut short or not a network"),
        (lambda f: f.unlink(), r"tiny.onnx: is missing"),
        (lambda f: (f.unlink(), f.mkdir()), r"tiny.onnx: there must be one .onnx file in it; there is: none"),
    ],
)
def test_damaged_network(tmp_path: Path, damage: Callable[[Path], Any], expected: str) -> None:
    file = tiny.write(tmp_path / "voice")
    damage(file)
    line = said(file, tmp_path / "store")
    assert re.search(expected, line), line


def test_joe_cut_to_a_megabyte(tmp_path: Path, joe_network: Path) -> None:
    file = tmp_path / "joe.onnx"
    file.write_bytes(joe_network.read_bytes()[: 1 << 20])
    (tmp_path / "joe.onnx.json").write_bytes(joe_network.with_name(f"{joe_network.name}.json").read_bytes())
    assert "joe.onnx: cut short or not a network (1048576 bytes)" in said(file, tmp_path / "store")


@pytest.mark.parametrize("opset", [9, 12, 99])
def test_wrong_opset(tmp_path: Path, opset: int) -> None:
    model = tiny.network()
    model.opset_import[0].version = opset
    file = tiny.write(tmp_path / "voice", model=model)
    assert f"tiny.onnx: ONNX opset {opset}, edged reads 13 to 22" in said(file, tmp_path / "store")


def test_another_network(tmp_path: Path) -> None:
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    value = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1]) for n in "xy"]
    graph = onnx.helper.make_graph([node], "g", value[:1], value[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 15)])
    file = tiny.write(tmp_path / "voice", model=model)
    assert "tiny.onnx: the network is not a VITS voice: looked for a Ceil" in said(file, tmp_path / "store")


def test_a_network_whose_parts_are_not_the_whole(tmp_path: Path) -> None:
    """Another mask than the one of the frames: it is not ones, so the parts say something else."""
    model = tiny.network()
    mask = next(n for n in model.graph.node if n.op_type == "Cast" and n.output[0] == masked(model).input[1])
    mask.attribute[0].i = onnx.TensorProto.FLOAT
    graph = model.graph
    half = onnx.helper.make_tensor("half", onnx.TensorProto.FLOAT, [], [0.5])
    graph.initializer.append(half)
    at = list(graph.node).index(mask)
    name = mask.output[0]
    mask.output[0] = f"{name}/ones"
    graph.node.insert(at + 1, onnx.helper.make_node("Mul", [f"{name}/ones", "half"], [name], name="halved"))
    file = tiny.write(tmp_path / "voice", model=model)
    assert "the parts agree with the whole by" in said(file, tmp_path / "store")


def masked(model: Any) -> Any:
    """The product with the mask of the frames that gives the latent."""
    latent = next(n for n in model.graph.node if n.op_type == "ConvTranspose").input[0]
    by_output = {o: n for n in model.graph.node for o in n.output}
    while by_output[latent].op_type != "Conv":
        latent = by_output[latent].input[0]
    return by_output[by_output[latent].input[0]]


# C56: the configuration.


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda f: f.write_bytes(PAGE), "tiny.onnx.json: not JSON, looks like HTML"),
        (lambda f: f.write_bytes(POINTER), "tiny.onnx.json: is a Git LFS pointer"),
        (lambda f: f.write_bytes(b""), "tiny.onnx.json: is empty"),
        (lambda f: f.write_text('{"audio": '), "tiny.onnx.json: not JSON ("),
        (lambda f: f.write_bytes(b"\xff\xfe\x00"), "tiny.onnx.json: not JSON ("),
        (lambda f: f.write_text("[" * 100_000), "tiny.onnx.json: not JSON ("),
        (lambda f: f.write_text("[1]"), "tiny.onnx.json: not the configuration of a Piper voice"),
        (
            lambda f: f.rename(f.with_name("tiny.json")),
            "tiny.onnx.json: is missing; a Piper voice needs this",
        ),
    ],
)
def test_damaged_configuration(tmp_path: Path, damage: Callable[[Path], Any], expected: str) -> None:
    file = tiny.write(tmp_path / "voice")
    damage(file.with_name("tiny.onnx.json"))
    assert expected in said(file, tmp_path / "store")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"audio": {}}, "audio.sample_rate is missing; it must be a number"),
        ({"audio": {"sample_rate": "22050"}}, "audio.sample_rate is '22050'"),
        ({"audio": {"sample_rate": True}}, "audio.sample_rate is 'True'"),
        ({"audio": None}, "audio.sample_rate is missing"),
        ({"phoneme_id_map": None}, "phoneme_id_map is missing"),
        ({"phoneme_id_map": {"a": [1]}}, "phoneme_id_map.^ is missing"),
        ({"phoneme_id_map": {**tiny.MAP, "a": ["x"]}}, "phoneme_id_map.a is"),
        ({"phoneme_id_map": {**tiny.MAP, "a": [40]}}, "phoneme_id_map.a is 40, the network knows 0 to 39"),
        ({"phoneme_type": "pinyin"}, "phoneme_type pinyin is not supported: it needs a network"),
        ({"phoneme_type": "PhonemeType.JAPANESE"}, "phoneme_type japanese is not supported"),
        ({"espeak": {}}, "espeak.voice is missing"),
        ({"num_speakers": 3}, "num_speakers is 3, the network has 1"),
        ({"num_speakers": 0}, "num_speakers is '0'"),
        ({"num_speakers": 2, "speaker_id_map": {"a": 2}}, "speaker_id_map is"),
        ({"inference": {"noise_scale": "loud"}}, "inference.noise_scale is 'loud'"),
        ({"inference": {"length_scale": 0}}, "inference.length_scale is '0'"),
    ],
)
def test_wrong_configuration(tmp_path: Path, changes: dict[str, Any], expected: str) -> None:
    file = tiny.write(tmp_path / "voice", **changes)
    assert expected in said(file, tmp_path / "store")


@pytest.mark.parametrize(
    ("kind", "meant"),
    [
        (None, "espeak"),
        ("PhonemeType.ESPEAK", "espeak"),
        ("ESPEAK", "espeak"),
        ("PhonemeType.TEXT", "text"),
    ],
)
def test_odd_phoneme_type_is_what_it_means_with_a_warning(tmp_path: Path, kind: object, meant: str) -> None:
    warnings: list[str] = []
    config = read_config(tiny.write(tmp_path, phoneme_type=kind), warnings.append)
    assert config.phoneme_type == meant
    assert len(warnings) == 1
    assert f"taken as {meant}" in warnings[0]
    assert ("is missing" if kind is None else repr(kind)) in warnings[0]


@pytest.mark.parametrize("kind", ["ipa", 3, ["espeak"]])
def test_an_unknown_phoneme_type_is_refused(tmp_path: Path, kind: object) -> None:
    with pytest.raises(VoiceError, match=r"phoneme_type is .*it must be espeak or text"):
        read_config(tiny.write(tmp_path, phoneme_type=kind), print)


def test_arabic_is_warned_about(tmp_path: Path) -> None:
    warnings: list[str] = []
    read_config(tiny.write(tmp_path, espeak={"voice": "ar"}), warnings.append)
    assert "vowel signs" in warnings[0]


def test_what_is_not_said_is_as_in_the_reference(tmp_path: Path) -> None:
    config = read_config(tiny.write(tmp_path, inference=None, language=None, speaker_id_map=None), print)
    assert (config.noise_scale, config.length_scale, config.noise_w) == (0.667, 1.0, 0.8)
    assert (config.language, config.speakers, config.default_speaker) == ("en-us", (), 0)


def test_names_of_speakers(tmp_path: Path) -> None:
    changes = {"speaker_id_map": {"ann": 2, "bob": 0}, "default_speaker_id": 2}
    config = read_config(tiny.write(tmp_path, speakers=3, **changes), print)
    assert (config.speakers, config.default_speaker) == (("bob", "1", "ann"), 2)


# The whole way.


def test_manifest(tiny_store: Path) -> None:
    manifest = voice_store.current(tiny_store, "randoms")
    verify(manifest)
    assert (manifest.engine, manifest.language, manifest.sample_rate_hz) == ("vits", "en-us", tiny.RATE_HZ)
    assert manifest.levels == ("mixed", "fp32", "fp16", "int8")
    assert manifest.speakers == ("voice0", "voice1", "voice2")
    options = manifest.options
    assert (options["hop"], options["duration_noise"]) == (tiny.HOP, True)
    assert options["levels"]["fp32"]["distance_db"] == 0
    assert 0 < options["levels"]["mixed"]["distance_db"] < options["natural_db"]
    assert options["levels"]["mixed"]["int8"][0] == "flow"
    assert options["calibration"]["sentences"] == 25
    assert len(options["calibration"]["ids_sha256"]) == 64
    used = {
        f
        for level in options["levels"].values()
        for k, f in level.items()
        if k in ("front", "flow", "decoder")
    }
    assert {f.name.removesuffix(".data") for f in manifest.files} == used | {"phonemes.json"}


def test_equal_sources_give_equal_versions(tiny_store: Path, tmp_path: Path) -> None:
    file = tiny.write(tmp_path / "voice", "random")
    made = importer.build(
        file.parent, tmp_path / "store", "random", ("mixed", "fp16", "int8"), lambda line: None
    )
    assert made.version == voice_store.current(tiny_store, "random").version


def test_stripped_names_make_no_difference(tiny_store: Path, tmp_path: Path) -> None:
    file = tiny.write(tmp_path / "voice", model=tiny.stripped(tiny.network("random", 3)), speakers=3)
    made = importer.build(file, tmp_path / "store", "randoms", ("mixed", "fp16", "int8"), lambda line: None)
    options = voice_store.current(tiny_store, "randoms").options
    for key in ("gain", "hop", "flow_ahead_frames", "decoder_ahead_samples", "natural_db", "calibration"):
        assert made.options[key] == options[key]


@pytest.mark.parametrize(
    ("changes", "made_of"),
    [
        ({"phoneme_type": "text", "language": {"code": "uk_UA"}}, "words made of the characters"),
        ({"espeak": {"voice": "de"}, "language": {"code": "de_DE"}}, "as espeak reads them in de"),
    ],
)
def test_other_languages_are_calibrated_on_their_own_sounds(
    tmp_path: Path, changes: dict[str, Any], made_of: str
) -> None:
    file = tiny.write(tmp_path / "voice", "random", **changes)
    made = importer.build(file, tmp_path / "store", "other", ("mixed",), lambda line: None)
    assert made_of in made.options["calibration"]["made_of"]
    assert made.options["levels"]["mixed"]["int8"]
    assert made.language in ("uk-ua", "de-de")


def test_the_users_files_are_copied(tmp_path: Path) -> None:
    file = tiny.write(tmp_path / "voice")
    made = importer.build(file, tmp_path / "store", "it", (), lambda line: None)
    assert made.levels == ("fp32",)
    for source in file.parent.iterdir():
        source.write_bytes(b"")
    verify(made)


def test_as_a_command(tmp_path: Path) -> None:
    file = tiny.write(tmp_path / "voice", phoneme_type=None)
    command = [*IMPORTER, str(file), str(tmp_path / "store"), "--name", "it", "--levels", "fp32"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("warning: ")
    assert lines[-1] == "publishing"
    assert voice_store.current(tmp_path / "store", "it").levels == ("fp32",)
    file.write_bytes(PAGE)
    failed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert failed.stderr.splitlines() == [
        f"{file}: looks like HTML, not a network; download the file itself, not its web page"
    ]


@pytest.mark.parametrize("name", ["", "../x", ".x", "a/b"])
def test_a_name_that_cannot_be(tmp_path: Path, name: str) -> None:
    with pytest.raises(VoiceError, match="cannot be the name of a voice"):
        importer.build(tiny.write(tmp_path / "voice"), tmp_path / "store", name, (), print)


def test_an_unknown_level(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="--levels fp8: there is mixed, fp32, fp16, int8"):
        importer.build(tiny.write(tmp_path / "voice"), tmp_path / "store", "it", ("fp8",), print)


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("line", ["cutting", "measuring", "encoder"])
def test_an_interrupted_import_leaves_nothing(tmp_path: Path, kind: signal.Signals, line: str) -> None:
    file = tiny.write(tmp_path / "voice", "random")
    store = tmp_path / "store"
    command = [*IMPORTER, str(file), str(store), "--name", "it"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        for said_line in running.stdout or ():
            if said_line.startswith(line):
                running.send_signal(kind)
                break
        _, errors = running.communicate()
    assert (running.returncode, errors) == (130, "")
    assert not list(store.iterdir())


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    file = tiny.write(tmp_path / "voice")
    (tmp_path / "store").write_text("a file")
    with pytest.raises(VoiceError, match="store: cannot be written") as raised:
        importer.build(file, tmp_path / "store", "it", (), print)
    assert "\n" not in str(raised.value)


def test_the_daemon_does_not_import_what_only_the_importer_needs() -> None:
    unwanted = ("onnx", "onnxruntime.quantization", "piper")
    code = f"import sys, edged.daemon; print([m for m in {unwanted} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_configuration_of_joe(joe_network: Path) -> None:
    raw = json.loads(joe_network.with_name(f"{joe_network.name}.json").read_text())
    config = read_config(joe_network, pytest.fail)
    assert config.sample_rate_hz == raw["audio"]["sample_rate"] == 22050
    assert (config.language, config.espeak_voice, config.speakers) == ("en-us", "en-us", ())
    assert len(config.phoneme_ids) == len(raw["phoneme_id_map"])


# Hostile files.


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"vowel_clusters": [[]]}, "vowel_clusters is ''"),
        ({"num_speakers": 10**9}, "num_speakers is '1000000000'; it must be a number from 1 to 100000"),
        ({"num_speakers": 2, "speaker_id_map": {"a\nb": 0}}, r"speaker_id_map is 'a\nb'"),
        ({"phoneme_id_map": {**tiny.MAP, "a\nb": ["x"]}}, r"phoneme_id_map.'a\nb' is"),
        ({"phoneme_id_map": {**tiny.MAP, "k" * 9000: ["x"]}}, "phoneme_id_map.'kkkkkkkkkkkkkkkkkkkk' is"),
        ({"phoneme_id_map": {**tiny.MAP, "\ud800": [1]}}, r"phoneme_id_map.'\ud800' is no text"),
        ({"phoneme_id_map": {**tiny.MAP, "a": [2**40]}}, "phoneme_id_map.a is '[1099511627776]'"),
        ({"espeak": {"voice": "v" * 9000}}, "espeak.voice is 'vvv"),
        ({"language": {"code": "en\n"}}, r"language.code is 'en\n'; it must be a language"),
        ({"padding": " " * (9 << 20)}, "is larger than 8 MB"),
    ],
)
def test_hostile_configuration(tmp_path: Path, changes: dict[str, Any], expected: str) -> None:
    line = said(tiny.write(tmp_path / "voice", **changes), tmp_path / "store")
    assert expected in line
    assert len(line) < 400 + len(str(tmp_path))


def test_weights_in_another_file_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "outside"
    secret.write_bytes(bytes(4096))
    model = tiny.network()
    weight = max(model.graph.initializer, key=lambda each: len(each.raw_data))
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="../outside")
    file = tmp_path / "voice" / "tiny.onnx"
    tiny.write(file.parent)
    file.write_bytes(model.SerializeToString())
    assert "tiny.onnx: keeps weights in another file" in said(file, tmp_path / "store")


def test_a_graph_with_something_missing_is_one_line_that_names_the_file(tmp_path: Path) -> None:
    model = tiny.network()
    up = next(node for node in model.graph.node if node.op_type == "ConvTranspose")
    before = next(node for node in model.graph.node if up.input[0] in node.output)
    while before.op_type != "Conv":
        before = next(node for node in model.graph.node if before.input[0] in node.output)
    del before.input[1:]
    file = tiny.write(tmp_path / "voice", model=model)
    assert "tiny.onnx: the network is not a VITS voice (IndexError" in said(file, tmp_path / "store")


def test_a_network_that_asks_for_all_memory_is_one_line(tmp_path: Path) -> None:
    """Less than there is, so that the system would begin to give it."""
    memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    model = tiny.network()
    noise = next(node for node in model.graph.node if node.op_type == "RandomNormalLike")
    zeros = next(node for node in model.graph.node if noise.input[0] in node.output)
    shape = onnx.numpy_helper.from_array(np.array([1, 2, memory_bytes // 8 * 95 // 100]), "huge")
    model.graph.initializer.append(shape)
    zeros.input[0] = "huge"
    file = tiny.write(tmp_path / "voice", model=model)
    command = [*IMPORTER, str(file), str(tmp_path / "store"), "--name", "it", "--levels", "fp32"]
    failed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert failed.returncode == 1
    assert re.search("bad_alloc|[Ff]ailed to allocate|MemoryError", failed.stderr.splitlines()[-1]), (
        failed.stderr
    )
    assert not list((tmp_path / "store").iterdir())
