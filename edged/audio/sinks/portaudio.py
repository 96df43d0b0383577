"""The sound device sink: PortAudio through sounddevice, with the C core as stream callback.

The only file that knows sounddevice. PortAudio's own thread reads the ring; no Python runs on it, and
no Python callback of any kind is given to PortAudio (it would need executable memory). Everything else
here runs on the keeper's thread or on a helper of its own that may be left behind when a call hangs.
"""

from __future__ import annotations

import ctypes
import logging
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from edged.audio._rt_core import ffi, lib
from edged.audio.sinks.base import (
    CLOSE_LIMIT_S,
    SILENCE_AFTER_S,
    HungError,
    Output,
    bounded,
    ring_for,
    wait_played,
)
from edged.audio.sinks.realtime import fifo_for_new_threads
from edged.config.model import AudioConfig, ProcessConfig
from edged.errors import SinkError
from edged.types import SinkInfo

log = logging.getLogger(__name__)

FALLBACK_RATES_HZ = (48000, 44100, 24000, 22050, 32000, 16000, 96000, 8000)
"""Asked for where a device takes neither the configured rate nor its own default, commonest first."""
FORMAT_REFUSED = (-9998, -9997, -9994)
"""PortAudio's paInvalidChannelCount, paInvalidSampleRate, paSampleFormatNotSupported."""
NOT_INITIALIZED = -10000
"""PortAudio's paNotInitialized."""
CARDS = Path("/proc/asound/cards")
_ALSA = "libasound.so.2"
_SILENCED = (
    (_ALSA, "snd_lib_error_set_handler", "rt_alsa_silence"),
    ("libjack.so.0", "jack_set_error_function", "rt_jack_silence"),
    ("libjack.so.0", "jack_set_info_function", "rt_jack_silence"),
)

_left_behind: list[object] = []
"""Streams whose closing hangs: their thread may still use the ring, so it must never be freed."""


class _Seen:
    """The sound cards at the last look; PortAudio's own list is as old, and the process has one."""

    cards = ""


_seen = _Seen()


class PortAudioSink:
    """A sound device, found by (part of) its name among the output devices."""

    kind = "alsa"

    def __init__(self, audio: AudioConfig, process: ProcessConfig, tap_frames: int = 0) -> None:
        self._audio = audio
        self._process = process
        self._tap_frames = tap_frames
        self._streams: dict[Output, Any] = {}

    def open(self) -> Output:
        """See Sink. Raises SinkError when the device is missing, busy or refuses."""
        sd = _sounddevice()
        device = self._find(sd)
        name = device["name"]
        try:
            rate_hz, channels = self._format(sd, device)
            ring = ring_for(self._audio, rate_hz, channels, self._tap_frames)
            stream = sd._StreamBase(
                kind="output",
                samplerate=rate_hz,
                blocksize=ring.period_frames,
                device=device["index"],
                channels=channels,
                dtype="int16",
                latency="low" if self._audio.latency_ms is None else self._audio.latency_ms / 1000,
                callback=ring.callback_pointer,
                userdata=ring.user_data,
                dither_off=True,
                wrap_callback=None,
            )
            realtime = self._start(stream)
        except sd.PortAudioError as error:
            raise SinkError(
                f"sound device {name!r}: {_reason(error)}; 'fuser -v /dev/snd/*' names who holds it, "
                "'edged doctor' what it takes"
            ) from error
        info = SinkInfo("alsa", name, rate_hz, channels, ring.period_frames, stream.latency * 1000, realtime)
        output = Output(ring, info, time.monotonic_ns())
        self._streams[output] = stream
        return output

    def _find(self, sd: Any) -> Any:
        """The device's dict of sounddevice; an exact name goes before a part of one."""
        try:
            devices = [device for device in sd.query_devices() if device["max_output_channels"] > 0]
            if self._audio.device is None:
                default = (
                    sd.default.device[1] if sd.default.device[1] >= 0 else sd._lib.Pa_GetDefaultOutputDevice()
                )
                found = [device for device in devices if device["index"] == default]
            else:
                wanted = self._audio.device.casefold()
                found = [device for device in devices if wanted == device["name"].casefold()]
                found += [device for device in devices if wanted in device["name"].casefold()]
        except sd.PortAudioError as error:
            raise SinkError(
                f"the sound system does not answer: {_reason(error)}; 'aplay -L' shows what it has"
            ) from error
        if found:
            return found[0]
        if not devices:
            raise SinkError(
                "no sound device at all; plug one in (audio.device names it), or set audio.sink to wav"
            )
        names = ", ".join(repr(device["name"]) for device in devices)
        wanted_name = "default" if self._audio.device is None else repr(self._audio.device)
        raise SinkError(f"no {wanted_name} sound device; set audio.device to (part of) one of: {names}")

    def _format(self, sd: Any, device: Any) -> tuple[int, int]:
        """Rate and channels that the device accepts. Raises PortAudioError and SinkError."""
        for rate_hz, channels in self._formats(device):
            try:
                sd.check_output_settings(device["index"], channels, "int16", samplerate=rate_hz)
            except sd.PortAudioError as error:
                if error.args[1] not in FORMAT_REFUSED:
                    raise
                continue
            if self._audio.rate_hz not in (None, rate_hz) or self._audio.channels not in (None, channels):
                log.warning(
                    "sound device %r does not take the configured audio.rate_hz and audio.channels; "
                    "it plays at %d Hz on %d channels",
                    device["name"],
                    rate_hz,
                    channels,
                )
            return rate_hz, channels
        raise SinkError(
            f"sound device {device['name']!r} takes no common format; set audio.device to another"
        )

    def _formats(self, device: Any) -> Iterator[tuple[int, int]]:
        own = round(device["default_samplerate"])
        rates_hz = [self._audio.rate_hz, own, *FALLBACK_RATES_HZ]
        channels = [self._audio.channels, 1, 2, device["max_output_channels"], 4, 6, 8]
        for rate_hz in dict.fromkeys(rate for rate in rates_hz if rate):
            for count in dict.fromkeys(count for count in channels if count):
                yield rate_hz, count

    def _start(self, stream: Any) -> bool:
        """Start the stream; True when its thread runs under SCHED_FIFO. Raises PortAudioError."""
        try:
            with fifo_for_new_threads(self._process.realtime, self._process.realtime_priority) as obtained:
                stream.start()
        except Exception:
            stream.close()
            raise
        return obtained.realtime

    def close(self, output: Output, drain: bool) -> None:
        """See Sink. Stopping cuts what the device still holds, so silence is played first."""
        stream = self._streams.pop(output, None)
        if stream is None:
            return
        if drain:
            silence_s = output.info.latency_ms / 1000 + SILENCE_AFTER_S
            wait_played(output, self._audio.drain_limit_ms / 1000, silence_s)

        def stop() -> None:
            stream.abort()
            stream.close()

        try:
            bounded(f"closing sound device {output.info.device!r}", stop, CLOSE_LIMIT_S)
        except HungError:
            _left_behind.append((stream, output))
            raise

    def fault(self, output: Output) -> str | None:
        """See Sink. A card that was pulled shows no fault: only its callbacks stand still."""
        stream = self._streams.get(output)
        if stream is None:
            return "closed"
        return None if stream.active else "the sound server has closed the stream"

    def devices_changed(self) -> bool:
        """See Sink: a card has come or gone."""
        return _cards() != _seen.cards

    def rescan(self) -> None:
        """See Sink. PortAudio lists devices only when it is initialized, and drops every stream then."""
        _seen.cards = _cards()
        sd = _sounddevice()
        # Not sounddevice's own pair: it points stderr of the whole process elsewhere meanwhile.
        for call in (sd._lib.Pa_Terminate, _hide_encoder, sd._lib.Pa_Initialize):
            code = call()
            if code < 0 and code != NOT_INITIALIZED:
                raise SinkError(
                    f"PortAudio does not start: {_text(sd, code)}; 'aplay -L' shows what ALSA has"
                )


