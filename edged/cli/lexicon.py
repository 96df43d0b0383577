"""`edged lexicon`: try how a text is read with the user's words, and check a file of them."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from edged.cli.say import texts
from edged.config.load import find, load, printable, read_words
from edged.config.model import UserWord
from edged.render import read, voice_for
from edged.text.marks import plain
from edged.text.normalized import spoken_words
from edged.text.reading import Reading, adapted
from edged.types import Announcement, Voice
from edged.voices import Voices


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `edged lexicon` and of its subcommands."""
    subparsers = parser.add_subparsers(dest="lexicon_command", metavar="COMMAND", required=True)
    tried = subparsers.add_parser(
        "try", help="show how a text is read", description="Show how a text is read; nothing is spoken."
    )
    tried.add_argument("text", nargs="+", help="the text; '-' reads standard input, a line each")
    tried.add_argument("--lang", metavar="TAG", help="language of the text")
    checked = subparsers.add_parser(
        "check",
        help="check a lexicon",
        description="Check a lexicon: exit code 0 where the daemon would take it, else 78 and every problem.",
    )
    checked.add_argument("file", type=Path, metavar="FILE")
    for sub in (tried, checked):
        # Also behind the subcommand; what stands before it is kept where nothing follows.
        sub.add_argument("-c", "--config", type=Path, metavar="FILE", default=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Prints to standard output; returns 0. Raises ConfigError with every problem of a file."""
    if args.lexicon_command == "check":
        words = read_words(args.file)
        counts = ", ".join(f"{lang} {count}" for lang, count in Counter(w.lang for w in words).items())
        print(f"{printable(args.file)}: ok, {counts or 'no words'}")
        return 0
    config = load(find(args.config))
    voices = Voices(config, lambda _line: None)
    for text in texts(args.text):
        announcement = Announcement(id="", text=text, lang=args.lang)
        main = voices.get(None)
        more = voices.ready(text, args.lang)
        for reading in read(announcement, main, config):
            _show(reading, voice_for(reading.lang, (main, *more)))
    return 0


def _show(reading: Reading, voice: Voice) -> None:
    print(reading.source)
    lines = {
        "text": plain(reading.text),
        "words": spoken_words(reading.text),
        "phonemes": voice.phonemize(adapted(reading.text, reading.lang, voice.language)).phonemes,
        "voice": voice.name,
        "lexicon": _entries(reading.entries),
        "rules": ", ".join(reading.rules),
        "warnings": "; ".join(reading.warnings),
    }
    for name, line in lines.items():
        if line:
            print(f"  {name:<9} {line}")


def _entries(words: Sequence[UserWord]) -> str:
    """'nginx: engine x; GIF: phonemes ʤˈɪf'."""
    kinds = {"say": "", "phonemes": "phonemes ", "pinyin": "pinyin "}
    return "; ".join(f"{word.word}: {kinds[word.kind]}{word.value}" for word in words)
