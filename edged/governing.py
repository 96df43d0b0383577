"""The governor's eyes and hands in the daemon: what it looks at, and what a level is here.

Used by the main thread only. A level's voice is loaded aside and speaks from the next utterance on; a
period of another length needs the device opened anew, which the keeper does when nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from edged.audio.keeper import Keeper
from edged.audio.sinks import Output, make_sink
from edged.config.model import AudioConfig, Config
from edged.health.counters import SynthCounters
from edged.health.governor import NS_PER_S, RECENT_S, Snapshot
from edged.health.pressure import cpu_pressure_percent
from edged.health.sensors import Sensors
from edged.studio import Studio
from edged.synth import SynthThread
from edged.types import Level
from edged.voices import Voices

SENSE_EVERY_S = 2.0
PERIODS_MS = (6, 12, 24)
WITH_PERIODS = ("alsa", "null")
"""Sinks where a longer period asks less of the board; a file that is opened anew would lose what is in it."""


@dataclass(slots=True)
class Governing:
    """Holds what is looked at and changed; see `edged.health.governor.Governor` for the three verbs."""

    config: Config
    speakers: Mapping[str, AudioConfig]
    voices: Voices
    studio: Studio
    synth: SynthThread
    keeper: Keeper
    counters: SynthCounters
    sensors: Sensors
    _sensed: Snapshot | None = None
    _number: int = 0
    _level: Level | None = None
    _period_ms: int = 0
    _gaps: dict[str, tuple[Output, int]] = field(default_factory=dict)

    def ladder(self) -> tuple[Level, ...]:
        """Of the voice that speaks by default, and of the periods from the configured one on."""
        configured_ms = self.config.audio.period_ms
        longer = tuple(p for p in PERIODS_MS if p > configured_ms) if self._with_periods() else ()
        return self.voices.ladder((configured_ms, *longer))

    def look(self, now_ns: int) -> Snapshot:
        """Cheap: a few files every other second, and counters."""
        if self._sensed is None or now_ns - self._sensed.now_ns >= SENSE_EVERY_S * NS_PER_S:
            self._sensed = Snapshot(
                now_ns,
                temp_c=self.sensors.temp_c(),
                throttled=self.sensors.throttled(),
                pressure_percent=cpu_pressure_percent(Path(self.config.governor.pressure_file)),
            )
        is_timed = self._level is not None and self.voices.runs_at(self._level)
        is_timed = is_timed and self.synth.timed == (self._number, id(self.voices.get(None)))
        return replace(
            self._sensed,
            now_ns=now_ns,
            rtf=self.counters.rtf.value(now_ns) if is_timed else None,
            rtf_recent=self.counters.rtf.value(now_ns, RECENT_S) if is_timed else None,
            gaps=self._new_gaps(),
        )

    def apply(self, number: int, level: Level | None) -> None:
        """Have it run so; what is still being done, or failed, is seen to at the next call."""
        self._number, self._level = number, level
        self.synth.level = number
        self.studio.is_eased = number > 0
        self.studio.only_kept = level is None
        if level is None:
            return
        self.voices.run_at(level)
        if level.period_ms != (self._period_ms or self.config.audio.period_ms):
            self._period_ms = level.period_ms
            for zone in self._with_periods():
                audio = replace(self.speakers[zone], period_ms=level.period_ms)
                sink = make_sink(audio, self.config.process)
                self.keeper.exchange(zone, sink, lambda: self.synth.speaking is None)

    def _with_periods(self) -> list[str]:
        return [zone for zone, audio in self.speakers.items() if audio.sink in WITH_PERIODS]

    def _new_gaps(self) -> int:
        """Xruns and underfills of all zones since the last look; a device opened anew counts from 0."""
        new = 0
        for zone in self.speakers:
            output = self.keeper.current(zone)
            if output is None:
                continue
            counters = output.ring.counters()
            count = counters.device_underflows + counters.underfills
            before, known = self._gaps.get(zone, (output, count))
            new += count - (known if before is output else 0)
            self._gaps[zone] = (output, count)
        return new
