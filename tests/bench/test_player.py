"""The process that speaks through the real synth thread while everything else is busy."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from edged.bench.alignment import compare
from edged.bench.surroundings import Surroundings
from edged.config.model import Config, VoiceConfig
from tests.daemon.harness import STORE


def told(_line: str) -> None:
    """Nobody looks at the progress."""


def test_speech_beside_a_full_load_is_what_is_rendered(tmp_path: Path) -> None:
    config = Config(voice=VoiceConfig(store=str(STORE)))
    with Surroundings(config, None, told) as around:
        audio = {"sink": "null", "period_ms": 12}
        played = around.play(audio, seconds=1.0, load=True, chars=20, look=True)
    report = played.report
    assert report.tap_equal
    assert report.failed == 0
    assert report.spins > 0
    assert report.runs > 0
    assert report.utterances == len(played.utterances) == len(report.lengths)
    assert report.audio_s * report.rate_hz == np.float64(sum(report.lengths))
    assert max(level for _, level in report.fill) > 100


def test_a_recording_of_the_device_is_what_is_rendered() -> None:
    config = Config(voice=VoiceConfig(store=str(STORE)))
    with Surroundings(config, None, told) as around:
        server = around.sound()
        assert server is not None
        recording = server.record()
        played = around.play(around.audio(24, latency_ms=200), seconds=1.0, load=False, chars=20)
        samples = recording.stop()
    assert compare(played.utterances, samples).lost_frames == 0
