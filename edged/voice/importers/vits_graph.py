"""Cut a VITS network, as Piper exports it, into front end, flow and decoder.

    ids, scales, noise   -front->    mean, log variance, durations     (once per sentence)
    prior                -flow->     latent                            (frames, in windows)
    latent               -decoder->  audio                             (frames, in windows)

Exports differ in the names of their tensors, so nothing is found by name:

    durations   the output of the only Ceil
    noise       the output of the RandomNormalLike that lies before it
    prior       the first Add after the other RandomNormalLike
    mean, logs  the two outputs of the Split that both operands of this Add come from
    latent      the input of the first convolution of the chain that ends in the ConvTranspose nodes

All masks are ones, for one sentence is run at a time; the products with them are left out, and so is what
adds zeros or multiplies by ones of a tensor's shape. Runs at installation only; imports onnx.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from onnx import TensorProto, helper, numpy_helper

from edged.errors import VoiceError

IDS, LENGTHS, SCALES, SPEAKER, NOISE = "ids", "lengths", "scales", "speaker", "noise"
MEAN, LOGS, DURATIONS, PRIOR, LATENT, AUDIO = "mean", "logs", "durations", "prior", "latent", "audio"

_RANDOM = "RandomNormalLike"

Values = dict[str, tuple[str, int, list[Any]]]
"""Name in the export -> name, type and shape of an input or output."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """Names in the export. `noise` is None for durations without noise, `speaker` for one speaker."""

    ids: str
    lengths: str
    scales: str
    speaker: str | None
    noise: str | None
    mean: str
    logs: str
    durations: str
    prior: str
    latent: str
    audio: str
    symbols: int
    """Rows of the embedding of the ids."""
    speakers: int
    channels: int
    """Of prior and latent."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The three graphs, their inputs and outputs named as the constants of this module."""

    front: Any
    flow: Any
    decoder: Any


