"""The ring between the synth thread and the device: a typed face of the C core.

The concurrency contract stands in `_rt/core.h`. Here: one writer thread (synth) calls everything but
`render`; the reader is PortAudio's thread through `callback_pointer`, or one sink thread through
`render`, never both. `fill_frames` and `counters` may be called by anyone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from edged.audio._rt_core import ffi, lib
from edged.types import Int16, Mark

TAP_PIECE_FRAMES = 4096


@dataclass(frozen=True, slots=True)
class RingCounters:
    """What the reader has counted since the ring was made; only it writes them."""

    callbacks: int
    frames_played: int
    """Frames that came from the ring, without those skipped."""
    underfills: int
    """Times the ring ran short in mid-utterance."""
    underfill_frames: int
    device_underflows: int
    """Callbacks in which the device said that it had run dry itself (xruns)."""
    skipped_frames: int
    tap_lost_frames: int
    """Frames the tap had no room for; 0 where it is read often enough."""
    last_callback_ns: int
    last_sound_ns: int
    """Last callback that gave sound of an utterance; 0: none yet."""


class Ring:
    """Single-producer single-consumer ring of int16 mono frames at the device's rate."""

    def __init__(
        self, period_frames: int, channels: int, rate_hz: int, capacity_frames: int, tap_frames: int = 0
    ) -> None:
        """`channels` of what the reader gives out; `tap_frames` of memory for `read_tap` (0: no tap).

        Raises ValueError for a size below 1 and MemoryError.
        """
        if min(period_frames, channels, rate_hz, capacity_frames) < 1 or tap_frames < 0:
            raise ValueError("a ring needs sizes of at least 1")
        pointer = lib.rt_new(capacity_frames, channels, rate_hz, tap_frames)
        if pointer == ffi.NULL:
            raise MemoryError("no memory for the sound ring")
        self.period_frames = period_frames
        self.channels = channels
        self.rate_hz = rate_hz
        self.capacity_frames = capacity_frames
        self.sounding_frames = 0
        """Frames of the last `render` that belong to an utterance; the reader's own."""
        self._ring = ffi.gc(pointer, lib.rt_free)
        self._report = ffi.new("rt_report *")

    # -- writer ----------------------------------------------------------------------------------
    def write(self, samples: Int16) -> int:
        """Append int16 [n]; returns how many frames there was room for. Never blocks."""
        data = np.ascontiguousarray(samples, np.int16)
        return int(lib.rt_write(self._ring, ffi.from_buffer("int16_t[]", data), data.size))

    @property
    def fill_frames(self) -> int:
        """Frames ready for the device; frames to be skipped count until the reader has dropped them."""
        return int(lib.rt_fill(self._ring))

    def mark(self, tag: int) -> None:
        """Mark this place: reported when the device takes the next frame written.

        Where feeding ends before another frame comes, it is reported with the last frame instead.
        Raises OverflowError where a thousand marks already wait.
        """
        if not lib.rt_mark(self._ring, tag):
            raise OverflowError("too many marks wait in the sound ring")

    def feeding(self, on: bool) -> None:
        """Between True and False an empty ring is an underfill, from the first frame written on."""
        lib.rt_feeding(self._ring, on)

    def skip(self, fade_ms: float) -> None:
        """Have the reader discard all written so far, marks included, after a fade; ends feeding."""
        lib.rt_skip(self._ring, self._frames(fade_ms))

    def set_gain(self, volume: float, ramp_ms: float) -> None:
        """Loudness 0 to 1, reached after the ramp; at 1.0 every sample leaves as it was written."""
        lib.rt_set_gain(self._ring, volume, self._frames(ramp_ms))

    def _frames(self, duration_ms: float) -> int:
        return max(0, round(duration_ms * self.rate_hz / 1000))

    # -- what the reader reports -----------------------------------------------------------------
    def taken(self) -> list[Mark]:
        """Marks that the device has taken since the last call, in order (the writer's thread)."""
        marks = []
        while lib.rt_take_report(self._ring, self._report):
            report = self._report[0]
            marks.append(Mark(report.tag, report.taken_ns, report.latency_ns / 1e6))
        return marks

    def counters(self) -> RingCounters:
        """Figures of the reader; each is right, together they may be one block apart."""
        numbers = ffi.new("rt_numbers *")
        lib.rt_counters(self._ring, numbers)
        return RingCounters(
            numbers.callbacks,
            numbers.frames_played,
            numbers.underfills,
            numbers.underfill_frames,
            numbers.device_underflows,
            numbers.skipped_frames,
            numbers.tap_lost_frames,
            numbers.last_callback_ns,
            numbers.last_sound_ns,
        )

    def read_tap(self) -> Int16:
        """Samples taken since the last call, int16 [n] mono, before gain and fades, without gaps."""
        pieces = [np.zeros(0, np.int16)]
        while True:
            piece = np.empty(TAP_PIECE_FRAMES, np.int16)
            count = lib.rt_read_tap(self._ring, ffi.from_buffer("int16_t[]", piece), piece.size)
            if not count:
                return np.concatenate(pieces)
            pieces.append(piece[:count])

    # -- reader ----------------------------------------------------------------------------------
    def render(self, frames: int) -> Int16:
        """The next block as the device would get it: int16 [frames * channels], interleaved.

        For sinks without PortAudio: the same C function. `sounding_frames` then says how many frames
        at its start belong to an utterance, gaps in mid-utterance included.
        """
        block = np.empty(frames * self.channels, np.int16)
        self.sounding_frames = int(lib.rt_render(self._ring, ffi.from_buffer("int16_t[]", block), frames))
        return block

    @property
    def callback_pointer(self) -> Any:
        """C function of PortAudio's PaStreamCallback type."""
        return ffi.addressof(lib, "rt_callback")

    @property
    def user_data(self) -> Any:
        """The callback's user data; this Ring must outlive the stream that has it."""
        return ffi.cast("void *", self._ring)
