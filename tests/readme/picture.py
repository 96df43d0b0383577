"""The README's picture: one announcement as a sound card got it. `python3 -m tests.readme.picture`.

Everything is real but the card: a broker, the daemon as a process of its own, PortAudio, ALSA, and a
sound server whose speaker leads nowhere, of which it is recorded what it plays. Needs the packages that
deploy/check installs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edged.bench.canvas import canvas
from edged.bench.daemon import caller
from edged.bench.latency import ONSET_LEVEL
from edged.bench.services import RATE_HZ, Recording
from edged.bench.surroundings import Surroundings
from edged.config.model import Config
from edged.errors import EdgedError
from edged.mqtt.caller import Caller
from edged.types import Event, EventKind, Int16

FILE = Path(__file__).with_name("heard.png")
WARM_UP = ("The washing machine has finished.", "Somebody is at the door.")
TEXT = "Dinner is ready. Please come to the table."
LIMIT_S = 60.0
BEFORE_S, AFTER_S = 0.02, 0.15
"""Shown of the recording around the publish call and the end."""
BEGIN_S = 0.2
"""Length of the left half."""
WINDOW, HOP = 512, 240
"""Samples of a column of the spectrogram, and from one to the next: 10 ms."""
LOWEST_DB, STEP_DB, HIGHEST_HZ = -60, 5, 8000
"""Few steps make a small file."""
BLUE, ORANGE, GREEN = "#1f5f99", "#c4611a", "#2b7a3d"


@dataclass(frozen=True, slots=True)
class Heard:
    """Seconds after the publish call, and the recording."""

    samples: Int16
    """From BEFORE_S before the publish call on."""
    first_sample_s: float
    onset_s: float


def main() -> int:
    """Speaks, records and draws."""
    with Surroundings(Config(), None, print) as around:
        if around.sound() is None:
            raise EdgedError(around.no_recording)
        heard = _speak(around)
    title = f"“{TEXT}”, voice {Config().voice.name}, recorded at the sound server"
    with canvas(FILE, title) as (left, right):
        _waveform(left, heard)
        _spectrogram(right, heard)
    print(f"{FILE}: {FILE.stat().st_size / 1000:.0f} kB")
    print(f"first sample after {1000 * heard.first_sample_s:.1f} ms, onset {1000 * heard.onset_s:.1f} ms")
    return 0


def _speak(around: Surroundings) -> Heard:
    server = around.sound()
    assert server is not None
    daemon = around.daemon(around.audio(Config().audio.period_ms))
    recording = server.record()
    try:
        with caller(around.broker_port()) as client:
            for text in WARM_UP:
                _finished(client, client.say(text).id)
            sent = client.say(TEXT)
            event = _finished(client, sent.id)
        return _cut(recording, sent.published_ns, event)
    finally:
        recording.stop()
        daemon.stop()


def _finished(client: Caller, name: str) -> Event:
    """The final event, when the last sample has been played."""
    *_, final = client.events_of({name}, LIMIT_S)
    if final.kind is not EventKind.FINISHED:
        raise EdgedError(f"{final.kind.value}: {final.reason}")
    return final


def _cut(recording: Recording, published_ns: int, event: Event) -> Heard:
    clock, samples = recording.clock(), recording.samples()
    begin = clock.frame(published_ns)
    loud = begin + np.flatnonzero(np.abs(samples[begin:].astype(np.int32)) >= ONSET_LEVEL)
    onset_s = (clock.ns(int(loud[0])) - published_ns) / 1e9
    zero = int(loud[0]) - round(onset_s * RATE_HZ)
    end = int(loud[-1]) + round(AFTER_S * RATE_HZ)
    kept = samples[zero - round(BEFORE_S * RATE_HZ) : end]
    return Heard(kept, ((event.first_sample_ns or 0) - published_ns) / 1e9, onset_s)


def _waveform(axes: Any, heard: Heard) -> None:
    """The beginning."""
    shown = heard.samples[: round((BEFORE_S + BEGIN_S) * RATE_HZ)] / 32768
    at_ms = 1000 * (np.arange(shown.size) / RATE_HZ - BEFORE_S)
    axes.plot(at_ms, shown, color=BLUE, lw=0.8)
    peak = float(np.abs(shown).max())
    for name, at_s, colour in (
        ("published", 0.0, "black"),
        ("first sample at the device", heard.first_sample_s, ORANGE),
        ("audible in the recording", heard.onset_s, GREEN),
    ):
        axes.axvline(1000 * at_s, color=colour, label=f"{name}, {1000 * at_s:.0f} ms")
    axes.set_xlim(at_ms[0], at_ms[-1])
    axes.set_ylim(-1.2 * peak, 1.8 * peak)
    axes.set_xlabel("ms after the publish call")
    axes.set_title("The beginning")
    axes.legend(loc="upper left", fontsize=9)


def _spectrogram(axes: Any, heard: Heard) -> None:
    """All of it."""
    frames = np.lib.stride_tricks.sliding_window_view(heard.samples / 32768, WINDOW)[::HOP]
    power = np.abs(np.fft.rfft(frames * np.hanning(WINDOW), axis=1)) ** 2
    decibels = 10 * np.log10(power / power.max() + 1e-12)
    kept = decibels[:, : HIGHEST_HZ * WINDOW // RATE_HZ].T
    end_s = heard.samples.size / RATE_HZ - BEFORE_S
    axes.imshow(
        np.round(kept.clip(LOWEST_DB, 0) / STEP_DB),
        origin="lower",
        aspect="auto",
        cmap="magma",
        interpolation="nearest",
        extent=(-BEFORE_S, end_s, 0, HIGHEST_HZ / 1000),
    )
    axes.axvline(heard.first_sample_s, color=ORANGE, lw=1)
    axes.set_xlabel("s after the publish call")
    axes.set_ylabel("kHz")
    axes.set_title("All of it")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EdgedError as error:
        sys.exit(f"tests.readme.picture: {error}")
