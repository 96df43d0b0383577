"""The voice zh-baker on its own: its levels, in chunks and whole.

Its graphs carry no past, so the whole is the same graphs in one call each and needs no rebuild. A text that
the engine says in parts (see `fastspeech2_parts`) is whole in its parts: the network takes no more at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from edged.bench.levels import HEARD, REFERENCE, LevelFigure, Tell, levels_of, sentences
from edged.bench.rows import Figure
from edged.types import Float32, PhonemeIds
from edged.voice.engines.fastspeech2 import (
    LEAD_FRAMES,
    FastSpeech2Engine,
    FastSpeech2Network,
    FastSpeech2Options,
)
from edged.voice.engines.fastspeech2_parts import bounded
from edged.voice.importers.vits_distance import log_mel
from edged.voice.manifest import Manifest
from edged.voice.speakers import Speakers
from edged.voices import front_end


class BakerVoice:
    """See `levels.Subject`."""

    rtf_chars = 30

    def __init__(self, manifest: Manifest) -> None:
        """Raises VoiceError where it does not load."""
        self.manifest = manifest
        self.levels = levels_of(manifest)
        self._phonemize = front_end(manifest.folder, None, 0)
        speakers = Speakers(manifest.name, manifest.speakers)
        self._networks: dict[str, FastSpeech2Network] = {}
        self.engines: dict[str, FastSpeech2Engine] = {}
        for level in self.levels:
            network = FastSpeech2Network(manifest.folder, FastSpeech2Options.of(manifest.options, level), 1)
            self._networks[level] = network
            self.engines[level] = FastSpeech2Engine(network, manifest.sample_rate_hz, level, speakers)

    def ids(self, text: str) -> PhonemeIds:
        """Text to ids, nothing from a cache."""
        return self._phonemize(text)

    def in_chunks(self, level: str, ids: PhonemeIds, _seed: int) -> Float32:
        """Samples as the network gives them, float32 [n]; there is no noise to be seeded."""
        return np.concatenate([self.streamed(level, part) for part in self.parts(ids)])

    def streamed(self, level: str, ids: NDArray[np.int64], of_level: str | None = None) -> Float32:
        """The same for one part, with the durations of another level where one is named, float32 [n]."""
        states, begin = self._states(level, ids, of_level or level)
        chunks = self._networks[level].samples(states, begin, len(states), self.engines[level].chunks)
        return np.concatenate(list(chunks))

    def whole(self, level: str, ids: PhonemeIds, _seed: int) -> Float32:
        """Each part in one call of each graph, float32 [n]."""
        network, made = self._networks[level], []
        for part in self.parts(ids):
            states, begin = self._states(level, part, level)
            made.append(network.audio(network.features(network.mel(states)))[begin * network.options.hop :])
        return np.concatenate(made)

    def parts(self, ids: PhonemeIds) -> list[NDArray[np.int64]]:
        """What the engine gives to the network at once, ids int64 [n] each."""
        breaks = self._networks[REFERENCE].options.break_ids
        return [part.ids for part in bounded(ids.ids, breaks)]

    def _states(self, level: str, ids: NDArray[np.int64], of_level: str) -> tuple[Float32, int]:
        """Of all frames, float32 [frames, channels]; and the first frame that is heard."""
        hidden, repeats = self._networks[level].encoded(ids, 1.0)
        if of_level != level:
            repeats = self._networks[of_level].encoded(ids, 1.0)[1]
        return self._networks[level].states(hidden, repeats), max(0, int(repeats[0]) - LEAD_FRAMES)


def heard(voice: BakerVoice, tell: Tell) -> Iterator[LevelFigure]:
    """Row logmel_distance_db: from fp32, with its durations."""
    rate_hz = voice.manifest.sample_rate_hz
    parts = [part for ids in sentences(voice, HEARD) for part in voice.parts(ids)]
    tell(f"logmel_distance_db: {len(parts)} parts of sentences")
    spectra = [log_mel(voice.streamed(REFERENCE, part), rate_hz) for part in parts]
    for level in voice.levels:
        made = (log_mel(voice.streamed(level, part, REFERENCE), rate_hz) for part in parts)
        found = [float(np.abs(a - b).mean()) for a, b in zip(spectra, made, strict=True)]
        yield level, Figure("logmel_distance_db", "from-fp32", found, "dB")
