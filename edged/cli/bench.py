"""`edged bench`: every figure of this machine, in one table and one JSON file."""

from __future__ import annotations

import argparse
from pathlib import Path

from edged.bench import suite
from edged.bench.rows import ROWS, VOICE_ROWS
from edged.bench.suite import Options
from edged.config.load import find, load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `edged bench`."""
    parser.description = (
        "Measure latency, speed, memory and continuity on this machine, with a private broker and a private "
        "sound server that are started for it. A full run takes about eight minutes and wants an idle "
        "machine. The voice and the process settings are those of the configuration."
    )
    parser.add_argument(
        "--voice",
        metavar="NAME",
        help="measure a Piper voice or zh-baker on its own, against itself without streaming (six minutes)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write machine, versions and rows")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw first audio and fill level")
    parser.add_argument("--quick", action="store_true", help="few of everything, in about one minute")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=dict.fromkeys((*ROWS, *VOICE_ROWS)),
        metavar="ROW",
        help=f"only these rows: {', '.join(ROWS)}; with --voice: {', '.join(VOICE_ROWS)}",
    )
    parser.add_argument("--n", type=_count, metavar="N", help="texts in each latency row")
    parser.add_argument(
        "--device", metavar="NAME", help="(part of) the name of a sound device, instead of the private one"
    )
    parser.add_argument("--strict", action="store_true", help="exit code 1 when a bar is missed")


def run(args: argparse.Namespace) -> int:
    """0, or with --strict 1 when a bar is missed or its row is missing."""
    options = Options(args.quick, frozenset(args.only or ()), args.n, args.device, args.voice)
    holds = suite.run(load(find(args.config)), options, args.json, args.plot)
    return 1 if args.strict and not holds else 0


def _count(word: str) -> int:
    if not word.isdigit() or not int(word):
        raise argparse.ArgumentTypeError(f"{word!r} is not a number above 0")
    return int(word)
