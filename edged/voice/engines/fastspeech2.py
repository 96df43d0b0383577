"""The engine of FastSpeech2 with multi-band MelGAN: phoneme ids -> hidden -> states -> mel -> samples.

Encoder and decoder see a whole unit, for their attention does. What follows are convolutions, run on
windows: frames with a margin on either side, whose results are dropped. So the first sound waits for
as little as it can. CPU time of one thread for 30 characters, 6.3 s of sound (x86-64 with VNNI,
onnxruntime 1.32), in all and what of it lies before the first chunk of 16 frames:

    =========  ============  =============
    part       fp32, ms      int8, ms
    =========  ============  =============
    encoder    5.6 / 5.6     2.0 / 2.0
    decoder    16.7 / 16.7   6.9 / 6.9
    postnet    26.2 / 3.0    9.3 / 0.9
    front      14 / 1.4      as fp32
    back       60 / 2.1      as fp32
    =========  ============  =============

As it streams, RTF is 0.016 in int8 and 0.023 in fp32; the process has 114 and 160 MB at its peak. Chunks
of fp32 are what the whole is (132 dB). In int8 the scale of the activations is found anew in each call,
so a window differs a little from the whole (0.9 dB in log-mel; int8 lies 1.4 dB from fp32).

The network adds no noise: equal ids give equal samples, whatever the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.errors import BadAudioError, VoiceError
from edged.types import AudioChunk, Float32, PhonemeIds
from edged.voice.engines._ort import Network
from edged.voice.engines.fastspeech2_parts import Part, bounded, halved
from edged.voice.engines.sound import FADE, checked, faded, limited
from edged.voice.manifest import MANIFEST, MEND, Manifest
from edged.voice.speakers import Speakers

SPEEDS = (0.5, 2.0)
CHUNK_FRAMES = (16, 32, 64)
"""Frames of the first chunks; the last number repeats: 64 frames are 0.8 s of sound."""

BLOCK_FRAMES = 128
"""At least made at once by postnet and front after their first call: margins cost less, memory little."""

MAX_FRAMES = 2048
"""Of one run of the decoder: the network knows no more places, and memory grows with the square."""

LEAD_FRAMES = 2
"""Kept of the silence before speech, 3 to 16 frames. What has the ids of the silence behind it is kept
whole: the last syllable fades in it, and only its last 3 to 8 frames are silent."""

_FRAMES_PER_ID = 200  # more cannot be meant: 2.5 s of one phoneme
_LEAST_IDS = 8  # of a part that can be cut


@dataclass(frozen=True, slots=True)
class FastSpeech2Options:
    """What the importer wrote down about one level of a voice."""

    encoder: str
    decoder: str
    postnet: str
    front: str
    back: str
    hop: int
    """Samples per frame."""
    feature_steps: int
    """Of the vocoder's features per frame."""
    gain: float
    """Brings this voice to the common loudness."""
    postnet_margin: int
    front_margin: int
    back_margin: int
    least_frames: int
    break_ids: tuple[int, ...]
    """See `fastspeech2_parts.bounded`."""

    @classmethod
    def of(cls, options: Mapping[str, Any], level: str) -> FastSpeech2Options:
        """From the manifest. Raises KeyError or TypeError for what is missing in it."""
        files = options["levels"][level]
        parts = ("encoder", "decoder", "postnet", "front", "back")
        rest = {name: options[name] for name in cls.__slots__ if name not in parts}
        rest["break_ids"] = tuple(rest["break_ids"])
        return cls(**{part: files[part] for part in parts}, **rest)


class FastSpeech2Network:
    """The five graphs of one level; samples as the network gives them."""

    def __init__(self, folder: Path, options: FastSpeech2Options, threads: int = 1) -> None:
        """Raises VoiceError when a graph does not load."""
        self.options = options
        self._encoder = Network(folder / options.encoder, threads)
        self._decoder = Network(folder / options.decoder, threads)
        self._postnet = Network(folder / options.postnet, threads)
        self._front = Network(folder / options.front, threads)
        self._back = Network(folder / options.back, threads)

    def encoded(self, ids: NDArray[np.int64], speed: float) -> tuple[Float32, NDArray[np.int64]]:
        """Hidden vectors float32 [n, channels], and frames of each id int64 [n].

        Frames are the durations over `speed`, rounded; the last id gets more where they would be fewer
        than the vocoder can reflect. Raises BadAudioError for durations that cannot be.
        """
        hidden, durations = self._encoder(ids=ids)
        repeats = np.rint(durations / np.float32(speed))
        total = float(repeats.sum())
        if not 1 <= total <= _FRAMES_PER_ID * ids.size:  # False for NaN
            raise BadAudioError(f"the voice gave {total:g} frames for {ids.size} ids; {MEND}")
        frames = repeats.astype(np.int64)
        frames[-1] += max(0, self.options.least_frames - int(total))
        return hidden, frames

    def states(self, hidden: Float32, repeats: NDArray[np.int64]) -> Float32:
        """Of all frames of a unit, float32 [frames, channels]."""
        states: Float32 = self._decoder(frames=np.repeat(hidden, repeats, axis=0))[0]
        return states

    def mel(self, states: Float32) -> Float32:
        """float32 [n, channels] -> [n, bands]."""
        mel: Float32 = self._postnet(states=states)[0]
        return mel

    def features(self, mel: Float32) -> Float32:
        """float32 [n, bands] -> [1, channels, n * feature_steps]."""
        features: Float32 = self._front(mel=mel)[0]
        return features

    def audio(self, features: Float32) -> Float32:
        """float32 [1, channels, n * feature_steps] -> [n * hop]."""
        audio: Float32 = self._back(features=features)[0]
        return audio

    def samples(self, states: Float32, begin: int, end: int, chunks: Sequence[int]) -> Iterator[Float32]:
        """Samples of the frames from `begin` to `end`, float32 [n * hop], n as in `chunks`."""
        options, total = self.options, len(states)
        steps, margin = options.feature_steps, options.back_margin
        mel = _Frames(lambda a, b: self.mel(states[a:b]), total, options.postnet_margin, axis=0)
        features = _Frames(
            lambda a, b: self.features(mel.get(a, b)), total, options.front_margin, axis=2, steps=steps
        )
        for size in _sizes(end - begin, chunks, margin):
            first, last = max(0, begin - margin), min(total, begin + size + margin)
            audio = self.audio(features.get(first, last))
            yield audio[(begin - first) * options.hop :][: size * options.hop]
            begin += size


