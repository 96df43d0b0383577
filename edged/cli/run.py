"""`edged run`: the daemon in the foreground."""

from __future__ import annotations

import argparse

from edged.config.load import find


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `edged run`."""
    parser.description = (
        "Run the daemon. SIGTERM or ctrl-C finishes the running announcement, a second one cuts it; "
        "SIGHUP reads the configuration again."
    )


def run(args: argparse.Namespace) -> int:
    """Run until stopped; the exit code of the process."""
    from edged.daemon import run as run_daemon

    return run_daemon(find(args.config))
