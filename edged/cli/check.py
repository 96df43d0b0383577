"""`edged check`: is the configuration right, what does it come to; its schema, reference and manual."""

from __future__ import annotations

import argparse
import socket
from pathlib import Path

from edged.config.advice import advise
from edged.config.build import Loaded
from edged.config.load import find, printable, read
from edged.config.model import Config
from edged.config.reference import reference, shown
from edged.config.schema import schema_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments beside -c/--config."""
    parser.description = (
        "Check the configuration: exit code 0 where the daemon would start on it, else 78 and every "
        "problem on a line of its own. Warnings leave the code at 0."
    )
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="file to check; like --config")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--show", action="store_true", help="print what is in force as YAML, secrets masked")
    output.add_argument(
        "--schema", action="store_true", help="print the JSON Schema of the file, for editors"
    )
    output.add_argument("--reference", action="store_true", help="print a file with every key explained")
    output.add_argument(
        "--manual", action="store_true", help="print every topic, payload and key as Markdown, to be read"
    )


def run(args: argparse.Namespace) -> int:
    """Prints to standard output; returns 0. Raises ConfigError with every problem of the file."""
    if args.schema:
        print(schema_text(), end="")
    elif args.reference:
        print(reference(), end="")
    elif args.manual:
        from edged.cli.manual import manual  # it knows events, and with them numpy; a check needs neither

        print(manual(), end="")
    else:
        path = find(args.file or args.config)
        loaded = read(path) if path is not None else Loaded(Config(), {})
        if args.show:
            print(shown(loaded), end="")
        else:
            _print_findings(loaded, path)
    return 0


def _print_findings(loaded: Loaded, path: Path | None) -> None:
    name = printable(path) if path is not None else "defaults (no file)"
    print(f"{name}: ok")
    for fact in _facts(loaded.config):
        print(f"  {fact}")
    for warning in advise(loaded, path):
        print(f"{name}: warning: {warning}")


def _facts(config: Config) -> list[str]:
    """What the daemon will do, in the few lines that people look for first."""
    mqtt, audio = config.mqtt, config.audio
    port = mqtt.port or (8883 if mqtt.tls.enabled else 1883)
    user = f", user {mqtt.username}" if mqtt.username is not None else ""
    base = mqtt.base or f"edged/{config.node or socket.gethostname()}"
    detail = {"alsa": f" {audio.device or 'default device'}", "wav": f" {audio.wav_file}"}.get(audio.sink, "")
    return [
        f"broker: {mqtt.host} port {port}, {'TLS' if mqtt.tls.enabled else 'no TLS'}{user}",
        f"speaks: {', '.join((f'{base}/say', f'{base}/say/<zone>', *mqtt.topics))}",
        f"sound: {audio.sink}{detail}, periods of {audio.period_ms} ms, volume {audio.volume:g}",
        f"voice: {config.voice.name}, speed {config.voice.speed:g}",
    ]
