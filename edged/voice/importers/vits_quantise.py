"""Part of a network in int8: static quantisation of chosen convolutions, calibrated on real inputs.

Activations unsigned, weights signed per channel. Runs at installation only; the one file that imports
onnxruntime's quantisation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from onnxruntime import quantization

from edged.errors import VoiceError

Feed = dict[str, NDArray[Any]]


def quantise(
    source: Path, target: Path, convolutions: Sequence[str], feeds: Iterable[Feed], *, averaged: bool
) -> None:
    """Write `source` with some convolutions, given by the names of their nodes, in int8.

    `feeds` are inputs of the graph by name. The range of a tensor is the widest seen, or the average over
    the feeds. Raises VoiceError where onnxruntime cannot do it.
    """
    try:
        quantization.quantize_static(
            str(source),
            str(target),
            _Feeds(feeds),
            quant_format=quantization.QuantFormat.QDQ,
            op_types_to_quantize=["Conv"],
            per_channel=True,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
            nodes_to_quantize=list(convolutions),
            calibrate_method=quantization.CalibrationMethod.MinMax,
            extra_options={"CalibMovingAverage": averaged},
        )
    except Exception as error:  # it raises whatever numpy, onnx and onnxruntime raise
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise VoiceError(f"{source.name}: cannot be quantised ({reason})") from error


class _Feeds(quantization.CalibrationDataReader):  # type: ignore[misc]
    def __init__(self, feeds: Iterable[Feed]) -> None:
        self._feeds = iter(feeds)

    def get_next(self) -> Feed | None:
        return next(self._feeds, None)
