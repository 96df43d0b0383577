"""Text to samples at the device's rate: the part of the main path that needs no device.

The noise of a voice is seeded by the sentence, so equal text gives equal samples: what a device played
can be compared with what is rendered aside.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from edged.audio.pcm import FULL_SCALE, PcmStream
from edged.config.model import Config
from edged.phrases import Phrases
from edged.text import NORMALIZER_VERSION
from edged.text.cache import LruBytes
from edged.text.reading import Reading, adapted, base, readings
from edged.types import Announcement, Int16, Voice

PcmCache = LruBytes[Hashable, Int16]

PHRASE_BLOCK_FRAMES = 4096
"""Of a prerendered phrase at a time: the first sound must not wait for the resampling of the whole."""

NO_CACHE = PcmCache(0, lambda _key, samples: samples.nbytes)

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
    phrases: Phrases | None = None,
    from_sentence: int = 0,
    any_precision: bool = False,
    more: Sequence[Voice] = (),
) -> Iterator[Block]:
    """All of an announcement in order, one block per chunk, out of what is kept where it is there.

    Voices in `more` say what is in their language and not in that of `voice`. With `any_precision` what
    was kept at another one will do, too. Gives no block with samples where there is nothing to speak.
    Raises what the voice raises, in the middle of the text, too.
    """
    if from_sentence:
        yield from _synthesize(announcement, (voice, *more), config, rate_hz, from_sentence)
        return
    if (whole := kept(announcement, voice, config, rate_hz, cache, phrases, any_precision, more)) is not None:
        yield from whole
        return
    is_short = len(announcement.text) <= config.cache.pcm_max_chars
    made: list[Int16] = []
    for block in _synthesize(announcement, (voice, *more), config, rate_hz, 0):
        if is_short:
            made.append(block.samples)
        yield block
    if made:
        name = key(announcement, voice, config, voice.engine.level, more)
        cache.put((name, announcement.volume, rate_hz), np.concatenate(made))


def kept(
    announcement: Announcement,
    voice: Voice,
    config: Config,
    rate_hz: int,
    cache: PcmCache,
    phrases: Phrases | None,
    any_precision: bool,
    more: Sequence[Voice] = (),
) -> Iterator[Block] | None:
    """The whole announcement as it was made before; None where it was not."""
    is_short = len(announcement.text) <= config.cache.pcm_max_chars
    others = voice.levels if any_precision else ()
    for level in dict.fromkeys((voice.engine.level, *others)):
        name = key(announcement, voice, config, level, more)
        if is_short and (whole := cache.get((name, announcement.volume, rate_hz))) is not None:
            return iter((Block(whole, 0, is_kept=True),))
        if phrases is not None and (phrase := phrases.get(name)) is not None:
            return _played(phrase, announcement, voice.engine.sample_rate_hz, rate_hz)
    return None


def key(
    announcement: Announcement, voice: Voice, config: Config, level: str, more: Sequence[Voice] = ()
) -> tuple[Hashable, ...]:
    """All that the samples of an announcement depend on, but its volume and the device's rate."""
    return (
        announcement.text,
        announcement.lang,
        config.text.lang,
        voice.version,
        level,
        voice.reader,
        *((each.version, each.engine.level, each.reader) for each in more),
        _speed(announcement, config),
        announcement.speaker,
        config.audio.sentence_pause_ms,
        config.text.first_unit_chars,
        config.text.words.digest,
        NORMALIZER_VERSION,
    )


def _played(phrase: Int16, announcement: Announcement, voice_rate_hz: int, rate_hz: int) -> Iterator[Block]:
    gain = 1.0 if announcement.volume is None else announcement.volume
    pcm = PcmStream(voice_rate_hz, rate_hz)
    sentence: int | None = 0
    for at in range(0, phrase.size, PHRASE_BLOCK_FRAMES):
        part = phrase[at : at + PHRASE_BLOCK_FRAMES].astype(np.float32) / np.float32(FULL_SCALE)
        yield Block(pcm.push(part, gain), sentence, is_kept=True)
        sentence = None
    yield Block(pcm.flush(), is_kept=True)


def _synthesize(
    announcement: Announcement, voices: Sequence[Voice], config: Config, rate_hz: int, from_sentence: int
) -> Iterator[Block]:
    gain = 1.0 if announcement.volume is None else announcement.volume
    speed, begun, pause = _speed(announcement, config), -1, NO_SAMPLES
    for reading in read(announcement, voices[0], config):
        if reading.unit < from_sentence:
            continue
        voice = voice_for(reading.lang, voices)
        text = adapted(reading.text, reading.lang, voice.language)
        ids = voice.phonemize(text)
        if not ids.speakable:
            continue
        yield Block(pause, reading.unit if reading.unit != begun else None, len(text))
        begun = reading.unit
        pcm = PcmStream(voice.engine.sample_rate_hz, rate_hz)
        speaker = announcement.speaker if voice is voices[0] else None
        for chunk in voice.engine.stream(ids, speed, zlib.crc32(text.encode()), speaker):
            yield Block(pcm.push(chunk.samples, gain))
        yield Block(pcm.flush())
        pause = np.zeros(reading.pause_ms * rate_hz // 1000, np.int16)


def read(announcement: Announcement, voice: Voice, config: Config) -> Iterator[Reading]:
    """What is said of an announcement, stretch by stretch."""
    text, pause_ms = config.text, config.audio.sentence_pause_ms
    return readings(
        *(announcement.text, announcement.lang, text.lang or voice.language),
        *(text.first_unit_chars, pause_ms, text.words),
    )


def voice_for(lang: str, voices: Sequence[Voice]) -> Voice:
    """The first that speaks a base language; the first of all where none does."""
    return next((voice for voice in voices if base(voice.language) == lang), voices[0])


def _speed(announcement: Announcement, config: Config) -> float:
    return config.voice.speed if announcement.speed is None else announcement.speed
