"""Which lines of the product follow which, as an input runs through them.

The tracer is `sys.settrace`, and the search of `tests.fuzz.search` is guided by it alone: atheris, the
usual tool, has no wheels for aarch64 or for Python 3.10 (3.0.0, and needs clang to be built), takes the
whole process, and so could not also replay in pytest. `sys.monitoring` would be quicker, but Python 3.10
and 3.11 lack it, and two mechanisms would find two things.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import edged

PRODUCT = str(Path(edged.__file__).parent)
_QUIET_CALLS = 500
_LOOKED_AT = 32
"""A function with so many calls without anything new is looked into at every 32nd call only."""


class _Function:
    def __init__(self) -> None:
        self.arcs: set[tuple[int, int]] = set()
        self.calls = 0
        self.quiet = 0


class Coverage:
    """Arcs (line, next line) of the product's functions, and what targets call worth telling apart."""

    def __init__(self) -> None:
        self._functions: dict[CodeType, _Function | None] = {}
        self._features: set[Hashable] = set()
        self._arcs = 0

    def __len__(self) -> int:
        return self._arcs + len(self._features)

    @property
    def arcs(self) -> int:
        """Found so far."""
        return self._arcs

    def run(self, work: Callable[[], Iterable[Hashable]]) -> int:
        """How much that is new `work` reached; what it raises passes."""
        before = len(self)
        found: Iterable[Hashable] = ()
        sys.settrace(self._enter)
        try:
            found = work()
        finally:
            sys.settrace(None)
        self._features.update(found)
        return len(self) - before

    def files(self) -> dict[str, set[int]]:
        """Lines reached, by file of the product."""
        lines: dict[str, set[int]] = {}
        for code, function in self._functions.items():
            if function is not None:
                name = code.co_filename.removeprefix(PRODUCT).lstrip("/")
                lines.setdefault(name, set()).update(line for _, line in function.arcs)
        return lines

    def _enter(self, frame: FrameType, _event: str, _arg: Any) -> Any:
        code = frame.f_code
        if code not in self._functions:
            is_ours = code.co_filename.startswith(PRODUCT)
            self._functions[code] = _Function() if is_ours else None
        function = self._functions[code]
        if function is None:
            return None
        function.calls += 1
        if function.quiet > _QUIET_CALLS and function.calls % _LOOKED_AT:
            return None
        function.quiet += 1
        return self._follower(function)

    def _follower(self, function: _Function) -> Any:
        arcs = function.arcs
        last = 0

        def follow(frame: FrameType, event: str, _arg: Any) -> Any:
            nonlocal last
            if event == "line":
                arc = (last, frame.f_lineno)
                last = frame.f_lineno
                if arc not in arcs:
                    arcs.add(arc)
                    function.quiet = 0
                    self._arcs += 1
            return follow

        return follow
