"""The voice alone, in this process: text to the first chunk, and synthesis time over duration."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice

from edged.bench.rows import Figure
from edged.bench.texts import texts
from edged.config.model import Config
from edged.render import NO_CACHE, render
from edged.types import Announcement, Voice

WARM_UP = 3


def first_audio_ms(voice: Voice, config: Config, chars: int, n: int) -> list[float]:
    """Text to the first block with samples, through the whole text front end, for different texts."""
    measured = [text_to_first_ms(voice, config, text) for text in islice(texts(chars), WARM_UP + n)]
    return measured[WARM_UP:]


def text_to_first_ms(voice: Voice, config: Config, text: str) -> float:
    """One text to its first block with samples."""
    started_ns = time.monotonic_ns()
    next(filter(None, _blocks(voice, config, text)))
    return (time.monotonic_ns() - started_ns) / 1e6


def rtf(voice: Voice, config: Config, chars: int, n: int) -> tuple[list[float], list[float]]:
    """(processor time, elapsed time) over duration, text to device samples on this one thread."""
    rate_hz = voice.engine.sample_rate_hz
    cpu, wall = [], []
    for text in islice(texts(chars), WARM_UP + n):
        cpu_ns, wall_ns = time.thread_time_ns(), time.monotonic_ns()
        duration_ns = sum(_blocks(voice, config, text)) / rate_hz * 1e9
        cpu.append((time.thread_time_ns() - cpu_ns) / duration_ns)
        wall.append((time.monotonic_ns() - wall_ns) / duration_ns)
    return cpu[WARM_UP:], wall[WARM_UP:]


def figures(voice: Voice, config: Config, n: int) -> Iterator[Figure]:
    """Rows first_audio_ms and rtf."""
    for chars in (30, 300):
        yield Figure("first_audio_ms", str(chars), first_audio_ms(voice, config, chars, n), "ms")
    cpu, wall = rtf(voice, config, 300, max(3, n // 5))
    yield Figure("rtf", "cpu", cpu, "")
    yield Figure("rtf", "wall", wall, "")


def _blocks(voice: Voice, config: Config, text: str) -> Iterator[int]:
    """Samples per block, nothing from a cache."""
    rate_hz = voice.engine.sample_rate_hz
    for block in render(Announcement(id="", text=text), voice, config, rate_hz, NO_CACHE):
        yield block.samples.size
