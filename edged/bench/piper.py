"""A Piper voice beside itself without streaming: how soon, how fast, and how alike.

Every text is said by each level in chunks and as a whole, one after the other, so that whatever else the
machine does meets both. One thread; ratios are of processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from edged.bench.alone import Alone
from edged.bench.rows import Figure
from edged.bench.swaps import Swapped
from edged.bench.texts import texts
from edged.bench.whole import Whole
from edged.errors import EdgedError
from edged.types import Float32, PhonemeIds
from edged.voice.engines.vits import Prior, VitsEngine, default_speaker, open_engine
from edged.voice.importers.vits_distance import agreement_db, log_mel, replaced
from edged.voice.manifest import Manifest
from edged.voices import front_end

REFERENCE = "fp32"
CASES_CHARS = (30, 80, 300)
RTF_CHARS = 300
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


class PiperVoice:
    """All levels of an installed voice, in chunks and whole. Use as a context manager."""

    def __init__(self, manifest: Manifest) -> None:
        """Raises EdgedError where there is nothing to compare, or it does not load."""
        if manifest.engine != "vits":
            raise EdgedError(f"--voice {manifest.name}: is no Piper voice; edged bench measures it without")
        self.manifest = manifest
        self.levels = (REFERENCE, *(level for level in manifest.levels if level != REFERENCE))
        self.speaker = default_speaker(manifest)
        self.engines: dict[str, VitsEngine] = {}
        self.wholes: dict[str, Whole] = {}
        self._phonemize = front_end(manifest.folder, None, 0)
        self._stack = ExitStack()

    def __enter__(self) -> PiperVoice:
        folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="edged-bench-")))
        for level in self.levels:
            self.engines[level] = open_engine(self.manifest, level, 1)
            self.wholes[level] = Whole(self.manifest, level, self.engines[level].network, folder)
            self.wholes[level].check(self.ids(next(texts(CASES_CHARS[0]))).ids)
        return self

    def __exit__(self, *_error: object) -> None:
        self._stack.close()

    def ids(self, text: str) -> PhonemeIds:
        """Text to ids, nothing from a cache."""
        return self._phonemize(text)

    def sentences(self, counts: dict[int, int]) -> list[PhonemeIds]:
        """So many of each number of characters."""
        return [self.ids(text) for chars, n in counts.items() for text in islice(texts(chars), n)]

    def in_chunks(self, level: str, prior: Prior) -> Float32:
        """Samples as the network gives them, float32 [n]."""
        engine = self.engines[level]
        return np.concatenate(list(engine.network.samples(prior, engine.schedule, self.speaker)))


def timing(voice: PiperVoice, n: int, tell: Tell) -> Iterator[LevelFigure]:
    """Rows first_audio_ms, first_audio_ratio_to_whole, cpu_ratio_to_whole and rtf.

    cpu_ratio_to_whole is against the whole sentence in fp32, whatever the level; the first-audio ratio
    against the same level.
    """
    for chars in CASES_CHARS:
        of: dict[str, list[_Run]] = {level: [] for level in voice.levels}
        count = n if chars < RTF_CHARS else max(3, n // 3)
        for number, text in enumerate(islice(texts(chars), WARM_UP + count)):
            tell(f"{chars} characters: {number} of {count}")
            ids = voice.ids(text)
            for level in voice.levels:
                of[level].append(_Run(voice.engines[level], voice.wholes[level], ids, number))
        reference = of[REFERENCE][WARM_UP:]
        for level in voice.levels:
            runs, case = of[level][WARM_UP:], str(chars)
            ratios = [run.first_cpu_s / run.whole_cpu_s for run in runs]
            against = [r.cpu_s / o.whole_cpu_s for r, o in zip(runs, reference, strict=True)]
            yield level, Figure("first_audio_ms", case, [1000 * run.first_s for run in runs], "ms")
            yield level, Figure("first_audio_ratio_to_whole", case, ratios, "")
            yield level, Figure("cpu_ratio_to_whole", case, against, "")
            if chars == RTF_CHARS:
                yield level, Figure("rtf", "cpu", [run.cpu_s / run.sound_s for run in runs], "")
                yield level, Figure("rtf", "wall", [run.spent_s / run.sound_s for run in runs], "")


class _Run:
    """One sentence by one level, in chunks and then whole."""

    def __init__(self, engine: VitsEngine, whole: Whole, ids: PhonemeIds, seed: int) -> None:
        begun_s, begun_cpu_s = time.monotonic(), time.thread_time()
        chunks = engine.stream(ids, 1.0, seed)
        samples = next(chunks).samples.size
        self.first_s, self.first_cpu_s = time.monotonic() - begun_s, time.thread_time() - begun_cpu_s
        samples += sum(chunk.samples.size for chunk in chunks)
        self.spent_s, self.cpu_s = time.monotonic() - begun_s, time.thread_time() - begun_cpu_s
        self.sound_s = samples / engine.sample_rate_hz
        begun_cpu_s = time.thread_time()
        whole.samples(ids.ids, seed)
        self.whole_cpu_s = time.thread_time() - begun_cpu_s


def alike(voice: PiperVoice, tell: Tell) -> Iterator[LevelFigure]:
    """Row chunked_snr_db: the chunks against the whole sentence of the same level and seed."""
    sentences = voice.sentences(ALIKE)
    for level in voice.levels:
        found = []
        for seed, ids in enumerate(sentences):
            tell(f"chunked_snr_db, {level}: {seed} of {len(sentences)}")
            prior = voice.engines[level].network.prior(ids.ids, 1.0, seed, voice.speaker)
            whole = voice.wholes[level].samples(ids.ids, seed)
            found.append(min(LEAST_DB, agreement_db(whole, voice.in_chunks(level, prior))))
        yield level, Figure("chunked_snr_db", "sentences", found, "dB")
        yield level, Figure("chunked_snr_db", "least", [min(found)], "dB")


def heard(voice: PiperVoice, tell: Tell) -> Iterator[LevelFigure]:
    """Row logmel_distance_db: from fp32, with equal durations and noise; and between two draws of it."""
    rate_hz, reference = voice.manifest.sample_rate_hz, voice.engines[REFERENCE].network
    sentences = voice.sentences(HEARD)
    ones, drawn = [], []
    for seed, ids in enumerate(sentences):
        tell(f"logmel_distance_db: {seed} of {len(sentences)}")
        one = reference.prior(ids.ids, 1.0, seed, voice.speaker)
        other = reference.prior(ids.ids, 1.0, seed + len(sentences), voice.speaker)
        spectrum = log_mel(voice.in_chunks(REFERENCE, one), rate_hz)
        redrawn = log_mel(voice.in_chunks(REFERENCE, replaced(other, one, one.repeats)), rate_hz)
        ones.append((one.repeats, spectrum))
        drawn.append(float(np.abs(spectrum - redrawn).mean()))
    for level in voice.levels:
        engine, found = voice.engines[level], []
        for seed, (ids, (repeats, spectrum)) in enumerate(zip(sentences, ones, strict=True)):
            prior = replace(engine.network.prior(ids.ids, 1.0, seed, voice.speaker), repeats=repeats)
            found.append(float(np.abs(spectrum - log_mel(voice.in_chunks(level, prior), rate_hz)).mean()))
        yield level, Figure("logmel_distance_db", "two-draws", drawn, "dB")
        yield level, Figure("logmel_distance_db", "from-fp32", found, "dB")


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
        yield level, Figure("rss_after_long_mb", "untrimmed", [one.untrimmed_rss_mb for one in found], "MiB")
        yield level, Figure("rss_after_long_mb", "dirty", [one.private_dirty_mb for one in found], "MiB")


def exchanged(
    manifest: Manifest, ask: Ask, config_file: Path, swaps: int, tell: Tell
) -> Iterator[LevelFigure]:
    """Row swap_lost_samples, and what the process grew by: the two first levels, exchanged under speech."""
    levels = manifest.levels[:2]
    if len(levels) < 2:
        yield levels[0], Figure("swap_lost_samples", "swaps", (), "count", "the voice has one level only")
        return
    tell(f"swap_lost_samples: {swaps} exchanges under speech, about {3 * swaps} s")
    task = {"config_file": str(config_file), "levels": levels, "swaps": swaps}
    found = Swapped(**ask("edged.bench.swaps", task))
    grown_mb = max(found.resident_mb) - min(found.resident_mb)
    both = "+".join(levels)
    yield both, Figure("swap_lost_samples", "swaps", [found.lost_samples], "count")
    yield both, Figure("swap_lost_samples", "exchanged", [min(found.exchanged, found.during)], "count")
    yield both, Figure("swap_lost_samples", "voices-left", [found.voices_left], "count")
    yield both, Figure("swap_lost_samples", "rss-growth", [grown_mb], "MiB")
