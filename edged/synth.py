"""The synth thread: takes utterances from the queue and keeps every player's ring full.

It alone runs the voices, writes the rings and the sound cache, and decides when an announcement is
finished. The mqtt thread hands it utterances through the Mailbox and stops through `stop`; the keeper
thread replaces an Output under it; the main thread reads `speaking` and swaps the Config.

One turn of the loop: look at what the devices took, cut what is stopped or interrupted, start what is
next, then synthesize one chunk for the player that needs it most (no first chunk yet, then the
emptiest). Without work it waits on the mailbox.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from edged.audio.pacing import MEASURED_S
from edged.audio.sinks import Output
from edged.config.model import Config
from edged.errors import VoiceError, VoiceNotReady
from edged.health.counters import SynthCounters
from edged.queue.journal import Journal
from edged.queue.mailbox import Mailbox
from edged.speech import Speech
from edged.studio import Studio
from edged.types import Event, EventKind, Utterance, Voice

log = logging.getLogger("edged.synth")

ACTIVE_WAIT_S = (0.004, 0.02)
"""Between looks at a ring: a third of the default period while a first sample or the last one is near, longer
where there is plenty of sound in it. Whatever is received ends the wait."""
IDLE_WAIT_S = 1.0
GAIN_RAMP_MS = 30.0
RESUME_WITHIN_S = 120.0
"""An interrupted announcement that could not go on for so long is stale after all."""
AFTER_FAULT_S = 0.5
TIDY_AT_LEAST_S = 30.0
"""Where one announcement follows the other without a second of silence, it is done between two."""
STARTS_MAX = 2
"""A message that was started so often and never finished has brought the daemon down: poisoned."""


@dataclass(slots=True)
class Player:
    """One zone: its sink's current output and the speech in it."""

    zone: str
    output: Callable[[], Output | None]
    need: Callable[[], None]
    """Asks for the device where it was released in silence."""
    trouble: Callable[[], str]
    """What is the matter with the device while there is no output."""
    speech: Speech | None = None
    gain_set: tuple[Output, float] | None = None
    """Loudness that was last handed to this output's ring."""

    def volume(self, config: Config) -> float:
        """Of the board, and of the zone on top of it."""
        own = next((zone.volume for zone in config.zones if zone.name == self.zone), 1.0)
        return config.audio.volume * own


