"""The engine of Piper's voices (VITS): phoneme ids -> durations and prior -> latent -> samples.

The front end sees the whole sentence once. Flow and decoder are convolutions that carry their past from
call to call (built by `edged.voice.importers.vits_stream`): a call takes some frames, gives all that they
complete, and computes nothing twice. All noise is drawn here, frame by frame in order, so a seed gives
the same noise whatever the sizes of the chunks.
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
"""At most given to flow or decoder at once: memory, and the time to a cancellation."""

FIRST, LAST, PAST = "first", "last", "past"
"""Inputs of flow and decoder beside their frames: is it the first or last call of a sentence, and (PAST
with a number) what the call before gave on."""

MAX_IDS = 800
"""Of one run of the front end, whose attention grows with the square: 200 characters give about 450."""

FLOW_FRAMES = 65
"""Given by one call of flow, at least. In float onnxruntime sums 64 columns or fewer in other blocks (MLAS,
SgemmOperation), and the decoder makes of that rounding in flow, -130 dB, up to -97 dB."""

_FRAMES_PER_ID = 200  # more cannot be meant: 2.3 s of one phoneme


@dataclass(frozen=True, slots=True)
class Schedule:
    """How many frames the decoder gives at a time; the last number repeats, as far as CALL_FRAMES allows."""

    chunks: tuple[int, ...] = (8, 28, 64)


USUAL_SCHEDULE = Schedule()
"""While one chunk is heard the next is made: holds on a board three times slower than a core of x86-64."""


OF_LEVEL = ("front", "flow", "decoder", "flow_first_frames")
"""The options that differ between the levels of a voice."""


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
    flow_ahead_frames: int
    """How far flow looks ahead: its result ends so much before its input."""
    decoder_ahead_samples: int
    flow_first_frames: int
    """Given by the first call of flow, as far as there are so many."""
    duration_noise: bool
    space_ids: tuple[int, ...]
    """What stands for a space between two words; empty where nothing does."""

    @classmethod
    def of(cls, options: Mapping[str, Any], level: str) -> VitsOptions:
        """From the manifest. Raises KeyError or TypeError for what is missing in it."""
        own = options["levels"][level]
        of_level = {name: own[name] for name in OF_LEVEL}
        rest = {name: options[name] for name in cls.__slots__ if name not in OF_LEVEL}
        rest["space_ids"] = tuple(rest["space_ids"])
        return cls(**of_level, **rest)


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
        return {**inputs, **speaker_input(speaker)}

    def prior(self, ids: NDArray[np.int64], speed: float, seed: int | None, speaker: int | None) -> Prior:
        """Run the front end on one sentence. Raises BadAudioError for durations that cannot be."""
        mean, logs, durations = self._front(**self.front_inputs(ids, speed, seed, speaker))
        repeats = durations[0, 0]
        total = float(repeats.sum())
        if not 1 <= total <= _FRAMES_PER_ID * ids.size:  # False for NaN
            raise BadAudioError(f"the voice gave {total:g} frames for {ids.size} ids; install it again")
        return Prior(mean[0], logs[0], repeats.astype(np.int64), self.options.noise_scale, _seeds(seed)[1])

    def flow(self, speaker: int | None) -> Passage:
        """For one sentence: noisy prior -> latent, both float32 [1, channels, n]."""
        return Passage(self._flow, "prior", speaker)

    def decoder(self, speaker: int | None) -> Passage:
        """For one sentence: latent float32 [1, channels, n] -> samples of n frames in the last axis."""
        return Passage(self._decoder, "latent", speaker)

    def samples(self, prior: Prior, schedule: Schedule, speaker: int | None) -> Iterator[Float32]:
        """Samples of a prior in the chunks of a schedule, float32 [n]."""
        options = self.options
        total, ahead = int(prior.repeats.sum()), options.flow_ahead_frames
        decoder_ahead = -(-options.decoder_ahead_samples // options.hop)
        draw, flow, decoder = prior.draws(), self.flow(speaker), self.decoder(speaker)
        latent = np.empty((1, len(prior.mean), 0), np.float32)
        drawn = decoded = 0
        for end in _ends(total, schedule.chunks, decoder_ahead, CALL_FRAMES - ahead - decoder_ahead):
            wanted = min(total, end + decoder_ahead)
            if min(total, wanted + ahead) > drawn:
                until = _until(drawn, wanted + ahead, options.flow_first_frames + ahead, total)
                made = flow(draw(drawn, until), last=until == total)
                latent, drawn = np.concatenate((latent, made), axis=2), until
            now = np.ascontiguousarray(latent[:, :, : wanted - decoded])
            latent, decoded = latent[:, :, wanted - decoded :], wanted
            yield decoder(now, last=wanted == total).reshape(-1)

    def at_once(self, prior: Prior, speaker: int | None) -> Float32:
        """Samples of a prior in one call, float32 [n]: what all chunks together are to give."""
        noisy = prior.draws()(0, int(prior.repeats.sum()))
        return self.decoder(speaker)(self.flow(speaker)(noisy, last=True), last=True).reshape(-1)


class Passage:
    """Flow or decoder on the way through one sentence."""

    def __init__(self, network: Network, name: str, speaker: int | None) -> None:
        self._network = network
        self._name = name
        self._given = speaker_input(speaker)
        self._past: dict[str, NDArray[Any]] = {
            past: np.empty((1, int(shape[1]), 0), np.float32)
            for past, shape in network.inputs.items()
            if past.startswith(PAST)
        }
        self._begun = False

    def inputs(self, frames: Float32, *, last: bool) -> dict[str, NDArray[Any]]:
        """What the network is given for the next frames."""
        edges = {FIRST: np.array([1, 1, not self._begun]), LAST: np.array([1, 1, last])}
        return {self._name: frames, **edges, **self._given, **self._past}

    def __call__(self, frames: Float32, *, last: bool) -> Float32:
        """The next frames, all that are left for `last` -> what they complete.

        The first ones must be more than the network looks ahead, if they are not the last, too.
        """
        result, *kept = self._network(**self.inputs(frames, last=last))
        self._past = dict(zip(self._past, kept, strict=True))
        self._begun = True
        return result


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
        self.network = VitsNetwork(folder, options, threads)
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
            for samples in self.spoken(self.network.prior(part, held, own_seed, chosen), chosen):
                yield AudioChunk(samples, self.sample_rate_hz)

    def spoken(self, prior: Prior, speaker: int | None) -> Iterator[Float32]:
        """A sentence after the front end, in chunks float32 [n] in (-1, 1). Raises as `stream`."""
        left = int(prior.repeats.sum()) * self._hop
        begins, fade = True, min(FADE, self._hop)
        for samples in self.network.samples(prior, self.schedule, speaker):
            left -= samples.size
            sound = faded(checked(samples), fade, begins=begins, ends=left == 0)
            yield limited(sound * self._gain)
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


def _ends(total: int, chunks: Sequence[int], ahead: int, first_most: int) -> Iterator[int]:
    """Frame at which each chunk ends; the one whose input reaches the end is the last."""
    wanted, end, most = iter(chunks), 0, first_most
    while end < total:
        end += min(next(wanted, chunks[-1]), most)
        end = total if end + ahead >= total else end
        most = CALL_FRAMES
        yield end


def _until(drawn: int, needed: int, first: int, total: int) -> int:
    """Frame to which flow is given its input next; after the first call, no rest too short for a call."""
    until = max(needed, drawn + FLOW_FRAMES if drawn else first)
    if drawn and total - until < FLOW_FRAMES:
        until = total
    return min(until, total, drawn + CALL_FRAMES)


def _seeds(seed: int | None) -> list[np.random.SeedSequence]:
    """For the noise on the durations, and on the prior."""
    return np.random.SeedSequence(seed).spawn(2)


def default_speaker(manifest: Manifest) -> int | None:
    """Who speaks where nobody is asked for; None for a voice of one."""
    return int(manifest.options["default_speaker"]) if manifest.speakers else None


def speaker_input(speaker: int | None) -> dict[str, NDArray[Any]]:
    """What each graph of a voice of several speakers is given beside the rest."""
    return {} if speaker is None else {"speaker": np.array([speaker], np.int64)}
