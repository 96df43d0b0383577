"""`edged prerender`: render fixed announcements into the daemon's folder, so that they start at once."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np

from edged.config.load import find, load
from edged.errors import EdgedError
from edged.phrases import Phrases
from edged.render import NO_CACHE, key, render
from edged.studio import further
from edged.types import Announcement
from edged.voices import Voices, state_dir


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `edged prerender`."""
    parser.description = (
        "Render texts with the configured voice and keep them on disk. The daemon does the same in its idle "
        "time for the list cache.phrases; this is for a file of texts, and for doing it now."
    )
    parser.add_argument("file", nargs="?", help="a text a line; - for standard input; default: cache.phrases")
    parser.add_argument("--clear", action="store_true", help="remove all that is kept, first")


def run(args: argparse.Namespace) -> int:
    """0 when every text is kept."""
    config = load(find(args.config))
    phrases = Phrases(state_dir(config) / "phrases", config.cache.disk_mib << 20)
    if args.clear:
        print(f"{phrases.clear()} phrases removed")
        if args.file is None:
            return 0
    texts = _texts(args.file, config.cache.phrases)
    if not texts:
        raise EdgedError("nothing to render: name a file with a text a line, or list texts in cache.phrases")
    os.nice(19)  # a daemon that speaks meanwhile comes first
    voices = Voices(config, lambda line: print(line, file=sys.stderr))
    voice = voices.get(None)
    names = []
    for number, text in enumerate(texts, 1):
        announcement = Announcement("", text)
        voices.ready(text, None)
        more = further(announcement, voice, config, voices.for_language)
        name = key(announcement, voice, config, voice.engine.level, more)
        if name not in phrases:
            rendered = render(announcement, voice, config, voice.engine.sample_rate_hz, NO_CACHE, more=more)
            blocks = [block.samples for block in rendered]
            if not blocks:
                print(f"{number}/{len(texts)} nothing to speak: {text}")
                continue
            try:
                phrases.put(name, np.concatenate(blocks))
            except OSError as error:
                raise EdgedError(f"{state_dir(config) / 'phrases'}: {error.strerror}") from None
        names.append(name)
        print(f"{number}/{len(texts)} {text}")
    gone = sum(name not in phrases for name in names)
    if gone:
        limit = f"cache.disk_mib is {config.cache.disk_mib}"
        raise EdgedError(f"{gone} of {len(names)} phrases found no room ({limit}); raise it or render fewer")
    return 0


def _texts(file: str | None, listed: tuple[str, ...]) -> list[str]:
    if file is None:
        return list(listed)
    try:
        content = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise EdgedError(f"{file}: {reason}") from None
    return [line.strip() for line in content.splitlines() if line.strip()]
