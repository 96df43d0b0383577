"""Writes ONNX graphs node by node. Runs at installation only; imports onnx."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from edged.types import Float32

_OPSET = 17
"""Of ONNX: the first with LayerNormalization; read by every onnxruntime that edged allows."""
_IR_VERSION = 9

_LEAST_INT8_WEIGHTS = 65_536
"""Smaller matrices cost little either way and stay exact."""

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64

Value = tuple[str, int, list[Any]]
"""Name, type and shape of an input or output."""


class Graph:
    """A graph in the making. With `int8`, large matrix products are dynamically quantised."""

    def __init__(self, *, int8: bool = False) -> None:
        self._int8 = int8
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, value: Any) -> str:
        """A weight or a number; its type is the value's."""
        name = f"c{len(self._constants)}"
        # np.array and not ascontiguousarray, which would give a scalar a dimension
        self._constants.append(numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def indices(self, *values: int) -> str:
        """A constant int64 [n]."""
        return self.constant(np.array(values, np.int64))

    def op(self, kind: str, *inputs: str, out: str | None = None, domain: str = "", **attributes: Any) -> str:
        """A node with one output; returns its name, `out` where given."""
        name = out or f"v{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [name], domain=domain, **attributes))
        return name

    def split(self, value: str, sizes: Sequence[int], axis: int) -> list[str]:
        """The parts of a value."""
        names = [f"v{len(self._nodes)}.{i}" for i in range(len(sizes))]
        self._nodes.append(helper.make_node("Split", [value, self.indices(*sizes)], names, axis=axis))
        return names

    def dense(self, value: str, weight: Float32, bias: Float32, out: str | None = None) -> str:
        """`value` [n, inputs] @ `weight` [inputs, outputs] + `bias`.

        In int8, weights have one scale an output, symmetric, as in the TFLite files (the scales are
        found again from the values); activations one a call, found by onnxruntime as it runs.
        """
        if self._int8 and weight.size >= _LEAST_INT8_WEIGHTS:
            scale = np.maximum(np.abs(weight).max(axis=0), np.float32(1e-8)) / np.float32(127)
            rounded = np.rint(weight / scale).astype(np.int8)
            constants = [self.constant(v) for v in (rounded, scale, np.zeros(scale.shape, np.int8), bias)]
            return self.op("DynamicQuantizeMatMul", value, *constants, out=out, domain="com.microsoft")
        product = self.op("MatMul", value, self.constant(weight))
        return self.op("Add", product, self.constant(bias), out=out)

    def save(self, file: Path, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        """Write it with its weights inside."""
        graph = helper.make_graph(
            self._nodes,
            file.stem,
            [helper.make_tensor_value_info(*value) for value in inputs],
            [helper.make_tensor_value_info(*value) for value in outputs],
            self._constants,
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        onnx.checker.check_model(model)
        onnx.save(model, str(file))


def number(value: float) -> NDArray[np.float32]:
    """A float32 scalar."""
    return np.array(value, np.float32)
