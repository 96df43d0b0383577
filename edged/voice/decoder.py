"""Rebuild hibari's decoder for streaming: float32 weights, and convolutions that carry their past.

The published decoder is a stack of ConvNeXt blocks whose matrices are int8 with dynamic quantisation.
That quantises each call by its own largest value, so a chunk decoded alone differs from the same
frames inside the whole (27 to 30 dB). Dequantised, which is exact, chunks and whole agree. The
convolutions are made to take their last frames as an input and to give them as an output, so a chunk
costs its own frames and no margins. Runs at installation only; imports onnx.

The same graph is also built with its matrices left in int8. What is multiplied by them is rounded then, too,
but each frame by itself, in blocks of BLOCK values: so no frame depends on the chunk that it comes in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.utils
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from edged.errors import VoiceError
from edged.types import Float32

HIDDEN = "/Concat_43_output_0"
"""The one tensor, beside f0, that goes from the front end of hibari 0.2.1 to its decoder."""

PARTS = ("lh", "theta", "ln", "lr", "phi")
STREAM_PARTS = ("lh", "ln", "lr", "theta", "phi")
"""The order in which the streaming decoder gives them: magnitudes side by side, then angles."""

BLOCK = 64
"""Values of a frame that are rounded together. 32 is 1 dB nearer and a tenth slower, 256 is as fast."""

_OPSET = 18
_INT8_PRODUCTS = 4  # accuracy_level of onnxruntime's MatMulNBits: both factors in int8
_END = 2**62


def split(source: Path, front: Path, decoder: Path) -> None:
    """Cut the published network in two. Raises VoiceError when it is another network."""
    try:
        onnx.utils.extract_model(str(source), str(front), ["ids", "speed"], [HIDDEN, "f0"])
        onnx.utils.extract_model(str(source), str(decoder), [HIDDEN], list(PARTS))
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        raise VoiceError(f"{source}: cannot be split ({error}); reinstall hibari-tts") from error


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix of the published network: (values - zero) * scale, one scale and one zero per column."""

    values: NDArray[np.uint8]
    """[inputs, outputs]."""
    zero: NDArray[np.uint8]
    scale: Float32

    def as_float(self) -> Float32:
        """What it stands for, exactly."""
        product: Float32 = (self.values.astype(np.float32) - self.zero.astype(np.float32)) * self.scale
        return product

    def times(self, gain: Float32) -> Matrix:
        """With every column scaled."""
        return Matrix(self.values, self.zero, self.scale * gain)

    def columns(self, order: NDArray[np.int64]) -> Matrix:
        """With its columns in another order."""
        return Matrix(self.values[:, order], self.zero[order], self.scale[order])


def weights_of(decoder: Path) -> tuple[dict[str, Float32], dict[str, Matrix]]:
    """Float32 weights by name, and the int8 matrices, each named after the result it takes part in."""
    graph = onnx.load(str(decoder)).graph
    weights = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    by_output = {output: node for node in graph.node for output in node.output}
    users: dict[str, list[Any]] = defaultdict(list)
    for node in graph.node:
        for name in node.input:
            users[name].append(node)
    matrices = {}
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        matrix, zero = weights[node.input[1]], weights[node.input[3]]
        cast = users[node.output[0]][0]
        product = users[cast.output[0]][0]
        scales = by_output[next(name for name in product.input if name != cast.output[0])]
        scale = next(weights[name] for name in scales.input if name in weights)
        shift = 128 if matrix.dtype == np.int8 else 0
        columns = matrix.shape[1]
        matrices[product.output[0]] = Matrix(
            (matrix.astype(np.int16) + shift).astype(np.uint8),
            np.broadcast_to((zero.astype(np.int16) + shift).astype(np.uint8), columns),
            np.broadcast_to(scale.astype(np.float32), columns),
        )
    return {name: value for name, value in weights.items() if value.dtype == np.float32}, matrices


