"""Numbers about what was spoken, each with one writing thread, read by anyone.

    group            written by   read by
    Counters.mqtt    mqtt         main (state topic)
    Counters.synth   synth        main (state topic)

No lock: every value is replaced whole by its one writer, so a reader sees the old one or the new
one. A snapshot is therefore not one instant; neighbouring numbers may differ by the message that
is being counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from edged.types import Event, EventKind

Number = int | float | None

MINUTE_S = 60
NS_PER_S = 1_000_000_000


class EventCounts:
    """How many events of each kind one thread has reported."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(EventKind, 0)

    def count(self, event: Event) -> None:
        """Called by the thread that reported the event."""
        self._counts[event.kind] += 1

    def of(self, kind: EventKind) -> int:
        """Events of this kind since start."""
        return self._counts[kind]


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Median and 95th percentile of `n` values, nearest rank, in the unit of the values."""

    n: int
    p50: float
    p95: float


class Window:
    """The last `size` values. One writer; memory is fixed."""

    def __init__(self, size: int = 200) -> None:
        self._values: list[float] = []
        self._size = size
        self._next = 0

    def add(self, value: float) -> None:
        """The oldest value makes room."""
        if len(self._values) < self._size:
            self._values.append(value)
        else:
            self._values[self._next] = value
            self._next = (self._next + 1) % self._size

    def percentiles(self) -> Percentiles | None:
        """None while nothing was added."""
        ordered = sorted(self._values)
        n = len(ordered)
        if n == 0:
            return None
        return Percentiles(n, ordered[_rank(n, 50)], ordered[_rank(n, 95)])


def _rank(n: int, percent: int) -> int:
    """Index of the nearest-rank percentile among `n` sorted values: ceil(n * percent / 100) - 1."""
    return max(0, -(-n * percent // 100) - 1)


class RtfMinute:
    """Synthesis time over audio duration of the last minute, kept in one slot per second."""

    def __init__(self) -> None:
        self._slots: list[tuple[int, float, float]] = [(-MINUTE_S, 0.0, 0.0)] * MINUTE_S

    def add(self, synthesis_s: float, audio_s: float, now_ns: int) -> None:
        """One sentence or chunk: seconds spent, seconds of sound gained, and when."""
        second = now_ns // NS_PER_S
        slot_second, synthesis, audio = self._slots[second % MINUTE_S]
        if slot_second != second:
            synthesis = audio = 0.0
        self._slots[second % MINUTE_S] = (second, synthesis + synthesis_s, audio + audio_s)

    def restart(self) -> None:
        """Forget all: what follows is made in another way."""
        self._slots = [(-MINUTE_S, 0.0, 0.0)] * MINUTE_S

    def value(self, now_ns: int, last_s: int = MINUTE_S) -> float | None:
        """Over the last `last_s` seconds, at most a minute; None when nothing was synthesized in them."""
        oldest = now_ns // NS_PER_S - last_s
        recent = [slot for slot in self._slots if slot[0] > oldest]
        audio_s = sum(slot[2] for slot in recent)
        return sum(slot[1] for slot in recent) / audio_s if audio_s > 0 else None


class SynthCounters:
    """Written by the synth thread alone."""

    def __init__(self) -> None:
        self.events = EventCounts()
        self.first_audio_ms = Window()
        self.rtf = RtfMinute()
        self.retries = 0
        """Sentences synthesized a second time after a fault."""

    def count(self, event: Event) -> None:
        """Counts the event, and the first-audio time it carries once the announcement is through."""
        self.events.count(event)
        if event.kind is EventKind.FINISHED and event.first_audio_ms is not None:
            self.first_audio_ms.add(event.first_audio_ms)


class Counters:
    """All groups, one writer each (see the top of the file)."""

    def __init__(self) -> None:
        self.mqtt = EventCounts()
        self.synth = SynthCounters()

    def snapshot(self, now_ns: int) -> dict[str, Number]:
        """Flat numbers for the state topic; `now_ns` on the clock that was given to `RtfMinute.add`."""
        numbers: dict[str, Number] = {
            kind.value: self.mqtt.of(kind) + self.synth.events.of(kind) for kind in EventKind
        }
        first_audio = self.synth.first_audio_ms.percentiles()
        rtf = self.synth.rtf.value(now_ns)
        numbers |= {
            "retries": self.synth.retries,
            "first_audio_ms_p50": round(first_audio.p50, 1) if first_audio else None,
            "first_audio_ms_p95": round(first_audio.p95, 1) if first_audio else None,
            "rtf_1m": round(rtf, 4) if rtf is not None else None,
        }
        return numbers
