"""`edged voice install | import | remove`: changes the store, as a whole or not at all."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from edged.config.load import find, load
from edged.errors import VoiceError
from edged.voice import store
from edged.voice.catalog import CatalogEntry, catalog
from edged.voice.install import import_file, import_url, install
from edged.voice.manifest import Manifest
from edged.voices import store_dir


def install_voice(args: argparse.Namespace) -> int:
    """0 when it is in the store. Raises VoiceError in one line; ctrl-C leaves the store as it was."""
    entry = catalog().get(args.name)
    if entry is None:
        known = ", ".join(catalog())
        raise VoiceError(
            f"{args.name!r} is not in the catalog; there is {known} (others: edged voice import)"
        )
    if entry.licence.note:
        print(f"{entry.name}: {entry.licence.note}", file=sys.stderr)
    accepted = args.accepted or (entry.must_accept and _agreed(entry))
    folder = store_dir(load(find(args.config)))
    _tell(install(entry, folder, args.given, _progress, accepted=accepted))
    return 0


def _agreed(entry: CatalogEntry) -> bool:
    """The answer at a terminal; False where there is none."""
    if not sys.stdin.isatty():
        return False
    print(f"Do you accept this licence and install {entry.name}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def import_voice(args: argparse.Namespace) -> int:
    """0 when it is in the store. Raises VoiceError in one line; ctrl-C leaves the store as it was."""
    folder = store_dir(load(find(args.config)))
    name = args.name or _name_after(args.source)
    if name in catalog():
        raise VoiceError(f"{name!r} is a voice of the catalog; give another --name")
    if "://" in args.source:
        _tell(import_url(args.source, args.sha256, name, folder, _progress))
        return 0
    if args.sha256:
        raise VoiceError("--sha256 belongs to a URL; a file is taken as it is")
    _tell(import_file(Path(args.source), name, folder, "", _progress))
    return 0


def remove_voice(args: argparse.Namespace) -> int:
    """0 when it is out of the store. Raises VoiceError."""
    folder = store_dir(load(find(args.config)))
    gone = store.remove(folder, args.name)
    print(
        f"{args.name}: removed" + ("" if gone else "; its files go when the process that speaks with it ends")
    )
    return 0


def _name_after(source: str) -> str:
    """'en_US-joe-medium' for the file or the folder of that name."""
    name = re.sub(r"[?#].*", "", source).rstrip("/").rsplit("/", 1)[-1]
    return name.removesuffix(".json").removesuffix(".onnx")


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _tell(made: Manifest) -> None:
    print(f"{made.name}: installed, version {made.version}, levels {', '.join(made.levels)}")
