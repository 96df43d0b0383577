"""A voice on its own, level by level: how soon, how fast, how alike, and what it holds.

Every text is said by each level in chunks and as a whole, one after the other, so that whatever else the
machine does meets both. One thread; ratios are of processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol

from edged.bench.alone import Alone
from edged.bench.rows import Figure
from edged.bench.texts import texts
from edged.types import Engine, Float32, PhonemeIds
from edged.voice.importers.vits_distance import agreement_db
from edged.voice.manifest import Manifest

REFERENCE = "fp32"
CASES_CHARS = (30, 80, 300)
MANY_CHARS = 300
WARM_UP = 1
ALIKE = {30: 8, 80: 8, 300: 4}
"""Characters -> sentences compared with the whole."""
HEARD = {30: 4, 80: 4, 300: 2}
"""Characters -> sentences whose spectra are compared."""
LEAST_DB = 200.0
"""Stands for samples that are equal."""

LevelFigure = tuple[str, Figure]
Tell = Callable[[str], None]
Ask = Callable[[str, dict[str, Any]], dict[str, Any]]
"""(module, task) -> what a process of that module says about it."""


class Subject(Protocol):
    """All levels of an installed voice, in chunks and whole."""

    manifest: Manifest
    levels: tuple[str, ...]
    """REFERENCE first."""
    rtf_chars: int
    """Of the case that the row rtf is about."""

    @property
    def engines(self) -> Mapping[str, Engine]:
        """One a level."""
        ...

    def ids(self, text: str) -> PhonemeIds:
        """Text to ids, nothing from a cache."""
        ...

    def in_chunks(self, level: str, ids: PhonemeIds, seed: int) -> Float32:
        """Samples as the network gives them, float32 [n]."""
        ...

    def whole(self, level: str, ids: PhonemeIds, seed: int) -> Float32:
        """The same without streaming, float32 [n]."""
        ...


def levels_of(manifest: Manifest) -> tuple[str, ...]:
    """The reference, then the others."""
    return (REFERENCE, *(level for level in manifest.levels if level != REFERENCE))


def sentences(voice: Subject, counts: Mapping[int, int]) -> list[PhonemeIds]:
    """So many of each number of characters."""
    lang = voice.manifest.language
    return [voice.ids(text) for chars, n in counts.items() for text in islice(texts(chars, lang), n)]


def timing(voice: Subject, n: int, tell: Tell) -> Iterator[LevelFigure]:
    """Rows first_audio_ms, first_audio_ratio_to_whole, cpu_ratio_to_whole and rtf.

    Text to samples; the front end, which both have, is left out of the ratios. cpu_ratio_to_whole is against
    the whole sentence in fp32, whatever the level; the first-audio ratio against the same level.
    """
    for chars in CASES_CHARS:
        of: dict[str, list[_Run]] = {level: [] for level in voice.levels}
        count = n if chars < MANY_CHARS else max(3, n // 3)
        for number, text in enumerate(islice(texts(chars, voice.manifest.language), WARM_UP + count)):
            tell(f"{chars} characters: {number} of {count}")
            for level in voice.levels:
                of[level].append(_Run(voice, level, text, number))
        reference = of[REFERENCE][WARM_UP:]
        for level in voice.levels:
            runs, case = of[level][WARM_UP:], str(chars)
            ratios = [run.first_cpu_s / run.whole_cpu_s for run in runs]
            against = [r.cpu_s / o.whole_cpu_s for r, o in zip(runs, reference, strict=True)]
            first_ms = [1000 * (run.text_s + run.first_s) for run in runs]
            yield level, Figure("first_audio_ms", case, first_ms, "ms")
            yield level, Figure("first_audio_ratio_to_whole", case, ratios, "")
            yield level, Figure("cpu_ratio_to_whole", case, against, "")
            if chars == voice.rtf_chars:
                cpu = [(run.text_cpu_s + run.cpu_s) / run.sound_s for run in runs]
                wall = [(run.text_s + run.spent_s) / run.sound_s for run in runs]
                yield level, Figure("rtf", "cpu", cpu, "")
                yield level, Figure("rtf", "wall", wall, "")


class _Run:
    """One text by one level: to ids, to samples in chunks, and to samples as a whole."""

    def __init__(self, voice: Subject, level: str, text: str, seed: int) -> None:
        engine = voice.engines[level]
        begun_s, begun_cpu_s = time.monotonic(), time.thread_time()
        ids = voice.ids(text)
        self.text_s, self.text_cpu_s = time.monotonic() - begun_s, time.thread_time() - begun_cpu_s
        begun_s, begun_cpu_s = time.monotonic(), time.thread_time()
        chunks = engine.stream(ids, 1.0, seed)
        samples = next(chunks).samples.size
        self.first_s, self.first_cpu_s = time.monotonic() - begun_s, time.thread_time() - begun_cpu_s
        samples += sum(chunk.samples.size for chunk in chunks)
        self.spent_s, self.cpu_s = time.monotonic() - begun_s, time.thread_time() - begun_cpu_s
        self.sound_s = samples / engine.sample_rate_hz
        begun_cpu_s = time.thread_time()
        voice.whole(level, ids, seed)
        self.whole_cpu_s = time.thread_time() - begun_cpu_s


def alike(voice: Subject, tell: Tell) -> Iterator[LevelFigure]:
    """Row chunked_snr_db: the chunks against the whole sentence of the same level and seed."""
    compared = sentences(voice, ALIKE)
    for level in voice.levels:
        found = []
        for seed, ids in enumerate(compared):
            tell(f"chunked_snr_db, {level}: {seed} of {len(compared)}")
            whole, chunked = voice.whole(level, ids, seed), voice.in_chunks(level, ids, seed)
            found.append(min(LEAST_DB, agreement_db(whole, chunked)))
        yield level, Figure("chunked_snr_db", "sentences", found, "dB")
        yield level, Figure("chunked_snr_db", "least", [min(found)], "dB")


def memory(manifest: Manifest, ask: Ask, processes: int, tell: Tell) -> Iterator[LevelFigure]:
    """Rows load_cpu_ms, load_private_dirty_mb and rss_after_long_mb, each level in processes of its own."""
    store = str(manifest.folder.parent.parent)
    for level in manifest.levels:
        found = []
        for number in range(processes):
            tell(f"load_cpu_ms, {level}: {number} of {processes}")
            task = {"folder": store, "name": manifest.name, "level": level}
            found.append(Alone(**ask("edged.bench.alone", task)))
        yield level, Figure("load_cpu_ms", "warm", [one.load_cpu_ms for one in found], "ms")
        yield level, Figure("load_private_dirty_mb", "warm", [o.load_private_dirty_mb for o in found], "MiB")
        yield level, Figure("rss_after_long_mb", "trimmed", [one.rss_mb for one in found], "MiB")
        yield level, Figure("rss_after_long_mb", "peak", [one.peak_rss_mb for one in found], "MiB")
        yield level, Figure("rss_after_long_mb", "dirty", [one.private_dirty_mb for one in found], "MiB")
