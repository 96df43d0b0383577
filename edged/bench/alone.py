"""A process with one voice in one level: what loading it costs, and what it holds after a long sentence.

Run by `edged bench --voice` as `python -m edged.bench.alone`, since memory is a matter of the process.
Prints an Alone as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from edged.bench.texts import texts
from edged.errors import EdgedError
from edged.health.sensors import Sensors
from edged.types import Engine
from edged.voice import heap, store
from edged.voice.engines import fastspeech2, vits
from edged.voice.manifest import Manifest, check_sizes
from edged.voices import front_end

LONG_CHARS = 300
OPENERS: dict[str, Callable[[Manifest, str, int], Engine]] = {
    "vits": vits.open_engine,
    "fastspeech2": fastspeech2.open_engine,
}


@dataclass(frozen=True, slots=True)
class Alone:
    """Memory in MiB. `load` is from the manifest to graphs that are ready to run; nothing was run yet."""

    load_cpu_ms: float
    load_private_dirty_mb: float
    peak_rss_mb: float
    rss_mb: float
    private_dirty_mb: float


def main(folder: str, name: str, level: str) -> Alone:
    """Load, speak, look. Raises VoiceError."""
    heap.keep_freed_memory()
    sensors = Sensors()
    heap.trim()
    before_mb = sensors.read().private_dirty_mb or 0.0
    begun_s = time.process_time()
    manifest = store.current(Path(folder), name)
    check_sizes(manifest)
    engine = OPENERS[manifest.engine](manifest, level, 1)
    load_cpu_ms = 1000 * (time.process_time() - begun_s)
    heap.trim()
    loaded_mb = sensors.read().private_dirty_mb or 0.0
    phonemize = front_end(manifest.folder, None, 0)
    for _ in engine.stream(phonemize(next(texts(LONG_CHARS, manifest.language))), 1.0, 0):
        pass
    heap.trim()
    after = sensors.read()
    return Alone(
        load_cpu_ms=load_cpu_ms,
        load_private_dirty_mb=loaded_mb - before_mb,
        peak_rss_mb=_peak_rss_mb(),
        rss_mb=after.rss_mb or 0.0,
        private_dirty_mb=after.private_dirty_mb or 0.0,
    )


def _peak_rss_mb() -> float:
    """Of this process since its start; getrusage's would be that of the one that started it, if larger."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


if __name__ == "__main__":
    try:
        print(json.dumps(asdict(main(**json.loads(sys.argv[1])))))
    except EdgedError as error:
        sys.exit(" ".join(str(error).split()))