class StreamingDecoder:
    """Builds the graph node by node. `layers`, `channels` and `kernel` tell what came out."""

    def __init__(self, weights: dict[str, Float32], matrices: dict[str, Matrix], in_int8: bool) -> None:
        """`weights` and `matrices` as `weights_of` gives them; `in_int8`: the matrices stay as they are."""
        self._weights = weights
        self._matrices = matrices
        self._in_int8 = in_int8
        self.layers = sum(name.endswith(".dw.weight") for name in weights)
        self.channels, self._inputs, self.kernel = weights["m.dec_in.weight"].shape
        self._nodes: list[Any] = []
        self._constants: dict[str, NDArray[Any]] = {
            "margin": np.array([self.kernel // 2]),
            "minus_margin": np.array([-(self.kernel // 2)]),
            "minus_past": np.array([1 - self.kernel]),
            "end": np.array([_END]),
            "time": np.array([2]),
            "batch": np.array([0]),
            "sqrt_two": np.array(np.sqrt(2), np.float32),
            "one": np.array(1, np.float32),
            "half": np.array(0.5, np.float32),
        }

    def save(self, file: Path) -> None:
        """Write the graph.

        Inputs: hidden float32 [1, inputs, n + kernel - 1], already padded at both ends of the unit;
        state [layers, channels, s], s = kernel // 2 zeros at first, then what the last call gave;
        tail [1, channels, t], t = kernel // 2 zeros in the last call, else 0.
        Outputs: parts [m, 5 * bins]; state.
        """
        self._add("Conv", ["hidden", *self._kept("m.dec_in.weight", "m.dec_in.bias")], "h0")
        past = [f"past{i}" for i in range(self.layers)]
        self._nodes.append(helper.make_node("Split", ["state"], past, axis=0, num_outputs=self.layers))
        for i in range(self.layers):
            self._block(i)
        self._add("Concat", [f"kept{i}" for i in range(self.layers)], "new_state", axis=0)
        self._normalised(f"h{self.layers}", "m.dec_norm", "normed")
        head, bias = self._matrices["/head/MatMul_output_0"], self._weights["m.head.bias"]
        order = self._part_order(bias.size)
        self._linear("normed", head.columns(order), bias[order], "parts")
        onnx.save(self._model(), str(file))

    def _block(self, i: int) -> None:
        """One block: depth-wise convolution, normalisation, two matrices with GELU between, residual."""
        own, at = f"m.dec.{i}.", f"{i}/"
        self._add("Concat", [f"past{i}", f"h{i}", "tail"], at + "all", axis=2)
        self._add("Slice", [at + "all", "minus_past", "end", "time"], f"kept{i}")
        convolution = self._kept(own + "dw.weight", own + "dw.bias")
        self._add("Conv", [at + "all", *convolution], at + "conv", group=self.channels)
        self._normalised(at + "conv", own + "norm", at + "normed")
        weights = self._weights
        gamma = weights[own + "gamma"].reshape(-1)
        widen, narrow = (self._matrices[f"/dec.{i}/pw{n}/MatMul_output_0"] for n in (1, 2))
        self._linear(at + "normed", widen, weights[own + "pw1.bias"], at + "wide")
        self._gelu(at + "wide", at + "gelu")
        self._linear(at + "gelu", narrow.times(gamma), weights[own + "pw2.bias"] * gamma, at + "narrow")
        self._add("Transpose", [at + "narrow"], at + "turned", perm=[1, 0])
        self._add("Unsqueeze", [at + "turned", "batch"], at + "change")
        self._add("Slice", [at + "all", "margin", "minus_margin", "time"], at + "same")
        self._add("Add", [at + "same", at + "change"], f"h{i + 1}")

    def _normalised(self, source: str, own: str, target: str) -> None:
        """[1, channels, n] -> [n, channels], each frame normalised."""
        self._add("Transpose", [source], target + "/turned", perm=[0, 2, 1])
        self._add("Squeeze", [target + "/turned", "batch"], target + "/frames")
        weights = self._kept(own + ".weight", own + ".bias")
        self._add("LayerNormalization", [target + "/frames", *weights], target, axis=-1, epsilon=1e-5)

    def _linear(self, source: str, matrix: Matrix, bias: Float32, target: str) -> None:
        """[n, inputs] -> [n, outputs], the bias added in the same pass."""
        added = self._constant(target + "/bias", bias)
        if not self._in_int8:
            self._add("Gemm", [source, self._constant(target + "/matrix", matrix.as_float()), added], target)
            return
        inputs, outputs = matrix.values.shape
        blocks = inputs // BLOCK
        parts = {
            "values": matrix.values.T.reshape(outputs, blocks, BLOCK),
            "scales": np.repeat(matrix.scale, blocks),
            "zeros": np.repeat(matrix.zero, blocks),
        }
        names = [self._constant(f"{target}/{name}", part) for name, part in parts.items()]
        self._nodes.append(
            helper.make_node(
                *("MatMulNBits", [source, *names, "", added], [target]),
                domain="com.microsoft",
                **{
                    "K": inputs,
                    "N": outputs,
                    "bits": 8,
                    "block_size": BLOCK,
                    "accuracy_level": _INT8_PRODUCTS,
                },
            )
        )

    def _gelu(self, source: str, target: str) -> None:
        """Written out as in the published graph: onnxruntime fuses it."""
        self._add("Div", [source, "sqrt_two"], target + "/scaled")
        self._add("Erf", [target + "/scaled"], target + "/erf")
        self._add("Add", [target + "/erf", "one"], target + "/sum")
        self._add("Mul", [source, target + "/sum"], target + "/product")
        self._add("Mul", [target + "/product", "half"], target)

    def _part_order(self, columns: int) -> NDArray[np.int64]:
        """Columns of the head so that the parts come in STREAM_PARTS's order."""
        bins = columns // len(PARTS)
        return np.concatenate([np.arange(bins) + PARTS.index(part) * bins for part in STREAM_PARTS])

    def _add(self, kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> None:
        self._nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        self._constants[name] = value
        return name

    def _kept(self, *names: str) -> Iterable[str]:
        return [self._constant(name, self._weights[name]) for name in names]

    def _model(self) -> Any:
        def value(name: str, shape: list[int | str]) -> Any:
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

        graph = helper.make_graph(
            self._nodes,
            "streaming decoder",
            [
                value("hidden", [1, self._inputs, "n"]),
                value("state", [self.layers, self.channels, "s"]),
                value("tail", [1, self.channels, "t"]),
            ],
            [value("parts", ["m", "parts"]), value("new_state", [self.layers, self.channels, "u"])],
            [numpy_helper.from_array(np.ascontiguousarray(v), name) for name, v in self._constants.items()],
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        onnx.checker.check_model(model)
        return model
