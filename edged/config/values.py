"""One written value to one typed value, or every reason why not. Pure; the rules of each type.

Text takes the characters exactly as written: `0123`, `12:30`, `no`, `1e3` and `2026-11-20` without
quotes are those very characters, never what YAML would make of them. Only nothing, `~` and `null`
mean the default (and `null` is a text where it is one of the choices). Numbers are plain decimal,
booleans are true or false; whatever else YAML would read as one is refused with its mend.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import Any

from edged.config.fields import Key
from edged.config.tree import Mapping, Node, Scalar, Sequence, kind_of
from edged.errors import Problem

TEXT_LIMIT_CHARS = 4096
_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"[+-]?((0|[1-9][0-9]{0,17})(\.[0-9]{0,30})?|\.[0-9]{1,30})")
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class _Wrong(Exception):
    """What is wrong with one scalar, as the message for it."""


def convert(key: Key, node: Node) -> tuple[Any, list[Problem]]:
    """The value of `key`, the default where it is wrong; problems never hold a secret."""
    if isinstance(node, Scalar) and _means_default(key, node):
        problems = []
        if key.secret and node.commented:
            message = "is empty before a comment; put a text that begins with # in quotes"
            problems.append(Problem(key.path, node.line, message))
        return key.default, problems
    if key.kind is tuple:
        return _texts(key, node)
    try:
        return _scalar(key, node), []
    except _Wrong as wrong:
        return key.default, [Problem(key.path, node.line, str(wrong))]


def _means_default(key: Key, node: Scalar) -> bool:
    return node.is_null and not (node.text.lower() == "null" and "null" in (key.choices or ()))


def _texts(key: Key, node: Node) -> tuple[Any, list[Problem]]:
    if not isinstance(node, Sequence):
        message = f"must be a list of texts, not {kind_of(node)}; write each one after '- ' on its own line"
        return key.default, [Problem(key.path, node.line, message)]
    values: list[str] = []
    problems: list[Problem] = []
    for item in node.items:
        try:
            values.append(_text(key, item))
        except _Wrong as wrong:
            problems.append(Problem(key.path, item.line, str(wrong)))
    return tuple(values), problems


def _scalar(key: Key, node: Node) -> Any:
    if key.kind is str:
        value: Any = _text(key, node)
    elif not isinstance(node, Scalar):
        raise _Wrong(f"must be {_wanted(key)}, not {kind_of(node)}")
    elif key.kind is bool:
        value = _bool(key, node)
    else:
        value = _number(key, node)
    if key.choices is not None and value not in key.choices:
        raise _Wrong(f"must be {key.bounds()}{_not(node)}{_nearest(key, value)}")
    return value


def _text(key: Key, node: Node) -> str:
    if isinstance(node, (Sequence, Mapping)):
        raise _Wrong(f"must be text, not {kind_of(node)}; put a text with [, {{ or ': ' in quotes")
    text = node.text
    if key.kind is tuple and node.is_null:
        raise _Wrong("holds an empty item; put a text that begins with # in quotes")
    if key.secret and node.anchored:
        raise _Wrong("has a name (&) before it; put a text that begins with & in quotes")
    if not node.one_line or any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in text):
        raise _Wrong("must be one line without control characters; put it in quotes on the line of its key")
    if len(text) > TEXT_LIMIT_CHARS:
        raise _Wrong(f"must be at most {TEXT_LIMIT_CHARS} characters long, not {len(text)}")
    if not text and key.default != "" and not key.secret:
        raise _Wrong("is empty; leave it out for the default")
    if key.pattern is not None and re.fullmatch(key.pattern, text) is None:
        raise _Wrong(f"must be {key.must}")
    return text


def _bool(key: Key, node: Scalar) -> bool:
    if node.plain and node.text in _BOOLS:
        return _BOOLS[node.text]
    if node.text in _BOOLS:
        raise _Wrong("must be true or false without quotes")
    raise _Wrong(f"must be true or false{_not(node)}")


def _number(key: Key, node: Scalar) -> int | float:
    rule = _WHOLE if key.kind is int else _DECIMAL
    if rule.fullmatch(node.text) is None:
        raise _Wrong(f"must be {_wanted(key)}{_not(node)}{_mend(key, node.text)}")
    if not node.plain:
        raise _Wrong(f"must be {_wanted(key)}, without quotes")
    value = int(node.text) if key.kind is int else float(node.text) + 0.0
    low, high = key.minimum, key.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        raise _Wrong(f"must be {key.bounds()}{_not(node)}")
    return value


def _wanted(key: Key) -> str:
    """'a whole number, 5 to 3600 s'."""
    name = {bool: "true or false", int: "a whole number", float: "a decimal number"}[key.kind]
    return f"{name}, {key.bounds()}" if key.bounds() else name


def _not(node: Node) -> str:
    shown = node.shown() if isinstance(node, Scalar) else ""
    return f", not {shown}" if shown else ""


def _mend(key: Key, text: str) -> str:
    """How a number that YAML might have understood is written here."""
    if key.kind is int and (whole := re.fullmatch(r"([+-]?[0-9]{1,18})\.0*", text)):
        return f"; write {int(whole.group(1))}"
    if key.kind is float and (comma := re.fullmatch(r"([0-9]{1,9}),([0-9]{1,9})", text)):
        return f"; write {comma.group(1)}.{comma.group(2)}"
    if re.fullmatch(r"[0-9][0-9.]* ?[A-Za-z%]+", text):
        return "; write the number alone"
    if re.fullmatch(r"[+-]?0[0-9]+(\.[0-9]*)?", text):
        return "; write it without leading zeros"
    if re.match(r"[+-]?[0-9.]", text):
        return "; write it in plain decimal digits"
    return ""


def _nearest(key: Key, value: Any) -> str:
    choices = key.choices or ()
    if key.kind is str:
        names = [str(choice) for choice in choices]
        close = difflib.get_close_matches(str(value).lower()[:60], names, n=1, cutoff=0.5)
        return f"; did you mean {close[0]}?" if close else ""
    return f"; the nearest is {min(choices, key=lambda choice: abs(choice - value))}"
