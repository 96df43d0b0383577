"""`python3 -m tests.fuzz`: search for inputs that break what reads them, each target for some time.

    --seconds N         for each target (60)
    --target NAME …     these only
    --corpus DIR        a corpus of your own, read and added to; without it the committed one is only read
    --distil            instead of searching: print the files of the corpus that reach all it reaches

A finding is made small and written into the committed corpus, `tests/fuzz/corpus/<target>/found-…`, which the
tests replay: they fail until it is mended, and hold it ever after. Exit code 0: nothing found; 1: findings.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.fuzz import CORPUS
from tests.fuzz.growth import growth
from tests.fuzz.search import Search, Target, distilled, inputs_of, write
from tests.fuzz.targets import targets

_TOLD_EVERY_S = 2.0
_MEMORY_BYTES = 2 << 30
"""More than all targets need together: what asks for more than this is found as a MemoryError."""


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.fuzz", description="Feeds hostile input.")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target (60)")
    parser.add_argument("--target", nargs="+", metavar="NAME", help="these only")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="a corpus of your own, read and added to")
    parser.add_argument("--seed", type=int, default=None, help="of the changes (another one each time)")
    parser.add_argument("--distil", action="store_true", help="print which files of the corpus are enough")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the figures go")
    given = parser.parse_args()
    logging.disable()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, resource.RLIM_INFINITY))
    with tempfile.TemporaryDirectory(prefix="edged-fuzz-") as folder:
        known = targets(Path(folder))
        if unknown := sorted(set(given.target or ()) - set(known)):
            parser.error(f"--target {unknown[0]}: there is {', '.join(known)}")
        chosen = [known[name] for name in given.target or known]
        if given.distil:
            return _distil(chosen, given.corpus or CORPUS)
        seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 32)
        print(f"seed {seed}")
        try:
            figures = [_search(target, given.seconds, seed, given.corpus) for target in chosen]
        except KeyboardInterrupt:
            return 130
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n")
    found = sum(len(each["findings"]) for each in figures)
    print(f"{sum(each['runs'] for each in figures)} inputs, {found} findings")
    return 1 if found else 0


def _search(target: Target, seconds: float, seed: int, own: Path | None) -> dict[str, Any]:
    search = Search(target, random.Random(f"{seed} {target.name}"))
    begun_s = told_s = time.monotonic()
    for folder in (CORPUS, *((own,) if own else ())):
        search.replay(inputs_of(folder / target.name))
    while (now_s := time.monotonic()) < begun_s + seconds:
        new = search.step()
        if new is not None and own:
            write(own / target.name, new)
        if now_s - told_s > _TOLD_EVERY_S and sys.stderr.isatty():
            told_s = now_s
            print(f"\r{_line(search, now_s - begun_s)}\033[K", end="", file=sys.stderr, flush=True)
    print(f"\r{_line(search, time.monotonic() - begun_s)}")
    if target.name in _GROWING:
        line, found = growth(target, search.corpus)
        print(f"{'':14} {line}")
        search.findings |= {finding.where: finding for finding in found}
    for finding in search.findings.values():
        file = write(CORPUS / target.name, finding.data, "found-")
        print(f"FOUND {file}\n  {finding.data[:120]!r}\n  {finding.what}\n  {finding.where}")
    return {
        "target": target.name,
        "seconds": round(time.monotonic() - begun_s, 1),
        "runs": search.runs,
        "corpus": len(search.corpus),
        "arcs": search.coverage.arcs,
        "lines": {name: len(lines) for name, lines in sorted(search.coverage.files().items())},
        "slowest_ms": round(1000 * search.slowest_s, 1),
        "slowest": search.slowest[:200].decode("latin-1"),
        "findings": [finding.what for finding in search.findings.values()],
    }


def _line(search: Search, spent_s: float) -> str:
    return (
        f"{search.target.name:14} {spent_s:5.0f} s  {search.runs:7} inputs  {search.runs / spent_s:6.0f}/s"
        f"  corpus {len(search.corpus):5}  arcs {search.coverage.arcs:5}"
        f"  slowest {1000 * search.slowest_s:5.0f} ms  findings {len(search.findings)}"
    )


_GROWING = ("english", "piper", "chinese")
"""Whose time must not grow faster than the text."""


def _distil(chosen: list[Target], corpus: Path) -> int:
    for target in chosen:
        enough = set(distilled(target, inputs_of(corpus / target.name)))
        for file in sorted((corpus / target.name).iterdir()):
            if file.read_bytes() in enough:
                print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