class SynthThread:
    """Builds nothing, owns the loop; every part is handed in."""

    def __init__(
        self,
        players: list[Player],
        mailbox: Mailbox,
        journal: Journal,
        studio: Studio,
        config: Callable[[], Config],
        counters: SynthCounters,
        emit: Callable[[Event], None],
        beat: Callable[[], None],
        trim: Callable[[], object],
        rest: Callable[[], object],
    ) -> None:
        """`trim` gives freed memory back to the system; `rest` lets go of voices, in silence alone."""
        self._players = players
        self._mailbox = mailbox
        self._journal = journal
        self._studio = studio
        self._config = config
        self._emit = emit
        self._beat = beat
        self._counters = counters
        self._trim = trim
        self._rest = rest
        self._untidy = False
        self._tidied_ns = time.monotonic_ns()
        self._stops: deque[tuple[str | None, int]] = deque()
        self._serial = 0
        self._efforts: dict[tuple[str, str], tuple[float, float]] = {}
        """By voice and precision: (seconds spent, seconds of sound made) lately."""
        self.level = 0
        """Number of the governor's level; written by the main thread."""
        self.timed: tuple[int, int] | None = None
        """(level, identity of the voice) of all that the RTF of the last minute is about."""
        self._draining = False
        self._cutting = False
        self._thread = threading.Thread(target=self._run, name="synth", daemon=True)

    # -- called by other threads -----------------------------------------------------------------
    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, announcement_id: str | None) -> None:
        """Stop one announcement, or all (None), of those received by now; done at the next turn."""
        self._stops.append((announcement_id, time.monotonic_ns()))
        self._mailbox.wake()

    def drain(self) -> None:
        """Take nothing new; the thread ends when what is being said has left the device."""
        self._draining = True
        self._mailbox.wake()

    def cut(self) -> None:
        """End at once, with a fade; what was being said stays unacknowledged and comes again."""
        self._cutting = True
        self._mailbox.wake()

    def join(self, timeout_s: float) -> bool:
        """Wait for the end; False when the thread still runs."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    @property
    def speaking(self) -> str | None:
        """Id of what is being said, of the first player that speaks."""
        return next((p.speech.utterance.id for p in self._players if p.speech), None)

    # -- the loop --------------------------------------------------------------------------------
    def _run(self) -> None:
        while not self._cutting:
            self._beat()
            try:
                worked = self._turn()
            except Exception:
                log.exception("the synth loop failed; what was being said is given up")
                self._give_up()
                self._mailbox.wait(AFTER_FAULT_S)
                continue
            active = any(p.speech for p in self._players)
            if self._draining and not active:
                return
            if worked or (not active and not len(self._mailbox) and self._studio.prerender(self._config())):
                continue
            if not self._mailbox.wait(self._until_next_look_s() if active else IDLE_WAIT_S) and not active:
                self._tidy(in_silence=True)
        for player in self._players:
            if player.speech:
                player.speech.cut()

    def _turn(self) -> bool:
        """One turn; True when a chunk was made, so that the next turn follows at once."""
        now_ns = time.monotonic_ns()
        for event in self._mailbox.expire(now_ns):
            self._emit(self._with_trouble(event))
        for player in self._players:
            self._hear(player)
        self._obey_stops()
        for player in self._players:
            self._interrupt(player)
            if player.speech is None and not self._draining:
                self._start_next(player)
        hungry = [p.speech for p in self._players if p.speech and p.speech.wants_step]
        if not hungry:
            return False
        speech = min(hungry, key=lambda s: (s.first_written, s.fill_ms))
        speech.step(self._counters)
        speech.pump()
        return True

    def _until_next_look_s(self) -> float:
        """A quarter of the sound that the emptiest ring still has, within bounds."""
        ready_ms = (p.speech.fill_ms if p.speech.is_heard else 0.0 for p in self._players if p.speech)
        return min(max(min(ready_ms, default=0.0) / 4000, ACTIVE_WAIT_S[0]), ACTIVE_WAIT_S[1])

    def _hear(self, player: Player) -> None:
        """Events of what the device took; a speech whose device is gone is said again whole."""
        output, speech = player.output(), player.speech
        volume = player.volume(self._config())
        if output and player.gain_set != (output, volume):
            player.gain_set = (output, volume)
            output.ring.set_gain(volume, GAIN_RAMP_MS)
        if speech is None:
            return
        if speech.is_lost(output, time.monotonic_ns()):
            if self._config().queue.lost_device == "fail" and speech.is_heard:
                reason = f"cut: {player.trouble()}" if output is None else "cut: the sound device was lost"
                self._end(player, self._short_event(EventKind.FAILED, speech.utterance, reason))
            else:
                player.speech = None
                self._put_back(speech.utterance, 0)
            return
        speech.pump()
        for mark in speech.output.ring.taken():
            if event := speech.take(mark):
                self._emit(event)
        if event := speech.final_event(time.monotonic_ns()):
            self._end(player, event)

    def _end(self, player: Player, event: Event) -> None:
        if player.speech:
            self._remember(player.speech)
        player.speech = None
        self._untidy = True
        if event.kind is not EventKind.FINISHED and event.reason != "stopped" and event.id is not None:
            self._mailbox.forget(event.id)
        self._emit(event)
        if event.part is not None:
            self._give_up_absent(event.part.whole)
        overdue = time.monotonic_ns() - self._tidied_ns > TIDY_AT_LEAST_S * 1e9
        if overdue and not any(p.speech for p in self._players):
            self._tidy(in_silence=False)

    def _remember(self, speech: Speech) -> None:
        """How slow the voice was: the next announcement waits accordingly before it sounds."""
        key = (speech.voice.name, speech.voice.engine.level)
        spent_s, made_s = speech.pacing.effort
        before = self._efforts.get(key, (0.0, 0.0))
        self._efforts[key] = (before[0] / 2 + spent_s, before[1] / 2 + made_s)

    def _known_rtf(self, voice: Voice) -> float | None:
        spent_s, made_s = self._efforts.get((voice.name, voice.engine.level), (0.0, 0.0))
        return spent_s / made_s if made_s >= MEASURED_S else voice.rtf

    def _give_up_absent(self, whole: int) -> None:
        """An announcement for all zones has ended where all have said it whose device is there: it would
        otherwise stay unacknowledged, and be said again everywhere after a restart."""
        speaking = (p.speech.utterance.part for p in self._players if p.speech)
        if any(part is not None and part.whole == whole for part in speaking):
            return
        absent = [player.zone for player in self._players if player.output() is None]
        for event in self._mailbox.give_up(whole, absent, "the other zones have said it"):
            self._emit(self._with_trouble(event))

    def _obey_stops(self) -> None:
        while self._stops:
            wanted, until_ns = self._stops.popleft()
            for event in self._mailbox.cancel(wanted, until_ns):
                self._emit(event)
            for player in self._players:
                speech = player.speech
                if speech is None or speech.is_taken or speech.utterance.received_ns > until_ns:
                    continue
                if wanted in (None, speech.utterance.id):
                    speech.cut()
                    self._end(player, self._short_event(EventKind.DROPPED, speech.utterance, "stopped"))

    def _interrupt(self, player: Player) -> None:
        speech = player.speech
        if speech is None or speech.is_taken or not self._mailbox.interrupts(player.zone, speech.utterance):
            return
        speech.cut()
        if self._config().queue.interrupted == "resume":
            player.speech = None
            self._put_back(speech.utterance, speech.sentence_heard)
        else:
            self._end(player, self._short_event(EventKind.DROPPED, speech.utterance, "interrupted"))

    def _put_back(self, utterance: Utterance, sentence: int) -> None:
        """What has begun in time is not too old for having been interrupted."""
        deadline_ns = max(utterance.deadline_ns, time.monotonic_ns() + int(RESUME_WITHIN_S * 1e9))
        self._mailbox.put_back(replace(utterance, resumed_sentence=sentence, deadline_ns=deadline_ns))

    def _start_next(self, player: Player) -> None:
        if not len(self._mailbox):
            return
        output = player.output()
        if output is None:
            player.need()
            return
        utterance, events = self._mailbox.take(player.zone, time.monotonic_ns())
        for event in events:
            self._emit(self._with_trouble(event))
        if utterance is None:
            return
        config = self._config()
        try:
            voice = self._studio.voice(utterance.announcement.voice)
            more = self._studio.more(utterance.announcement, voice, config)
        except VoiceNotReady:
            self._mailbox.put_back(utterance)  # those behind it wait, too: the order stays
            return
        except VoiceError as error:
            log.warning("%s; the default voice speaks instead", error)
            voice, more = self._studio.voice(None), ()
        poisoned = self._is_poisoned(utterance)
        gc.disable()  # no collection in mid-utterance: it stalls the thread that feeds the ring
        if self.timed != (self.level, id(voice)):
            self._counters.rtf.restart()
            self.timed = (self.level, id(voice))
        self._serial += 1
        player.speech = Speech(
            self._serial,
            utterance,
            voice,
            more,
            output,
            config,
            self._studio,
            "poisoned" if poisoned else None,
            self._known_rtf(voice),
        )

    def _with_trouble(self, event: Event) -> Event:
        """What waited for a device in vain says what was the matter with it."""
        zone = event.zone or self._players[0].zone
        player = next(player for player in self._players if player.zone == zone)
        if player.output() is not None:
            return event
        return replace(event, reason=f"{event.reason}; {player.trouble()}")

    def _is_poisoned(self, utterance: Utterance) -> bool:
        receipt = utterance.receipt
        return receipt is not None and self._journal.begin(receipt.key) > STARTS_MAX

    def _tidy(self, in_silence: bool) -> None:
        """The garbage of what was said goes, and the memory it had."""
        if self._untidy:
            self._untidy = False
            self._tidied_ns = time.monotonic_ns()
            gc.enable()
            if in_silence:  # what waits may need the same voices again
                self._rest()
            gc.collect()
            self._trim()

    def _give_up(self) -> None:
        for player in self._players:
            if player.speech:
                utterance = player.speech.utterance
                player.speech.cut()
                self._end(player, self._short_event(EventKind.FAILED, utterance, "internal error"))

    @staticmethod
    def _short_event(kind: EventKind, utterance: Utterance, reason: str) -> Event:
        return Event(
            kind, utterance.id, reason, receipt=utterance.receipt, zone=utterance.zone, part=utterance.part
        )
