"""`python3 -m tests.bench.stages`: where the time to the first sample goes, and the memory at rest.

The real daemon with voice heart at a period of 6 ms, caches off: medians over different texts of 30 and 3,000
characters. Memory is that of a plain daemon which has spoken, by what is mapped (/proc/PID/smaps).
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from statistics import median

from edged.bench.latency import PAUSE_S, SEED, WARM_UP
from edged.bench.texts import texts
from edged.config.load import load
from edged.errors import EdgedError
from edged.voices import store_dir
from tests.bench.growth.board import Board, first_sample_ms
from tests.bench.stages.daemon import PREFIX, STAGES

LENGTHS_CHARS = (30, 3000)
SETTLE_S = 4.0
"""A second of silence, then memory is given back."""
_GROUPS = (
    ("the heap: Python's objects, networks' weights", r"\[heap\]|\[anon\]|"),
    ("onnxruntime", r".*/onnxruntime/.*"),
    ("numpy", r".*/numpy.*"),
    ("OpenSSL", r".*/lib(crypto|ssl)\..*"),
    ("dictionaries, mapped", r".*\.marisa"),
    ("networks, mapped", r".*\.onnx.*"),
    ("Python", r".*/(lib)?python3.*|.*/site-packages/.*"),
    ("system libraries, sound among them", r".*"),
)
"""What is mapped, by the first expression that its path fits."""


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench.stages", description=__doc__)
    parser.add_argument(
        "--repeat", type=int, default=120, help="texts of 30 characters (120), a third of 3000"
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="whose voices are used")
    given = parser.parse_args()
    try:
        store = store_dir(load(given.config))
        columns = [stages(store, chars, given.repeat) for chars in LENGTHS_CHARS]
        memory = memory_mib(store)
    except KeyboardInterrupt:
        return 130
    except (EdgedError, OSError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    print(f"{'ms, medians':48}" + "".join(f"{chars:>10}" for chars in LENGTHS_CHARS))
    for stage in (*STAGES, "all"):
        print(f"{stage:48}" + "".join(f"{column[stage]:10.2f}" for column in columns))
    print(f"\n{'MiB at rest':48}{'RSS':>10}{'dirty':>10}")
    for what, (rss, dirty) in memory.items():
        print(f"{what:48}{rss:10.1f}{dirty:10.1f}")
    return 0


def stages(store: Path, chars: int, count: int) -> dict[str, float]:
    """Median of the milliseconds up to each stage from the one before, and of all of them."""
    published, source = {}, random.Random(SEED)
    with Board("heart", store, _tell, program="tests.bench.stages.daemon") as board:
        with board.daemon(board.audible) as (_, client):
            for number, text in enumerate(islice(texts(chars), WARM_UP + count)):
                _tell(f"{chars} characters: {number + 1} of {WARM_UP + count}")
                time.sleep(source.uniform(*PAUSE_S))
                begun_ns = time.monotonic_ns()
                first_sample_ms(client, text, id=f"stage-{number}")
                published[f"stage-{number}"] = begun_ns
        rows = list(_noted(board.folder, published))[WARM_UP:]
    if len(rows) < count:
        raise EdgedError(f"only {len(rows)} of {count} announcements told their stages")
    found = {
        stage: median((row[stage] - row[before]) / 1e6 for row in rows)
        for before, stage in pairwise(("published", *STAGES))
    }
    return {**found, "all": median((row[STAGES[-1]] - row["published"]) / 1e6 for row in rows)}


def _noted(folder: Path, published: dict[str, int]) -> Iterator[dict[str, int]]:
    for log in folder.glob("daemon-*/log"):
        for line in log.read_text(errors="replace").splitlines():
            if line.startswith(PREFIX):
                row = json.loads(line.removeprefix(PREFIX))
                yield {**row, "published": published[row.pop("id")]}


def memory_mib(store: Path) -> dict[str, tuple[float, float]]:
    """Resident and private dirty memory by group, and of all."""
    with Board("heart", store, _tell) as board, board.daemon(board.audible) as (daemon, client):
        for text in islice(texts(100), WARM_UP):
            first_sample_ms(client, text)
        time.sleep(SETTLE_S)
        return grouped(Path(f"/proc/{daemon.pid}/smaps").read_text().splitlines())


def grouped(smaps: Sequence[str]) -> dict[str, tuple[float, float]]:
    """The lines of /proc/PID/smaps by _GROUPS, in MiB."""
    kib: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    group = ""
    for line in smaps:
        if begins := re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)", line):
            group = next(name for name, path in _GROUPS if re.fullmatch(path, begins[1]))
        elif told := re.match(r"(Rss|Private_Dirty): +(\d+) kB", line):
            kib[group][told[1] != "Rss"] += int(told[2])
    found = {name: (kib[name][0] / 1024, kib[name][1] / 1024) for name, _ in _GROUPS}
    rss, dirty = (sum(column) for column in zip(*found.values(), strict=True))
    return {**found, "all": (rss, dirty)}


def _tell(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{line}\033[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
