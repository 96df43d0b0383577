"""The constants of a TFLite file in the order in which they are used, dequantised.

A network of known structure is read like a tape: the next weights of a layer are those of the next
operator that has any. Runs at installation only; the one file that imports tflite.

Format: tensorflow/lite/schema/schema.fbs; a quantised value q stands for (q - zero point) * scale, with
one scale for the tensor or one for each index of `quantized_dimension`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tflite

from edged.errors import VoiceError
from edged.types import Float32
from edged.voice.manifest import fault_of

DENSE, CONV, UP, ADD, SUB, MUL, TABLE = (
    "FULLY_CONNECTED",
    "CONV_2D",
    "TRANSPOSE_CONV",
    "ADD",
    "SUB",
    "MUL",
    "GATHER",
)
"""Operators whose constants are on the tape."""

_KINDS = {getattr(tflite.BuiltinOperator, name): name for name in (DENSE, CONV, UP, ADD, SUB, MUL, TABLE)}
_DEQUANTIZE = tflite.BuiltinOperator.DEQUANTIZE
_TYPES = {
    tflite.TensorType.FLOAT32: np.float32,
    tflite.TensorType.FLOAT16: np.float16,
    tflite.TensorType.INT8: np.int8,
}
"""Of weights; other constants are shapes and indices."""


class Tape:
    """The constants of one network, taken one after another."""

    def __init__(self, file: Path) -> None:
        """Raises VoiceError for a file that cannot be read, or is no TFLite network."""
        try:
            content = file.read_bytes()
        except OSError as error:
            raise VoiceError(f"{file}: cannot be read ({error.strerror})") from error
        if content[4:8] != b"TFL3":
            raise VoiceError(f"{file}: {fault_of(file) or 'not a TFLite network'}; download it again")
        try:
            self._steps = list(_steps(_Reader(content)))
        except (ValueError, IndexError, TypeError, ArithmeticError, struct.error) as error:
            # whatever flatbuffers and numpy meet in a file that was cut short
            raise VoiceError(f"{file}: damaged ({error}); download it again") from error
        self._file = file
        self._next = 0

    def kinds(self, count: int) -> tuple[str, ...]:
        """Of the next constants, fewer than `count` at the end."""
        return tuple(kind for kind, _ in self._steps[self._next : self._next + count])

    def take(self, kind: str) -> Float32:
        """The next constant, float32. Raises VoiceError when it belongs to another kind of operator."""
        if self.kinds(1) != (kind,):
            found = next(iter(self.kinds(1)), "the end")
            raise VoiceError(
                f"{self._file}: {found} where constant {self._next} of a {kind} should be; another network"
            )
        self._next += 1
        return self._steps[self._next - 1][1]

    def end(self) -> None:
        """Raises VoiceError unless everything was taken."""
        if self._next != len(self._steps):
            raise VoiceError(f"{self._file}: has {len(self._steps) - self._next} layers more than it should")


def _steps(reader: _Reader) -> Iterator[tuple[str, Float32]]:
    for operator in reader.operators():
        kind = _KINDS.get(reader.code(operator))
        if kind is None:
            continue
        inputs = [int(i) for i in operator.InputsAsNumpy()]
        if kind in (DENSE, CONV, UP):
            weights = reader.weights(inputs[1])
            if weights is None:
                raise ValueError(f"a {kind} without weights")
            bias = reader.weights(inputs[2]) if kind != UP and len(inputs) > 2 else None
            if bias is not None and bias.any():
                raise ValueError(f"a {kind} with a bias of its own, which should be added afterwards")
            yield kind, weights
        else:
            found = [w for w in map(reader.weights, inputs) if w is not None and w.ndim]
            yield from ((kind, weights) for weights in found)


class _Reader:
    """The first graph of a file."""

    def __init__(self, content: bytes) -> None:
        self._model = tflite.Model.GetRootAs(bytearray(content), 0)
        self._graph = self._model.Subgraphs(0)
        self._dequantised = {
            int(o.Outputs(0)): int(o.Inputs(0)) for o in self.operators() if self.code(o) == _DEQUANTIZE
        }

    def operators(self) -> Iterator[Any]:
        for number in range(self._graph.OperatorsLength()):
            yield self._graph.Operators(number)

    def code(self, operator: Any) -> int:
        code = self._model.OperatorCodes(operator.OpcodeIndex())
        return max(int(code.BuiltinCode()), int(code.DeprecatedBuiltinCode()))

    def weights(self, index: int) -> Float32 | None:
        """A constant of one of _TYPES, float32; None for anything else."""
        index = self._dequantised.get(index, index)
        tensor = self._graph.Tensors(index) if index >= 0 else None
        if tensor is None or tensor.Type() not in _TYPES:
            return None
        buffer = self._model.Buffers(tensor.Buffer())
        if not buffer.DataLength():
            return None
        shape = [tensor.Shape(i) for i in range(tensor.ShapeLength())]
        raw = np.frombuffer(buffer.DataAsNumpy().tobytes(), _TYPES[tensor.Type()]).reshape(shape)
        values: Float32 = raw.astype(np.float32)
        scaling = tensor.Quantization()
        if scaling is None or not scaling.ScaleLength():
            return values
        along = [1] * values.ndim
        if scaling.ScaleLength() > 1:
            along[scaling.QuantizedDimension()] = -1
        zero = scaling.ZeroPointAsNumpy().astype(np.float32).reshape(along)
        scaled: Float32 = (values - zero) * scaling.ScaleAsNumpy().reshape(along)
        return scaled
