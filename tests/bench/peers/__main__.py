"""edged beside piper-tts, wyoming-piper, streaming-vits, hibari and espeak-ng: the same texts in one run.

Installs the peers from PyPI into environments of their own. Exit code 0: every bar holds; 1: one is missed or
could not be measured; 2: it could not be run.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from edged.bench.canvas import require
from edged.bench.machine import machine, versions
from edged.errors import EdgedError
from tests.bench.peers import rounds
from tests.bench.peers.contenders import CONTENDERS, Place
from tests.bench.peers.judge import ratios, verdicts
from tests.bench.peers.picture import draw
from tests.bench.peers.report import Result, as_json, as_markdown

REPEAT = 15
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def main() -> int:
    """See above."""
    given = _arguments()
    asked = tuple(one for one in CONTENDERS if not given.only or one.name in given.only)
    try:
        if given.png:
            require()
        about, known = machine(), versions()
        place = Place(given.folder, given.threads, _tell)
        measured = rounds.run(place, asked, given.repeat, _tell)
        found = ratios(measured.rows)
        judged = verdicts(measured.rows, {one.name for one in asked})
        result = Result(about, known, given.threads, given.repeat, measured, found, judged)
        if given.json:
            given.json.write_text(as_json(result))
        if given.markdown:
            given.markdown.write_text(as_markdown(result))
        if given.png:
            title = f"edged beside its peers, {about['cpu']}, threads each: {given.threads}"
            draw(given.png, measured.rows, title)
    except KeyboardInterrupt:
        _tell("interrupted; nothing is left running")
        return 130
    except (EdgedError, OSError) as error:
        _tell(" ".join(str(error).split()))
        return 2
    print(as_markdown(result))
    complete = not measured.missing and all(one.holds for one in judged)
    return 0 if complete else 1


def _arguments() -> argparse.Namespace:
    names = [one.name for one in CONTENDERS]
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench.peers", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="rows, ratios and bars")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="what is printed at the end")
    parser.add_argument("--png", type=Path, metavar="FILE", help="first sample and CPU against text length")
    parser.add_argument(
        "--folder",
        type=Path,
        default=CACHE / "edged-peers",
        metavar="DIR",
        help="environments, voices and logs are kept there (%(default)s)",
    )
    parser.add_argument(
        "--repeat", type=_count, default=REPEAT, metavar="N", help="texts of 30 and of 80 characters (15)"
    )
    parser.add_argument("--threads", type=_count, default=1, metavar="N", help="of every contender (1)")
    parser.add_argument(
        "--only", nargs="+", choices=names, metavar="NAME", help=f"only these: {', '.join(names)}"
    )
    return parser.parse_args()


def _count(word: str) -> int:
    if not word.isdigit() or not int(word):
        raise argparse.ArgumentTypeError(f"{word!r} is not a number above 0")
    return int(word)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
