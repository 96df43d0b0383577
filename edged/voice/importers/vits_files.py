"""The network file of a Piper voice: found, read, and held against its configuration.

Every fault is one line. Runs at installation only; imports onnx.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx

from edged.errors import VoiceError
from edged.voice.importers.vits_config import PiperConfig, shown
from edged.voice.importers.vits_graph import Cuts

_OPSETS = (13, 22)
"""Of ONNX: below, quantised weights per channel do not exist; above, onnxruntime 1.18 reads nothing."""


def parsed(file: Path, read: bytes) -> Any:
    """The network. Raises VoiceError for what is none, or is too new or too old."""
    try:
        model = onnx.load_from_string(read)
    except Exception as error:  # protobuf's, which onnx lets through
        raise VoiceError(
            f"{file}: cut short or not a network ({len(read)} bytes); download it again"
        ) from error
    opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)
    if not model.graph.node or not model.graph.output:
        raise VoiceError(f"{file}: cut short or not a network (no graph in it); download it again")
    if not _OPSETS[0] <= opset <= _OPSETS[1]:
        raise VoiceError(
            f"{file}: ONNX opset {opset}, edged reads {_OPSETS[0]} to {_OPSETS[1]}; convert it with"
            " onnx.version_converter"
        )
    if any(map(_is_elsewhere, _tensors(model.graph))):
        raise VoiceError(f"{file}: keeps weights in another file; a Piper voice has them all in this one")
    return model


def _tensors(graph: Any) -> Iterator[Any]:
    """All weights and constants, those inside of loops and branches, too."""
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for attribute in (each for node in graph.node for each in node.attribute):
        yield from (attribute.t, *attribute.tensors)
        for inner in (attribute.g, *attribute.graphs):
            yield from _tensors(inner)


def _is_elsewhere(tensor: Any) -> bool:
    """Of a file of the user's, or of any other that the name leads to."""
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data)


def check_against(config: PiperConfig, cuts: Cuts) -> None:
    """Both files are of one voice. Raises VoiceError."""
    for phoneme, ids in config.phoneme_ids.items():
        if max(ids) >= cuts.symbols:
            raise VoiceError(
                f"phoneme_id_map.{shown(phoneme)} is {max(ids)}, the network knows 0 to {cuts.symbols - 1};"
                " the two files are not of the same voice"
            )
    told = max(1, len(config.speakers))
    if told != cuts.speakers:
        raise VoiceError(f"num_speakers is {told}, the network has {cuts.speakers}; the two files differ")
