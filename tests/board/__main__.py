"""Boots a board in qemu, installs edged on it offline, and treats it badly. `python3 -m tests.board --help`.

Everything is emulated (TCG), so it runs wherever Debian does; times say nothing about a real board.
Progress goes to standard output step by step, then a table; the same as JSON into dist/.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.board import image, steps, voices
from tests.board.machine import Board, BoardError

REPO = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one step."""

    step: str
    result: str
    """passed or failed."""
    took_s: float
    detail: str


def main() -> int:
    """Exit code 0 when every step passed."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.board", description=__doc__)
    parser.add_argument("--arch", choices=sorted(image.ARCHITECTURES), default="x86_64")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/edged/board", metavar="DIR")
    parser.add_argument("--bundle", type=Path, metavar="TAR", help="default: made by deploy/bundle")
    parser.add_argument("--only", nargs="+", metavar="STEP", help="boot and install, then only these")
    args = parser.parse_args()
    started_s = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - started_s:6.0f} s  {line}", flush=True)

    try:
        outcomes = run(args.arch, args.cache, args.bundle, args.only, say)
    except BoardError as error:
        print(f"tests.board: {error}", file=sys.stderr)
        return 1
    report(args.arch, outcomes, time.monotonic() - started_s)
    return int(any(outcome.result == "failed" for outcome in outcomes))


def run(arch: str, cache: Path, bundle: Path | None, only: list[str] | None, say: image.Say) -> list[Outcome]:
    """All steps of an architecture, in order. Raises BoardError where there is no board to begin with."""
    cache.mkdir(parents=True, exist_ok=True)
    made = image.ensure(arch, cache, say)
    bundle = bundle or pack(arch, say)
    extras = voices.pack(cache, say)
    outcomes: list[Outcome] = []
    with Board(made, cache / f"run-{arch}", [bundle, extras]) as board:
        for step in steps.of(arch):
            if only and step.__name__ not in ("boot", "install", *only):
                continue
            say(f"{step.__name__} ...")
            outcomes.append(perform(step, board))
            say(f"{step.__name__}: {outcomes[-1].result} ({outcomes[-1].detail})")
            if outcomes[-1].result == "failed" and step.__name__ in ("boot", "install"):
                break
    return outcomes


def perform(step: steps.Step, board: Board) -> Outcome:
    """One step; a failure is its outcome, with the end of the service's log in the board's console log."""
    begun_s = time.monotonic()
    try:
        result, detail = "passed", step(board)
    except (AssertionError, BoardError) as error:
        result, detail = "failed", " ".join(str(error).split())[:400]
        board.note_failure(step.__name__)
    return Outcome(step.__name__, result, round(time.monotonic() - begun_s, 1), detail)


def pack(arch: str, say: image.Say) -> Path:
    """The bundle of the present source tree."""
    say("packing the bundle")
    done = subprocess.run([REPO / "deploy/bundle", arch], check=False, capture_output=True, text=True)
    if done.returncode:
        raise BoardError(f"deploy/bundle: {done.stderr.strip()}")
    return max((REPO / "dist").glob(f"edged-*-{arch}.tar"), key=lambda file: file.stat().st_mtime)


def report(arch: str, outcomes: list[Outcome], took_s: float) -> None:
    """The table, and the same as dist/board-ARCH.json."""
    print(f"\n| {arch}: step | result | s | what was seen |\n|---|---|---|---|")
    for outcome in outcomes:
        print(f"| {outcome.step} | {outcome.result} | {outcome.took_s:.0f} | {outcome.detail} |")
    file = REPO / f"dist/board-{arch}.json"
    file.parent.mkdir(exist_ok=True)
    content = {"arch": arch, "took_s": round(took_s), "steps": [asdict(outcome) for outcome in outcomes]}
    file.write_text(json.dumps(content, indent=1) + "\n")
    print(f"\n{took_s:.0f} s in all; written to {file.relative_to(REPO)}")


if __name__ == "__main__":
    sys.exit(main())