class Graph:
    """A graph to walk in."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.nodes: list[Any] = list(model.graph.node)
        self.weights: dict[str, Any] = {w.name: w for w in model.graph.initializer}
        self.inputs: dict[str, Any] = {
            i.name: i for i in model.graph.input if i.name not in self.weights
        }  # fmt: skip
        self.producer: dict[str, Any] = {}
        self.users: dict[str, list[Any]] = defaultdict(list)
        for node in self.nodes:
            for name in node.output:
                self.producer[name] = node
            for name in node.input:
                self.users[name].append(node)

    def kind(self, name: str) -> str:
        """Operator that gives a tensor; empty for inputs and weights."""
        node = self.producer.get(name)
        return str(node.op_type) if node is not None else ""

    def of_kind(self, *kinds: str) -> list[Any]:
        """Nodes in the order of the graph."""
        return [node for node in self.nodes if node.op_type in kinds]

    def before(self, names: Iterable[str], stop: Iterable[str] = ()) -> set[str]:
        """The tensors that some tensors are computed from, themselves included; none beyond `stop`."""
        ends = set(stop)

        def sources(name: str) -> Iterable[str]:
            node = self.producer.get(name)
            return () if node is None or name in ends else filter(None, node.input)

        return _reached(names, sources)

    def after(self, name: str) -> set[str]:
        """The tensors that are computed from one, itself included."""
        return _reached([name], lambda n: (o for user in self.users[n] for o in user.output))

    def shape(self, name: str) -> list[int]:
        """Of a weight; empty for what is none."""
        return list(self.weights[name].dims) if name in self.weights else []


def _reached(start: Iterable[str], step: Callable[[str], Iterable[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(step(name))
    return found


def find_cuts(graph: Graph) -> Cuts:
    """Raises VoiceError, saying what was looked for, when the network is not built like VITS."""
    durations = _only(graph.of_kind("Ceil"), "a Ceil that gives the durations").output[0]
    timing = graph.before([durations])
    random = graph.of_kind(_RANDOM)
    early = [node for node in random if node.output[0] in timing]
    late = _only([n for n in random if n.output[0] not in timing], "random noise on the prior")
    if len(early) > 1:
        raise _unlike("more than one source of noise before the durations")

    prior_node = _first_after(graph, late.output[0], "Add", through=("Mul",))
    mean, logs = _statistics(graph, prior_node, late.output[0], durations)
    latent, pre = _latent(graph, prior_node.output[0])
    speaker, speakers = _embedded(graph, 1)
    ids, symbols = _embedded(graph, 2)
    if ids is None:
        raise _unlike("an embedding of the phoneme ids")
    others = [name for name in graph.inputs if name not in (ids, speaker)]
    floats = [n for n in others if graph.inputs[n].type.tensor_type.elem_type == TensorProto.FLOAT]
    scales = _only(floats, "one input with the three scales")
    lengths = _only([name for name in others if name != scales], "one input with the length")
    return Cuts(
        ids=ids,
        lengths=lengths,
        scales=scales,
        speaker=speaker,
        noise=early[0].output[0] if early else None,
        mean=mean,
        logs=logs,
        durations=durations,
        prior=prior_node.output[0],
        latent=latent,
        audio=graph.model.graph.output[0].name,
        symbols=symbols,
        speakers=speakers if speaker else 1,
        channels=graph.shape(pre.input[1])[1],
    )


def split(graph: Graph, cuts: Cuts) -> Parts:
    """The three graphs. Raises VoiceError when a part needs what it cannot be given."""
    speaker = [cuts.speaker] if cuts.speaker else []
    noise = [cuts.noise] if cuts.noise else []
    front_in = [cuts.ids, cuts.lengths, cuts.scales, *speaker, *noise]
    latent: list[Any] = ["batch", cuts.channels, "frames"]
    per_id: list[Any] = ["batch", cuts.channels, "ids"]
    shapes: Values = {
        cuts.ids: (IDS, TensorProto.INT64, ["batch", "ids"]),
        cuts.lengths: (LENGTHS, TensorProto.INT64, ["batch"]),
        cuts.scales: (SCALES, TensorProto.FLOAT, [3]),
        cuts.mean: (MEAN, TensorProto.FLOAT, per_id),
        cuts.logs: (LOGS, TensorProto.FLOAT, per_id),
        cuts.durations: (DURATIONS, TensorProto.FLOAT, ["batch", 1, "ids"]),
        cuts.prior: (PRIOR, TensorProto.FLOAT, latent),
        cuts.latent: (LATENT, TensorProto.FLOAT, latent),
        cuts.audio: (AUDIO, TensorProto.FLOAT, ["batch", "samples", "one", "channels"]),
    }
    if cuts.speaker:
        shapes[cuts.speaker] = (SPEAKER, TensorProto.INT64, ["batch"])
    if cuts.noise:
        shapes[cuts.noise] = (NOISE, TensorProto.FLOAT, ["batch", 2, "ids"])
    masks = {**_masks(graph, cuts), **_idle(graph, cuts)}
    return Parts(
        front=_extract(graph, "front", front_in, [cuts.mean, cuts.logs, cuts.durations], shapes, {}),
        flow=_extract(graph, "flow", [cuts.prior, *speaker], [cuts.latent], shapes, masks),
        decoder=_extract(graph, "decoder", [cuts.latent, *speaker], [cuts.audio], shapes, masks),
    )


def decoder_stages(decoder: Any) -> list[dict[int, list[str]]]:
    """Names of the convolutions of each stage of a decoder, by the size of their kernels, largest first.

    A stage begins with one ConvTranspose and ends before the next. The convolution before the first and
    the one that gives the samples belong to no stage.
    """
    graph = Graph(decoder)
    followers = [graph.after(up.output[0]) for up in graph.of_kind("ConvTranspose")]
    convolutions = graph.of_kind("Conv")[:-1]
    result = []
    for here, later in pairwise([*followers, set[str]()]):
        stage: dict[int, list[str]] = {}
        for node in convolutions:
            if node.output[0] in here - later:
                stage.setdefault(graph.shape(node.input[1])[-1], []).append(node.name)
        result.append(dict(sorted(stage.items(), reverse=True)))
    return result


def _first_after(graph: Graph, name: str, kind: str, through: tuple[str, ...]) -> Any:
    """Follow a tensor's only use through some operators to the first one of a kind."""
    for _ in range(8):
        node = _only(graph.users[name], f"one use of {name}")
        if node.op_type == kind:
            return node
        if node.op_type not in through:
            break
        name = node.output[0]
    raise _unlike(f"an {kind} after the noise on the prior")


def _statistics(graph: Graph, prior: Any, noise: str, durations: str) -> tuple[str, str]:
    """Mean and log variance before they are spread over the frames."""
    spread = _only([i for i in prior.input if noise not in graph.before([i])], "the mean of the prior")
    deviation = _only([i for i in prior.input if i != spread], "the deviation of the prior")
    before_mean = graph.before([spread], [durations])
    before_logs = graph.before([deviation], [durations])
    for node in graph.of_kind("Split"):
        halves = list(node.output)
        if len(halves) == 2 and halves[0] in before_mean and halves[1] in before_logs:
            return halves[0], halves[1]
    raise _unlike("a Split into mean and log variance")


