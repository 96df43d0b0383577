"""The network is cut by its structure, and its parts are the whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from edged.errors import VoiceError
from edged.voice.importers.vits_graph import Cuts, Graph, Parts, decoder_stages, find_cuts, split
from tests.voice.vits import tiny

IDS = tiny.ids_of([8, 9, 30, 10, 3, 12, 12, 20])


def run(model: Any, **inputs: Any) -> list[Any]:
    return list(onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs))


def in_parts(parts: Parts, cuts: Cuts, ids: Any, speaker: int | None) -> Any:
    """The three parts one after the other, without noise."""
    who = {} if speaker is None else {"speaker": np.array([speaker])}
    front = {"ids": ids[None], "lengths": np.array([ids.size]), "scales": np.array([0, 1, 0], np.float32)}
    if cuts.noise:
        front["noise"] = np.ones((1, 2, ids.size), np.float32)
    mean, _, durations = run(parts.front, **front, **({} if "speaker" not in named(parts.front) else who))
    prior = np.repeat(mean, durations[0, 0].astype(int), axis=2)
    (latent,) = run(parts.flow, prior=prior, **who)
    return run(parts.decoder, latent=latent, **who)[0]


def named(model: Any) -> list[str]:
    return [i.name for i in model.graph.input]


@pytest.mark.parametrize("speakers", [1, 3])
@pytest.mark.parametrize("kind", ["ramp", "random"])
@pytest.mark.parametrize("names", ["as exported", "stripped"])
def test_parts_are_the_whole_to_the_last_bit(kind: str, speakers: int, names: str) -> None:
    model = tiny.network(kind, speakers)
    model = tiny.stripped(model) if names == "stripped" else model
    graph = Graph(model)
    cuts = find_cuts(graph)
    assert (cuts.symbols, cuts.speakers, cuts.channels) == (tiny.SYMBOLS, speakers, tiny.CHANNELS)
    assert (cuts.speaker is None, cuts.noise is None) == (speakers == 1, False)
    whole = {
        cuts.ids: IDS[None],
        cuts.lengths: np.array([IDS.size]),
        cuts.scales: np.array([0, 1, 0], np.float32),
    }
    speaker = 2 if speakers > 1 else None
    if cuts.speaker:
        whole[cuts.speaker] = np.array([speaker])
    assert np.array_equal(run(model, **whole)[0], in_parts(split(graph, cuts), cuts, IDS, speaker))


def test_speaker_reaches_flow_and_decoder() -> None:
    graph = Graph(tiny.network("random", 3))
    parts = split(graph, find_cuts(graph))
    assert named(parts.flow) == ["prior", "speaker"]
    assert named(parts.decoder) == ["latent", "speaker"]


def test_masks_and_lengths_of_frames_are_gone() -> None:
    graph = Graph(tiny.network())
    parts = split(graph, find_cuts(graph))
    assert named(parts.flow) == ["prior"]
    for part in (parts.flow, parts.decoder):
        assert not [n for n in part.graph.node if n.op_type in ("Range", "Less", "RandomNormalLike")]


def test_stages_of_the_decoder() -> None:
    graph = Graph(tiny.network())
    decoder = split(graph, find_cuts(graph)).decoder
    stages = decoder_stages(decoder)
    assert [list(stage) for stage in stages] == [[5, 3], [5, 3]]
    chosen = {name for stage in stages for names in stage.values() for name in names}
    ends = [n.name for n in decoder.graph.node if n.op_type == "Conv"]
    assert set(ends) - chosen == {ends[0], ends[-1]}


def without(kind: str) -> Any:
    """A voice in which one operator is another."""
    model = tiny.network()
    for node in model.graph.node:
        if node.op_type == kind:
            node.op_type = "Identity" if kind in ("Ceil", "RandomNormalLike") else kind
            if kind == "ConvTranspose":
                node.op_type = "Conv"
            if kind == "Split":
                node.op_type = "Slice"
    return model


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("Ceil", "a Ceil that gives the durations"),
        ("RandomNormalLike", "random noise on the prior"),
        ("ConvTranspose", "a chain of ConvTranspose"),
        ("Split", "a Split into mean and log variance"),
    ],
)
def test_another_network_is_told_in_one_line(kind: str, said: str) -> None:
    with pytest.raises(VoiceError, match=said) as raised:
        find_cuts(Graph(without(kind)))
    assert "\n" not in str(raised.value)


def test_a_network_of_another_kind(tmp_path: Path) -> None:
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    value = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1]) for n in "xy"]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", value[:1], value[1:]))
    with pytest.raises(VoiceError, match="not a VITS voice"):
        find_cuts(Graph(model))


def test_joe_is_cut_where_it_is_known_to_be(joe_network: Path) -> None:
    cuts = find_cuts(Graph(onnx.load(str(joe_network))))
    assert (cuts.durations, cuts.noise) == ("/Ceil_output_0", "/dp/RandomNormalLike_output_0")
    assert (cuts.mean, cuts.logs) == ("/enc_p/Split_output_0", "/enc_p/Split_output_1")
    assert (cuts.prior, cuts.latent) == ("/Add_output_0", "/Mul_7_output_0")
    assert (cuts.symbols, cuts.channels, cuts.speakers) == (256, 192, 1)
