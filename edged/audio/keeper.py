"""The keeper thread: opens the sound devices, watches that they take sound, and gets lost ones back.

It alone opens and closes sinks, and it alone replaces an `Output`. The synth thread reads `current` and
says `need`; the main thread reads `state` and `stale`. A missing, busy or vanished device is a state
here, never an exception to anyone. Calls into the sound system may hang: each has a limit, and past it
`on_hang` is called, because only a new process gets rid of a hung one.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from edged.audio.sinks.base import HungError, Output, Sink, bounded
from edged.errors import SinkError
from edged.types import SinkInfo

log = logging.getLogger(__name__)

TICK_S = 0.25
"""A quarter of the shortest stall that counts; ten looks a second were a third of the idle daemon's work."""
OPEN_LIMIT_S = 10.0
STOP_LIMIT_S = 20.0
BACKOFF_S = (0.2, 10.0)
STEADY_S = 10.0
"""Open for so long, a device counts as well again and its next loss starts at the shortest backoff."""
SILENT_S = 0.5
"""After the last sound, longer than any device holds back: what is closed then cuts nothing."""
STALL_S = 1.0
STALL_PERIODS = 20
STALE_S = 12.0
"""A device that has stood still for so long, and is not yet given up, is no longer being watched."""


class Phase(str, Enum):
    """Where a sink is in its life."""

    CLOSED = "closed"
    OPENING = "opening"
    OPEN = "open"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class SinkState:
    """What the keeper says of one sink, as one value."""

    phase: Phase
    since_ns: int
    reason: str | None = None
    """Why it is lost."""
    info: SinkInfo | None = None
    """What the device is while it is open."""

    def __str__(self) -> str:
        if self.info is None:
            return f"{self.phase.value}: {self.reason}" if self.reason else self.phase.value
        info = self.info
        return (
            f"{info.device}, {info.sample_rate_hz} Hz, {info.channels} ch, "
            f"period {1000 * info.period_frames / info.sample_rate_hz:.0f} ms, "
            f"latency {info.latency_ms:.0f} ms, "
            f"{'SCHED_FIFO' if info.realtime else 'ordinary priority'}"
        )


class _Slot:
    """One sink; the keeper thread's own, but for `output` and `state` (read) and `needed_ns` (written)."""

    def __init__(self, name: str, sink: Sink) -> None:
        self.name = name
        self.sink = sink
        self.output: Output | None = None
        self.state = SinkState(Phase.CLOSED, time.monotonic_ns())
        self.needed_ns = time.monotonic_ns()
        self.exchange: tuple[Sink, Callable[[], bool]] | None = None
        """What takes the sink's place, and whether it may now; written by another thread, too."""
        self.retry_ns = 0
        self.backoff_s = BACKOFF_S[0]
        self.tried = False
        self.hung = False
        self.callbacks = 0
        self.still_ns = 0
        """How long the callbacks have stood still while this thread ran."""


