"""The text room alone: what its rules and tables cost a process, and how long a sentence takes in it.

The figures come from processes of their own, run by `edged bench` as `python -m edged.bench.reading`, since
a module is loaded once per process. What the daemon holds beside its text room is imported first, and the
spelling net (the voice room's) has run, so that only the text room is counted. Such a process prints a Read
as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import edged.mqtt.client  # noqa: F401 (the daemon has it, too)
from edged.bench.dense import CHARS, dense
from edged.bench.rows import Figure
from edged.config.model import TextConfig
from edged.errors import EdgedError
from edged.health.sensors import Sensors
from edged.types import PhonemeIds
from edged.voice import heap, store
from edged.voice.engines import hibari
from edged.voice.engines._ort import Network
from edged.voice.load import SpellingNet
from edged.voice.manifest import Manifest

LANGUAGES = ("en", "zh")
WARM_UP = 10

Say = Callable[[str], PhonemeIds]
Tell = Callable[[str], None]
Ask = Callable[[str, dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Read:
    """Of one process. Memory in MiB, after the last sentence."""

    load_ms: float
    """Imports, tables, and the first sentence of each language, which compiles the rules."""
    rss_mb: float
    sentences_ms: list[float]


def figures(ask: Ask, english: Manifest, sentences: int, processes: int, tell: Tell) -> Iterator[Figure]:
    """Rows text_front_end_ms, text_tables_ms and text_rss_mb.

    `english`: the voice whose phonemes English is read in; where it speaks another language those rows are
    missing. text_front_end_ms is clean, units, normalization and phonemes of one sentence of 60 characters,
    nothing cached; a sentence may be more than one unit. The files are in the page cache.
    """
    speaks = english.language.lower().startswith("en")
    missing = None if speaks else f"voice {english.name} speaks {english.language}; configure an English one"
    load: dict[str, list[float]] = {}
    for lang in LANGUAGES:
        tell(f"text_front_end_ms: {sentences} sentences, {lang}")
        if lang == "en" and missing:
            yield Figure("text_front_end_ms", f"{lang}-{CHARS}", (), "ms", missing)
            continue
        reads = [_read(ask, english, (lang,), sentences if first == 0 else 0) for first in range(processes)]
        yield Figure("text_front_end_ms", f"{lang}-{CHARS}", reads[0].sentences_ms, "ms")
        load[lang] = [read.load_ms for read in reads]
    for lang in LANGUAGES:
        yield Figure("text_tables_ms", lang, load.get(lang, ()), "ms", None if lang in load else missing)
    if missing:
        yield Figure("text_rss_mb", "both", (), "MiB", missing)
        return
    both = [_read(ask, english, LANGUAGES, sentences) for _ in range(processes)]
    yield Figure("text_rss_mb", "both", [read.rss_mb for read in both], "MiB")


def _read(ask: Ask, english: Manifest, langs: Sequence[str], sentences: int) -> Read:
    where = {"folder": str(english.folder.parent.parent), "name": english.name}
    return Read(**ask("edged.bench.reading", {**where, "langs": langs, "sentences": sentences}))


def main(folder: str, name: str, langs: Sequence[str], sentences: int) -> Read:
    """Load the languages in turn, then read so many sentences of each. Raises VoiceError."""
    manifest = store.current(Path(folder), name)
    net = _spelling_net(manifest) if "en" in langs else None
    sensors = Sensors()
    heap.trim()
    before_mb = sensors.read().rss_mb or 0.0
    begun_ns = time.monotonic_ns()
    says: dict[str, Say] = {}
    for lang in langs:
        says[lang] = _front_end(lang, manifest, net)
        _ids(next(dense(lang)), lang, says[lang])
    load_ms = (time.monotonic_ns() - begun_ns) / 1e6
    spent: list[float] = []
    for lang in langs:
        texts = list(islice(dense(lang), 1 + WARM_UP + sentences))[1:] if sentences else []
        for number, text in enumerate(texts):
            begun_ns = time.monotonic_ns()
            _ids(text, lang, says[lang])
            if number >= WARM_UP:
                spent.append((time.monotonic_ns() - begun_ns) / 1e6)
    heap.trim()
    return Read(load_ms, (sensors.read().rss_mb or 0.0) - before_mb, spent)


def _spelling_net(manifest: Manifest) -> SpellingNet | None:
    """What a voice of hibari's spells unknown words with, having run once; None where there is none."""
    if manifest.engine != "hibari":
        return None
    net = Network(manifest.folder / hibari.SPELLING, 1)
    net(chars=np.zeros((1, 8), np.int64))
    return lambda chars: net(chars=chars)[0]


def _front_end(lang: str, manifest: Manifest, net: SpellingNet | None) -> Say:
    """Without a cache. The imports stand here because they are what is timed."""
    if lang == "zh":
        from edged.text.zh.baker import BakerFrontEnd

        return BakerFrontEnd(0)
    if net is None:
        from edged.text.piper import PiperFrontEnd

        return PiperFrontEnd(manifest.folder, 0)
    from edged.text.english import EnglishFrontEnd

    return EnglishFrontEnd(manifest.folder, net, 0)


def _ids(text: str, lang: str, say: Say) -> None:
    """As the synth thread does, stretch by stretch."""
    from edged.text.reading import readings  # timed when it is first needed

    for reading in readings(text, None, lang, TextConfig().first_unit_chars, 0):
        say(reading.text)


if __name__ == "__main__":
    try:
        print(json.dumps(asdict(main(**json.loads(sys.argv[1])))))
    except EdgedError as error:
        sys.exit(" ".join(str(error).split()))
