"""The engine of Piper's voices (VITS): phoneme ids -> durations and prior -> latent -> samples.

The front end sees the whole sentence once. Flow and decoder are convolutions, so they are run on
windows: a chunk of frames with a margin on either side, whose results are dropped. All noise is drawn
here, frame by frame in order, so a seed gives the same noise whatever the sizes of the chunks.
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
from edged.voice.engines.sound import FADE, checked, faded, limited
from edged.voice.manifest import MANIFEST, Manifest
from edged.voice.speakers import Speakers

SPEEDS = (0.5, 2.0)
CALL_FRAMES = 128
"""At most given to flow or decoder at once, margins included: memory, and the time to a cancellation."""

MAX_IDS = 800
"""Of one run of the front end, whose attention grows with the square: 200 characters give about 450."""

_FRAMES_PER_ID = 200  # more cannot be meant: 2.3 s of one phoneme


@dataclass(frozen=True, slots=True)
class Schedule:
    """How many frames the decoder gives at a time; the last number repeats, as far as CALL_FRAMES allows."""

    chunks: tuple[int, ...] = (8, 28, 108)


USUAL_SCHEDULE = Schedule()
"""While one chunk is heard the next is made: holds on a board three times slower than a core of x86-64."""


@dataclass(frozen=True, slots=True)
class VitsOptions:
    """What the importer wrote down about one level of a voice."""

    front: str
    flow: str
    decoder: str
    hop: int
    """Samples per frame."""
    gain: float
    """Brings this voice to the common loudness."""
    noise_scale: float
    length_scale: float
    noise_w: float
    flow_margin: int
    decoder_margin: int
    duration_noise: bool
    space_ids: tuple[int, ...]
    """What stands for a space between two words; empty where nothing does."""

    @classmethod
    def of(cls, options: Mapping[str, Any], level: str) -> VitsOptions:
        """From the manifest. Raises KeyError or TypeError for what is missing in it."""
        files = options["levels"][level]
        rest = {name: options[name] for name in cls.__slots__ if name not in ("front", "flow", "decoder")}
        rest["space_ids"] = tuple(rest["space_ids"])
        return cls(front=files["front"], flow=files["flow"], decoder=files["decoder"], **rest)


class VitsNetwork:
    """The three graphs of one level, and the noise between them; samples as the network gives them."""

    def __init__(self, folder: Path, options: VitsOptions, threads: int = 1) -> None:
        """Raises VoiceError when a graph does not load."""
        self.options = options
        self._front = Network(folder / options.front, threads)
        self._flow = Network(folder / options.flow, threads)
        self._decoder = Network(folder / options.decoder, threads)

    def front_inputs(
        self, ids: NDArray[np.int64], speed: float, seed: int | None, speaker: int | None
    ) -> dict[str, NDArray[Any]]:
        """What the front end is given for one sentence."""
        options = self.options
        scales = np.array([options.noise_scale, options.length_scale / speed, options.noise_w], np.float32)
        inputs: dict[str, NDArray[Any]]
        inputs = {"ids": ids[None], "lengths": np.array([ids.size], np.int64), "scales": scales}
        if options.duration_noise:
            generator = np.random.default_rng(_seeds(seed)[0])
            inputs["noise"] = generator.standard_normal((1, 2, ids.size), dtype=np.float32)
        return {**inputs, **_given(speaker)}

    def prior(self, ids: NDArray[np.int64], speed: float, seed: int | None, speaker: int | None) -> Prior:
        """Run the front end on one sentence. Raises BadAudioError for durations that cannot be."""
        mean, logs, durations = self._front(**self.front_inputs(ids, speed, seed, speaker))
        repeats = durations[0, 0]
        total = float(repeats.sum())
        if not 1 <= total <= _FRAMES_PER_ID * ids.size:  # False for NaN
            raise BadAudioError(f"the voice gave {total:g} frames for {ids.size} ids; install it again")
        return Prior(mean[0], logs[0], repeats.astype(np.int64), self.options.noise_scale, _seeds(seed)[1])

    def latent(self, frames: Float32, speaker: int | None) -> Float32:
        """Flow: noisy prior -> latent, both float32 [1, channels, n]."""
        latent: Float32 = self._flow(prior=frames, **_given(speaker))[0]
        return latent

    def audio(self, latent: Float32, speaker: int | None) -> Float32:
        """Decoder: latent float32 [1, channels, n] -> samples float32 [n * hop]."""
        audio: Float32 = self._decoder(latent=latent, **_given(speaker))[0]
        return audio.reshape(-1)

    def samples(self, prior: Prior, schedule: Schedule, speaker: int | None) -> Iterator[Float32]:
        """Samples of a prior in the chunks of a schedule, float32 [n]."""
        total, options = int(prior.repeats.sum()), self.options

        def flow(begin: int, end: int) -> Float32:
            first, last = max(0, begin - options.flow_margin), min(total, end + options.flow_margin)
            return self.latent(noisy.get(first, last), speaker)[:, :, begin - first : end - first]

        noisy = _Window(prior.draws(), total, 0)
        latents = _Window(flow, total, options.flow_margin)
        begin = 0
        for size in _sizes(total, schedule.chunks, options.decoder_margin):
            end = begin + size
            first, last = max(0, begin - options.decoder_margin), min(total, end + options.decoder_margin)
            audio = self.audio(latents.get(first, last), speaker)
            yield audio[(begin - first) * options.hop : (end - first) * options.hop]
            begin = end


@dataclass(frozen=True, slots=True)
class Prior:
    """What the front end says of a sentence, spread over its frames; the noise on it is still to be drawn."""

    mean: Float32
    """[channels, ids]"""
    logs: Float32
    """Logarithm of the deviation, [channels, ids]."""
    repeats: NDArray[np.int64]
    """Frames of each id."""
    noise_scale: float
    seed: np.random.SeedSequence

    def draws(self) -> Callable[[int, int], Float32]:
        """A function (begin, end) -> float32 [1, channels, end - begin], called for all frames in order."""
        generator = np.random.default_rng(self.seed)
        ids = np.repeat(np.arange(self.repeats.size), self.repeats)
        deviation = np.exp(self.logs) * np.float32(self.noise_scale)

        def draw(begin: int, end: int) -> Float32:
            here = ids[begin:end]
            frames: Float32 = deviation[:, here]
            frames *= generator.standard_normal((here.size, len(deviation)), dtype=np.float32).T
            frames += self.mean[:, here]
            return frames[None]

        return draw


def open_engine(manifest: Manifest, level: str | None, threads: int) -> VitsEngine:
    """The engine of an installed version in one of its levels, the first for None. Raises VoiceError."""
    chosen = level or next(iter(manifest.levels), "")
    if chosen not in manifest.levels:
        raise VoiceError(
            f"voice {manifest.name} has no level {chosen!r}; there is {', '.join(manifest.levels)}"
        )
    try:
        options = VitsOptions.of(manifest.options, chosen)
        speakers = Speakers(manifest.name, manifest.speakers, manifest.options["default_speaker"])
    except (KeyError, TypeError) as error:
        raise VoiceError(
            f"{manifest.folder}/{MANIFEST}: {error} is missing; install the voice again"
        ) from error
    return VitsEngine(manifest.folder, options, manifest.sample_rate_hz, chosen, speakers, threads)


class VitsEngine:
    """A loaded voice (see `edged.types.Engine`)."""

    def __init__(
        self,
        folder: Path,
        options: VitsOptions,
        sample_rate_hz: int,
        level: str,
        speakers: Speakers,
        threads: int,
        schedule: Schedule = USUAL_SCHEDULE,
    ) -> None:
        """Raises VoiceError when a graph does not load."""
        self.sample_rate_hz = sample_rate_hz
        self.level = level
        self.schedule = schedule
        self._network = VitsNetwork(folder, options, threads)
        self._gain = np.float32(options.gain)
        self._hop = options.hop
        self._space_ids = options.space_ids
        self._speakers = speakers

    def stream(
        self, ids: PhonemeIds, speed: float, seed: int | None = None, speaker: int | str | None = None
    ) -> Iterator[AudioChunk]:
        """One sentence in growing chunks (`schedule`).

        `speed` is held within 0.5 to 2.0. `speaker` is a number or a name, see `Speakers`. Raises
        BadAudioError for samples that are not finite, all zero or none at all, SpeakerError for a
        speaker that does not exist, and VoiceError for a network that does not run.
        """
        chosen = self._speakers.choose(speaker)
        held = min(max(speed, SPEEDS[0]), SPEEDS[1])
        for number, part in enumerate(bounded(ids.ids, self._space_ids)):
            own_seed = seed if seed is None else seed + number
            prior = self._network.prior(part, held, own_seed, chosen)
            left = int(prior.repeats.sum()) * self._hop
            begins, fade = True, min(FADE, self._hop)
            for samples in self._network.samples(prior, self.schedule, chosen):
                left -= samples.size
                sound = faded(checked(samples), fade, begins=begins, ends=left == 0)
                yield AudioChunk(limited(sound * self._gain), self.sample_rate_hz)
                begins = False


def bounded(ids: NDArray[np.int64], space_ids: Sequence[int]) -> Iterator[NDArray[np.int64]]:
    """`ids` cut after spaces into parts of at most MAX_IDS, each with start, pad and end of its own."""
    start, inner, end = ids[:2], ids[2:-1], ids[-1:]
    room = MAX_IDS - 3
    room -= room % 2  # a phoneme and its pad stay together
    while inner.size > room:
        spaces = np.flatnonzero(np.isin(inner[:room:2], space_ids))
        cut = 2 * int(spaces[-1]) + 2 if spaces.size else room
        yield np.concatenate((start, inner[:cut], end))
        inner = inner[cut:]
    yield np.concatenate((start, inner, end))


class _Window:
    """Frames that are made in order when asked for, and forgotten when they lie behind."""

    def __init__(self, make: Callable[[int, int], Float32], total: int, margin: int) -> None:
        """`make(begin, end)` gives float32 [1, channels, end - begin], and uses `margin` more a side."""
        self._make = make
        self._total = total
        self._margin = margin
        self._begin = self._end = 0
        self._frames: Float32 | None = None

    def get(self, begin: int, end: int) -> Float32:
        """Frames `begin` to `end`, C-contiguous; neither may be less than in the call before.

        The first time no more than these are made, later as many as a block has.
        """
        parts: list[Float32] = []
        if self._frames is not None:
            parts.append(self._frames[:, :, begin - self._begin :])
        while self._end < end:
            first = self._end
            wanted = first + _most(self._margin) if first else min(end, _most(self._margin))
            self._end = self._total if self._total <= wanted + self._margin else wanted
            parts.append(self._make(first, self._end))
        self._frames = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
        self._begin = begin
        return np.ascontiguousarray(self._frames[:, :, : end - begin])


def _most(margin: int) -> int:
    """Frames that one call may give; `margin` more in the last one, which needs none on that side."""
    return CALL_FRAMES - 2 * margin


def _sizes(total: int, chunks: Sequence[int], margin: int) -> Iterator[int]:
    """Frames of each chunk, `total` in all; a rest that is shorter than `margin` is not one of its own."""
    left = total
    wanted = iter(chunks)
    while left:
        take = min(next(wanted, chunks[-1]), _most(margin))
        take = left if left <= take + margin else take
        left -= take
        yield take


def _seeds(seed: int | None) -> list[np.random.SeedSequence]:
    """For the noise on the durations, and on the prior."""
    return np.random.SeedSequence(seed).spawn(2)


def _given(speaker: int | None) -> dict[str, NDArray[Any]]:
    return {} if speaker is None else {"speaker": np.array([speaker], np.int64)}
