"""A Piper voice of a few kilobytes, built like an export: the same operators in the same order.

`ramp` says every id as 3 frames of a constant level that stands for it (and for the speaker), so a
lost, repeated or reordered frame shows in the samples by itself. `random` has weights everywhere,
wide convolutions, and both kinds of noise.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

RATE_HZ = 16_000
HOP = 16
SYMBOLS = 40
CHANNELS = 8
FRAMES_PER_ID = 3
LETTERS = "abcdefghijklmnopqrstuvwxyzəɪʊˈː"
MAP = {p: [i] for i, p in enumerate(["_", "^", "$", " ", "!", ",", ".", "?", *LETTERS])}
GIN = 4


def level(ids: NDArray[np.int64], speaker: int = 0) -> NDArray[np.float64]:
    """What `ramp` says for each id."""
    return np.tanh((ids + 1) / 50 + 0.1 * speaker)


class _Builder:
    def __init__(self, kind: str, speakers: int) -> None:
        self.kind, self.speakers = kind, speakers
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.rng = np.random.default_rng(5)
        self.count = 0

    def const(self, value: Any, dtype: Any = np.int64) -> str:
        name = f"const{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def op(self, kind: str, *inputs: str, out: int = 1, **attributes: Any) -> Any:
        names = [f"/{kind}_{self.count}_output_{i}" for i in range(out)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=f"/{kind}_{self.count}", **attributes))
        self.count += 1
        return names[0] if out == 1 else names

    def conv(self, x: str, weight: NDArray[Any], dilation: int = 1, bias: NDArray[Any] | None = None) -> str:
        inputs = [x, self.const(weight, np.float32)]
        if bias is not None:
            inputs.append(self.const(bias, np.float32))
        pad = (weight.shape[2] - 1) // 2 * dilation
        return str(
            self.op("Conv", *inputs, kernel_shape=[weight.shape[2]], pads=[pad, pad], dilations=[dilation])
        )

    def w(self, out: int, inp: int, k: int, ramp: str = "zero", scale: float = 1.0) -> NDArray[Any]:
        """Random weights, or for `ramp`: zero, or the first channels passed on."""
        if self.kind == "random":
            return self.rng.standard_normal((out, inp, k)) * scale / np.sqrt(inp * k)
        weight = np.zeros((out, inp, k))
        if ramp == "pass":
            n = min(out, inp)
            weight[range(n), range(n), k // 2] = 1
        return weight

    # The parts, in the order of an export.

    def build(self) -> Any:
        scale = [self.op("Gather", "scales", self.const(i)) for i in range(3)]  # noise, length, noise_w
        g = None
        if self.speakers > 1:
            table = self.rng.standard_normal((self.speakers, GIN)) * 0.3
            table[:, 0] = 0.1 * np.arange(self.speakers)
            g = self.op(
                "Unsqueeze", self.op("Gather", self.const(table, np.float32), "sid"), self.const([-1])
            )
        hidden, mask, mean, logs = self.encoder()
        durations = self.durations(hidden, mask, scale[1], scale[2])
        prior, frame_mask = self.prior(mean, logs, durations, mask, scale[0])
        latent = self.flow(prior, frame_mask, g)
        audio = self.decoder(latent, g)
        self.nodes.append(helper.make_node("Unsqueeze", [audio, self.const([1])], ["output"], name="/last"))
        inputs = [
            helper.make_tensor_value_info("input", TensorProto.INT64, ["batch_size", "phonemes"]),
            helper.make_tensor_value_info("input_lengths", TensorProto.INT64, ["batch_size"]),
            helper.make_tensor_value_info("scales", TensorProto.FLOAT, [3]),
        ]
        if self.speakers > 1:
            inputs.append(helper.make_tensor_value_info("sid", TensorProto.INT64, ["batch_size"]))
        output = helper.make_tensor_value_info("output", TensorProto.FLOAT, ["batch_size", "time", 1, "n"])
        graph = helper.make_graph(self.nodes, "torch_jit", inputs, [output], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)

    def encoder(self) -> tuple[str, str, str, str]:
        table = self.rng.standard_normal((SYMBOLS, CHANNELS))
        if self.kind == "ramp":
            table[:] = 0
            table[:, 0] = (np.arange(SYMBOLS) + 1) / 50
        x = self.op("Transpose", self.op("Gather", self.const(table, np.float32), "input"), perm=[0, 2, 1])
        length = self.op("Gather", self.op("Shape", x), self.const(2))
        steps = self.op("Unsqueeze", self.op("Range", self.const(0), length, self.const(1)), self.const([0]))
        inside = self.op("Less", steps, self.op("Unsqueeze", "input_lengths", self.const([1])))
        mask = self.op("Cast", self.op("Unsqueeze", inside, self.const([1])), to=TensorProto.FLOAT)
        x = self.op("Mul", x, mask)
        inner = self.op("Relu", self.conv(x, self.w(CHANNELS, CHANNELS, 3)))
        x = self.op("Mul", self.op("Add", x, self.conv(inner, self.w(CHANNELS, CHANNELS, 3))), mask)
        weight = self.w(2 * CHANNELS, CHANNELS, 1, "pass")
        bias = np.concatenate([np.zeros(CHANNELS), np.full(CHANNELS, -1.0 if self.kind == "random" else -40)])
        stats = self.op("Mul", self.conv(x, weight, bias=bias), mask)
        mean, logs = self.op("Split", stats, self.const([CHANNELS, CHANNELS]), out=2, axis=1)
        return x, mask, mean, logs

    def durations(self, hidden: str, mask: str, length_scale: str, noise_w: str) -> str:
        shape = self.op(
            "Concat",
            *(
                self.op("Unsqueeze", v, self.const([0]))
                for v in (
                    self.const(1),
                    self.const(2),
                    self.op("Gather", self.op("Shape", hidden), self.const(2)),
                )
            ),
            axis=0,
        )
        zeros = self.op("ConstantOfShape", shape)
        noise = self.op("Mul", self.op("RandomNormalLike", zeros, dtype=1), noise_w)
        first, _ = self.op("Split", noise, self.const([1, 1]), out=2, axis=1)
        base = np.log(FRAMES_PER_ID - 0.5)
        logw = self.conv(hidden, self.w(1, CHANNELS, 3, scale=0.3), bias=np.array([base]))
        amount = self.const(0.2 if self.kind == "random" else 0.0, np.float32)
        logw = self.op("Add", logw, self.op("Mul", first, amount))
        w = self.op("Mul", self.op("Mul", self.op("Exp", logw), mask), length_scale)
        return str(self.op("Ceil", w))

    def prior(self, mean: str, logs: str, durations: str, mask: str, noise_scale: str) -> tuple[str, str]:
        total = self.op(
            "Clip",
            self.op("ReduceSum", durations, self.const([1, 2]), keepdims=0),
            self.const(1, np.float32),
            "",
        )
        total = self.op("Cast", total, to=TensorProto.INT64)
        longest = self.op("ReduceMax", total, keepdims=0)
        steps = self.op("Unsqueeze", self.op("Range", self.const(0), longest, self.const(1)), self.const([0]))
        inside = self.op("Less", steps, self.op("Unsqueeze", total, self.const([1])))
        frame_mask = self.op("Cast", self.op("Unsqueeze", inside, self.const([1])), to=TensorProto.FLOAT)
        ends = self.op("CumSum", durations, self.const(2))  # [1, 1, ids]
        frames = self.op("Cast", steps, to=TensorProto.FLOAT)  # [1, frames]
        frames = self.op("Unsqueeze", frames, self.const([2]))  # [1, frames, 1]
        below = self.op("Cast", self.op("Less", frames, ends), to=TensorProto.FLOAT)  # [1, frames, ids]
        before = self.op("Pad", below, self.const([0, 0, 1, 0, 0, 0]), "")
        before = self.op("Slice", before, self.const([0]), self.const([-1]), self.const([2]))
        path = self.op("Mul", self.op("Sub", below, before), self.op("Transpose", frame_mask, perm=[0, 2, 1]))
        path = self.op("Mul", path, mask)
        spread = [
            self.op(
                "Transpose", self.op("MatMul", path, self.op("Transpose", s, perm=[0, 2, 1])), perm=[0, 2, 1]
            )
            for s in (mean, logs)
        ]
        noise = self.op("RandomNormalLike", spread[0])
        noise = self.op("Mul", self.op("Mul", noise, self.op("Exp", spread[1])), noise_scale)
        return str(self.op("Add", spread[0], noise)), str(frame_mask)

    def flow(self, x: str, mask: str, g: str | None) -> str:
        half = CHANNELS // 2
        for _ in range(2):
            x = self.op(
                "Slice", x, self.const([-1]), self.const([-(2**62)]), self.const([1]), self.const([-1])
            )
            one, two = self.op("Split", x, self.const([half, half]), out=2, axis=1)
            h = self.op("Mul", self.conv(one, self.w(CHANNELS, half, 1)), mask)
            for layer in range(2):
                act = self.conv(h, self.w(2 * CHANNELS, CHANNELS, 5))
                if g is not None:
                    act = self.op("Add", act, self.conv(g, self.w(2 * CHANNELS, GIN, 1)))
                a, b = self.op("Split", act, self.const([CHANNELS, CHANNELS]), out=2, axis=1)
                act = self.op("Mul", self.op("Tanh", a), self.op("Sigmoid", b))
                h = self.op("Mul", self.op("Add", h, self.conv(act, self.w(CHANNELS, CHANNELS, 1))), mask)
                del layer
            shift = self.op("Mul", self.conv(h, self.w(half, CHANNELS, 1, scale=0.5)), mask)
            two = self.op("Mul", self.op("Sub", two, shift), mask)
            x = self.op("Concat", one, two, axis=1)
        return str(self.op("Mul", x, mask))

    def decoder(self, z: str, g: str | None) -> str:
        x = self.conv(z, self.w(CHANNELS, CHANNELS, 7, "pass"))
        if g is not None:
            weight = self.w(CHANNELS, GIN, 1, "pass")
            if self.kind == "ramp":
                weight[1:] = 0
            x = self.op("Add", x, self.conv(g, weight))
        for _ in range(2):
            x = self.op("LeakyRelu", x, alpha=0.1)
            weight = self.w(CHANNELS, CHANNELS, 8, scale=1.5)
            if self.kind == "ramp":
                weight[range(CHANNELS), range(CHANNELS), 2:6] = 1  # holds a level for four samples
            x = self.op(
                "ConvTranspose", x, self.const(weight, np.float32), kernel_shape=[8], strides=[4], pads=[2, 2]
            )
            branches = []
            for k, dilation in ((3, 1), (5, 2)):
                y = self.conv(self.op("LeakyRelu", x, alpha=0.1), self.w(CHANNELS, CHANNELS, k), dilation)
                branches.append(self.op("Add", y, x))
            x = self.op("Div", self.op("Add", *branches), self.const(2, np.float32))
        x = self.conv(self.op("LeakyRelu", x, alpha=0.01), self.w(1, CHANNELS, 7, "pass"))
        return str(self.op("Tanh", x))


def network(kind: str = "random", speakers: int = 1) -> Any:
    """The model, as onnx has it."""
    model = _Builder(kind, speakers).build()
    onnx.checker.check_model(model)
    return model


def stripped(model: Any) -> Any:
    """The same network with every name replaced by a number."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    names: dict[str, str] = {"": ""}

    def new(name: str) -> str:
        return names.setdefault(name, f"n{len(names)}")

    graph = copy.graph
    for value in (*graph.input, *graph.output, *graph.initializer):
        value.name = new(value.name)
    for number, node in enumerate(graph.node):
        node.name = f"x{number}"
        node.input[:] = map(new, node.input)
        node.output[:] = map(new, node.output)
    return copy


def config(speakers: int = 1, **changes: Any) -> dict[str, Any]:
    """The content of the file beside the network."""
    return {
        "audio": {"sample_rate": RATE_HZ, "quality": "tiny"},
        "espeak": {"voice": "en-us"},
        "language": {"code": "en_US"},
        "inference": {"noise_scale": 0.667, "length_scale": 1, "noise_w": 0.8},
        "phoneme_type": "espeak",
        "phoneme_id_map": MAP,
        "num_symbols": SYMBOLS,
        "num_speakers": speakers,
        "speaker_id_map": {f"voice{i}": i for i in range(speakers)} if speakers > 1 else {},
        **changes,
    }


def write(folder: Path, kind: str = "random", speakers: int = 1, model: Any = None, **changes: Any) -> Path:
    """Both files into a folder; returns the network's."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "tiny.onnx"
    onnx.save(model if model is not None else network(kind, speakers), str(file))
    file.with_name("tiny.onnx.json").write_text(json.dumps(config(speakers, **changes)))
    return file


def ids_of(letters: Sequence[int]) -> NDArray[np.int64]:
    """Ids in the layout of the reference for some phoneme numbers."""
    return np.array([1, 0, *(i for letter in letters for i in (letter, 0)), 2], np.int64)
