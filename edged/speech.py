"""One utterance on its way to the device: text to blocks, blocks to the ring, marks back.

Used by the synth thread only. A Speech never blocks: `step` synthesizes one chunk, `pump` writes what
the ring has room for, `poll` looks at what the device has taken.
"""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from edged.audio.pacing import Pacing
from edged.audio.sinks import Output
from edged.config.model import Config
from edged.errors import SpeakerError, VoiceError
from edged.health.counters import SynthCounters
from edged.render import NO_SAMPLES, Block
from edged.studio import Studio
from edged.types import Event, EventKind, Int16, Mark, Utterance, Voice

SKIP_FADE_MS = 8
"""Fade at a cut: long enough not to click, shorter than the shortest two periods."""
AHEAD_MAX_S = 60.0
"""Made ahead at most, where synthesis is slower than real time: 6 MB at 48 kHz."""


class Place(IntEnum):
    """What a mark in the stream stands for; the low bits of its tag."""

    FIRST = 0
    SENTENCE = 1
    LAST = 2


class Speech:
    """One utterance being synthesized into one ring."""

    def __init__(
        self,
        serial: int,
        utterance: Utterance,
        voice: Voice,
        more: Sequence[Voice],
        output: Output,
        config: Config,
        studio: Studio,
        failure: str | None = None,
        rtf: float | None = None,
    ) -> None:
        """`serial` tells this speech's marks from those of others; `more`: voices of further languages;
        `failure` plays only the tone.

        `rtf` of this voice as it was lately, None where nothing is known.
        """
        self.utterance = utterance
        self.voice = voice
        self.output = output
        self.sentence_heard = utterance.resumed_sentence
        self.sentence_made = utterance.resumed_sentence
        self.first_written = False
        """The first samples are made and wait for the ring, or are in it."""
        self._serial = serial
        self._config = config
        self._studio = studio
        self._ring = output.ring
        self._failure = failure
        self._note: str | None = None
        self._first: Mark | None = None
        self._finished_at_ns: int | None = None
        self._underfills_before = self._ring.counters().underfills
        self._synthesis_ns = 0
        self._frames = 0
        self._made_all = False
        self._sounding = False
        self._is_held = True
        self._pending_frames = 0
        announcement = utterance.announcement
        speed = config.voice.speed if announcement.speed is None else announcement.speed
        self.pacing = Pacing(len(announcement.text), rtf, speed)
        """What is known of the time that synthesis takes."""
        self._pending: deque[tuple[Int16, int | None]] = deque()
        rate_hz = output.info.sample_rate_hz
        self._blocks = (
            studio.tone(rate_hz) if failure else studio.blocks(utterance, voice, more, rate_hz, config)
        )
        own = weakref.proxy(self)  # with itself in it, an exchanged voice would live until a collection
        self._fallbacks = studio.fallbacks(
            utterance, voice, more, rate_hz, config, lambda: int(own.sentence_made)
        )

    # -- synthesis -------------------------------------------------------------------------------
    @property
    def wants_step(self) -> bool:
        """There is more to synthesize, and what was made before is in the ring or must be made ahead."""
        is_behind = self.pacing.is_slow and self._ready_s < AHEAD_MAX_S
        return not self._made_all and (not self._pending or is_behind)

    @property
    def fill_ms(self) -> float:
        """Sound ready in the ring."""
        return 1000.0 * self._ring.fill_frames / self.output.info.sample_rate_hz

    def step(self, counters: SynthCounters) -> None:
        """Synthesize the next chunk; after a failure on the next way that the studio knows."""
        started_ns = time.monotonic_ns()
        try:
            block = next(self._blocks, None)
        except Exception as error:  # a voice may raise anything; nothing of it may end the daemon
            block = self._recover(error, counters)
        now_ns = time.monotonic_ns()
        self._synthesis_ns += now_ns - started_ns
        if not (block and block.is_kept):
            made_s = block.samples.size / self.output.info.sample_rate_hz if block else 0.0
            counters.rtf.add((now_ns - started_ns) / 1e9, made_s, now_ns)
            if block and block.sentence is not None:
                self.pacing.begin(block.chars)
            self.pacing.made((now_ns - started_ns) / 1e9, made_s)
        if block is None:
            self._made_all = True
            if self.first_written:
                self._pending.append((NO_SAMPLES, self._tag(Place.LAST)))
        else:
            self._append(block)

    def _recover(self, error: Exception, counters: SynthCounters) -> Block:
        reason = str(error) if isinstance(error, VoiceError) else f"{type(error).__name__}: {error}"
        reason = reason.splitlines()[0] if reason else type(error).__name__
        if isinstance(error, SpeakerError):  # the message is wrong, not the voice: nothing to try, no alarm
            self._failure = reason
            self._blocks = iter(())
            return Block(NO_SAMPLES)
        fallback = next(self._fallbacks)
        self._studio.tell(self.utterance, fallback, reason)
        counters.retries += 1
        self._blocks, self.voice = fallback.blocks, fallback.voice
        if fallback.says_it:
            self._note = f"{fallback.what} after: {reason}"
        else:
            self._failure = self._failure or reason
        return Block(NO_SAMPLES)

    def _append(self, block: Block) -> None:
        """Lead-in where the device is cold, then the mark that first-audio is measured by, then sound."""
        tag = None
        if block.sentence is not None:
            self.sentence_made = block.sentence
            tag = self._tag(Place.SENTENCE, block.sentence)
        if block.samples.size and not self.first_written:
            open_ms = (time.monotonic_ns() - self.output.opened_ns) / 1e6
            lead_in_ms = max(0.0, self._config.audio.lead_in_ms - open_ms)
            silence = np.zeros(int(lead_in_ms * self.output.info.sample_rate_hz / 1000), np.int16)
            self._pending += [(silence, None), (NO_SAMPLES, self._tag(Place.FIRST))]
            self._pending_frames += silence.size
            self.first_written = True
        self._pending.append((block.samples, tag))
        self._pending_frames += block.samples.size

    # -- ring ------------------------------------------------------------------------------------
    def pump(self) -> None:
        """Write what the ring has room for, each mark in front of its samples.

        Before a sentence it waits until what is ready will last to the end.
        """
        if self._is_held:
            if not self._lasts:
                return
            self._is_held = False
            if self._sounding:
                self._ring.feeding(True)
        while self._pending:
            samples, tag = self._pending[0]
            if tag is not None and tag & 3 == Place.SENTENCE and not self._lasts:
                self._is_held = True
                self._ring.feeding(False)  # the silence between two sentences becomes longer
                return
            if tag is not None:
                self._mark(tag)
            taken = self._ring.write(samples[: self._room_frames]) if samples.size else 0
            self._pending_frames -= taken
            self._frames += taken if self._sounding else 0
            if taken < samples.size:
                self._pending[0] = (samples[taken:], None)
                return
            self._pending.popleft()

    @property
    def _room_frames(self) -> int:
        """How much may be written: up to the configured fill level, or where it is slow all that fits."""
        if self.pacing.is_slow:
            return self._ring.capacity_frames
        wanted_frames = self.output.info.sample_rate_hz * self._config.audio.buffer_ms // 1000
        return max(0, wanted_frames - self._ring.fill_frames)

    @property
    def _ready_s(self) -> float:
        return (self._pending_frames + self._ring.fill_frames) / self.output.info.sample_rate_hz

    @property
    def _lasts(self) -> bool:
        """What is ready will not be played before the rest has been made."""
        return self._made_all or self._ready_s >= min(self.pacing.needed_s(), AHEAD_MAX_S)

    def _mark(self, tag: int) -> None:
        """Between the first mark and the last an empty ring is an underfill."""
        self._ring.mark(tag)
        if tag & 3 != Place.SENTENCE:
            self._sounding = tag & 3 == Place.FIRST
            self._ring.feeding(self._sounding)

    def _tag(self, place: Place, sentence: int = 0) -> int:
        return self._serial << 32 | sentence << 2 | place

    def cut(self) -> None:
        """Stop now: the device fades out and discards what is left of this speech."""
        self._pending.clear()
        self._pending_frames = 0
        self._made_all = True
        self._ring.skip(SKIP_FADE_MS)

    # -- what the device took --------------------------------------------------------------------
    def take(self, mark: Mark) -> Event | None:
        """Note one mark of this speech; the first one gives the `started` event."""
        if mark.tag >> 32 != self._serial:
            return None
        place = Place(mark.tag & 3)
        if place is Place.SENTENCE:
            self.sentence_heard = (mark.tag >> 2) & 0x3FFFFFFF
        elif place is Place.LAST:
            wait_ms = (
                mark.device_latency_ms
                + 1000 * self.output.info.period_frames / self.output.info.sample_rate_hz
            )
            self._finished_at_ns = mark.taken_ns + int(wait_ms * 1e6)
        elif self._first is None:
            self._first = mark
            return self._event(EventKind.STARTED)
        return None

    @property
    def is_heard(self) -> bool:
        """The device has taken the first sample."""
        return self._first is not None

    @property
    def is_taken(self) -> bool:
        """The device has the last sample: there is nothing left to cut or to say again."""
        return self._finished_at_ns is not None

    def final_event(self, now_ns: int) -> Event | None:
        """The final event once the last sample has left the device, else None."""
        if self._made_all and not self._pending and not self.first_written:
            self._note = "nothing to speak"
            return self._event(EventKind.FAILED if self._failure else EventKind.FINISHED)
        if self._finished_at_ns is None or now_ns < self._finished_at_ns or not self._has_left():
            return None
        return self._event(EventKind.FAILED if self._failure else EventKind.FINISHED)

    def _has_left(self) -> bool:
        """The device went on taking frames until the last sample was out; one that died with it in its
        buffer takes no more."""
        period_ns = 1_000_000_000 * self.output.info.period_frames // self.output.info.sample_rate_hz
        return self._ring.counters().last_callback_ns >= (self._finished_at_ns or 0) - period_ns

    def is_lost(self, output: Output | None, now_ns: int) -> bool:
        """Its device is gone and did not play it to the end: it is to be said again."""
        if output is self.output:
            return False
        return self._finished_at_ns is None or (now_ns >= self._finished_at_ns and not self._has_left())

    def _event(self, kind: EventKind) -> Event:
        audio_s = self._frames / self.output.info.sample_rate_hz
        final = kind.is_final
        first = self._first
        return Event(
            kind=kind,
            id=self.utterance.id,
            reason=(self._failure or self._note) if final else None,
            first_audio_ms=(first.taken_ns - self.utterance.received_ns) / 1e6 if first else None,
            first_sample_ns=first.taken_ns if first else None,
            device_latency_ms=first.device_latency_ms if first else None,
            audio_s=audio_s if final else None,
            rtf=self._synthesis_ns / 1e9 / audio_s if final and audio_s else None,
            level=self.voice.engine.level,
            voice=self.voice.name,
            underfills=self._ring.counters().underfills - self._underfills_before if final else None,
            receipt=self.utterance.receipt,
            zone=self.utterance.zone,
            part=self.utterance.part,
        )
