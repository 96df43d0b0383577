"""A voice as it would be without streaming: the graphs of one level, put back for whole sentences.

What installation put in so that flow and decoder carry their past (`edged.voice.importers.vits_stream`)
is taken out again: the same weights and operators as one would run them on a sentence at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile
from typing import Any

import onnx
from onnx import helper

from edged.errors import EdgedError
from edged.types import Float32
from edged.voice.engines._ort import Network
from edged.voice.engines.vits import FIRST, LAST, PAST, VitsNetwork, VitsOptions
from edged.voice.importers.vits_distance import agreement_db
from edged.voice.manifest import Manifest

ZEROS = "streamed/zeros"
"""Beginning of the names of padding; behind it stand its shape and FIRST or LAST."""
AGREEMENT_DB = 90.0


class Whole:
    """Front end as in the streamed voice, flow and decoder in one call each."""

    def __init__(self, manifest: Manifest, level: str, streamed: VitsNetwork, folder: Path) -> None:
        """`folder` gets the graphs and copies of their weights."""
        options = VitsOptions.of(manifest.options, level)
        self._streamed = streamed
        self._flow, self._decoder = (
            Network(_put_back(manifest.folder / file, folder)) for file in (options.flow, options.decoder)
        )

    def samples(self, ids: Any, seed: int) -> Float32:
        """All samples of a sentence, float32 [n]."""
        prior = self._streamed.prior(ids, 1.0, seed, None)
        noisy = prior.draws()(0, int(prior.repeats.sum()))
        return self._decoder(latent=self._flow(prior=noisy)[0])[0].reshape(-1)

    def check(self, ids: Any) -> None:
        """Raises EdgedError where it is not the same network."""
        streamed = self._streamed.at_once(self._streamed.prior(ids, 1.0, 0, None), None)
        found_db = agreement_db(streamed, self.samples(ids, 0))
        if not found_db >= AGREEMENT_DB:
            raise EdgedError(
                f"the whole sentence agrees with the chunks by {found_db:.0f} dB; install the voice again"
            )


def _put_back(file: Path, folder: Path) -> Path:
    """Write the graph of `file` without what streams it; returns where."""
    model = onnx.load(str(file), load_external_data=False)
    graph = model.graph
    same: dict[str, str] = {}
    for node in graph.node:
        if node.op_type == "Concat" and any(name.startswith(PAST) for name in node.input):
            _undo(node, graph, same)
    for node in graph.node:
        node.input[:] = [_real(name, same) for name in node.input]
    del graph.output[1:]
    needed = _needed(graph)
    nodes = [node for node in graph.node if any(name in needed for name in node.output)]
    inputs = [value for value in graph.input if value.name in needed]
    weights = [weight for weight in graph.initializer if weight.name in needed]
    for field, kept in ((graph.node, nodes), (graph.input, inputs), (graph.initializer, weights)):
        del field[:]
        field.extend(kept)
    del graph.value_info[:]
    made = folder / file.name
    onnx.save(model, str(made))
    copyfile(file.with_name(f"{file.name}.data"), folder / f"{file.name}.data")
    return made


def _undo(joined: Any, graph: Any, same: dict[str, str]) -> None:
    """Note what stands for what without this join; its convolution pads by itself again."""
    (source,) = (name for name in joined.input if not name.startswith((PAST, ZEROS)))
    same[joined.output[0]] = source
    pads = {name.rsplit("/", 1)[1]: _frames(name) for name in joined.input if name.startswith(ZEROS)}
    for user in _users(joined.output[0], graph):
        if user.op_type == "ConvTranspose":
            (cut,) = _users(user.output[0], graph)
            same[cut.output[0]] = user.output[0]
            begin, end = (name.split("/") for name in cut.input[1:3])
            _set_pads(user, int(begin[1]) + int(begin[3]), -int(end[1]) - int(end[3]))
        elif user.op_type == "Slice":
            same[user.output[0]] = source  # what waited, or what was kept and is used no more
        else:
            _set_pads(user, pads.get(FIRST, 0), pads.get(LAST, 0))


def _users(name: str, graph: Any) -> Iterator[Any]:
    """The nodes that use a tensor, those behind its quantisation in place of that."""
    for node in graph.node:
        if name in node.input:
            if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
                yield from _users(node.output[0], graph)
            else:
                yield node


def _frames(zeros: str) -> int:
    return int(zeros.removeprefix(ZEROS).partition("]")[0].rpartition(",")[2])


def _set_pads(node: Any, left: int, right: int) -> None:
    kept = [a for a in node.attribute if a.name != "pads"]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute("pads", [left, right])])


def _real(name: str, same: dict[str, str]) -> str:
    while name in same:
        name = same[name]
    return name


def _needed(graph: Any) -> set[str]:
    by_output = {name: node for node in graph.node for name in node.output}
    found: set[str] = set()
    waiting = [graph.output[0].name]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += by_output[name].input if name in by_output else ()
    return found
