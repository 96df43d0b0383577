"""`edged run`: the daemon in the foreground."""

from __future__ import annotations

import argparse
import sys

from edged.config.load import find
from edged.errors import VoiceError

EX_CONFIG = 78
"""Of sysexits.h; the unit does not restart after it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `edged run`."""
    parser.description = (
        "Run the daemon. SIGTERM or ctrl-C finishes the running announcement, a second one cuts it; "
        "SIGHUP reads the configuration again."
    )


def run(args: argparse.Namespace) -> int:
    """Run until stopped; the exit code of the process.

    Without any voice that can speak it is EX_CONFIG, as for a bad configuration: starting again and
    again would not help.
    """
    from edged.daemon import run as run_daemon

    try:
        return run_daemon(find(args.config))
    except VoiceError as error:
        print(f"edged: {' '.join(str(error).split())}", file=sys.stderr)
        return EX_CONFIG
