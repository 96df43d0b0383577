"""First audio, memory and processor time against text length, waiting announcements, zones and batch work.

The real daemon, a private broker, a private sound server (a silent sink where there is none). About six
minutes. Exit code 0: all was measured; 2: it could not be.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from edged.bench.canvas import require
from edged.bench.machine import machine, versions
from edged.bench.rows import Figure, Row
from edged.errors import EdgedError
from tests.bench.growth import batch, lengths, waiting, zones
from tests.bench.growth.board import PERIOD_MS, Board, Progress
from tests.bench.growth.picture import draw
from tests.bench.growth.report import TITLES, as_json, as_markdown
from tests.daemon.harness import STORE

REPEAT = 25
BATCH_TIMES = 2
"""Texts of each batch process, for each --repeat."""
ZONES_SHARE = 2
"""Zones are said to their end: half as many."""


def main() -> int:
    """See above."""
    given = _arguments()
    rows: list[Row] = []
    try:
        if given.png:
            require()
        found = machine()
        about: dict[str, object] = {"machine": found, "versions": versions()}
        with Board(given.voice, given.store, _tell) as board:
            about |= {"voice": given.voice, "sink": board.sink, "period_ms": PERIOD_MS, "caches": "off"}
            for family in given.only or TITLES:
                for figure in CURVES[family](board, given.repeat, _tell):
                    rows.append(figure.row(given.voice, ""))
        if given.json:
            given.json.write_text(as_json(rows, about))
        if given.markdown:
            given.markdown.write_text(as_markdown(rows, about))
        if given.png:
            draw(given.png, rows, f"How edged grows: voice {given.voice}, {found['cpu']}")
    except KeyboardInterrupt:
        _tell("interrupted; nothing is left running")
        return 130
    except (EdgedError, OSError) as error:
        _tell(" ".join(str(error).split()))
        return 2
    print(as_markdown(rows, about))
    return 0


def _lengths(board: Board, repeat: int, tell: Progress) -> Iterator[Figure]:
    yield from lengths.latency(board, repeat, tell)
    yield from lengths.memory(board, tell)


CURVES: dict[str, Callable[[Board, int, Progress], Iterator[Figure]]] = {
    "length": _lengths,
    "waiting": waiting.figures,
    "zones": lambda board, repeat, tell: zones.figures(board, max(3, repeat // ZONES_SHARE), tell),
    "batch": lambda board, repeat, tell: batch.figures(board, max(10, BATCH_TIMES * repeat), tell),
}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench.growth", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="machine, versions and rows")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="what is printed at the end")
    parser.add_argument("--png", type=Path, metavar="FILE", help="the curves")
    parser.add_argument("--voice", default="heart", help="an installed voice (heart)")
    parser.add_argument("--store", type=Path, default=STORE, metavar="DIR", help="voices (%(default)s)")
    parser.add_argument("--repeat", type=int, default=REPEAT, metavar="N", help="announcements a point (25)")
    parser.add_argument("--only", nargs="+", choices=list(TITLES), help="only these curves")
    return parser.parse_args()


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
