"""What every sink is: the interface, the open output, and waits that have an end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from edged.audio.ring import Ring
from edged.config.model import AudioConfig
from edged.errors import SinkError
from edged.types import SinkInfo

T = TypeVar("T")

DEFAULT_RATE_HZ = 24000
"""Rate of the sinks that take any: what the default voice gives, so nothing is resampled."""
RING_S = 4.0
"""Where synthesis is slower than real time the device lives on this while a chunk is being made: the longest
of our engines, 1.3 s of sound, at an RTF of 3. 384 KB at 48 kHz."""
SILENCE_AFTER_S = 0.3
"""Silence played behind the last sample before a device is closed: closing cuts what it still holds."""
POLL_S = 0.01
CLOSE_LIMIT_S = 5.0
"""Longest time that a device may take to stop, or a sink's thread to end."""


class HungError(SinkError):
    """A call into the sound system did not return; only a new process gets rid of it."""


@dataclass(frozen=True, eq=False)
class Output:
    """An open sink: the ring to write to, and what the device really is."""

    ring: Ring
    info: SinkInfo
    opened_ns: int
    """CLOCK_MONOTONIC at the start of the device, for the lead-in silence of a cold one."""


class Sink(Protocol):
    """A place where sound goes. Used by one thread (the keeper), whose calls it may block for a while."""

    kind: str
    """Sinks of one kind share what `rescan` starts anew."""

    def open(self) -> Output:
        """Open and start the device with a new ring. Raises SinkError: one line, with its mend."""
        ...

    def close(self, output: Output, drain: bool) -> None:
        """Stop and close. With `drain` all that was written is played first, as long as the limit
        `audio.drain_limit_ms` allows. A second call does nothing. Raises HungError."""
        ...

    def fault(self, output: Output) -> str | None:
        """Why an open output can play no more, where the sink knows it."""
        ...

    def devices_changed(self) -> bool:
        """There may be devices that were not there at the last look."""
        ...

    def rescan(self) -> None:
        """Look for devices anew; no output of any sink of this kind may be open. Raises SinkError."""
        ...


def ring_for(audio: AudioConfig, rate_hz: int, channels: int, tap_frames: int) -> Ring:
    """A new ring for a device of this rate and so many channels.

    It has room for more than `buffer_ms`, to which it is usually filled: see RING_S.
    """
    return Ring(
        period_frames=max(1, round(rate_hz * audio.period_ms / 1000)),
        channels=channels,
        rate_hz=rate_hz,
        capacity_frames=max(rate_hz * audio.buffer_ms // 1000, round(rate_hz * RING_S)),
        tap_frames=tap_frames,
    )


def wait_played(output: Output, limit_s: float, silence_s: float) -> bool:
    """Wait until the ring is empty and `silence_s` have passed since; False at the limit."""

    def played() -> bool:
        silent_ns = time.monotonic_ns() - output.ring.counters().last_sound_ns
        return not output.ring.fill_frames and silent_ns >= silence_s * 1e9

    return wait_until(played, limit_s)


def wait_until(condition: Callable[[], bool], limit_s: float) -> bool:
    """Wait until `condition` holds; False where it does not within the limit."""
    deadline_s = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(POLL_S)
    return True


def bounded(what: str, call: Callable[[], T], limit_s: float) -> T:
    """Run a call that may hang on a thread of its own; raises what it raises.

    Raises HungError after `limit_s`; the thread is then left to itself.
    """
    result: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            result.append(call())
        except BaseException as error:  # raised again on the caller's thread
            raised.append(error)

    thread = threading.Thread(target=run, name=what, daemon=True)
    thread.start()
    thread.join(limit_s)
    if thread.is_alive():
        raise HungError(f"{what} has not returned for {limit_s:.0f} s; only a restart of the daemon helps")
    if raised:
        raise raised[0]
    return result[0]
