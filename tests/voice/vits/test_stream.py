"""A network that carries its past: in one call it is the published one, in many calls the same again."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from edged.errors import VoiceError
from edged.types import Float32
from edged.voice.engines.vits import FIRST, LAST, PAST
from edged.voice.importers.vits_graph import Graph, find_cuts, split
from edged.voice.importers.vits_stream import streamed
from tests.voice.sound import agreement_db
from tests.voice.vits import tiny

FRAMES = 40


def parts(speakers: int) -> dict[str, tuple[Any, str]]:
    graph = Graph(tiny.network("random", speakers))
    cut = split(graph, find_cuts(graph))
    return {"flow": (cut.flow, "prior"), "decoder": (cut.decoder, "latent")}


def session(model: Any) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(model.SerializeToString())


def in_calls(network: Any, source: str, frames: Float32, sizes: list[int], **more: Any) -> list[Float32]:
    """What each call gives; the last one gets the rest."""
    past: dict[str, NDArray[Any]] = {
        i.name: np.empty((1, i.shape[1], 0), np.float32)
        for i in network.get_inputs()
        if i.name.startswith(PAST)
    }
    results, begin = [], 0
    ends = np.minimum(np.cumsum([*sizes, FRAMES]), FRAMES)
    for end in ends[: int(np.argmax(ends == FRAMES)) + 1]:
        edges = {FIRST: np.array([1, 1, int(begin == 0)]), LAST: np.array([1, 1, int(end == FRAMES)])}
        now = np.ascontiguousarray(frames[:, :, begin:end])
        result, *kept = network.run(None, {source: now, **edges, **past, **more})
        past = dict(zip(past, kept, strict=True))
        results.append(result)
        begin = end
    return results


def noise(channels: int) -> Float32:
    return np.random.default_rng(1).standard_normal((1, channels, FRAMES), dtype=np.float32)


@pytest.mark.parametrize("speakers", [1, 3])
@pytest.mark.parametrize("part", ["flow", "decoder"])
def test_one_call_is_the_network_as_it_was(part: str, speakers: int) -> None:
    model, source = parts(speakers)[part]
    who = {"speaker": np.array([2])} if speakers > 1 else {}
    frames = noise(tiny.CHANNELS)
    expected = session(model).run(None, {source: frames, **who})[0]
    made, _ = streamed(model, source)
    onnx.checker.check_model(made)
    (found,) = in_calls(session(made), source, frames, [], **who)
    assert agreement_db(expected, found) > 120


STREAMED = {part: (streamed(*of), of[1]) for part, of in parts(1).items()}
SESSIONS = {part: (session(model), ahead, source) for part, ((model, ahead), source) in STREAMED.items()}


@settings(max_examples=30, deadline=None)
@given(part=st.sampled_from(["flow", "decoder"]), first=st.integers(1, 20), later=st.lists(st.integers(1, 9)))
def test_any_calls_give_the_same(part: str, first: int, later: list[int]) -> None:
    network, ahead, source = SESSIONS[part]
    frames = noise(tiny.CHANNELS)
    (whole,) = in_calls(network, source, frames, [])
    per_frame, axis = whole.size // whole[..., :1].size // FRAMES, whole.ndim - 1
    sizes = [-(-ahead // per_frame) + first, *later]
    results = in_calls(network, source, frames, sizes)
    if len(results) > 1:
        assert results[0].shape[axis] == sizes[0] * per_frame - ahead
    assert agreement_db(whole, np.concatenate(results, axis=axis)) > 100


def one_convolution(kind: str = "Conv", **attributes: Any) -> Any:
    """Input x, one convolution of 3 (Conv) or 4 frames."""
    size = 3 if kind == "Conv" else 4
    weight = numpy_helper.from_array(np.ones((2, 2, size), np.float32), "w")
    node = helper.make_node(kind, ["x", "w"], ["y"], kernel_shape=[size], **attributes)
    return model_of([node], [weight])


def model_of(nodes: list[Any], weights: list[Any]) -> Any:
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 2, None]) for n in "xy"]
    graph = helper.make_graph(nodes, "one", values[:1], values[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (one_convolution(), "a convolution of 3 frames with padding 0, 0"),
        (one_convolution(pads=[1, 1], strides=[2]), "a convolution of 3 frames"),
        (one_convolution(auto_pad="SAME_UPPER"), "a convolution of 3 frames"),
        (one_convolution("ConvTranspose", strides=[2]), "an upsampling of 4 samples by 2 with padding 0, 0"),
        (one_convolution("ConvTranspose", strides=[2], pads=[1, 1], output_padding=[1]), "an upsampling"),
        (model_of([helper.make_node("Softmax", ["x"], ["y"], axis=2)], []), "the operator Softmax"),
        (model_of([helper.make_node("Concat", ["x", "x"], ["y"], axis=2)], []), "a Concat over the frames"),
    ],
)
def test_what_cannot_be_streamed_is_refused(model: Any, reason: str) -> None:
    with pytest.raises(VoiceError, match=f"the network has {reason}.*; it cannot be streamed"):
        streamed(model, "x")
