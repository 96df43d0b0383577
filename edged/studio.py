"""From an utterance to its blocks: chime, text, and what takes the place of a voice that fails.

Used by the synth thread only. What is tried, in this order, each step with a notice of its own: the same
voice once more, another voice of the language, the recorded prompt of the language, the alert tone.
"""

from __future__ import annotations

import copy
import itertools
import logging
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edged.audio.tone import alert_tone, chime
from edged.audio.wavfile import read_at
from edged.config.model import Config
from edged.errors import SinkError, VoiceError, VoiceNotReady
from edged.phrases import Phrases
from edged.render import NO_CACHE, Block, PcmCache, kept, key, render
from edged.text.reading import base, languages
from edged.types import Announcement, Int16, Utterance, Voice

log = logging.getLogger("edged.studio")

USUAL_CHIME = "ding"
SHARED_CHARS = 2000
"""Longer announcements for all zones are rendered in each: the rendering is kept for the last to begin."""
_SHARED_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Fallback:
    """One way on after a failure."""

    what: str
    """As in the notice: 'retry', 'voice NAME', 'prompt' or 'tone'."""
    voice: Voice
    blocks: Iterator[Block]
    says_it: bool
    """The text itself is still said."""


@dataclass(frozen=True, slots=True)
class _Rendering:
    """A phrase on its way to the disk."""

    name: Hashable
    text: str
    blocks: Iterator[Block]
    made: list[Int16]


def further(
    announcement: Announcement,
    voice: Voice,
    config: Config,
    for_language: Callable[[str], Voice | None],
) -> tuple[Voice, ...]:
    """Voices of the languages that a text has beside that of `voice`, those that there are."""
    usual = config.text.lang or voice.language
    wanted = languages(announcement.text, announcement.lang, usual) - {base(voice.language)}
    found = (for_language(each) for each in sorted(wanted))
    return tuple(each for each in found if each is not None)


