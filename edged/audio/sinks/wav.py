"""The wav sink: what is spoken goes to a file, at the pace of a device.

Silence between announcements is left out; gaps in mid-utterance are kept. The header is right after
every block, so the file is whole whenever the process is killed.
"""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path

from edged.audio.sinks.base import DEFAULT_RATE_HZ, Output, ring_for, wait_played
from edged.audio.sinks.reader import Pace, ReaderThread
from edged.config.model import AudioConfig
from edged.errors import SinkError
from edged.types import Int16, SinkInfo

HEADER_BYTES = 44
SIZE_LIMIT = 0xFFFFFFFF
"""WAV sizes have 32 bits; a longer file says the largest, as streams do."""


class WavFile:
    """A WAV file of int16 that can be read at any moment, also after a crash."""

    def __init__(self, path: Path, rate_hz: int, channels: int, append: bool) -> None:
        """Raises OSError. `append` goes on behind what the file has."""
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | (0 if append else os.O_TRUNC), 0o644)
        self._layout = (channels, rate_hz, rate_hz * channels * 2, channels * 2)
        self._data_bytes = max(0, os.fstat(self._fd).st_size - HEADER_BYTES)
        try:
            self._write_header()
        except OSError:
            os.close(self._fd)
            raise

    def append(self, samples: Int16) -> None:
        """Interleaved int16 behind the rest. Raises OSError."""
        data = samples.astype("<i2", copy=False).tobytes()
        while data:
            written = os.pwrite(self._fd, data, HEADER_BYTES + self._data_bytes)
            self._data_bytes += written
            data = data[written:]
        self._write_header()

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _write_header(self) -> None:
        channels, rate_hz, bytes_per_s, frame_bytes = self._layout
        size = min(SIZE_LIMIT, self._data_bytes)
        riff_size = min(SIZE_LIMIT, self._data_bytes + HEADER_BYTES - 8)
        riff = struct.pack("<4sI4s", b"RIFF", riff_size, b"WAVE")
        layout = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, rate_hz, bytes_per_s, frame_bytes, 16)
        os.pwrite(self._fd, riff + layout + struct.pack("<4sI", b"data", size), 0)


class WavSink:
    """Writes `audio.wav_file`: anew at the first open, behind the rest at later ones."""

    kind = "wav"

    def __init__(self, audio: AudioConfig, tap_frames: int = 0) -> None:
        self._audio = audio
        self._tap_frames = tap_frames
        self._begun = False
        self._open: dict[Output, tuple[ReaderThread, WavFile]] = {}

    def open(self) -> Output:
        """See Sink. Raises SinkError when the file cannot be written."""
        path = Path(self._audio.wav_file)
        rate_hz, channels = self._audio.rate_hz or DEFAULT_RATE_HZ, self._audio.channels or 1
        try:
            file = WavFile(path, rate_hz, channels, self._begun)
        except OSError as error:
            raise SinkError(
                f"{path}: {error.strerror}; set audio.wav_file to a file that can be written"
            ) from error
        self._begun = True
        ring = ring_for(self._audio, rate_hz, channels, self._tap_frames)
        info = SinkInfo("wav", str(path), rate_hz, channels, ring.period_frames, 0.0, False)
        output = Output(ring, info, time.monotonic_ns())
        pace = Pace(ring.period_frames / rate_hz)

        def turn() -> None:
            pace.wait()
            block = ring.render(ring.period_frames)
            if ring.sounding_frames:
                file.append(block[: ring.sounding_frames * channels])

        self._open[output] = ReaderThread("wav sink", turn), file
        self._open[output][0].start()
        return output

    def close(self, output: Output, drain: bool) -> None:
        """See Sink."""
        if output not in self._open:
            return
        thread, file = self._open.pop(output)
        if drain and not thread.fault:
            wait_played(output, self._audio.drain_limit_ms / 1000, 0.0)
        thread.stop()
        file.close()

    def fault(self, output: Output) -> str | None:
        """See Sink."""
        if output not in self._open:
            return "closed"
        reason = self._open[output][0].fault
        return f"{self._audio.wav_file}: {reason}" if reason else None

    def devices_changed(self) -> bool:
        """Never: there is one place."""
        return False

    def rescan(self) -> None:
        """Nothing to look for."""
