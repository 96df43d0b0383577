"""Small WAV files of ours and of the user's: chimes, prompts, prerendered phrases."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np

from edged.audio.pcm import FULL_SCALE, PcmStream
from edged.errors import SinkError
from edged.types import Float32, Int16

LONGEST_S = 10.0


def read_at(file: Path, rate_hz: int) -> Int16:
    """A file's sound at `rate_hz`, int16 [n] mono; its channels are averaged.

    Raises SinkError, in one line, for what is missing, no WAV of 16 bits, or longer than LONGEST_S.
    """
    samples, own_rate_hz = _read(file)
    pcm = PcmStream(own_rate_hz, rate_hz)
    return np.concatenate((pcm.push(samples, 1.0), pcm.flush()))


def _read(file: Path) -> tuple[Float32, int]:
    try:
        with wave.open(str(file), "rb") as wav:
            if wav.getsampwidth() != 2:
                raise SinkError(f"{file}: {8 * wav.getsampwidth()} bits a sample; save it with 16")
            if wav.getnframes() > LONGEST_S * wav.getframerate():
                raise SinkError(f"{file}: longer than {LONGEST_S:g} s; cut it")
            raw = np.frombuffer(wav.readframes(wav.getnframes()), "<i2")
            frames = raw[: raw.size - raw.size % wav.getnchannels()].reshape(-1, wav.getnchannels())
            return (frames.mean(axis=1) / FULL_SCALE).astype(np.float32), wav.getframerate()
    except OSError as error:
        raise SinkError(f"{file}: {error.strerror}") from None
    except (wave.Error, EOFError) as error:
        raise SinkError(f"{file}: no WAV file ({error})") from None


def write(file: Path, samples: Int16, rate_hz: int) -> None:
    """Write int16 [n] mono. Raises OSError."""
    with wave.open(str(file), "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(rate_hz)
        wav.writeframes(samples.tobytes())
