"""Sound: cards, rights to them, who holds them, and whether the configured sink opens."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from edged.cli.checks.finding import Board, Finding, fail, failed, ok, warn
from edged.errors import SinkError

OWNER = re.compile(r"owner_pid\s*:\s*(\d+)")
CARD = re.compile(r"^\s*(\d+)\s+\[(\S+)\s*\]:\s+(.*)$", re.MULTILINE)


def sound(board: Board) -> Iterator[Finding]:
    """From the hardware up to the sink as the daemon would open it."""
    audio = board.config.audio
    if audio.sink == "stdout":
        yield ok("sound", "raw samples on standard output")
        return
    if audio.sink == "wav":
        folder = Path(audio.wav_file).absolute().parent
        if os.access(folder, os.W_OK):
            yield ok("sound", f"file {audio.wav_file}")
        else:
            yield fail("sound", f"{folder} cannot be written", "mend audio.wav_file")
        return
    if audio.sink == "alsa":
        yield from _cards(board)
    yield from _opened(board)


def _cards(board: Board) -> Iterator[Finding]:
    cards = CARD.findall(_text(board.proc / "asound/cards"))
    if cards:
        yield ok("sound cards", ", ".join(f"{number} {key} ({name.strip()})" for number, key, name in cards))
    else:
        yield warn(
            "sound cards",
            "the kernel has none (sound servers on another machine may do)",
            "plug one in, or enable it (Raspberry Pi: dtparam=audio=on in config.txt)",
        )
    nodes = sorted((board.dev / "snd").glob("pcm*p"))
    closed = [node.name for node in nodes if not os.access(node, os.R_OK | os.W_OK)]
    if closed:
        yield fail(
            "sound rights",
            f"{board.as_user()} may not open {', '.join(closed)}",
            f"sudo usermod -aG audio {board.as_user()}, then log in again",
        )
    for status in sorted((board.proc / "asound").glob("card*/pcm*p/sub*/status")):
        owner = OWNER.search(_text(status))
        if owner:
            name = _text(board.proc / owner[1] / "comm").strip() or "a process of another user"
            device = f"{status.parents[2].name} {status.parents[1].name}"
            yield ok("sound in use", f"{device} is held by {name} (process {owner[1]})")


def _opened(board: Board) -> Iterator[Finding]:
    from edged.audio.sinks import make_sink  # here: a library that is missing is a finding

    sink = make_sink(board.config.audio, board.config.process)
    try:
        output = sink.open()
    except SinkError as error:
        yield failed("sound", error, "set audio.device to another, or audio.sink to wav")
        return
    info = output.info
    sink.close(output, drain=False)
    yield ok(
        "sound",
        f"{info.device}: {info.sample_rate_hz} Hz, channels {info.channels}, period {info.period_frames} "
        f"frames, latency {info.latency_ms:.0f} ms, real time {'yes' if info.realtime else 'no'}",
    )


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
