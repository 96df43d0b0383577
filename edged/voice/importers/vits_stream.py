"""Make flow and decoder carry their past: what a call computed, no later call computes again.

Every convolution over time gets the last frames of its input from the call before (`past`) and gives its
own on (`kept`). Its result then ends as many frames before its input as the kernel looks ahead; where two
results that end at different frames meet, the longer one waits. In the first call a convolution has its
padding on the left, in the last one on the right, so one call that is both is the network as published.
Runs at installation only; imports onnx.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from edged.errors import VoiceError
from edged.voice.engines.vits import FIRST, LAST, PAST
from edged.voice.importers.vits_graph import Graph

_TIME = 2  # axis of the frames in [batch, channels, frames]
_END = 2**62
# fmt: off
_FRAME_BY_FRAME = frozenset((
    "Abs", "Add", "Cast", "Clip", "Concat", "Div", "Elu", "Erf", "Exp", "Identity", "LeakyRelu", "Log",
    "Mul", "Neg", "Pow", "Relu", "Sigmoid", "Slice", "Softplus", "Split", "Sqrt", "Squeeze", "Sub",
    "Tanh", "Unsqueeze",
))
# fmt: on
_AXES_INPUT = 3  # of Slice


def streamed(model: Any, source: str) -> tuple[Any, int]:
    """A model that does the same to the frames of its input `source` in one call or in many.

    With it how far it looks ahead: its result ends so many of its own frames (samples) too early.

    Further inputs: FIRST and LAST, int64 [3], ones but for the last number, which is 1 in the first or the
    last call and else 0; PAST0, PAST1, ... float32 [1, channels, n], n = 0 in the first call, later what
    the call before gave as its outputs after the first one, in this order. The first call must be given
    more frames than the network looks ahead, the last one at least one. Raises VoiceError for a network
    that is not made of convolutions.
    """
    rewritten = _Streamed(model, source)
    return rewritten.model(), rewritten.ahead(model.graph.output[0].name)


@dataclass(frozen=True, slots=True)
class _Wide:
    """A tensor with its past and padding, for a convolution that sees so far to either side."""

    name: str
    left: int
    right: int


class _Streamed:
    """The graph while it is being rewritten."""

    def __init__(self, model: Any, source: str) -> None:
        self._old = model
        self._graph = Graph(model)
        self._nodes: list[Any] = []
        self._constants: dict[str, NDArray[np.int64]] = {}
        self._made: set[str] = set()
        self._past: list[tuple[str, str, int]] = []
        """Input, output, channels."""
        self._ahead = {source: 0}
        """Of each tensor that depends on the source: frames, its own, that it ends before it should."""
        self._wide: dict[str, _Wide] = {}
        known = onnx.shape_inference.infer_shapes(model).graph
        self._shapes = {v.name: v.type.tensor_type.shape.dim for v in (*known.value_info, *known.input)}

    def model(self) -> Any:
        """Rewrite node by node, in the order of the graph."""
        for node in self._graph.nodes:
            moving = [name for name in node.input if name in self._ahead]
            copy = type(node)()
            copy.CopyFrom(node)
            if not moving:
                self._nodes.append(copy)
                continue
            if node.op_type == "LeakyRelu" and self._widen(copy):
                continue
            if node.op_type == "Conv":
                ahead = self._convolve(copy)
            elif node.op_type == "ConvTranspose":
                ahead = self._upsample(copy)
            else:
                ahead = self._by_frames(copy, moving)
            self._ahead.update(dict.fromkeys(node.output, ahead))
        return self._assembled()

    def ahead(self, name: str) -> int:
        """Frames or samples of a tensor that are still missing when all of the input are there."""
        return self._ahead[name]

    def _widen(self, node: Any) -> bool:
        """Where only convolutions use the result: one past for all of them, put before the LeakyRelu.

        It keeps zeros, so the padding may pass through it.
        """
        source, result = node.input[0], node.output[0]
        users = self._graph.users[result]
        if not users or any(user.op_type != "Conv" or user.input[0] != result for user in users):
            return False
        pads = [self._padding(user) for user in users]
        left, right = max(pad[0] for pad in pads), max(pad[1] for pad in pads)
        if not left + right:
            return False
        joined = self._joined(source, left, right, left + right)
        node.input[0], node.output[0] = joined, f"{joined}/bent"
        self._nodes.append(node)
        self._wide[source] = _Wide(joined, left, right)
        self._wide[result] = _Wide(node.output[0], left, right)
        self._ahead[result] = self._ahead[source]
        return True

    def _convolve(self, node: Any) -> int:
        """Past frames, new frames, and at either end of the sentence the padding as zeros."""
        source = node.input[0]
        left, right = self._padding(node)
        wide = self._wide.get(source)
        if wide and wide.left >= left and wide.right >= right:
            node.input[0] = self._part(wide, wide.left - left, wide.right - right)
            right = wide.right
        elif left + right:
            node.input[0] = self._joined(source, left, right, left + right)
            self._wide[source] = _Wide(node.input[0], left, right)
        _set_pads(node)
        self._nodes.append(node)
        return self._ahead[source] + right

    def _padding(self, node: Any) -> tuple[int, int]:
        """Frames on either side. Raises VoiceError where the result would not be as long as the input."""
        kernel = self._graph.shape(node.input[1])[_TIME]
        given = _attributes(node)
        left, right = _pads(given)
        is_plain = given.get("strides", [1]) == [1] and given.get("auto_pad", b"NOTSET") == b"NOTSET"
        if not is_plain or left + right != (kernel - 1) * given.get("dilations", [1])[0]:
            raise _unlike(f"a convolution of {kernel} frames with padding {left}, {right}")
        return left, right

    def _part(self, wide: _Wide, begin: int, end: int) -> str:
        """Without so many frames at its begin and end."""
        if not begin and not end:
            return wide.name
        part = f"{wide.name}/part{begin}.{end}"
        if part not in self._made:
            self._made.add(part)
            self._slice(wide.name, self._constant([begin]), self._constant([-end if end else _END]), part)
        return part

    def _upsample(self, node: Any) -> int:
        """Frames overlap in the result; samples that lack the next frame are left to the next call."""
        source, result = node.input[0], node.output[0]
        kernel = self._graph.shape(node.input[1])[_TIME]
        given = _attributes(node)
        stride = int(given.get("strides", [1])[0])
        left, right = _pads(given)
        over = kernel - stride
        plain = given.get("dilations", [1]) == [1] and given.get("output_padding", [0]) == [0]
        if not (plain and 0 < right < over and left + right == over):
            raise _unlike(f"an upsampling of {kernel} samples by {stride} with padding {left}, {right}")
        frames = -(-over // stride)
        node.input[0] = self._joined(source, 0, 0, frames)
        node.output[0] = f"{result}/all"
        _set_pads(node)
        self._nodes.append(node)
        begin = self._number(frames * stride, FIRST, left - frames * stride)
        self._slice(node.output[0], begin, self._number(-over, LAST, over - right), result)
        return self._ahead[source] * stride + left

    def _by_frames(self, node: Any, moving: Sequence[str]) -> int:
        """Of several inputs that depend on the source, the longer ones wait for the shortest."""
        if node.op_type not in _FRAME_BY_FRAME:
            raise _unlike(f"the operator {node.op_type}")
        if node.op_type in ("Concat", "Split", "Slice") and self._axis(node) not in (1, -2):
            raise _unlike(f"a {node.op_type} over the frames")
        ahead = max(self._ahead[name] for name in moving)
        for place, name in enumerate(node.input):
            wait = ahead - self._ahead.get(name, ahead)
            if wait:
                node.input[place] = self._waiting(name, wait)
        self._nodes.append(node)
        return ahead

    def _waiting(self, name: str, wait: int) -> str:
        """The frames of a tensor but the last ones, which the next call gets."""
        wide = self._wide.get(name)
        if wide and wait == wide.right:
            return self._part(wide, wide.left, wide.right)
        joined = self._joined(name, 0, 0, wait)
        now = f"{joined}/part"
        self._slice(joined, self._constant([0]), self._number(-wait, LAST, _END), now)
        return now

    def _axis(self, node: Any) -> int:
        if node.op_type != "Slice":
            return int(_attributes(node).get("axis", 0))
        axes = self._graph.weights.get(node.input[_AXES_INPUT]) if len(node.input) > _AXES_INPUT else None
        return 0 if axes is None else int(numpy_helper.to_array(axes).sum())

    def _joined(self, name: str, left: int, right: int, kept: int) -> str:
        """A tensor behind its past, and between padding; the last `kept` frames are given on."""
        number = len(self._past)
        past, rest, joined = f"{PAST}{number}", f"kept{number}", f"{name}/joined{number}"
        self._past.append((past, rest, self._channels(name)))
        before, after = self._zeros(name, left, FIRST), self._zeros(name, right, LAST)
        self._add("Concat", [*before, past, name, *after], joined, axis=_TIME)
        self._slice(joined, self._constant([-kept]), self._constant([_END]), rest)
        return joined

    def _zeros(self, like: str, frames: int, when: str) -> list[str]:
        """Zeros [1, channels, frames] in the first or the last call, else none of them."""
        if not frames:
            return []
        shape = [1, self._channels(like), frames]
        name = f"streamed/zeros{shape}/{when}"
        if name not in self._made:
            self._made.add(name)
            self._add("Mul", [self._constant(shape), when], f"{name}/shape")
            self._add("ConstantOfShape", [f"{name}/shape"], name)
        return [name]

    def _number(self, usual: int, when: str, more: int) -> str:
        """`usual`, and `usual + more` in the first or the last call, int64 [1]."""
        name, flag = f"streamed/{usual}/{when}/{more}", f"streamed/{when}"
        if flag not in self._made:
            self._made.add(flag)
            self._add("Gather", [when, self._constant([_TIME])], flag)
        if name not in self._made:
            self._made.add(name)
            self._add("Mul", [flag, self._constant([more])], f"{name}/more")
            self._add("Add", [f"{name}/more", self._constant([usual])], name)
        return name

    def _channels(self, name: str) -> int:
        dims = self._shapes.get(name, ())
        if len(dims) != _TIME + 1 or not dims[1].dim_value:
            raise _unlike(f"{name}, whose channels are not known")
        return int(dims[1].dim_value)

    def _slice(self, source: str, begin: str, end: str, result: str) -> None:
        self._add("Slice", [source, begin, end, self._constant([_TIME])], result)

    def _constant(self, value: list[int]) -> str:
        name = f"streamed/{value}"
        self._constants[name] = np.array(value, np.int64)
        return name

    def _add(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> None:
        self._nodes.append(helper.make_node(kind, inputs, [output], output, **attributes))

    def _assembled(self) -> Any:
        def frames(name: str, channels: int) -> Any:
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, channels, f"{name}_frames"])

        old = self._old.graph
        flags = [helper.make_tensor_value_info(name, TensorProto.INT64, [3]) for name in (FIRST, LAST)]
        constants = [numpy_helper.from_array(value, name) for name, value in self._constants.items()]
        graph = helper.make_graph(
            self._nodes,
            old.name,
            [*old.input, *flags, *(frames(past, channels) for past, _, channels in self._past)],
            [*old.output, *(frames(kept, channels) for _, kept, channels in self._past)],
            [*old.initializer, *constants],
        )
        return helper.make_model(graph, opset_imports=self._old.opset_import, ir_version=self._old.ir_version)


def _pads(given: dict[str, Any]) -> tuple[int, int]:
    left, right = given.get("pads", (0, 0))
    return int(left), int(right)


def _attributes(node: Any) -> dict[str, Any]:
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def _set_pads(node: Any) -> None:
    """None: what they stood for is among the frames that are given."""
    kept = [a for a in node.attribute if a.name not in ("pads", "auto_pad")]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute("pads", [0, 0])])


def _unlike(what: str) -> VoiceError:
    return VoiceError(f"the network has {what}; it cannot be streamed")
