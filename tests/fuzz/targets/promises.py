"""What is asked of more than one target."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from edged.errors import EdgedError

Result = TypeVar("Result")

LINE_LIMIT_CHARS = 700
_REPEATED = re.compile(r"'.*'|\".*\"|/\S*|\\x\w\w")
"""Of the input, and files."""
SECRET = "S3cr3tCanary"
"""Stands where passwords do; a target says where it may be repeated."""


def one_line(said: str, limit: int = LINE_LIMIT_CHARS) -> str:
    """A message for people: one line that any terminal can show, not as long as what it is about."""
    assert said, "an empty message"
    assert said.isprintable(), f"not one printable line: {said[:200]!r}"
    assert len(said) <= limit, f"{len(said)} characters long: {said[:200]!r}"
    return said


def refusal(error: EdgedError, limit: int = LINE_LIMIT_CHARS) -> str:
    """The kind of a refusal: its line without what differs from input to input."""
    said = _REPEATED.sub("", one_line(str(error), limit))
    return f"{type(error).__name__}: {''.join(char for char in said if char.islower() or char == ' ')[:40]}"


def bounded_text(value: object, limit: int) -> None:
    """None, or text of at most so many characters."""
    assert value is None or (isinstance(value, str) and len(value) <= limit), f"{value!r:.200}"


def strict_json(payload: bytes) -> Any:
    """A payload that any JSON parser reads: UTF-8, and no NaN or Infinity."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(payload.decode("utf-8"), parse_constant=refuse)


def outcome(
    call: Callable[[], Result], error: type[EdgedError], limit: int = LINE_LIMIT_CHARS
) -> Result | str:
    """What a call gives, or the kind of its refusal with an error of one class; all else passes."""
    try:
        return call()
    except error as refused:
        return refusal(refused, limit)


def feature(value: object) -> Hashable:
    """What tells one result from another in kind: refusals by their words, results by their type."""
    return value if isinstance(value, str) else type(value).__name__
