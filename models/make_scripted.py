#!/usr/bin/env python3
"""Puts a scripted voice into a store: ramps instead of speech, made as slowly as a file says.

    models/make_scripted.py STORE COST_FILE [--state DIR --rtf fp32=0.4 --rtf int8=0.1]

COST_FILE is a JSON object with the RTF of each level, read anew for every chunk, so that it can be changed
while the daemon speaks (replace it by rename). With --state and --rtf what the levels cost is written down
as `edged voice measure` would do it on this machine, so that the governor has a ladder.
"""

from __future__ import annotations

import argparse
import json
import string
import sys
from pathlib import Path

from edged.voice.engines import scripted
from edged.voice.ladder import TEXT_CHARS, Row, measured_file, write_rows
from edged.voice.manifest import Manifest
from edged.voice.store import build_folder, publish

NAME = "scripted"
LEVELS = ("fp32", "int8")


def make(store: Path, cost_file: Path, levels: tuple[str, ...]) -> Manifest:
    """Publish it. Raises VoiceError."""
    letters = {letter: [number] for number, letter in enumerate(string.printable.strip() + " ", 3)}
    phonemes = {
        "type": "text",
        "espeak_voice": "",
        "ids": {**letters, "_": [0], "^": [1], "$": [2]},
        "vowel_clusters": [],
    }
    description = {
        "name": NAME,
        "language": "en-us",
        "engine": "scripted",
        "sample_rate_hz": scripted.RATE_HZ,
        "licence": {"package": "none", "weights": "none", "training_data": "none", "note": ""},
        "source": {},
        "levels": list(levels),
        "speakers": [],
        "options": {"levels": {level: {} for level in levels}, "cost_file": str(cost_file.absolute())},
    }
    with build_folder(store) as folder:
        (folder / "phonemes.json").write_text(json.dumps(phonemes), encoding="utf-8")
        return publish(folder, store, description)


def main() -> int:
    """0."""
    parser = argparse.ArgumentParser(description="Put a scripted voice into a store.")
    parser.add_argument("store", type=Path)
    parser.add_argument("cost_file", type=Path)
    parser.add_argument("--state", type=Path, metavar="DIR", help="state_dir of the daemon")
    parser.add_argument("--rtf", action="append", default=[], metavar="LEVEL=RTF", help="as if measured")
    args = parser.parse_args()
    costs = {level: float(rtf) for level, _, rtf in (given.partition("=") for given in args.rtf)}
    if not args.cost_file.exists():
        args.cost_file.write_text("{}", encoding="utf-8")
    manifest = make(args.store, args.cost_file, tuple(costs) or LEVELS)
    if args.state:
        rows = [
            Row(level, 1, scripted.CHUNK_FRAMES, (10.0,) * len(TEXT_CHARS), rtf, 9.0, 0.0, 0.0, 2.0 * number)
            for number, (level, rtf) in enumerate(costs.items())
        ]
        write_rows(measured_file(args.state, manifest), manifest, rows, {})
    print(f"{manifest.name} {manifest.version} in {manifest.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
