"""What the frame stride costs on this board: the processor time of a device woken every 6, 12 or 24 ms.

The same for every voice, so it is measured once per device and kept in `<state>/strides.<machine>.json`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from edged.audio.sinks import make_sink
from edged.config.model import Config
from edged.errors import EdgedError, SinkError
from edged.voice import ladder

STRIDES_MS = (6, 12, 24)
SETTLE_S, MEASURE_S = 0.3, 2.0


@dataclass(frozen=True, slots=True)
class Stride:
    """One period of one device."""

    period_ms: int
    cpu: float
    """Share of one core, all threads that drive the device together."""
    callback_us: float
    """Of that, per period."""


def strides(config: Config, state_dir: Path, progress: Callable[[str], None]) -> tuple[Stride, ...]:
    """Those of the configured device, from the file where they are in it. Raises EdgedError, SinkError."""
    file = state_dir / f"strides.{ladder.machine()}.json"
    device = f"{config.audio.sink}: {config.audio.device or 'default'}"
    known = _known(file)
    if device in known:
        return known[device]
    found = tuple(_measured(config, period_ms, progress) for period_ms in STRIDES_MS)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        content = {key: [asdict(one) for one in of] for key, of in {**known, device: found}.items()}
        file.write_text(json.dumps(content, indent=1) + "\n")
    except OSError as error:
        raise EdgedError(f"{file}: {error.strerror}; run it as a user who may write there") from error
    return found


def _known(file: Path) -> dict[str, tuple[Stride, ...]]:
    """By device; what cannot be read is measured again."""
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
        return {device: tuple(Stride(**one) for one in of) for device, of in raw.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _measured(config: Config, period_ms: int, progress: Callable[[str], None]) -> Stride:
    """Silence through the device for a while. Raises SinkError where there is none."""
    progress(f"stride {period_ms} ms")
    sink = make_sink(replace(config.audio, period_ms=period_ms), config.process)
    output = sink.open()
    try:
        time.sleep(SETTLE_S)
        begun_s, cpu_s = time.monotonic(), time.process_time()
        time.sleep(MEASURE_S)
        cpu = (time.process_time() - cpu_s) / (time.monotonic() - begun_s)
        if fault := sink.fault(output):
            raise SinkError(fault)
    finally:
        sink.close(output, drain=False)
    return Stride(period_ms, round(cpu, 5), round(1e6 * cpu * period_ms / 1000, 1))