def open_engine(manifest: Manifest, level: str, threads: int) -> FastSpeech2Engine:
    """The engine of an installed version in one of its levels. Raises VoiceError."""
    try:
        options = FastSpeech2Options.of(manifest.options, level)
    except (KeyError, TypeError) as error:
        raise VoiceError(f"{manifest.folder / MANIFEST}: {error} is missing; {MEND}") from error
    network = FastSpeech2Network(manifest.folder, options, threads)
    speakers = Speakers(manifest.name, manifest.speakers)
    return FastSpeech2Engine(network, manifest.sample_rate_hz, level, speakers)


class FastSpeech2Engine:
    """A loaded voice (see `edged.types.Engine`)."""

    def __init__(
        self, network: FastSpeech2Network, sample_rate_hz: int, level: str, speakers: Speakers
    ) -> None:
        self.sample_rate_hz = sample_rate_hz
        self.level = level
        self.chunks: tuple[int, ...] = CHUNK_FRAMES
        """Frames of the first chunks; the last number repeats."""
        self._network = network
        self._speakers = speakers

    def stream(
        self, ids: PhonemeIds, speed: float, seed: int | None = None, speaker: int | str | None = None
    ) -> Iterator[AudioChunk]:
        """One unit in chunks of 16, 32, then 64 frames of 12.5 ms, the rest in the last.

        `ids` begin with silence, of which LEAD_FRAMES are heard, and end with silence and end mark. `speed`
        is held within 0.5 to 2.0; `seed` changes nothing. Raises BadAudioError for samples that are not
        finite, all zero or none at all, and VoiceError when a network does not run.
        """
        self._speakers.choose(speaker)
        held = min(max(speed, SPEEDS[0]), SPEEDS[1])
        for part in bounded(ids.ids, self._network.options.break_ids):
            yield from self._part(part, held)

    def _part(self, part: Part, speed: float) -> Iterator[AudioChunk]:
        options = self._network.options
        hidden, repeats = self._network.encoded(part.ids, speed)
        end = int(repeats.sum())
        if end > MAX_FRAMES:
            if part.ids.size < _LEAST_IDS:
                raise BadAudioError(f"the voice gave {end} frames for {part.ids.size} ids; {MEND}")
            for half in halved(part, options.break_ids):
                yield from self._part(half, speed)
            return
        begin = max(0, int(repeats[0]) - LEAD_FRAMES)
        states = self._network.states(hidden, repeats)
        left, begins = (end - begin) * options.hop, True
        for samples in self._network.samples(states, begin, end, self.chunks):
            left -= samples.size
            sound = faded(checked(samples), FADE, begins=begins, ends=left == 0)
            if left == 0:
                sound = np.pad(sound, (0, part.pause_frames * options.hop))
            yield AudioChunk(limited(sound * np.float32(options.gain)), self.sample_rate_hz)
            begins = False


class _Frames:
    """Frames that are made in order when asked for, and forgotten when they lie behind."""

    def __init__(
        self, make: Callable[[int, int], Float32], total: int, margin: int, *, axis: int, steps: int = 1
    ) -> None:
        """`make(begin, end)` gives `steps` along `axis` for each frame; right but for `margin` frames a side.

        At the first and the last of the `total` frames everything is right.
        """
        self._make = make
        self._total = total
        self._margin = margin
        self._axis = axis
        self._steps = steps
        self._begin = self._end = 0
        self._made: Float32 | None = None

    def get(self, begin: int, end: int) -> Float32:
        """Frames `begin` to `end`, C-contiguous; neither may be less than in the call before.

        The first time no more than these are made, later BLOCK_FRAMES at least.
        """
        if self._made is None:
            self._begin = self._end = begin
            self._made = self._from_to(begin, end)
            self._end = end
        elif end > self._end:
            wanted = min(self._total, max(end, self._end + BLOCK_FRAMES))
            kept = self._cut(self._made, begin - self._begin, self._end - self._begin)
            self._made = np.concatenate((kept, self._from_to(self._end, wanted)), axis=self._axis)
            self._begin, self._end = begin, wanted
        return np.ascontiguousarray(self._cut(self._made, begin - self._begin, end - self._begin))

    def _from_to(self, begin: int, end: int) -> Float32:
        first, last = max(0, begin - self._margin), min(self._total, end + self._margin)
        return self._cut(self._make(first, last), begin - first, end - first)

    def _cut(self, values: Float32, begin: int, end: int) -> Float32:
        inside = slice(begin * self._steps, end * self._steps)
        return values[(slice(None),) * self._axis + (inside,)]


def _sizes(total: int, chunks: Sequence[int], margin: int) -> Iterator[int]:
    """Frames of each chunk, `total` in all; a rest that is shorter than `margin` is not one of its own."""
    left = total
    wanted = iter(chunks)
    while left:
        take = next(wanted, chunks[-1])
        take = left if left <= take + margin else take
        left -= take
        yield take
