"""`edged voice install | import | remove`: changes the store, as a whole or not at all."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from edged.audio.wavfile import write
from edged.config.load import find, load
from edged.config.model import Config
from edged.errors import VoiceError
from edged.prompts import TEXTS, prompt_file
from edged.render import NO_CACHE, render
from edged.text.reading import base
from edged.types import Announcement
from edged.voice import store
from edged.voice.catalog import CatalogEntry, catalog
from edged.voice.install import import_file, import_url, install
from edged.voice.manifest import Manifest
from edged.voices import Voices, state_dir, store_dir


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
    config = load(find(args.config))
    with _interruptible(entry.name):
        made = install(entry, store_dir(config), args.given, _progress, accepted=accepted)
    _tell(made)
    _record_prompt(made, config)
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
    if args.sha256 and "://" not in args.source:
        raise VoiceError("--sha256 belongs to a URL; a file is taken as it is")
    with _interruptible(name):
        if "://" in args.source:
            made = import_url(args.source, args.sha256, name, folder, _progress)
        else:
            made = import_file(Path(args.source), name, folder, "", _progress)
    _tell(made)
    return 0


def remove_voice(args: argparse.Namespace) -> int:
    """0 when it is out of the store. Raises VoiceError."""
    folder = store_dir(load(find(args.config)))
    gone = store.remove(folder, args.name)
    print(
        f"{args.name}: removed" + ("" if gone else "; its files go when the process that speaks with it ends")
    )
    return 0


@contextmanager
def _interruptible(name: str) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        print(f"interrupted; {name} was not installed", file=sys.stderr)
        raise


def _record_prompt(made: Manifest, config: Config) -> None:
    """What is said when a voice of this language fails, where no recording of it may be shipped."""
    lang = base(made.language)
    folder = state_dir(config)
    if lang not in TEXTS or prompt_file(lang, folder) is not None:
        return
    voices = Voices(replace(config, voice=replace(config.voice, name=made.name)), _progress)
    voice = voices.get(None)
    rate_hz = voice.engine.sample_rate_hz
    blocks = render(Announcement("", TEXTS[lang]), voice, config, rate_hz, NO_CACHE)
    file = folder / "prompts" / f"{lang}.wav"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write(file, np.concatenate([block.samples for block in blocks]), rate_hz)
    except OSError as error:
        print(f"{file}: {error.strerror}; the tone sounds when a voice fails", file=sys.stderr)


def _name_after(source: str) -> str:
    """'en_US-joe-medium' for the file or the folder of that name."""
    name = re.sub(r"[?#].*", "", source).rstrip("/").rsplit("/", 1)[-1]
    return name.removesuffix(".json").removesuffix(".onnx")


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _tell(made: Manifest) -> None:
    print(f"{made.name}: installed, version {made.version}, levels {', '.join(made.levels)}")