class Studio:
    """Everything that makes sound of an utterance; one for all zones."""

    def __init__(
        self,
        voice: Callable[[str | None], Voice],
        for_language: Callable[[str], Voice | None],
        substitute: Callable[[Voice], Voice | None],
        prompts: Callable[[str], Path | None],
        cache: PcmCache,
        phrases: Phrases | None,
        report: Callable[[str, str], None],
    ) -> None:
        """`voice` gives the voice of a name (None: the default) or raises VoiceError; with VoiceNotReady
        the utterance waits. `for_language` gives a voice of a base language, where one is installed, or
        raises VoiceNotReady. `substitute` gives another loaded voice of the same language, `prompts` the
        recorded prompt of a language. `report` publishes a notice: what, and a line.
        """
        self.voice = voice
        self._for_language = for_language
        self._substitute = substitute
        self._prompts = prompts
        self._cache = cache
        self._phrases = phrases
        self._report = report
        self.is_eased = False
        """Less is asked of the board: sound of any precision will do, and nothing is prerendered. This and
        the next are written by the main thread."""
        self.only_kept = False
        """Nothing is synthesized at all."""
        self._rendering: _Rendering | None = None
        self._settled: set[Hashable] = set()
        """Phrases that are on disk or cannot be rendered, of this list and with so many found damaged."""
        self._settled_for: tuple[int, tuple[str, ...]] = (0, ())
        self._shared: dict[tuple[object, ...], tuple[Iterator[Block | Exception], int]] = {}

    def more(self, announcement: Announcement, voice: Voice, config: Config) -> tuple[Voice, ...]:
        """Voices of the languages that its text has beside that of `voice`. Raises VoiceNotReady."""
        return further(announcement, voice, config, self._for_language)

    def blocks(
        self, utterance: Utterance, voice: Voice, more: Sequence[Voice], rate_hz: int, config: Config
    ) -> Iterator[Block]:
        """The utterance from where it is to begin, its chime in front of its first sound."""
        announcement, sentence = utterance.announcement, utterance.resumed_sentence
        if self.only_kept:
            whole = kept(announcement, voice, config, rate_hz, self._cache, self._phrases, True, more)
            return self._with_chime(_only(None if sentence else whole), announcement, rate_hz, config)
        blocks = render(
            *(announcement, voice, config, rate_hz, self._cache, self._phrases, sentence),
            any_precision=self.is_eased,
            more=more,
        )
        part = utterance.part
        if part is not None and not sentence and len(announcement.text) <= SHARED_CHARS:
            key = (part.whole, rate_hz, voice.version, voice.engine.level)
            blocks = self._reader(key, part.parts, blocks)
        return blocks if sentence else self._with_chime(blocks, announcement, rate_hz, config)

    def fallbacks(
        self,
        utterance: Utterance,
        voice: Voice,
        more: Sequence[Voice],
        rate_hz: int,
        config: Config,
        sentence: Callable[[], int],
    ) -> Iterator[Fallback]:
        """What to try after one failure after the other; `sentence` is the one that failed."""
        announcement = utterance.announcement

        def again(other: Voice) -> Iterator[Block]:
            return render(
                *(announcement, other, config, rate_hz, self._cache, self._phrases, sentence()), more=more
            )

        if not self.only_kept:
            yield Fallback("retry", voice, again(voice), says_it=True)
        other = self._substitute(voice)
        if other is not None and not self.only_kept:
            yield Fallback(f"voice {other.name}", other, again(other), says_it=True)
        prompt = self._prompt(announcement.lang or voice.language, rate_hz)
        if prompt is not None:
            yield Fallback("prompt", voice, iter((Block(prompt, sentence(), is_kept=True),)), says_it=False)
        yield Fallback("tone", voice, self.tone(rate_hz), says_it=False)

    def tone(self, rate_hz: int) -> Iterator[Block]:
        """The last resort alone."""
        return iter((Block(alert_tone(rate_hz), 0, is_kept=True),))

    def prerender(self, config: Config) -> bool:
        """One chunk of a phrase that is not kept yet; False where there is nothing to do.

        For the idle time between announcements: a chunk takes about as long as its first sound may wait.
        """
        if self._phrases is None or not config.cache.phrases or self.is_eased:
            return False
        if (self._phrases.damaged, config.cache.phrases) != self._settled_for:
            self._settled_for = (self._phrases.damaged, config.cache.phrases)
            self._settled.clear()
        if self._rendering is None:
            self._rendering = self._next_phrase(self.voice(None), config, self._phrases)
        return self._rendering is not None and self._step(self._phrases)

    def _next_phrase(self, voice: Voice, config: Config, phrases: Phrases) -> _Rendering | None:
        for text in config.cache.phrases:
            announcement = Announcement("", text)
            try:
                more = self.more(announcement, voice, config)
            except VoiceNotReady:
                continue
            name = key(announcement, voice, config, voice.engine.level, more)
            if name in self._settled or name in phrases:
                self._settled.add(name)
                continue
            blocks = render(announcement, voice, config, voice.engine.sample_rate_hz, NO_CACHE, more=more)
            return _Rendering(name, text, blocks, [])
        return None

    def _step(self, phrases: Phrases) -> bool:
        rendering = self._rendering
        if rendering is None:
            return False
        try:
            block = next(rendering.blocks, None)
            if block is not None:
                rendering.made.append(block.samples)
                return True
            if rendering.made:
                phrases.put(rendering.name, np.concatenate(rendering.made))
        except (VoiceError, OSError) as error:
            log.warning("phrase %r is not prerendered: %s", rendering.text, error)
        self._settled.add(rendering.name)
        self._rendering = None
        return True

    def tell(self, utterance: Utterance, fallback: Fallback, reason: str) -> None:
        """One notice and one line in the log for each step."""
        log.warning("announcement %s: %s; next: %s", utterance.id, reason, fallback.what)
        self._report("fallback", f"announcement {utterance.id}: {fallback.what} after: {reason}")

    def _prompt(self, language: str, rate_hz: int) -> Int16 | None:
        file = self._prompts(language.split("-", maxsplit=1)[0].lower())
        try:
            return read_at(file, rate_hz) if file else None
        except SinkError as error:
            log.warning("%s; the tone sounds instead", error)
            return None

    def _with_chime(
        self, blocks: Iterator[Block], announcement: Announcement, rate_hz: int, config: Config
    ) -> Iterator[Block]:
        """Only where there is something to say; a chime that is missing costs a warning, not the text."""
        samples = self._chime(announcement, rate_hz, config)
        for block in blocks:
            if samples is not None and block.samples.size:
                yield Block(samples, is_kept=True)
                samples = None
            yield block

    def _chime(self, announcement: Announcement, rate_hz: int, config: Config) -> Int16 | None:
        usual: str | None = getattr(config.chime, announcement.priority.name.lower())
        asked = announcement.chime
        name = (usual or USUAL_CHIME) if asked is True else usual if asked is None else asked
        if not name:
            return None
        try:
            samples = chime(name, rate_hz, Path(config.chime.folder) if config.chime.folder else None)
        except SinkError as error:
            log.warning("announcement %s: %s; spoken without it", announcement.id, error)
            return None
        volume = announcement.volume
        return samples if volume is None else np.rint(samples * volume).astype(np.int16)

    def _reader(self, key: tuple[object, ...], parts: int, blocks: Iterator[Block]) -> Iterator[Block]:
        """The blocks of a rendering that the zones of one announcement share, each at its own pace."""
        if key not in self._shared:
            self._shared[key] = (itertools.tee(_kept(blocks), 1)[0], parts)
        whole, left = self._shared.pop(key)
        own = copy.copy(whole)  # a tee copies its place in what it keeps
        if left > 1:
            self._shared[key] = (whole, left - 1)
            while len(self._shared) > _SHARED_AT_ONCE:
                del self._shared[next(iter(self._shared))]
        return _given(own)


def _only(whole: Iterator[Block] | None) -> Iterator[Block]:
    if whole is None:
        raise VoiceError("the board is too hot to synthesize, and this is not kept from earlier")
    yield from whole


def _kept(blocks: Iterator[Block]) -> Iterator[Block | Exception]:
    """A failure as an item, so that each reader meets it and not only the one that caused it."""
    try:
        yield from blocks
    except Exception as error:
        yield error


def _given(items: Iterator[Block | Exception]) -> Iterator[Block]:
    for item in items:
        if isinstance(item, Exception):
            raise item
        yield item
