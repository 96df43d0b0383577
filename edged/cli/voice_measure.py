"""`edged voice measure`: times each way to run a voice on this machine, and keeps the figures.

One process a level and number of threads (`edged.cli.voice_timing`), so that memory is that level's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from edged.bench import canvas
from edged.cli.voice_samples import INDEX, write_samples
from edged.cli.voice_show import print_ladder
from edged.cli.voice_stride import Stride, strides
from edged.config.load import find, load
from edged.config.model import Config
from edged.errors import EdgedError, SinkError, VoiceError
from edged.voice import ladder, store
from edged.voice.manifest import Manifest, check_sizes
from edged.voices import state_dir, store_dir

THREADS = (1, 2)


def measure(args: argparse.Namespace) -> int:
    """Measure, keep, print; 0. Raises EdgedError; ctrl-C keeps the figures of before."""
    config = load(find(args.config))
    folder = store_dir(config)
    manifest = store.current(folder, args.name)
    check_sizes(manifest)
    if args.samples:
        samples = write_samples(manifest, args.samples)
        print(f"{len(samples)} files and what they are, in {args.samples / INDEX}")
        return 0
    if args.plot:
        canvas.require()
    file = ladder.measured_file(state_dir(config), manifest)
    found, reason = _strides(config)
    rows = tuple(_rows(folder, manifest, args.repeat))
    about = {
        "machine": ladder.machine(),
        "measured_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "natural_db": ladder.natural_db(manifest),
        "strides": [asdict(stride) for stride in found],
    }
    try:
        ladder.write_rows(file, manifest, rows, about)
    except OSError as error:
        raise EdgedError(f"{file}: {error.strerror}; run it as a user who may write there") from error
    print_ladder(manifest, rows, config.voice.threads)
    for stride in found:
        print(
            f"  stride {stride.period_ms:>2} ms: {stride.cpu:.2%} of a core with any of these, "
            f"{stride.callback_us:.0f} µs a period"
        )
    if reason:
        print(f"  stride: not measured ({reason})")
    print(f"{len(rows)} ways measured, kept in {file}; used when the voice is loaded next")
    if args.plot:
        draw(args.plot, manifest, rows, found, config.voice.threads)
        print(f"drawn into {args.plot}")
    return 0


def _strides(config: Config) -> tuple[tuple[Stride, ...], str]:
    """Of the configured device; or none and why, for a voice can be measured where nothing plays."""
    try:
        return strides(config, state_dir(config), lambda line: print(line, file=sys.stderr)), ""
    except SinkError as error:
        return (), str(error)


def _rows(folder: Path, manifest: Manifest, repeat: int) -> Iterator[ladder.Row]:
    threads = [n for n in THREADS if n <= (os.cpu_count() or 1)]
    cells = [(level, n) for level in manifest.levels for n in threads]
    for number, (level, n) in enumerate(cells, 1):
        print(
            f"{number}/{len(cells)}: {level}, {n} thread{'s'[: n - 1]}",
            end="",
            file=sys.stderr,
            flush=True,
        )
        task = {"store": str(folder), "name": manifest.name, "level": level, "threads": n, "repeat": repeat}
        for row in _timed(task):
            yield row
            print(f"; first audio {row.first_audio_ms[0]:.0f} ms, RTF {row.rtf:.3f}", end="", file=sys.stderr)
            sys.stderr.flush()
        print(file=sys.stderr)


def _timed(task: dict[str, Any]) -> Iterator[ladder.Row]:
    command = [sys.executable, "-m", "edged.cli.voice_timing", json.dumps(task)]
    pipes: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
    with subprocess.Popen(command, text=True, **pipes) as child:
        try:
            for line in child.stdout or ():
                yield ladder.row_of(json.loads(line))
        except BaseException:
            child.kill()
            raise
        said = child.stderr.read() if child.stderr else ""
    if child.returncode:
        print(file=sys.stderr)
        reason = (said.strip().splitlines() or [f"ended with {child.returncode}"])[-1]
        raise VoiceError(f"voice {task['name']}, level {task['level']}: was not measured ({reason})")


def draw(
    file: Path, manifest: Manifest, rows: tuple[ladder.Row, ...], found: tuple[Stride, ...], threads: int
) -> None:
    """First audio against speed, and memory against distance; a ring around what is used.

    A cross stands for it with a stride: later by up to one period, and dearer by what the device costs.
    """
    chosen = ladder.best([row for row in rows if row.threads <= threads], ladder.natural_db(manifest))
    with canvas.canvas(file, f"voice {manifest.name} on {ladder.machine()}") as (left, right):
        for level in manifest.levels:
            own = [row for row in rows if row.level == level]
            left.scatter([r.rtf for r in own], [r.first_audio_ms[1] for r in own], label=level)
            right.scatter([r.distance_db for r in own], [r.private_dirty_mb for r in own], label=level)
        for row in ladder.ladder(rows):
            chunks = ",".join(map(str, row.chunks))
            left.annotate(f" {chunks} ({row.threads})", (row.rtf, row.first_audio_ms[1]), fontsize=7)
        if chosen:
            at = (chosen.rtf, chosen.first_audio_ms[1])
            left.scatter(*at, s=160, facecolors="none", edgecolors="black")
            for stride in found:
                place = (at[0] + stride.cpu, at[1] + stride.period_ms)
                title = "with its device, by stride" if stride is found[0] else None
                left.scatter(*place, marker="x", color="black", label=title)
                left.annotate(f" {stride.period_ms} ms", place, fontsize=7)
        left.set(xlabel="RTF", ylabel="ms", title=f"First audio, {ladder.TEXT_CHARS[1]} characters")
        left.set_ylim(bottom=0)
        right.axvline(
            ladder.natural_db(manifest), ls="--", color="#777777", label="the voice's own variation"
        )
        right.set(xlabel="distance from fp32, dB log-mel", ylabel="MB", title="Private memory")
        right.set_ylim(bottom=0)
        for axes in (left, right):
            axes.grid(visible=True, alpha=0.3)
            axes.legend(fontsize=8)
