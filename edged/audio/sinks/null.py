"""The null sink: silence in real time. It keeps what it played, for tests and measurements."""

from __future__ import annotations

import threading
import time
from collections import deque

import numpy as np

from edged.audio.sinks.base import DEFAULT_RATE_HZ, Output, ring_for, wait_played
from edged.audio.sinks.reader import Pace, ReaderThread
from edged.config.model import AudioConfig
from edged.types import Int16, SinkInfo

KEEP_S = 30.0


class NullSink:
    """Plays to nowhere, a period at a time, as a device would."""

    kind = "null"

    def __init__(self, audio: AudioConfig, tap_frames: int = 0) -> None:
        self._audio = audio
        self._tap_frames = tap_frames
        self._threads: dict[Output, ReaderThread] = {}
        self._lock = threading.Lock()
        self._played: deque[Int16] = deque()
        self._played_frames = 0

    def open(self) -> Output:
        """See Sink; never fails."""
        rate_hz = self._audio.rate_hz or DEFAULT_RATE_HZ
        ring = ring_for(self._audio, rate_hz, self._audio.channels or 1, self._tap_frames)
        info = SinkInfo("null", "null", rate_hz, ring.channels, ring.period_frames, 0.0, False)
        output = Output(ring, info, time.monotonic_ns())
        pace = Pace(ring.period_frames / rate_hz)

        def turn() -> None:
            pace.wait()
            self._keep(ring.render(ring.period_frames), ring.period_frames, rate_hz)

        self._threads[output] = ReaderThread("null sink", turn)
        self._threads[output].start()
        return output

    def _keep(self, block: Int16, frames: int, rate_hz: int) -> None:
        with self._lock:
            self._played.append(block)
            self._played_frames += frames
            while self._played_frames - frames > KEEP_S * rate_hz:
                self._played.popleft()
                self._played_frames -= frames

    def played(self) -> Int16:
        """All of the last 30 s, silence included: int16 [frames * channels], interleaved."""
        with self._lock:
            return np.concatenate([np.zeros(0, np.int16), *self._played])

    def close(self, output: Output, drain: bool) -> None:
        """See Sink."""
        thread = self._threads.pop(output, None)
        if thread is None:
            return
        if drain:
            wait_played(output, self._audio.drain_limit_ms / 1000, 0.0)
        thread.stop()

    def fault(self, output: Output) -> str | None:
        """See Sink."""
        return self._threads[output].fault if output in self._threads else "closed"

    def devices_changed(self) -> bool:
        """Never: there is one place."""
        return False

    def rescan(self) -> None:
        """Nothing to look for."""