def _latent(graph: Graph, prior: str) -> tuple[str, Any]:
    """The tensor between flow and decoder, and the convolution it enters."""
    after = graph.after(prior)
    ups = [node for node in graph.of_kind("ConvTranspose") if node.input[0] in after]
    if not ups:
        raise _unlike("a chain of ConvTranspose after the prior")
    name = ups[0].input[0]
    for _ in range(8):
        node = graph.producer[name]
        if node.op_type == "Conv":
            return str(node.input[0]), node
        name = _only([i for i in node.input if i in after], "one convolution before the first ConvTranspose")
    raise _unlike("a convolution before the first ConvTranspose")


def _embedded(graph: Graph, rank: int) -> tuple[str | None, int]:
    """The input of a rank that is looked up in a table of vectors, and the rows of the table."""
    for node in graph.of_kind("Gather"):
        table = graph.shape(node.input[0])
        index = graph.inputs.get(node.input[1])
        if len(table) == 2 and index is not None and len(index.type.tensor_type.shape.dim) == rank:
            return str(node.input[1]), table[0]
    return None, 0


def _masks(graph: Graph, cuts: Cuts) -> dict[str, str]:
    """Product with a mask -> the factor that is none."""
    after = graph.after(cuts.prior)
    timed = graph.after(cuts.durations)
    result = {}
    for node in graph.of_kind("Mul"):
        masks = [i for i in node.input if i in timed and i not in after]
        values = [i for i in node.input if i in after]
        if len(masks) == 1 and len(values) == 1:
            result[node.output[0]] = values[0]
    return result


def _idle(graph: Graph, cuts: Cuts) -> dict[str, str]:
    """Sum with zeros, or product with ones, made after the shape of a tensor -> the other operand."""
    after = graph.after(cuts.prior)
    value = {n.output[0]: 0 for n in graph.of_kind("ConstantOfShape") if n.output[0] in after and _is_zero(n)}
    result = {}
    for node in graph.nodes:
        known = [value.get(name) for name in node.input]
        if node.op_type in ("Neg", "Exp") and known == [0]:
            value[node.output[0]] = 0 if node.op_type == "Neg" else 1
        elif node.op_type in ("Add", "Mul") and (neutral := int(node.op_type == "Mul")) in known:
            result[node.output[0]] = node.input[1 - known.index(neutral)]
        elif node.op_type == "Sub" and known[1] == 0:
            result[node.output[0]] = node.input[0]
    return result


def _is_zero(node: Any) -> bool:
    """A ConstantOfShape that fills with 0, as it does where nothing else is said."""
    return not any(numpy_helper.to_array(helper.get_attribute_value(a)).any() for a in node.attribute)


def _extract(
    graph: Graph,
    title: str,
    inputs: list[str],
    outputs: list[str],
    values: Values,
    same: dict[str, str],
) -> Any:
    """The nodes between some tensors as a model; a tensor in `same` is replaced by what it equals."""

    def real(name: str) -> str:
        while name in same and name not in inputs:
            name = same[name]
        return name

    def sources(name: str) -> Iterable[str]:
        node = graph.producer.get(name)
        return () if node is None or name in inputs else map(real, filter(None, node.input))

    needed = _reached(map(real, outputs), sources)
    nodes = [n for n in graph.nodes if any(o in needed and o not in inputs for o in n.output)]
    strangers = [n for n in needed if n in graph.inputs and n not in inputs]
    strangers += [n.output[0] for n in nodes if n.op_type == _RANDOM]
    if strangers:
        raise _unlike(f"a {title} that needs nothing but {', '.join(inputs)}; it needs {strangers[0]}")

    new_name = {name: values[name][0] for name in (*inputs, *outputs)}
    for name in outputs:
        new_name[real(name)] = values[name][0]

    def named(name: str) -> str:
        return new_name.get(real(name), real(name))

    copies = []
    for number, node in enumerate(nodes):
        copy = type(node)()
        copy.CopyFrom(node)
        copy.name = f"{title}/{number}/{node.op_type}"
        copy.input[:] = [named(i) for i in node.input]
        copy.output[:] = [new_name.get(o, o) for o in node.output]
        copies.append(copy)
    result = helper.make_graph(
        copies,
        title,
        [helper.make_tensor_value_info(*values[name]) for name in inputs],
        [helper.make_tensor_value_info(*values[name]) for name in outputs],
        [w for name, w in graph.weights.items() if name in needed],
    )
    return helper.make_model(
        result, opset_imports=graph.model.opset_import, ir_version=graph.model.ir_version
    )


def _only(found: list[Any], what: str) -> Any:
    if len(found) != 1:
        raise _unlike(f"{what} ({len(found)} found)")
    return found[0]


def _unlike(what: str) -> VoiceError:
    return VoiceError(f"the network is not a VITS voice: looked for {what}")
