"""`edged voice measure NAME --samples DIR`: the same sentences by each level, to be compared by ear.

Every level gets the durations and the noise of the reference, so that nothing differs but its precision;
beside them two more draws of the noise by the reference, which is what the voice varies by itself.
index.tsv names the files, with the distance of each from the reference.
"""

from __future__ import annotations

import wave
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged.errors import EdgedError, VoiceError
from edged.types import Float32
from edged.voice.engines.vits import Prior, VitsEngine, default_speaker, open_engine
from edged.voice.importers.vits_distance import log_mel, replaced
from edged.voice.manifest import Manifest
from edged.voices import front_end

SENTENCES = (
    "Dinner is ready, please come to the table.",
    "The garage door has been open for ten minutes, and it is getting cold in there.",
    "Careful: the smoke detector on the second floor says that its battery is almost empty, so somebody"
    " should change it before tonight.",
)
REFERENCE = "fp32"
DRAWS = (2, 3)
INDEX = "index.tsv"


@dataclass(frozen=True, slots=True)
class Sample:
    """One file."""

    file: str
    level: str
    noise: int
    """Number of the draw; the reference has 1."""
    distance_db: float
    """Log-mel, from the reference."""
    text: str


def write_samples(manifest: Manifest, folder: Path) -> tuple[Sample, ...]:
    """Write them into a folder, which is made. Raises EdgedError, in one line."""
    if manifest.engine != "vits":
        raise VoiceError(f"voice {manifest.name}: --samples is for Piper voices")
    engines = {level: open_engine(manifest, level, 1) for level in manifest.levels}
    phonemize = front_end(manifest.folder, None, 0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        samples = [
            sample
            for number, text in enumerate(SENTENCES, 1)
            for sample in _of_sentence(manifest, engines, phonemize(text).ids, number, text, folder)
        ]
        lines = ["file\tlevel\tnoise\tdistance_db\ttext"]
        lines += [f"{s.file}\t{s.level}\t{s.noise}\t{s.distance_db:.2f}\t{s.text}" for s in samples]
        (folder / INDEX).write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise EdgedError(f"{folder}: {error.strerror}; name a folder you may write to") from error
    return tuple(samples)


def _of_sentence(
    manifest: Manifest,
    engines: dict[str, VitsEngine],
    ids: NDArray[np.int64],
    number: int,
    text: str,
    folder: Path,
) -> Iterator[Sample]:
    rate_hz, reference, speaker = manifest.sample_rate_hz, engines[REFERENCE], default_speaker(manifest)
    one = reference.network.prior(ids, 1.0, 1, speaker)
    spectrum = log_mel(_sound(reference, one, speaker), rate_hz)

    def sample(level: str, draw: int, prior: Prior) -> Sample:
        sound = _sound(engines[level], prior, speaker)
        file = f"{number}-{level}" + (f"-noise{draw}" if draw != 1 else "") + ".wav"
        _write(folder / file, sound, rate_hz)
        distance_db = float(np.abs(log_mel(sound, rate_hz) - spectrum).mean())
        return Sample(file, level, draw, distance_db, text)

    for level, engine in engines.items():
        yield sample(level, 1, replace(engine.network.prior(ids, 1.0, 1, speaker), repeats=one.repeats))
    for draw in DRAWS:
        other = reference.network.prior(ids, 1.0, draw, speaker)
        yield sample(REFERENCE, draw, replaced(other, one, one.repeats))


def _sound(engine: VitsEngine, prior: Prior, speaker: int | None) -> Float32:
    return np.concatenate(list(engine.spoken(prior, speaker)))


def _write(file: Path, samples: Float32, rate_hz: int) -> None:
    with file.open("wb") as raw, wave.open(raw, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(rate_hz)
        wav.writeframes((samples * 32767).astype("<i2").tobytes())
