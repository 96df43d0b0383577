"""The engine of the source-filter voices of hibari: text ids -> frames -> samples, in growing chunks.

Three parts run in turn. The front end sees the whole unit and gives its durations, its pitch and one
hidden vector per frame. The decoder, rebuilt by the installer so that each convolution carries its
last frames from call to call, turns a chunk of these into spectra; nothing is computed twice, and the
chunks give what the whole gives. The signal processing turns spectra into samples.

Why a float32 decoder in chunks, and not the int8 network whole. CPU time of one thread from ids to the
first chunk, for units of 30 / 60 / 200 characters (x86-64 with VNNI, two busy cores, onnxruntime 1.32,
numpy 2.4); the distance in log-mel is that from the published int8 network run whole:

    ===========================================  ==================  =============  ===============
    way                                          first chunk, ms     RTF            distance, dB
    ===========================================  ==================  =============  ===============
    int8 whole, sound in blocks                  6.5 / 10.8 / 43     0.0043-0.0052  0
    int8 decoder in chunks, 28 frames around     not timed           not timed      0.14-0.23
    float32 decoder in chunks, 28 frames around  6.3 / 6.3 / 13.4    0.0098-0.0116  0.12-0.20
    float32 decoder carrying its state           4.0 / 5.2 / 10.6    0.0065-0.0070  0.12-0.20
    ===========================================  ==================  =============  ===============

The distance of the float32 rows is what dynamic quantisation adds to the published decoder: chunks lie
0.00 dB (116 dB in samples) from the float32 network run whole. The same decoder with its matrices in int8,
each frame rounded by itself, lies 0.08 dB from the float32 one (37 dB in samples), chunks as near to the
whole; it takes 0.75 of its time and 11 MB less, where the processor multiplies int8 at once (level `int8`,
see `edged.voice.processor`); elsewhere three times longer. An emulated Cortex-A76 gives the same (53 dB from
x86-64, which is the rounding) in 0.30 of the emulator's time for the float32 decoder.

With the front end in float32 too, 30 characters take 1.9 ms longer. Two threads are slower than one (8.5
against 7.8 ms with the text). Signal processing takes 0.02 ms of a frame's 12.5 ms, half of what it took
with noise drawn by the generator's own normal variates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edged.errors import VoiceError
from edged.types import AudioChunk, Float32, PhonemeIds
from edged.voice.engines._ort import Network
from edged.voice.engines.sound import checked
from edged.voice.engines.source_filter import FrameShape, Noise, SourceFilter, white_noise
from edged.voice.manifest import MANIFEST, MEND, Manifest
from edged.voice.speakers import Speakers

FRONT, FRONT_FP32, SPELLING = "front.onnx", "front-fp32.onnx", "spelling.onnx"
DECODER, DECODER_INT8 = "decoder.onnx", "decoder-int8.onnx"
"""Graphs of an installed version; SPELLING gives the sounds of a word that no dictionary has."""

INT8, MIXED, FP32 = "int8", "mixed", "fp32"
"""Front end in int8 as published, decoder in int8 or float32; or both in float32: 1 to 3 ms later, 0.3 to
0.5 dB in log-mel from it, 13 MB more."""

SPEEDS = (0.5, 2.0)
CHUNK_FRAMES = (8, 16, 32, 64)
"""Frames of the first chunks; the last number repeats: 64 frames are 0.8 s of sound. With 8 the first sound
comes in 0.9 of the time that 16 take, and 75 ms are left to make the next in; less saves hardly more."""

MAX_IDS = 400
"""Of one run of the front end: 200 characters give about as many, 200 digits five times more."""

LEAD_FRAMES, TAIL_FRAMES = 2, 10
"""Kept of the silence before and after speech: 25 and 125 ms."""

CONTEXT_FRAMES = 12
"""Decoded beyond that, so that the cut changes nothing: 62 dB and more below, 0.04 dB in log-mel."""

_SCRAP_FRAMES = 8  # a shorter rest is decoded with the chunk before it
_ENERGY = -1  # the last input of the decoder is the logarithm of a frame's energy, scaled;
_SPEECH_ENERGY = -0.8  # below it a frame lies under -70 dBFS


@dataclass(frozen=True, slots=True)
class DecoderShape:
    """What the installer wrote down about the decoder it built."""

    layers: int
    channels: int
    kernel: int

    @property
    def margin(self) -> int:
        """Frames that a convolution sees on either side."""
        return self.kernel // 2

    @property
    def delay(self) -> int:
        """Frames taken in before the first one comes out of the layers."""
        return self.layers * self.margin


class FrameDecoder:
    """Hidden vectors -> spectra, chunk by chunk; the state lives in each call of `chunks`."""

    def __init__(self, network: Network, shape: DecoderShape) -> None:
        self._network = network
        self._shape = shape

    def chunks(
        self, hidden: Float32, begin: int, end: int, sizes: Sequence[int] = CHUNK_FRAMES
    ) -> Iterator[Float32]:
        """Spectra float32 [n, 5 * bins] of the frames from `begin` to `end`, n as in `sizes`.

        `hidden` is float32 [1, inputs, total]; the last size repeats. CONTEXT_FRAMES of the silence
        around are decoded too, and dropped. Raises VoiceError when the network does not run.
        """
        margin, channels = self._shape.margin, self._shape.channels
        first, last = max(0, begin - CONTEXT_FRAMES), min(hidden.shape[2], end + CONTEXT_FRAMES)
        padded = np.pad(hidden[:, :, first:last], ((0, 0), (0, 0), (margin, margin)))
        state = np.zeros((self._shape.layers, channels, margin), np.float32)
        fed, out = 0, first
        for take in _schedule(last - first, sizes, self._shape.delay + begin - first):
            fed += take
            tail = np.zeros((1, channels, margin if fed == last - first else 0), np.float32)
            window = padded[:, :, fed - take : fed + 2 * margin]
            parts, state = self._network(hidden=window, state=state, tail=tail)
            heard = parts[max(0, begin - out) : max(0, end - out)]
            out += len(parts)
            if len(heard):
                yield heard


def open_engine(manifest: Manifest, level: str, threads: int) -> HibariEngine:
    """The engine of an installed version in one of its levels. Raises VoiceError."""
    options = manifest.options
    try:
        files = options["levels"][level]
        return HibariEngine(
            Network(manifest.folder / files["front"], threads),
            FrameDecoder(
                Network(manifest.folder / files["decoder"], threads),
                DecoderShape(options["layers"], options["channels"], options["kernel"]),
            ),
            FrameShape(manifest.sample_rate_hz, options["fft"], options["hop"]),
            options["space_id"],
            level,
            Speakers(manifest.name, manifest.speakers),
        )
    except (KeyError, TypeError) as error:
        raise VoiceError(f"{manifest.folder / MANIFEST}: {error} is missing; {MEND}") from error


class HibariEngine:
    """A loaded voice (see `edged.types.Engine`)."""

    def __init__(
        self,
        front: Network,
        decoder: FrameDecoder,
        frame: FrameShape,
        space_id: int,
        level: str,
        speakers: Speakers,
    ) -> None:
        """`space_id` stands between two words."""
        self.sample_rate_hz = frame.sample_rate_hz
        self.level = level
        self.chunks: tuple[int, ...] = CHUNK_FRAMES
        """Frames of the first chunks; the last number repeats."""
        self._frame = frame
        self._space_id = space_id
        self._speakers = speakers
        self._front = front
        self._decoder = decoder

    def stream(
        self, ids: PhonemeIds, speed: float, seed: int | None = None, speaker: int | str | None = None
    ) -> Iterator[AudioChunk]:
        """One unit in chunks (usually of 6, 16, 32, then 64 frames of 12.5 ms), the rest in the last.

        The silence that the voice puts around every unit (0.3 s before, 0.4 s after it) is left out
        but for LEAD_FRAMES and TAIL_FRAMES: it would delay the first word and tear a sentence that
        was cut at a clause. `speed` is held within 0.5 to 2.0. Raises BadAudioError for samples that
        are not finite, all zero or none at all, and VoiceError when a network does not run.
        """
        self._speakers.choose(speaker)
        noise = white_noise(self._frame, seed)
        for part in bounded(ids.ids, self._space_id):
            yield from self._stream(part, min(max(speed, SPEEDS[0]), SPEEDS[1]), noise)

    def _stream(self, ids: NDArray[np.int64], speed: float, noise: Noise) -> Iterator[AudioChunk]:
        hidden, f0_hz = self._front(ids=ids[None], speed=np.array([speed], np.float32))
        begin, end = speech_span(hidden)
        samples_of = SourceFilter(self._frame, f0_hz[0], begin, end, noise)
        for parts in self._decoder.chunks(hidden, begin, end, self.chunks):
            yield AudioChunk(checked(samples_of.push(parts)), self.sample_rate_hz)


def bounded(ids: NDArray[np.int64], space_id: int) -> Iterator[NDArray[np.int64]]:
    """`ids` with its pads, cut at spaces into parts of at most MAX_IDS, each with the same pads."""
    first, inner, last = ids[:1], ids[1:-1], ids[-1:]
    while inner.size > MAX_IDS - 2:
        spaces = np.flatnonzero(inner[: MAX_IDS - 2] == space_id)
        cut = int(spaces[-1]) + 1 if spaces.size else MAX_IDS - 2
        yield np.concatenate((first, inner[:cut], last))
        inner = inner[cut:]
    yield np.concatenate((first, inner, last))


def speech_span(hidden: Float32) -> tuple[int, int]:
    """First and last + 1 frame to be heard, by the energy that the front end predicts for each."""
    energy = hidden[0, _ENERGY]
    loud = np.flatnonzero(energy > _SPEECH_ENERGY)
    if not loud.size:
        return 0, energy.size
    return max(0, int(loud[0]) - LEAD_FRAMES), min(energy.size, int(loud[-1]) + 1 + TAIL_FRAMES)


def _schedule(total: int, sizes: Sequence[int], delay: int) -> Iterator[int]:
    """How many frames to feed in each call, `total` in all; the first call takes `delay` more."""
    left = total
    wanted = iter(sizes)
    take = next(wanted) + delay
    while left:
        take = left if left < take + _SCRAP_FRAMES else take
        left -= take
        yield take
        take = next(wanted, sizes[-1])
