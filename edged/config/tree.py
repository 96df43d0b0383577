"""What a YAML file says, with the place and the exact characters of every value, and no types yet."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NULLS = ("", "~", "null", "Null", "NULL")
_NAME = re.compile(r"[\w.\-]{1,60}|<<")


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value as written: `text` holds the characters, without the quotes if it had any."""

    text: str
    line: int
    plain: bool
    """Written without quotes, so that YAML alone would guess a type."""
    one_line: bool = True
    anchored: bool = False
    """A name for it (&name) stands before it."""
    commented: bool = False
    """A `#` follows on the same line, which YAML takes for a comment."""

    @property
    def is_null(self) -> bool:
        """Nothing is written, or one of YAML's words for it."""
        return self.plain and self.text in _NULLS

    def shown(self) -> str:
        """The value for a message, only where it looks like a number or a word; never a free text."""
        return self.text if re.fullmatch(r"[+-]?[\w.:,\-]{1,24}", self.text, re.ASCII) else ""


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    items: list[Node]
    line: int


@dataclass(frozen=True, slots=True)
class Mapping:
    """A section: pairs in the order of the file, the same key twice where the file has it twice."""

    pairs: list[tuple[Node, Node]]
    line: int
    flow: bool
    """Written in { }, where a comma inside a text makes the rest of it look like a key."""


Node = Scalar | Sequence | Mapping


def kind_of(node: Node) -> str:
    """What a person would call it."""
    if isinstance(node, Scalar):
        return "a single value"
    return "a list" if isinstance(node, Sequence) else "a section"


def shown_name(text: str) -> str:
    """A key for a message: cut where it stops to look like one, for a value may be glued to it."""
    match = _NAME.match(text)
    shown = match.group() if match else ""
    return shown if shown == text != "" else f"{shown}…"


def over(under: Node | None, top: Node | None) -> Node | None:
    """The tree `top` with what only `under` gives: whole keys, and inside sections that both have."""
    if not isinstance(under, Mapping) or not isinstance(top, Mapping):
        return under if top is None else top
    own = {name.text: (name, value) for name, value in top.pairs if isinstance(name, Scalar)}
    pairs: list[tuple[Node, Node]] = []
    for name, value in under.pairs:
        if isinstance(name, Scalar) and name.text in own:
            own_name, above = own.pop(name.text)
            pairs.append((own_name, over(value, above) or above))
        else:
            pairs.append((name, value))
    return Mapping([*pairs, *own.values()], top.line, top.flow)
