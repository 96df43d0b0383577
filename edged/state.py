"""The state topic's content: one look at every part, taken by the main thread.

Slow readings (memory, temperature) are kept for a few seconds, so that an idle daemon stays idle and
its state does not change with every page of memory.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path

from edged import __version__
from edged.audio.keeper import Keeper
from edged.audio.sinks import Output
from edged.health.counters import Counters
from edged.health.governor import Governor
from edged.health.lock import Obtained
from edged.health.pressure import cpu_pressure_percent
from edged.health.sensors import Readings, Sensors
from edged.mqtt.client import MqttLink
from edged.queue.mailbox import Mailbox
from edged.render import PcmCache
from edged.supervisor import CurrentConfig
from edged.synth import SynthThread
from edged.voices import Voices

SENSE_EVERY_S = 10.0


@dataclass(slots=True)
class StateReader:
    """Holds what there is to look at; `read` gives the JSON object of base/state."""

    zones: tuple[str, ...]
    config: CurrentConfig
    synth: SynthThread
    mailbox: Mailbox
    keeper: Keeper
    counters: Counters
    voices: Voices
    pcm_cache: PcmCache
    obtained: dict[str, Obtained]
    link: MqttLink
    governor: Governor
    sensors: Sensors
    _readings: Readings | None = None
    _pressure_percent: float | None = None
    _level: int = 0
    _read_ns: int = 0

    def read(self) -> dict[str, object]:
        """Keys as in the README; units in their names."""
        now_ns = time.monotonic_ns()
        is_old = now_ns - self._read_ns > SENSE_EVERY_S * 1e9 or self._level != self.governor.level
        if self._readings is None or is_old:
            self._readings, self._read_ns, self._level = self.sensors.read(), now_ns, self.governor.level
            self._pressure_percent = cpu_pressure_percent(Path(self.config().governor.pressure_file))
        config = self.config()
        voice = self.voices.get(None)
        outputs = {zone: self.keeper.current(zone) for zone in self.zones}
        output = outputs[self.zones[0]]
        rings = [each.ring.counters() for each in outputs.values() if each]
        return {
            "version": __version__,
            "speaking": self.synth.speaking,
            "queue": len(self.mailbox),
            "voice": voice.name,
            **self.governor.state(),
            "precision": voice.engine.level,
            "frame_ms": _frame_ms(output) if output else None,
            "fill_ms": _fill_ms(output) if output else None,
            "buffer_ms": config.audio.buffer_ms,
            "volume": config.audio.volume,
            "sink": str(self.keeper.state(self.zones[0])),
            "zones": {zone: str(self.keeper.state(zone)) for zone in self.zones[1:]},
            "device_latency_ms": round(output.info.latency_ms, 1) if output else None,
            "realtime": output.info.realtime if output else False,
            "xruns": sum(ring.device_underflows for ring in rings) if rings else None,
            "underfills": sum(ring.underfills for ring in rings) if rings else None,
            "broker": self.link.status.text,
            "messages": asdict(self.link.counts),
            "ids_cache": {"hits": self.voices.ids_cache.hits, "misses": self.voices.ids_cache.misses},
            "pcm_cache": {"hits": self.pcm_cache.hits, "misses": self.pcm_cache.misses},
            "temp_c": self._readings.temp_c,
            "throttled": self._readings.throttled,
            "pressure_percent": None if self._pressure_percent is None else round(self._pressure_percent),
            "rss_mb": self._readings.rss_mb,
            "private_dirty_mb": self._readings.private_dirty_mb,
            **self.counters.snapshot(now_ns),
            **{name: what.text for name, what in self.obtained.items()},
        }


def _frame_ms(output: Output) -> int:
    return round(1000 * output.info.period_frames / output.info.sample_rate_hz)


def _fill_ms(output: Output) -> int:
    return round(1000 * output.ring.fill_frames / output.info.sample_rate_hz)
