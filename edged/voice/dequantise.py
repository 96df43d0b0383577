"""Rewrite a network whose matrices are int8 with dynamic quantisation into the float32 one it stands for.

The weights come out exactly; what goes is the rounding of what flows through. Runs at installation
only; imports onnx.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from onnx import helper, numpy_helper

from edged.voice.decoder import weights_of


def as_float(source: Path, target: Path) -> None:
    """DynamicQuantizeLinear, MatMulInteger, Cast and Mul become one MatMul, all through the graph."""
    model = onnx.load(str(source))
    graph = model.graph
    _, matrices = weights_of(source)
    producer = {output: node for node in graph.node for output in node.output}
    nodes = []
    for node in graph.node:
        integer = _integer_product(node, producer)
        if integer is None:
            nodes.append(node)
            continue
        quantised = producer[integer.input[0]]
        weights = f"{node.output[0]}/float"
        graph.initializer.append(numpy_helper.from_array(matrices[node.output[0]].as_float(), weights))
        nodes.append(helper.make_node("MatMul", [quantised.input[0], weights], [node.output[0]]))
    used = _used(nodes, {output.name for output in graph.output})
    kept = [w for w in graph.initializer if w.name in used]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(node for node in nodes if used.intersection(node.output))
    graph.initializer.extend(kept)
    onnx.checker.check_model(model)
    onnx.save(model, str(target))


def _integer_product(node: Any, producer: dict[str, Any]) -> Any | None:
    """The MatMulInteger whose result this Mul brings back to scale."""
    if node.op_type != "Mul":
        return None
    for name in node.input:
        cast = producer.get(name)
        integer = producer.get(cast.input[0]) if cast is not None and cast.op_type == "Cast" else None
        if integer is not None and integer.op_type == "MatMulInteger":
            return integer
    return None


def _used(nodes: list[Any], wanted: set[str]) -> set[str]:
    """Every tensor that the wanted ones are computed from, themselves included."""
    used = set(wanted)
    for node in reversed(nodes):
        if used.intersection(node.output):
            used.update(node.input)
    return used
