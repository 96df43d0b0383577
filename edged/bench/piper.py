"""A Piper voice beside itself without streaming; its two levels exchanged under speech."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from edged.bench.levels import CASES_CHARS, HEARD, REFERENCE, Ask, LevelFigure, Tell, levels_of, sentences
from edged.bench.rows import Figure
from edged.bench.swaps import Swapped
from edged.bench.texts import texts
from edged.bench.whole import Whole
from edged.types import Float32, PhonemeIds
from edged.voice.engines.vits import Prior, VitsEngine, default_speaker, open_engine
from edged.voice.importers.vits_distance import log_mel, replaced
from edged.voice.manifest import Manifest
from edged.voices import front_end


class PiperVoice:
    """See `levels.Subject`. Use as a context manager."""

    rtf_chars = 300

    def __init__(self, manifest: Manifest) -> None:
        """Nothing is loaded yet."""
        self.manifest = manifest
        self.levels = levels_of(manifest)
        self.speaker = default_speaker(manifest)
        self.engines: dict[str, VitsEngine] = {}
        self.wholes: dict[str, Whole] = {}
        self._phonemize = front_end(manifest.folder, None, 0)
        self._stack = ExitStack()

    def __enter__(self) -> PiperVoice:
        """Raises EdgedError where it does not load, or the whole is not the same network."""
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

    def in_chunks(self, level: str, ids: PhonemeIds, seed: int) -> Float32:
        """Samples as the network gives them, float32 [n]."""
        return self.streamed(level, self.engines[level].network.prior(ids.ids, 1.0, seed, self.speaker))

    def streamed(self, level: str, prior: Prior) -> Float32:
        """The same for what the front end gave, float32 [n]."""
        engine = self.engines[level]
        return np.concatenate(list(engine.network.samples(prior, engine.schedule, self.speaker)))

    def whole(self, level: str, ids: PhonemeIds, seed: int) -> Float32:
        """Flow and decoder as published, in one call each, float32 [n]."""
        return self.wholes[level].samples(ids.ids, seed)


def heard(voice: PiperVoice, tell: Tell) -> Iterator[LevelFigure]:
    """Row logmel_distance_db: from fp32, with equal durations and noise; and between two draws of it."""
    rate_hz, reference = voice.manifest.sample_rate_hz, voice.engines[REFERENCE].network
    compared = sentences(voice, HEARD)
    ones, drawn = [], []
    for seed, ids in enumerate(compared):
        tell(f"logmel_distance_db: {seed} of {len(compared)}")
        one = reference.prior(ids.ids, 1.0, seed, voice.speaker)
        other = reference.prior(ids.ids, 1.0, seed + len(compared), voice.speaker)
        spectrum = log_mel(voice.streamed(REFERENCE, one), rate_hz)
        redrawn = log_mel(voice.streamed(REFERENCE, replaced(other, one, one.repeats)), rate_hz)
        ones.append((one.repeats, spectrum))
        drawn.append(float(np.abs(spectrum - redrawn).mean()))
    for level in voice.levels:
        engine, found = voice.engines[level], []
        for seed, (ids, (repeats, spectrum)) in enumerate(zip(compared, ones, strict=True)):
            prior = replace(engine.network.prior(ids.ids, 1.0, seed, voice.speaker), repeats=repeats)
            found.append(float(np.abs(spectrum - log_mel(voice.streamed(level, prior), rate_hz)).mean()))
        yield level, Figure("logmel_distance_db", "two-draws", drawn, "dB")
        yield level, Figure("logmel_distance_db", "from-fp32", found, "dB")


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
