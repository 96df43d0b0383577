"""The stdout sink: raw PCM (signed 16 bit little endian, mono) to standard output, for a pipe.

The pipe sets the pace: a slow reader slows the ring down, and nothing but sound is written, so an
empty ring is no gap here.
"""

from __future__ import annotations

import os
import select
import time

from edged.audio.sinks.base import DEFAULT_RATE_HZ, Output, ring_for, wait_until
from edged.audio.sinks.reader import ReaderThread
from edged.config.model import AudioConfig
from edged.errors import SinkError
from edged.types import Int16, SinkInfo

STDOUT_FD = 1
WAIT_MS = 100
"""Longest wait for the pipe before the heartbeat is given and a stop is looked for."""
PIPE_PIECE_BYTES = select.PIPE_BUF
"""A pipe that polls as writable takes so many bytes without blocking."""


class _Pipe:
    """Bytes on their way to the descriptor; never blocks longer than WAIT_MS."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._rest = b""
        self._poll = select.poll()
        self._poll.register(fd, select.POLLOUT)

    @property
    def idle(self) -> bool:
        """All that was put has been written."""
        return not self._rest

    def put(self, samples: Int16) -> None:
        self._rest += samples.astype("<i2", copy=False).tobytes()

    def flush(self) -> bool:
        """Write what the reader takes now; True when nothing is left. Raises OSError when it is gone."""
        while self._rest:
            if not self._poll.poll(WAIT_MS):
                return False
            self._rest = self._rest[os.write(self._fd, self._rest[:PIPE_PIECE_BYTES]) :]
        return True


class StdoutSink:
    """Writes to file descriptor 1, as fast as it is read."""

    kind = "stdout"

    def __init__(self, audio: AudioConfig, tap_frames: int = 0, fd: int = STDOUT_FD) -> None:
        self._audio = audio
        self._tap_frames = tap_frames
        self._fd = fd
        self._open: dict[Output, tuple[ReaderThread, _Pipe]] = {}

    def open(self) -> Output:
        """See Sink. Raises SinkError when standard output is closed."""
        try:
            os.fstat(self._fd)
        except OSError as error:
            raise SinkError(
                "standard output is closed; give it a pipe, or set audio.sink to another"
            ) from error
        rate_hz = self._audio.rate_hz or DEFAULT_RATE_HZ
        ring = ring_for(self._audio, rate_hz, 1, self._tap_frames)
        info = SinkInfo("stdout", "stdout", rate_hz, 1, ring.period_frames, 0.0, False)
        output = Output(ring, info, time.monotonic_ns())
        pipe = _Pipe(self._fd)

        def turn() -> None:
            if not pipe.flush():
                ring.render(0)  # the reader is slow, we are alive
                return
            frames = min(ring.fill_frames, ring.period_frames)
            block = ring.render(frames)
            pipe.put(block[: ring.sounding_frames])
            if not frames:
                time.sleep(self._audio.period_ms / 1000)

        self._open[output] = ReaderThread("stdout sink", turn), pipe
        self._open[output][0].start()
        return output

    def close(self, output: Output, drain: bool) -> None:
        """See Sink; what the pipe has taken is its reader's."""
        if output not in self._open:
            return
        thread, pipe = self._open.pop(output)
        if drain and not thread.fault:
            wait_until(
                lambda: bool(thread.fault) or (pipe.idle and not output.ring.fill_frames),
                self._audio.drain_limit_ms / 1000,
            )
        thread.stop()
        if drain and not thread.fault:
            pipe.flush()  # the block that was between ring and pipe when the thread ended

    def fault(self, output: Output) -> str | None:
        """See Sink."""
        if output not in self._open:
            return "closed"
        reason = self._open[output][0].fault
        return f"standard output: {reason}" if reason else None

    def devices_changed(self) -> bool:
        """Never: there is one place."""
        return False

    def rescan(self) -> None:
        """Nothing to look for."""
