"""Text to samples at the device's rate: the part of the main path that needs no device.

The noise of a voice is seeded by the sentence, so equal text gives equal samples: what a device played
can be compared with what is rendered aside.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from edged.audio.pcm import PcmStream
from edged.config.model import Config
from edged.text import LEXICON_VERSION, NORMALIZER_VERSION
from edged.text.cache import LruBytes
from edged.text.clean import clean
from edged.text.sentences import units
from edged.types import Announcement, Int16, Voice

PcmCache = LruBytes[Hashable, Int16]

NO_SAMPLES: Int16 = np.zeros(0, np.int16)


@dataclass(frozen=True, slots=True)
class Block:
    """Samples for the ring, int16 [n] mono at the device rate; `sentence` is set where one begins."""

    samples: Int16
    sentence: int | None = None
    chars: int = 0
    """Of the sentence that begins."""
    is_kept: bool = False
    """Not synthesized now: its time says nothing about the voice."""


def render(
    announcement: Announcement,
    voice: Voice,
    config: Config,
    rate_hz: int,
    cache: PcmCache,
    from_sentence: int = 0,
) -> Iterator[Block]:
    """All of an announcement in order, one block per chunk, through the cache where it is short.

    Gives no block with samples where there is nothing to speak. Raises what the voice raises, in the
    middle of the text, too.
    """
    if from_sentence or len(announcement.text) > config.cache.pcm_max_chars:
        yield from _synthesize(announcement, voice, config, rate_hz, from_sentence)
        return
    key = (
        announcement.text,
        voice.version,
        voice.engine.level,
        _speed(announcement, config),
        announcement.volume,
        announcement.speaker,
        rate_hz,
        config.audio.sentence_pause_ms,
        config.text.first_unit_chars,
        NORMALIZER_VERSION,
        LEXICON_VERSION,
    )
    if (whole := cache.get(key)) is not None:
        yield Block(whole, 0, is_kept=True)
        return
    made: list[Int16] = []
    for block in _synthesize(announcement, voice, config, rate_hz, 0):
        made.append(block.samples)
        yield block
    if made:
        cache.put(key, np.concatenate(made))


def _synthesize(
    announcement: Announcement, voice: Voice, config: Config, rate_hz: int, from_sentence: int
) -> Iterator[Block]:
    gain = 1.0 if announcement.volume is None else announcement.volume
    speed, speaker = _speed(announcement, config), announcement.speaker
    pause = NO_SAMPLES
    text = clean(announcement.text)
    for sentence in units(text, config.text.first_unit_chars, config.audio.sentence_pause_ms):
        if sentence.index < from_sentence:
            continue
        ids = voice.phonemize(sentence.text)
        if not ids.speakable:
            continue
        yield Block(pause, sentence.index, len(sentence.text))
        pcm = PcmStream(voice.engine.sample_rate_hz, rate_hz)
        for chunk in voice.engine.stream(ids, speed, zlib.crc32(sentence.text.encode()), speaker):
            yield Block(pcm.push(chunk.samples, gain))
        yield Block(pcm.flush())
        pause = np.zeros(sentence.pause_ms * rate_hz // 1000, np.int16)


def _speed(announcement: Announcement, config: Config) -> float:
    return config.voice.speed if announcement.speed is None else announcement.speed
