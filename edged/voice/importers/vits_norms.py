"""Layer normalisations written out as nine operators -> one operator each.

onnxruntime does it by itself where the channels lie last; in these exports it first moves the
transpositions away, and the pattern is gone. Worth a tenth of the front end, and not exact to the last
bit, so it is done only where int8 is not, either.
"""

from __future__ import annotations

from typing import Any

from onnx import helper, numpy_helper

from edged.voice.importers.vits_graph import Graph

_SINCE_OPSET = 17  # of LayerNormalization; until then no operator of these networks changed its meaning


def fuse_norms(model: Any) -> None:
    """Change a model in place. One of a later opset, or without such a pattern, stays as it is."""
    if max(o.version for o in model.opset_import if not o.domain) > _SINCE_OPSET:
        return
    graph = Graph(model)
    gone: set[str] = set()
    fused: dict[str, Any] = {}
    for node in graph.of_kind("ReduceMean"):
        chain = _chain(graph, node)
        if chain is None:
            continue
        scaled, shifted, epsilon = chain[-2], chain[-1], _epsilon(graph, chain)
        (gamma,) = [name for name in scaled.input if name in graph.weights]
        (beta,) = [name for name in shifted.input if name in graph.weights]
        gone.update(inner.name for inner in chain[:-1])
        fused[shifted.name] = helper.make_node(
            "LayerNormalization",
            [node.input[0], gamma, beta],
            list(shifted.output),
            name=shifted.name,
            axis=-1,
            epsilon=epsilon,
        )
    kept = [fused.get(node.name, node) for node in graph.nodes if node.name not in gone]
    used = {name for node in kept for name in node.input}
    weights = [w for w in model.graph.initializer if w.name in used]
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(kept)
    model.graph.initializer.extend(weights)
    for domain in model.opset_import:
        if not domain.domain:
            domain.version = _SINCE_OPSET


def _chain(graph: Graph, mean: Any) -> list[Any] | None:
    """The nine nodes from the mean to the shift, when they are a normalisation over the last axis."""
    if [helper.get_attribute_value(a) for a in mean.attribute if a.name == "axes"] != [[-1]]:
        return None
    chain = [mean]

    def follow(node: Any, kind: str) -> Any:
        found = [user for user in graph.users[node.output[0]] if user.op_type == kind]
        if len(found) != 1:
            raise LookupError
        chain.append(found[0])
        return found[0]

    try:
        centred = follow(mean, "Sub")
        variance = follow(follow(centred, "Pow"), "ReduceMean")
        deviation = follow(follow(variance, "Add"), "Sqrt")
        divided = follow(deviation, "Div")
        follow(follow(divided, "Mul"), "Add")
    except LookupError:
        return None
    is_norm = (
        centred.input[0] == mean.input[0]
        and divided.input[0] == centred.output[0]
        and all(len(graph.users[n.output[0]]) == 1 for n in chain[2:-1])
        and all(any(i in graph.weights for i in n.input) for n in chain[-2:])
    )
    return chain if is_norm else None


def _epsilon(graph: Graph, chain: list[Any]) -> float:
    (name,) = [i for i in chain[4].input if i in graph.weights]
    return float(numpy_helper.to_array(graph.weights[name]))
