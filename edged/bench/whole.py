"""A voice as it would be without streaming: the graphs of one level, put back for whole sentences.

What installation put in so that flow and decoder carry their past (`edged.voice.importers.vits_stream`)
is taken out again: the same weights and operators as one would run them on a sentence at once.
"""

from __future__ import annotations

from pathlib import Path
from shutil import copyfile
from typing import Any

import onnx
from onnx import helper

from edged.errors import EdgedError
from edged.types import Float32
from edged.voice.engines._ort import Network
from edged.voice.engines.vits import PAST, VitsNetwork, VitsOptions, default_speaker, speaker_input
from edged.voice.importers.vits_distance import agreement_db
from edged.voice.manifest import Manifest

ZEROS = "streamed/zeros"
"""Beginning of the names of padding."""
PART = "/part"
"""In the names of what is cut out of frames and their past."""
CONVOLUTIONS = ("Conv", "FusedConv", "QLinearConv")
AGREEMENT_DB = 90.0


class Whole:
    """Front end as in the streamed voice, flow and decoder in one call each."""

    def __init__(self, manifest: Manifest, level: str, streamed: VitsNetwork, folder: Path) -> None:
        """`folder` gets the graphs and copies of their weights."""
        options = VitsOptions.of(manifest.options, level)
        self._streamed = streamed
        self._speaker = default_speaker(manifest)
        self._flow, self._decoder = (
            Network(_put_back(manifest.folder / file, folder)) for file in (options.flow, options.decoder)
        )

    def samples(self, ids: Any, seed: int) -> Float32:
        """All samples of a sentence, float32 [n]."""
        prior = self._streamed.prior(ids, 1.0, seed, self._speaker)
        noisy = prior.draws()(0, int(prior.repeats.sum()))
        who = speaker_input(self._speaker)
        latent = self._flow(prior=noisy, **who)[0]
        return self._decoder(latent=latent, **who)[0].reshape(-1)

    def check(self, ids: Any) -> None:
        """Raises EdgedError where it is not the same network."""
        streamed = self._streamed.at_once(self._streamed.prior(ids, 1.0, 0, self._speaker), self._speaker)
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
        elif node.op_type == "Slice" and PART in node.output[0]:
            same[node.output[0]] = node.input[0]
        elif node.op_type in CONVOLUTIONS:
            _pad(node)
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
    data = file.with_name(f"{file.name}.data")  # not there where every weight is small
    if data.exists():
        copyfile(data, folder / data.name)
    return made


def _undo(joined: Any, graph: Any, same: dict[str, str]) -> None:
    """Note what stands for what without this join, and let an upsampling cut its ends by itself again."""
    (source,) = (name for name in joined.input if not name.startswith((PAST, ZEROS)))
    same[joined.output[0]] = source
    for user in graph.node:
        if user.op_type != "ConvTranspose" or user.input[0] != joined.output[0]:
            continue
        (cut,) = (node for node in graph.node if user.output[0] in node.input)
        same[cut.output[0]] = user.output[0]
        begin, end = (name.split("/") for name in cut.input[1:3])
        _set_pads(user, int(begin[1]) + int(begin[3]), -int(end[1]) - int(end[3]))


def _pad(convolution: Any) -> None:
    """As much on either side as it sees, so that its result is as long as its input."""
    given = {a.name: helper.get_attribute_value(a) for a in convolution.attribute}
    side = (given["kernel_shape"][0] - 1) * given.get("dilations", [1])[0] // 2
    _set_pads(convolution, side, side)


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
