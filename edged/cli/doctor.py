"""`edged doctor`: one line per finding, with its mend.

Each check runs on a thread of its own with a limit, so that a sound system or a name server that
does not answer is a finding, and so is a check that breaks.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict

from edged.cli.checks import broker, sound, speech, system
from edged.cli.checks.finding import Board, Check, Finding, Level, fail
from edged.config.load import find, load
from edged.config.model import Config
from edged.errors import ConfigError

CHECKS: dict[str, tuple[Check, float]] = {
    "libraries": (system.libraries, 20.0),
    "config": (system.configuration, 5.0),
    "sound": (sound.sound, 20.0),
    "broker": (broker.broker, 15.0),
    "limits": (system.limits, 10.0),
    "processors": (system.processors, 5.0),
    "sensors": (system.sensors, 5.0),
    "voice": (speech.voice, 90.0),
    "disk": (system.disk, 5.0),
}
"""Every check with its limit in seconds, in the order of the report."""

THREAD_PREFIX = "check "
COLOURS = {Level.OK: "\033[32m", Level.WARN: "\033[33m", Level.FAIL: "\033[31m"}
PLAIN = "\033[0m"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `edged doctor`."""
    parser.description = (
        "Look at everything edged needs, and say how to mend what is wrong. Exit code 1 if anything fails."
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=CHECKS,
        metavar="CHECK",
        help=f"one of {', '.join(CHECKS)}; repeatable",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--measure",
        action="store_true",
        help="instead: run the daemon with and without memory lock, affinity and SCHED_FIFO, and with other "
        "periods, and print the differences; takes a minute and a half and keeps the machine busy",
    )
    parser.add_argument(
        "--seconds", type=float, default=6.0, metavar="N", help="of speech for each line of --measure"
    )
    parser.add_argument("--no-load", action="store_true", help="--measure without busy processes beside it")


def run(args: argparse.Namespace) -> int:
    """Print the findings as they come; the exit code."""
    board = _board(args)
    if args.measure:
        from edged.cli import measure  # here: a library that is missing is a finding of the others

        return measure.run(board.config, args.seconds, not args.no_load, args.json)
    shown: list[Finding] = []
    for name in args.only or CHECKS:
        check, limit_s = CHECKS[name]
        for finding in bounded(name, check, board, limit_s):
            shown.append(finding)
            if not args.json:
                _show(finding)
    if args.json:
        print(json.dumps([asdict(finding) for finding in shown], indent=2, ensure_ascii=False))
    code = int(any(finding.level is Level.FAIL for finding in shown))
    sys.stdout.flush()
    checks = [thread for thread in threading.enumerate() if thread.name.startswith(THREAD_PREFIX)]
    for thread in checks:
        thread.join(0.5)
    if any(thread.is_alive() for thread in checks):
        os._exit(code)  # a check that hangs, often in a sound library, would hang the exit too
    return code


def _board(args: argparse.Namespace) -> Board:
    """A configuration that is refused is reported by its own check; the others use the defaults."""
    file = find(args.config)
    try:
        config = load(file)
    except ConfigError:
        config = Config()
    return Board(config_file=file, config=config)


def bounded(name: str, check: Check, board: Board, limit_s: float) -> Iterator[Finding]:
    """What the check finds, within `limit_s` altogether; never raises."""
    found: queue.SimpleQueue[Finding | None] = queue.SimpleQueue()
    threading.Thread(
        target=_collect, args=(name, check, board, found.put), name=THREAD_PREFIX + name, daemon=True
    ).start()
    deadline_s = time.monotonic() + limit_s
    while True:
        try:
            finding = found.get(timeout=max(0.0, deadline_s - time.monotonic()))
        except queue.Empty:
            yield fail(
                name, f"no answer within {limit_s:.0f} s", "try again; if it stays, restart the machine"
            )
            return
        if finding is None:
            return
        yield finding


def _collect(name: str, check: Check, board: Board, put: Callable[[Finding | None], None]) -> None:
    try:
        for finding in check(board):
            put(finding)
    except Exception as error:  # whatever breaks in a check is a finding of the doctor
        reason = " ".join(str(error).split()) or type(error).__name__
        put(fail(name, f"could not be checked: {type(error).__name__}: {reason}", "report this line"))
    finally:
        put(None)


def _show(finding: Finding) -> None:
    tag = f"[{finding.level.value}]"
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        tag = f"{COLOURS[finding.level]}{tag}{PLAIN}"
    print(tag, finding, flush=True)
