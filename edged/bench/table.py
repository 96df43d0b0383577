"""The rows as they come, as lines of a table, and the progress between them on a terminal."""

from __future__ import annotations

import sys

from edged.bench.rows import Row, Verdict

HEADER = ("name", "level", "case", "n", "p50", "p95", "unit", "bar")
FORM = "{:<27} {:<11} {:<12} {:>4} {:>9} {:>9} {:<6} {}"
ERASE = "\r\033[K"


class Table:
    """Rows on standard output; progress on standard error, where that is a terminal."""

    def __init__(self) -> None:
        self._on_terminal = sys.stderr.isatty()
        self._begun = False

    def row(self, row: Row, missing: str | None, verdicts: list[Verdict]) -> None:
        """One line."""
        self.progress("")
        if not self._begun:
            self._begun = True
            print(FORM.format(*HEADER))
        note = f"MISSING: {missing}" if missing else "; ".join(map(str, verdicts))
        figures = (_shown(row.p50), _shown(row.p95))
        print(
            FORM.format(row.name, row.level, row.case, row.n, *figures, row.unit, note).rstrip(), flush=True
        )

    def progress(self, line: str) -> None:
        """What is being done now; replaces the line before."""
        if self._on_terminal:
            print(f"{ERASE}{line}", end="", file=sys.stderr, flush=True)

    def remark(self, line: str) -> None:
        """Something that stays to be read."""
        self.progress("")
        print(line, file=sys.stderr, flush=True)


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"
