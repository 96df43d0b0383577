"""`edged say`: speak a text through the running daemon, or directly without daemon and broker."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from edged.errors import EdgedError
from edged.types import Announcement, Priority


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `edged say`."""
    parser.description = (
        "Publish a text to the daemon's topic, wait until it has been spoken, and print the figures. "
        "With --direct, --wav or --stdout it is spoken by this process, without daemon and broker."
    )
    parser.add_argument("text", nargs="+", help="what to say; '-' reads standard input, a line each")
    parser.add_argument("--voice", metavar="NAME", help="voice; default: the configured one")
    parser.add_argument("--speaker", metavar="N", help="speaker of a voice with several: number or name")
    parser.add_argument("--lang", metavar="TAG", help="language of the text")
    parser.add_argument("--speed", type=float, metavar="X", help="pace, 0.5 to 2.0")
    parser.add_argument("--volume", type=float, metavar="X", help="loudness of this text, 0 to 1")
    parser.add_argument(
        "--priority", choices=[p.name.lower() for p in Priority], default="normal", help="default: normal"
    )
    parser.add_argument("--id", metavar="ID", help="id; a second one within the window is not spoken")
    parser.add_argument("--ttl", type=float, metavar="S", help="seconds after which it is too old")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="longest wait; default 60")
    parser.add_argument("--no-wait", action="store_true", help="publish and leave")
    parser.add_argument("--json", action="store_true", help="with --explain: one JSON object a sentence")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--direct", action="store_true", help="through the configured sound device, here")
    where.add_argument("--wav", type=Path, metavar="FILE", help="into a WAV file")
    where.add_argument("--explain", action="store_true", help="print how it is read, and say nothing")
    where.add_argument("--stdout", action="store_true", help="raw 16-bit mono PCM to standard output")


def run(args: argparse.Namespace) -> int:
    """0 when everything was spoken, 1 when something was not."""
    for name, low, high in (("speed", 0.5, 2.0), ("volume", 0.0, 1.0)):
        value = getattr(args, name)
        if value is not None and not low <= value <= high:
            raise EdgedError(f"--{name} {value:g} is out of bounds; give {low:g} to {high:g}")
    if args.json and not args.explain:
        raise EdgedError("--json belongs to --explain")
    if args.explain:
        from edged.cli.explain import explain

        return explain(args, announcements(args))
    if args.direct or args.wav or args.stdout:
        from edged.cli.direct import say_directly

        return say_directly(args, announcements(args))
    from edged.cli.through_broker import say_through_broker

    return say_through_broker(args, announcements(args))


def texts(words: list[str]) -> Iterator[str]:
    """The words given, or for '-' each line of standard input."""
    if words == ["-"]:
        return (line.rstrip("\n") for line in sys.stdin)
    return iter([" ".join(words)])


def announcements(args: argparse.Namespace) -> Iterator[Announcement]:
    """One announcement for the words given, or one a line of standard input."""
    for number, text in enumerate(texts(args.text)):
        yield Announcement(
            id=args.id if args.id and number == 0 else "",
            text=text,
            id_given=bool(args.id),
            voice=args.voice,
            speaker=args.speaker,
            lang=args.lang,
            speed=args.speed,
            volume=args.volume,
            priority=Priority[args.priority.upper()],
            ttl_s=args.ttl,
        )
