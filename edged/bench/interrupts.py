"""Ctrl-C and the polite ends from outside: each leaves the benchmark in order, none in a bad moment."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Within the block the first of these signals raises: SIGINT as ctrl-C does, the others SystemExit.

    Inside `held` it is raised at the end of that instead. Later ones are ignored: what was started is
    being stopped by then, and that has a limit. For the main thread only.
    """

    def __init__(self) -> None:
        self._held = False
        self._came: int | None = None
        self._is_raised = False
        self._before: list[Any] = []

    def __enter__(self) -> Interrupts:
        self._before = [signal.signal(number, self._note) for number in NUMBERS]
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _t: TracebackType | None
    ) -> None:
        for number, handler in zip(NUMBERS, self._before, strict=True):
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """What is begun inside is finished, and known to those who have to undo it."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self._answer()

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if self._came is None:
            self._came = number
        if not self._held:
            self._answer()

    def _answer(self) -> None:
        if self._came is None or self._is_raised:
            return
        self._is_raised = True
        if self._came == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + self._came)
