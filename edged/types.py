"""What crosses from one room to another: frozen values, and the interfaces of the parts.

The main path in types, one per hop:

    bytes -> Announcement -> Utterance -> Sentence -> PhonemeIds -> AudioChunk -> Block -> Event

Times named `_ns` are CLOCK_MONOTONIC nanoseconds (time.monotonic_ns) of this board.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Int16 = NDArray[np.int16]
Clock = Callable[[], int]
"""Returns nanoseconds; time.monotonic_ns in the daemon, a hand-moved one in tests."""


class Priority(IntEnum):
    """Order of speaking; a higher one is spoken first, URGENT interrupts what is below it."""

    LOW = 0
    NORMAL = 1
    HIGH = 2
    URGENT = 3


@dataclass(frozen=True, slots=True)
class Announcement:
    """One message to be spoken, decoded and checked, as its sender meant it.

    `None` in voice, lang, speed, volume or ttl_s means: the configured value, read when spoken.
    """

    id: str
    text: str
    id_given: bool = False
    """The sender chose the id, so a second one within the window is a duplicate."""
    voice: str | None = None
    speaker: int | str | None = None
    """Of a voice that has several: its number or its name; None: the voice's own choice."""
    lang: str | None = None
    speed: float | None = None
    volume: float | None = None
    priority: Priority = Priority.NORMAL
    interrupt: bool = False
    ttl_s: float | None = None
    chime: str | bool | None = None
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """How one received message is acknowledged and answered. Means nothing outside edged.mqtt."""

    epoch: int
    """Broker sessions seen so far; a handle of an earlier epoch is void."""
    mid: int
    qos: int
    key: str
    """'<mid>:<payload hash>': the identity of a redelivery, kept in the journal."""
    response_topic: str | None = None
    correlation: bytes | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One zone's share of an announcement for all zones."""

    zone: str
    whole: int
    """Number of the announcement, the same in all its parts."""
    parts: int


@dataclass(frozen=True, slots=True)
class Utterance:
    """One accepted announcement on its way to the speaker."""

    announcement: Announcement
    received_ns: int
    deadline_ns: int
    receipt: Receipt | None = None
    resumed_sentence: int = 0
    """Sentence to start at: above 0 when an urgent message interrupted this one."""
    part: Part | None = None
    """Set by the queue where the announcement is for all zones."""

    @property
    def id(self) -> str:
        """The announcement's id, given by its sender or made by us."""
        return self.announcement.id

    @property
    def zone(self) -> str | None:
        """The zone that this, or this part of it, is for; None: the first one."""
        return self.part.zone if self.part else self.announcement.zone


class EventKind(str, Enum):
    """What can happen to an announcement; every accepted one ends in exactly one final kind."""

    ACCEPTED = "accepted"
    STARTED = "started"
    FINISHED = "finished"
    FAILED = "failed"
    DROPPED = "dropped"
    DUPLICATE = "duplicate"
    EXPIRED = "expired"

    @property
    def is_final(self) -> bool:
        """True for the kinds after which the message is acknowledged."""
        return self not in (EventKind.ACCEPTED, EventKind.STARTED)


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to one announcement; published on base/event, final ones acknowledge it.

    `id` is None when a payload was refused before it had one.
    """

    kind: EventKind
    id: str | None
    reason: str | None = None
    first_audio_ms: float | None = None
    """Receipt to the first sample (not lead-in) taken by the device callback."""
    first_sample_ns: int | None = None
    device_latency_ms: float | None = None
    audio_s: float | None = None
    rtf: float | None = None
    level: str | None = None
    voice: str | None = None
    underfills: int | None = None
    receipt: Receipt | None = None
    topic: str | None = None
    zone: str | None = None
    """As in the announcement: None for the first zone, and for what was refused."""
    zones_ms: dict[str, float] | None = None
    """Of an announcement for all zones: `first_audio_ms` of each that spoke it."""
    part: Part | None = None
    """Of an announcement for all zones; what is published has none (see edged.queue.gather)."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """The smallest unit given to a voice: clean text without line breaks."""

    index: int
    text: str
    pause_ms: int
    """Exact zeros after it; 0 where a long sentence was cut at a clause for the first unit."""
    ends_sentence: bool = True
    """False where it was cut inside a sentence."""


@dataclass(frozen=True, slots=True)
class PhonemeIds:
    """`ids` int64 [n] for the voice's network, pads included; `phonemes` for people."""

    ids: NDArray[np.int64]
    phonemes: str

    @property
    def speakable(self) -> bool:
        """False where the text had nothing to say (only the two pads or less)."""
        return self.ids.size > 2


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """Mono float32 samples in [-1, 1] at the voice's rate, in order, without gaps."""

    samples: Float32
    sample_rate_hz: int


class Engine(Protocol):
    """A loaded voice network. Used by one thread at a time (synth, or the loader before hand-over)."""

    sample_rate_hz: int
    level: str
    """Name of the precision in use: 'fp32', 'mixed', ..."""

    def stream(
        self, ids: PhonemeIds, speed: float, seed: int | None = None, speaker: int | str | None = None
    ) -> Iterator[AudioChunk]:
        """Synthesize one sentence. The first chunk is small, later ones grow.

        Cancel between chunks by closing the iterator. Equal `seed` gives equal samples.
        Raises SpeakerError for a `speaker` that a voice with several does not have, and BadAudioError
        for NaN, Inf, all-zero or empty output before it is yielded.
        """
        ...


class Voice(Protocol):
    """A voice ready to speak: an immutable version with its text front end and its engine."""

    name: str
    version: str
    """Content hash of the installed version, 16 hex digits."""
    language: str
    reader: str
    """Whose dictionaries and rules give the readings, with their version."""
    levels: tuple[str, ...]
    """Precisions that it can be run in."""
    rtf: float | None
    """Of a sentence it was tried with when it was loaded; None: it was not."""
    engine: Engine

    def phonemize(self, text: str) -> PhonemeIds:
        """One sentence to ids, through the cache. Never raises on text."""
        ...


@dataclass(frozen=True, slots=True)
class Level:
    """One way to run a voice on this board, as the governor changes it."""

    precision: str
    """Name of the precision: 'fp32', 'mixed', ..."""
    threads: int
    chunks: tuple[int, ...] | None
    """Frames of the first chunks, the last number repeats; None: the engine's own."""
    period_ms: int
    rtf: float | None
    """As it was measured on this board at rest; None: it was not."""

    def __str__(self) -> str:
        threads = f"{self.threads} thread{'s'[: self.threads - 1]}"
        return f"{self.precision}, {threads}, period {self.period_ms} ms"


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the stream that the device has taken: `taken_ns` at the callback."""

    tag: int
    taken_ns: int
    device_latency_ms: float
    """From the callback to the speaker, as the device says (0 where it says nothing)."""


@dataclass(frozen=True, slots=True)
class SinkInfo:
    """What an open sink really is."""

    kind: str
    device: str
    sample_rate_hz: int
    channels: int
    period_frames: int
    latency_ms: float
    realtime: bool
    """The audio thread runs under SCHED_FIFO."""
