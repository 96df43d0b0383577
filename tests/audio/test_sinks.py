"""The contract of every sink: what is written is what is heard, and what is told of it is true."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from edged.types import Int16
from tests.audio.harness import KINDS, RATE_HZ, Heard, Studio, sounding
from tests.audio.scenarios import FIRST, LAST, PAUSE_MS, PLAIN_FRAMES
from tests.audio.signals import noise
from tests.pulse import align

LIBRARIES_AFTER_LOOKING = """
from edged.audio.sinks.portaudio import PortAudioSink
from edged.config.model import AudioConfig, ProcessConfig
sink = PortAudioSink(AudioConfig(), ProcessConfig())
sink.rescan()  # as at the start, and as after a card was plugged in
sink.rescan()
print(open("/proc/self/maps").read())
"""
every_sink = pytest.mark.parametrize("kind", KINDS)


def check_exact(expected: Int16, heard: Int16) -> int:
    """All of it is there in one piece, and nothing else is but silence. Returns where it begins."""
    found = align(expected, heard)
    assert found.exact, found
    assert found.offset is not None
    assert not heard[: found.offset].any()
    assert not heard[found.offset + expected.size :].any()
    return found.offset


@every_sink
def test_all_samples_arrive_and_the_end_is_not_cut(studio: Studio, kind: str) -> None:
    expected = noise(PLAIN_FRAMES, 1)
    heard = studio.play_exact(kind, "plain", expected)
    check_exact(expected, heard.mono)
    assert heard.report["counters"]["underfills"] == 0
    assert heard.report["counters"]["frames_played"] == expected.size
    assert heard.report["tap"] == expected.tolist()


@every_sink
def test_marks_tell_when_the_first_and_the_last_frame_were_taken(studio: Studio, kind: str) -> None:
    report = studio.play(kind, "plain").report
    (first, first_ns, latency_ms), (last, last_ns, _) = report["marks"]
    assert (first, last) == (FIRST, LAST)
    assert report["opened_ns"] < first_ns < last_ns
    assert last_ns <= report["counters"]["last_callback_ns"]
    assert (latency_ms > 0) == (kind == "alsa")
    if kind != "stdout":  # a pipe that is read at once has no pace
        assert last_ns - first_ns > 0.4e9


@every_sink
def test_lead_in_is_silence_and_messages_in_a_row_have_none_between(studio: Studio, kind: str) -> None:
    expected = np.concatenate([noise(4000, 1), noise(4000, 2)])
    heard = studio.play_exact(kind, "lead_in", expected)
    assert check_exact(expected, heard.mono) >= RATE_HZ // 5
    assert [mark[0] for mark in heard.report["marks"]] == [FIRST, LAST, FIRST, LAST]


@every_sink
def test_pauses_are_exact_zeros_of_the_set_length(studio: Studio, kind: str) -> None:
    pause = np.zeros(PAUSE_MS * RATE_HZ // 1000, np.int16)
    expected = np.concatenate([noise(5000, 1), pause, noise(5000, 2), pause, noise(5000, 3)])
    heard = studio.play_exact(kind, "sentences", expected)
    begin = check_exact(expected, heard.mono)
    zeros = np.flatnonzero(heard.mono[begin : begin + expected.size] == 0)
    assert zeros.size == 2 * pause.size


def cut_part(heard: Heard) -> Int16:
    """Of the scenario `skip`: what was heard of the level before the other utterance."""
    found = align(noise(5000, 2), heard.mono)
    return sounding(heard.mono[: found.offset or 0])


@every_sink
def test_a_cut_fades_and_what_comes_after_it_is_whole(studio: Studio, kind: str) -> None:
    follows = noise(5000, 2)
    heard = studio.play_calm(
        kind, "skip", lambda heard: align(follows, heard.mono).exact and bool(cut_part(heard).all())
    )
    assert align(follows, heard.mono).exact
    cut = cut_part(heard).astype(int)
    assert cut.max() == 12000
    assert cut.size < 12000
    assert (np.diff(cut[-RATE_HZ // 50 :]) <= 0).all()
    assert np.abs(np.diff(cut)).max() < 12000 / 400
    assert cut[-1] < 12000 / 400
    assert [mark[0] for mark in heard.report["marks"]] == [FIRST, FIRST, LAST]
    assert heard.report["counters"]["skipped_frames"] == 12000 - cut.size
    assert heard.report["counters"]["underfills"] == 0


@every_sink
def test_an_idle_device_plays_exact_zeros_and_costs_little(studio: Studio, kind: str) -> None:
    heard = studio.play(kind, "idle", period_ms=12)
    assert not heard.mono.any()
    assert heard.report["counters"]["underfills"] == 0
    assert heard.report["counters"]["callbacks"] > 20
    assert heard.report["cpu_percent"] < 20


@every_sink
def test_loudness_is_changed_without_a_step(studio: Studio, kind: str) -> None:
    heard = studio.play_calm(kind, "volume", lambda heard: bool(sounding(heard.mono).all()))
    loud = sounding(heard.mono).astype(int)
    assert loud[0] == 10000
    assert loud[-1] == 20000
    rising = loud[(loud > 10000) & (loud < 20000)]
    assert rising.size >= RATE_HZ // 25
    assert np.abs(np.diff(loud)).max() < 50


@pytest.mark.parametrize("channels", [1, 2, 4, 8])
@pytest.mark.parametrize("kind", ["alsa", "null", "wav"])
def test_mono_goes_to_left_and_right_and_other_channels_are_silent(
    studio: Studio, kind: str, channels: int
) -> None:
    expected = noise(PLAIN_FRAMES, 1)
    heard = studio.play_exact(kind, "plain", expected, channels)
    assert heard.report["info"]["channels"] == channels
    assert heard.samples.shape[1] == channels
    begin = check_exact(expected, heard.mono)
    for channel in range(1, channels):
        samples = np.ascontiguousarray(heard.samples[:, channel])
        assert check_exact(expected, samples) == begin if channel == 1 else not samples.any()


def test_a_device_of_two_channels_is_found_out_and_gets_both(studio: Studio) -> None:
    expected = noise(PLAIN_FRAMES, 1)
    stereo = studio.play_exact("alsa", "plain", expected, 2)
    asked = studio.play_exact("alsa", "plain", expected, 2, channels=None)
    left, right = (np.ascontiguousarray(asked.samples[:, channel]) for channel in range(2))
    assert check_exact(expected, left) == check_exact(expected, right)
    assert stereo.report["info"]["channels"] == 2


@pytest.mark.parametrize("period_ms", [6, 12, 24])
def test_the_period_is_the_one_asked_for(studio: Studio, period_ms: int) -> None:
    report = studio.play("alsa", "plain", period_ms=period_ms).report
    assert report["info"]["period_frames"] == RATE_HZ * period_ms // 1000
    marks_ns = [mark[1] for mark in report["marks"]]
    assert all(a < b for a, b in pairwise(marks_ns))


def test_looking_for_devices_loads_no_libraries_for_video() -> None:
    assert list(Path("/usr/lib").glob("*/alsa-lib/libasound_module_pcm_a52.so")), (
        "libasound2-plugins is missing"
    )
    command = [sys.executable, "-c", LIBRARIES_AFTER_LOOKING]
    looked = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "libasound.so" in looked.stdout
    assert "libportaudio.so" in looked.stdout
    assert "libavcodec" not in looked.stdout
