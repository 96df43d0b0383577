"""`python3 -m tests.soak`: one of the two runs, a table at its end, and a JSON file."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

from edged.errors import EdgedError
from tests.daemon.harness import STORE
from tests.soak import faults, long_run

SECONDS, ANNOUNCEMENTS, LONG_ANNOUNCEMENTS = 480.0, 150, 2000


def main() -> int:
    """Exit code 0: all as it must be; 1: something was not; 2: it could not be run."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="length of the run with faults (480)")
    parser.add_argument("--announcements", type=int, help="how many; else in proportion, 150 in 480 s")
    parser.add_argument("--seed", type=int, default=1, help="of faults, texts and pauses (1)")
    parser.add_argument("--voice", default="heart", help="an installed voice (heart)")
    parser.add_argument("--store", type=Path, default=STORE, help="folder of installed voices")
    parser.add_argument("--long", action="store_true", help="2000 announcements without faults instead")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the figures go")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep logs and configuration there")
    given = parser.parse_args()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
        if any(given.keep.iterdir()):
            parser.error(f"--keep {given.keep}: not empty; sessions and states of an old run would count")
    place = nullcontext(str(given.keep)) if given.keep else tempfile.TemporaryDirectory(prefix="edged-soak-")
    try:
        with place as folder:
            figures, wrong = _run(given, Path(folder).absolute())
    except KeyboardInterrupt:
        _tell("interrupted; nothing is left running")
        return 130
    except (EdgedError, AssertionError) as error:
        _tell(str(error).strip().splitlines()[-1])
        return 2
    if given.json:
        given.json.write_text(json.dumps({**figures, "wrong": wrong}, indent=1) + "\n")
    _print_table(figures)
    for line in wrong:
        print(f"WRONG: {line}")
    return 1 if wrong else 0


def _run(given: argparse.Namespace, folder: Path) -> tuple[dict[str, object], list[str]]:
    if given.long:
        count = given.announcements or LONG_ANNOUNCEMENTS
        return long_run.run(long_run.Run(count, given.seed, given.voice, given.store), folder, _tell)
    count = given.announcements or max(1, round(given.seconds * ANNOUNCEMENTS / SECONDS))
    wanted = faults.Run(given.seconds, count, given.seed, given.voice, given.store)
    return faults.run(wanted, folder, _tell)


def _print_table(figures: Mapping[str, object]) -> None:
    for name, value in figures.items():
        if isinstance(value, dict):
            print(f"{name}:")
            for inner, figure in value.items():
                print(f"    {inner:<52} {figure}")
        else:
            print(f"{name:<56} {value}")


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