def _sounddevice() -> Any:
    """The module, imported at first use: the other sinks work where PortAudio is not installed."""
    if "sounddevice" not in sys.modules:  # it initializes PortAudio when it is imported
        _hide_encoder()
    try:
        import sounddevice
    except OSError as error:
        raise SinkError(f"{error}: apt install libportaudio2, or set audio.sink to another") from error
    _silence()
    return sounddevice


def _silence() -> None:
    """The libraries that are loaded now write nothing to stderr of their own."""
    for library, setter, handler in _SILENCED:
        try:
            loaded = ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        except OSError:
            continue  # this PortAudio was built without it
        getattr(loaded, setter)(ctypes.c_void_p(int(ffi.cast("uintptr_t", ffi.addressof(lib, handler)))))


def _hide_encoder() -> int:
    """Take the S/PDIF encoder that comes with ALSA's plugins for sound servers out of what ALSA knows; 0.

    PortAudio opens all that is there to ask what it takes. This one alone makes it load 76 libraries for
    video, 13 MB and 60 ms; nobody speaks through it.
    """
    try:
        alsa = ctypes.CDLL(_ALSA)
    except OSError:
        return 0  # PortAudio says what is missing
    _silence()
    alsa.snd_config_update()
    known, node = ctypes.c_void_p.in_dll(alsa, "snd_config"), ctypes.c_void_p()
    if known and alsa.snd_config_search(known, b"pcm.a52", ctypes.byref(node)) == 0:
        alsa.snd_config_delete(node)
    return 0


def _cards() -> str:
    """The kernel's list of sound cards; empty where it has no sound at all."""
    try:
        return CARDS.read_text()
    except OSError:
        return ""


def _text(sd: Any, code: int) -> str:
    return str(sd._ffi.string(sd._lib.Pa_GetErrorText(code)).decode())


def _reason(error: Exception) -> str:
    """PortAudio's reason in one line, with the host's own words where there are some."""
    text = (
        str(error.args[0]).removeprefix("Error opening _StreamBase: ").removeprefix("Error starting stream: ")
    )
    host = f" ({error.args[2][2]})" if len(error.args) > 2 else ""
    return f"{text}{host}".replace("\n", " ")
