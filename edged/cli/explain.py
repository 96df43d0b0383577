"""`edged say --explain`: how a text is read, from what was received to phonemes; nothing is spoken."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from edged.config.load import find, load
from edged.config.model import Config
from edged.render import read, voice_for
from edged.text.normalized import spoken_words
from edged.text.reading import Reading, adapted, base, surface_pinyin
from edged.types import Announcement, Voice
from edged.voices import Voices


@dataclass(slots=True)
class Sentence:
    """All stretches and units of one sentence, put together."""

    source: list[str] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    langs: list[str] = field(default_factory=list)
    voices: list[str] = field(default_factory=list)
    phonemes: list[str] = field(default_factory=list)
    pinyin: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def members(self) -> dict[str, object]:
        """As printed with --json: the language of most of it; several voices are joined by '+'."""
        sizes = [(len(text), lang) for text, lang in zip(self.spoken, self.langs, strict=True)]
        return {
            "source": " ".join(filter(None, self.source)),
            "spoken": " ".join(filter(None, self.spoken)),
            "lang": max(sizes)[1],
            "voice": "+".join(dict.fromkeys(self.voices)),
            "phonemes": " ".join(filter(None, self.phonemes)),
            "pinyin": " ".join(filter(None, self.pinyin)),
            "rules": self.rules,
            "warnings": list(dict.fromkeys(self.warnings)),
        }


def explain(args: argparse.Namespace, announcements: Iterator[Announcement]) -> int:
    """Print how each announcement is read; always 0."""
    config = load(find(args.config))
    if args.voice:
        config = replace(config, voice=replace(config.voice, name=args.voice))
    voices = Voices(config, lambda _line: None)
    for number, announcement in enumerate(announcements, 1):
        main = voices.get(None)
        for sentence in sentences(
            announcement, main, voices.ready(announcement.text, announcement.lang), config
        ):
            members = sentence.members()
            if args.json:
                print(json.dumps({"line": number, **members}, ensure_ascii=False))
            else:
                _show(members)
    return 0


def sentences(
    announcement: Announcement, main: Voice, more: Sequence[Voice], config: Config
) -> Iterator[Sentence]:
    """The sentences of a text as they would be said by `main` and, in other languages, by `more`."""
    sentence = Sentence()
    for reading in read(announcement, main, config):
        _add(sentence, reading, voice_for(reading.lang, (main, *more)))
        if reading.ends_sentence:
            yield sentence
            sentence = Sentence()
    if sentence.source:
        yield sentence


def _add(sentence: Sentence, reading: Reading, voice: Voice) -> None:
    text = adapted(reading.text, reading.lang, voice.language)
    sentence.source.append(reading.source)
    sentence.spoken.append(spoken_words(reading.text))
    sentence.langs.append(reading.lang)
    sentence.voices.append(voice.name)
    sentence.phonemes.append(voice.phonemize(text).phonemes)
    if reading.lang == "zh":
        sentence.pinyin.append(surface_pinyin(reading.text))
    sentence.rules += reading.rules
    sentence.warnings += reading.warnings
    if base(voice.language) != reading.lang:
        said = "in pinyin" if reading.lang == "zh" else "as it is"
        sentence.warnings.append(f"no voice for {reading.lang!r} is installed: spoken {said} by {voice.name}")


def _show(members: dict[str, object]) -> None:
    print(members["source"])
    for name, value in members.items():
        if name == "source" or not value:
            continue
        if isinstance(value, list):
            separator = ", " if name == "rules" else "; "
            print(f"  {name:<9} {separator.join(map(str, value))}")
        else:
            print(f"  {name:<9} {value}")
