"""The command `edged`: one subcommand a module, each imported only when it is called.

A command's module has `add_arguments(parser)` and `run(args) -> int`; `args.config` is the file of
-c/--config or None. A new command is one line in COMMANDS.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
import traceback
from pathlib import Path

from edged import __version__
from edged.errors import ConfigError, EdgedError

COMMANDS = {
    "run": ("edged.cli.run", "run the daemon"),
    "say": ("edged.cli.say", "speak a text, through the daemon or directly"),
    "check": ("edged.cli.check", "check the configuration"),
    "doctor": ("edged.cli.doctor", "examine this machine, one line per finding with its mend"),
    "top": ("edged.cli.top", "show what the running daemon says of itself, live or once"),
    "voice": ("edged.cli.voice", "list, install, import, measure and use voices"),
    "lexicon": ("edged.cli.lexicon", "try and check the words that are to be read otherwise"),
    "prerender": ("edged.cli.prerender", "render fixed announcements, so that they start at once"),
    "discovery": ("edged.cli.discovery", "show how Home Assistant sees this board, or remove it there"),
    "bench": ("edged.cli.bench", "measure latency, speed and memory on this machine"),
    "completion": ("edged.cli.completion", "print a completion script for bash, zsh or fish"),
}

EXIT_FAILED = 1
EXIT_BUG = 70
EXIT_IO = 74
EXIT_CONFIG = 78
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141
"""sysexits.h where it has a name for it, else 128 + the signal, as a shell would show it."""


def main(argv: list[str] | None = None) -> int:
    """Runs one command and returns its exit code; every error is one line on standard error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A file name or a voice's text that the terminal's encoding lacks must not end a command.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        if sys.stdout is not None:
            sys.stdout.flush()
    except ConfigError as error:
        for problem in error.problems:
            _complain(f"{error.file}: {problem}")
        return EXIT_CONFIG
    except EdgedError as error:
        _complain(f"edged: {error}")
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _abandon_output()
        return EXIT_PIPE
    except Exception as error:
        return _unexpected(error)
    return code


def command_parser(*commands: str) -> argparse.ArgumentParser:
    """The parser, with the arguments of the named commands; the others are known by name alone."""
    parser = argparse.ArgumentParser(
        prog="edged", description="Speaks announcements published over MQTT on the local speaker."
    )
    parser.add_argument("--version", action="version", version=f"edged {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (module, summary) in COMMANDS.items():
        sub = subparsers.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        sub.add_argument(
            "-c",
            "--config",
            type=Path,
            metavar="FILE",
            help="configuration; default $EDGED_CONFIG, else /etc/edged/edged.yaml, else the defaults",
        )
        if name in commands:
            importlib.import_module(module).add_arguments(sub)
    return parser


def _run(argv: list[str]) -> int:
    named = [word for word in argv[:1] if word in COMMANDS]
    parser = command_parser(*named)
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help()
        return 0
    code: int = importlib.import_module(COMMANDS[args.command][0]).run(args)
    return code


def _unexpected(error: Exception) -> int:
    if os.environ.get("EDGED_DEBUG"):
        traceback.print_exc()
    if isinstance(error, OSError):
        # A full disk or a file that went away is the machine's fault, not a bug.
        _complain(f"edged: {error.filename or 'input or output'}: {error.strerror or error}")
        _abandon_output()
        return EXIT_IO
    hint = "this is a bug; run with EDGED_DEBUG=1 for the details"
    _complain(f"edged: {type(error).__name__}: {error}; {hint}")
    return EXIT_BUG


def _abandon_output() -> None:
    """So that the interpreter, when it ends, does not complain about the same pipe or disk again."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(line: str) -> None:
    print(" ".join(line.split()), file=sys.stderr)
