"""Where sound goes: sound devices and what stands in for them, behind one interface."""

from __future__ import annotations

from edged.audio.sinks.base import HungError, Output, Sink
from edged.audio.sinks.null import NullSink
from edged.audio.sinks.portaudio import PortAudioSink
from edged.audio.sinks.stdout import StdoutSink
from edged.audio.sinks.wav import WavSink
from edged.config.model import AudioConfig, ProcessConfig

__all__ = ["HungError", "NullSink", "Output", "PortAudioSink", "Sink", "StdoutSink", "WavSink", "make_sink"]


def make_sink(audio: AudioConfig, process: ProcessConfig, tap_frames: int = 0) -> Sink:
    """The sink that `audio.sink` names, not yet open. `tap_frames`: memory of the ring's tap."""
    match audio.sink:
        case "null":
            return NullSink(audio, tap_frames)
        case "wav":
            return WavSink(audio, tap_frames)
        case "stdout":
            return StdoutSink(audio, tap_frames)
        case _:
            return PortAudioSink(audio, process, tap_frames)