class Keeper:
    """Keeps named sinks open, or open on demand."""

    def __init__(
        self,
        sinks: Mapping[str, Sink],
        *,
        on_change: Callable[[], object],
        on_hang: Callable[[], object],
        beat: Callable[[], None],
        idle_close_s: float = 0.0,
    ) -> None:
        """`on_change` after every change of a state or an output, `on_hang` when a call into the sound
        system does not return, `beat` several times a second; all on the keeper thread.
        `idle_close_s`: release a device after so long in silence; 0: never."""
        self._slots = {name: _Slot(name, sink) for name, sink in sinks.items()}
        self._on_change = on_change
        self._on_hang = on_hang
        self._beat = beat
        self._idle_close_ns = int(idle_close_s * 1e9)
        self._wake = threading.Event()
        self._known = threading.Event()
        self._stopping = False
        self._ran_ns = 0
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)

    # -- called by other threads -----------------------------------------------------------------
    def start(self) -> None:
        """Start the thread; it opens every sink."""
        self._thread.start()

    def stop(self) -> None:
        """Play what is written, close every sink, end the thread; returns within STOP_LIMIT_S."""
        self._stopping = True
        self._wake.set()
        self._thread.join(STOP_LIMIT_S)

    def wait_known(self, timeout_s: float) -> bool:
        """Wait until every sink has been tried once; False when that takes longer."""
        return self._known.wait(timeout_s)

    def current(self, name: str) -> Output | None:
        """The open output, None while there is none. Another object means: another ring."""
        return self._slots[name].output

    def need(self, name: str) -> None:
        """There is something to say: keep the device open, or open it."""
        self._slots[name].needed_ns = time.monotonic_ns()
        self._wake.set()

    def exchange(self, name: str, sink: Sink, may: Callable[[], bool]) -> None:
        """Go on with another sink as soon as `may()` and nothing has sounded for a moment."""
        self._slots[name].exchange = (sink, may)

    def state(self, name: str) -> SinkState:
        """What is known of a sink now."""
        return self._slots[name].state

    def stale(self) -> list[str]:
        """Names of open sinks whose device has taken nothing for STALE_S."""
        limit_ns = time.monotonic_ns() - int(STALE_S * 1e9)
        outputs = [(name, slot.output) for name, slot in self._slots.items()]
        return [
            name
            for name, output in outputs
            if output and max(output.opened_ns, output.ring.counters().last_callback_ns) < limit_ns
        ]

    # -- the thread ------------------------------------------------------------------------------
    def _run(self) -> None:
        while not self._stopping:
            self._beat()
            for slot in self._slots.values():
                if not self._stopping:
                    self._tend(slot)
            if all(slot.tried for slot in self._slots.values()):
                self._known.set()
            looked_ns = time.monotonic_ns()
            self._wake.wait(TICK_S)
            self._wake.clear()
            # Where the whole process was stopped meanwhile, the device had no chance either.
            self._ran_ns = min(time.monotonic_ns() - looked_ns, int(2 * TICK_S * 1e9))
        for slot in self._slots.values():
            self._close(slot, drain=True)

    def _tend(self, slot: _Slot) -> None:
        now_ns = time.monotonic_ns()
        if slot.hung:
            return
        self._exchange(slot, now_ns)
        if slot.output is None:
            if now_ns >= slot.retry_ns and self._is_wanted(slot, now_ns):
                self._open(slot)
            return
        reason = self._fault(slot, slot.output)
        if reason:
            log.warning("sound %s: lost: %s", slot.name, reason)
            was_open_ns = now_ns - slot.state.since_ns
            self._close(slot, drain=False, lost=reason)
            self._later(slot, was_open_ns)
        elif self._is_idle(slot, slot.output, now_ns):
            log.info("sound %s: released after %.0f s of silence", slot.name, self._idle_close_ns / 1e9)
            self._close(slot, drain=False)

    def _exchange(self, slot: _Slot, now_ns: int) -> None:
        wanted, output = slot.exchange, slot.output
        if wanted is None:
            return
        if output is not None:
            silent_ns = now_ns - output.ring.counters().last_sound_ns
            if output.ring.fill_frames or silent_ns < SILENT_S * 1e9 or not wanted[1]():
                return
        self._close(slot, drain=False)
        slot.sink, slot.exchange = wanted[0], None
        slot.retry_ns = 0

    def _is_wanted(self, slot: _Slot, now_ns: int) -> bool:
        return not self._idle_close_ns or now_ns - slot.needed_ns < self._idle_close_ns

    def _is_idle(self, slot: _Slot, output: Output, now_ns: int) -> bool:
        if not self._idle_close_ns or output.ring.fill_frames:
            return False
        used_ns = max(slot.needed_ns, output.opened_ns, output.ring.counters().last_sound_ns)
        return now_ns - used_ns >= self._idle_close_ns

    def _fault(self, slot: _Slot, output: Output) -> str | None:
        """Why the open output is lost: what the sink says, or that its callbacks stand still."""
        try:
            reason = slot.sink.fault(output)
        except Exception as error:  # a sound library may raise anything; the device is lost then
            reason = _one_line(error)
        if reason:
            return reason
        callbacks = output.ring.counters().callbacks
        slot.still_ns = 0 if callbacks != slot.callbacks else slot.still_ns + self._ran_ns
        slot.callbacks = callbacks
        period_s = output.info.period_frames / output.info.sample_rate_hz
        limit_s = max(STALL_S, STALL_PERIODS * period_s)
        if slot.still_ns > limit_s * 1e9:
            return f"{output.info.device} has taken nothing for {limit_s:.1f} s"
        return None

    # -- opening and closing ---------------------------------------------------------------------
    def _open(self, slot: _Slot) -> None:
        if slot.state.phase is not Phase.LOST:
            self._set(slot, Phase.OPENING)
        try:
            if slot.state.phase is Phase.LOST:
                self._rescan(slot)
            output = bounded(f"opening the sound device of {slot.name}", slot.sink.open, OPEN_LIMIT_S)
        except HungError as error:
            self._hang(slot, error)
        except Exception as error:  # a sound library may raise anything; the device is missing then
            reason = _one_line(error)
            if reason != slot.state.reason:
                log.warning("sound %s: %s", slot.name, reason)
                self._set(slot, Phase.LOST, reason)
            self._later(slot, 0)
        else:
            self._opened(slot, output)
            log.info("sound %s: %s", slot.name, slot.state)
        slot.tried = True

    def _opened(self, slot: _Slot, output: Output) -> None:
        slot.output = output
        slot.callbacks, slot.still_ns = 0, 0
        self._set(slot, Phase.OPEN, info=output.info)

    def _rescan(self, slot: _Slot) -> None:
        """Have the sound system look for devices anew, which closes every output of this kind.

        Not while another one speaks, nor where nothing suggests that it would find more. Raises SinkError.
        """
        others = [
            other for other in self._slots.values() if other.output and other.sink.kind == slot.sink.kind
        ]
        if others and not slot.sink.devices_changed():
            return
        if any(other.output and other.output.ring.fill_frames for other in others):
            return
        for other in others:
            self._close(other, drain=True)
        bounded("looking for sound devices", slot.sink.rescan, OPEN_LIMIT_S)

    def _close(self, slot: _Slot, drain: bool, lost: str | None = None) -> None:
        output, slot.output = slot.output, None  # first: nobody writes to it from here on
        if output is None:
            return
        self._set(slot, Phase.LOST if lost else Phase.CLOSED, lost)
        try:
            slot.sink.close(output, drain)
        except HungError as error:
            self._hang(slot, error)
        except Exception as error:  # closed or not, it is given up
            log.warning("sound %s: closing it failed: %s", slot.name, _one_line(error))

    def _hang(self, slot: _Slot, error: HungError) -> None:
        log.error("sound %s: %s", slot.name, error)
        slot.hung = True
        self._set(slot, Phase.LOST, str(error))
        self._on_hang()

    def _later(self, slot: _Slot, steady_ns: int) -> None:
        """Set the time of the next try; the wait doubles unless the device had been well for long."""
        if steady_ns > STEADY_S * 1e9:
            slot.backoff_s = BACKOFF_S[0]
        slot.retry_ns = time.monotonic_ns() + int(slot.backoff_s * random.uniform(0.5, 1.0) * 1e9)  # noqa: S311
        slot.backoff_s = min(BACKOFF_S[1], 2 * slot.backoff_s)

    def _set(
        self, slot: _Slot, phase: Phase, reason: str | None = None, info: SinkInfo | None = None
    ) -> None:
        slot.state = SinkState(phase, time.monotonic_ns(), reason, info)
        self._on_change()


def _one_line(error: Exception) -> str:
    text = str(error) if isinstance(error, SinkError) else f"{type(error).__name__}: {error}"
    return text.replace("\n", " ")
