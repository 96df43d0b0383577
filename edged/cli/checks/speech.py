"""The voice: installed, whole, and how fast it is on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from edged.cli.checks.finding import Board, Finding, fail, failed, ok, warn
from edged.errors import VoiceError

if TYPE_CHECKING:
    from edged.types import Voice

SENTENCES = (
    "Dinner is ready.",
    "The washing machine has finished.",
    "Somebody is at the front door.",
    "It is warm outside, please open a window.",
    "The garage door has been open for ten minutes.",
)
SLOW_RTF = 0.8
"""Above this there is no reserve for anything else that the board does."""


def voice(board: Board) -> Iterator[Finding]:
    """Every byte of the installed version, then five sentences, one thread of time."""
    from edged.voice import store
    from edged.voice.manifest import verify
    from edged.voices import store_dir

    name = board.config.voice.name
    home = store_dir(board.config) / name
    if not (home / "current").is_symlink():
        fact = f"{name} is not installed in {home.parent}"
        yield warn("voice", fact, "the daemon installs it at its first start")
        return
    try:
        manifest = store.current(home.parent, name)
        verify(manifest)
    except VoiceError as error:
        yield fail("voice", str(error), f"remove {home} and restart edged, which installs it anew")
        return
    size_mb = sum(entry.bytes for entry in manifest.files) / 1e6
    source = f"{manifest.source_package} {manifest.source_version}, {manifest.licence}"
    yield ok("voice", f"{name} {manifest.version}, {source}, {size_mb:.0f} MB, checksums right")
    yield _speed(board, home.parent)


def _speed(board: Board, folder: Path) -> Finding:
    from edged.voice.load import first_level, load_voice
    from edged.voices import front_end

    config = board.config
    try:
        choice = first_level(config.voice.threads)
        voice = load_voice(folder, config.voice.name, config.cache.ids_kib * 1024, front_end, choice)
    except VoiceError as error:
        return failed("speech", error, "install the voice again")
    measured = [_measure(voice, text) for text in SENTENCES]
    audio_s = sum(audio for _, _, audio in measured)
    if not audio_s:
        return fail("speech", f"the voice says nothing to {SENTENCES[0]!r}", "install the voice again")
    first_ms = sorted(first for first, _, _ in measured)[len(measured) // 2]
    rtf = sum(spent for _, spent, _ in measured) / audio_s
    fact = f"first audio after {first_ms:.1f} ms, RTF {rtf:.4f}, level {voice.engine.level}"
    if rtf > SLOW_RTF:
        return warn("speech", fact, "this machine is too slow or too busy for the voice")
    return ok("speech", fact)


def _measure(voice: Voice, text: str) -> tuple[float, float, float]:
    """(ms to the first chunk, seconds altogether, seconds of sound), phonemes included."""
    started_s = time.monotonic()
    first_ms = 0.0
    samples = 0
    for chunk in voice.engine.stream(voice.phonemize(text), 1.0, seed=0):
        if not samples:
            first_ms = 1000 * (time.monotonic() - started_s)
        samples += chunk.samples.size
    return first_ms, time.monotonic() - started_s, samples / voice.engine.sample_rate_hz
