"""The voices of the daemon: installed where absent, given to an utterance by name, exchanged while it runs.

Built by the main thread before READY; what happens afterwards, and on which thread, says
`edged.voice.slot`.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from edged.config.identity import Identity, identity
from edged.config.model import Config
from edged.errors import VoiceError, VoiceNotReady
from edged.text.english import EnglishFrontEnd
from edged.text.piper import PiperFrontEnd
from edged.text.reading import base, languages, readings
from edged.types import Level, Voice
from edged.voice import heap
from edged.voice import store as voice_store
from edged.voice.install import ensure_installed
from edged.voice.ladder import levels, measured_file, setting_for
from edged.voice.load import Counts, FrontEnd, LoadedVoice, Setting, SpellingNet, load_voice
from edged.voice.manifest import MANIFEST, Manifest, read_manifest
from edged.voice.slot import Slot, Wish

log = logging.getLogger("edged.voices")

LOAD_LIMIT_S = 60.0
_WARM_UP = "Ready at 7:30."

_UNSEEN: tuple[Path, Identity] = (Path(), ())
RETRY_S = 30.0
"""A way to run that could not be loaded is tried again after this time."""


class Voices:
    """Voices by name; None stands for the one that speaks by default."""

    def __init__(
        self,
        config: Config,
        progress: Callable[[str], None],
        report: Callable[[str], None] = lambda _line: None,
        *,
        no_other: bool = False,
    ) -> None:
        """Install and load the configured voice, or where that fails another one that is installed,
        but not with `no_other`.

        `report` gets what happens later, on the loader thread. Raises VoiceError in one line when
        there is no voice at all.
        """
        self._config = config
        self._store = store_dir(config)
        self._tell = report
        self._governed: tuple[str, Setting] | None = None
        """(version, how it is to be run): read by the loader, replaced whole by the main thread."""
        self._asked_s = -RETRY_S
        self._ladder: tuple[tuple[str, str, tuple[int, ...]], tuple[Level, ...]] | None = None
        self._seen: dict[str, tuple[Path, Identity]] = {}
        first = self._first(progress, no_other)
        with suppress(OSError):  # a store that is only read is swept by who writes it
            voice_store.sweep(self._store)
        self._slot = Slot(first, config.voice.keep, self._load, self._is_fresh, self._report, heap.trim)

    def get(self, name: str | None) -> LoadedVoice:
        """The voice, at once; one that is installed and not loaded is then being loaded.

        Raises VoiceNotReady meanwhile, and VoiceError where there is none; never for None.
        """
        if name is not None and name not in self._slot.names():
            voice_store.current(self._store, name)
        return self._slot.get(name)

    def for_language(self, lang: str) -> LoadedVoice | None:
        """A voice of a base language: one that is loaded, else one that is installed.

        None where there is none or it cannot be used; raises VoiceNotReady while it is being loaded.
        """
        loaded = self._slot.names()
        for name in (*loaded, *(name for name in voice_store.installed(self._store) if name not in loaded)):
            try:
                if base(voice_store.current(self._store, name).language) == lang:
                    return self.get(name)
            except VoiceNotReady:
                raise
            except VoiceError as error:
                log.debug("%s", error)  # said where it failed to load
        return None

    def ready(self, text: str, lang: str | None) -> tuple[LoadedVoice, ...]:
        """The voices of all languages that a text may need, waiting until they are loaded."""
        found = []
        usual = self._config.text.lang or self.get(None).language
        for each in sorted(languages(text, lang, usual)):
            try:
                voice = self.for_language(each)
            except VoiceNotReady:
                self.idle(LOAD_LIMIT_S)
                voice = self.for_language(each)
            if voice is not None:
                found.append(voice)
        return tuple(found)

    def substitute(self, failing: Voice) -> LoadedVoice | None:
        """Another loaded voice of the same language, where there is one."""
        others = (voice for name, voice in self._slot.loaded.items() if name != failing.name)
        return next((voice for voice in others if base(voice.language) == base(failing.language)), None)

    def speak_with(self, name: str, level: str | None = None) -> None:
        """Let an installed voice speak by default: loaded aside, exchanged when it is ready."""
        self._slot.wish(Wish(name, level, speaks=True))

    def follow(self, config: Config) -> None:
        """Take over a changed configuration, and the versions that the store names now (main thread).

        What must be loaded is loaded aside; where that fails the old one goes on and it is reported.
        """
        other, self._config = config.voice.name != self._config.voice.name, config
        if other:
            self.speak_with(config.voice.name)
        for name, voice in self._slot.loaded.items():
            try:
                version = voice_store.current(self._store, name).version
            except VoiceError as error:
                self._report(f"{error}; what is loaded goes on")
                continue
            if version != voice.version:
                self._slot.wish(Wish(name))

    def files(self) -> dict[Path, Identity]:
        """What says which version of each loaded voice is the current one, as it was when that was loaded."""
        return {path: seen for path, seen in (self._seen.get(name, _UNSEEN) for name in self.names()) if seen}

    def ladder(self, periods_ms: tuple[int, ...]) -> tuple[Level, ...]:
        """How the voice that speaks by default can be run, the best way first (main thread)."""
        manifest = self._slot.get(None).manifest
        voice = self._config.voice
        key = (manifest.version, voice.level, periods_ms)
        if self._ladder is None or self._ladder[0] != key:
            file = measured_file(state_dir(self._config), manifest)
            self._ladder = (key, levels(manifest, voice.level, voice.threads, file, periods_ms))
        return self._ladder[1]

    def runs_at(self, level: Level) -> bool:
        """The voice that speaks by default is run so."""
        return self._slot.get(None).setting == _setting(level)

    def run_at(self, level: Level) -> None:
        """Have the voice that speaks by default run so: loaded aside where it must be (main thread).

        To be called again until `runs_at`: another voice may be being loaded, or it may fail.
        """
        voice, wanted = self._slot.get(None), _setting(level)
        if voice.setting == wanted or not self._slot.idle(0):
            return
        if wanted.chunks and replace(voice.setting, chunks=wanted.chunks) == wanted:
            voice.use_chunks(wanted.chunks)
            return
        governed = (voice.version, wanted)
        if governed != self._governed or time.monotonic() - self._asked_s > RETRY_S:
            self._governed, self._asked_s = governed, time.monotonic()
            self._slot.wish(Wish(voice.name))

    def idle(self, timeout_s: float) -> bool:
        """Wait until nothing is being loaded; False when the time is over."""
        return self._slot.idle(timeout_s)

    def tidy(self) -> None:
        """Nothing is being said: voices beyond `voice.keep` go."""
        self._slot.tidy()

    def names(self) -> tuple[str, ...]:
        """Names of the loaded voices, the default one among them."""
        return self._slot.names()

    @property
    def ids_cache(self) -> Counts:
        """Counts of the cache of the voice that speaks by default."""
        return self._slot.get(None).phonemize.cache

    def _first(self, progress: Callable[[str], None], no_other: bool) -> LoadedVoice:
        name = self._config.voice.name
        try:
            ensure_installed(self._store, name, progress)
            progress(f"loading voice {name}")
            return self._load(Wish(name))
        except VoiceError as error:
            for other in () if no_other else voice_store.installed(self._store):
                try:
                    voice = self._load(Wish(other))
                except VoiceError as fault:
                    log.error("%s", fault)
                    continue
                log.error("%s; voice %s speaks instead", error, other)
                return voice
            raise

    def _load(self, wish: Wish) -> LoadedVoice:
        voice = self._config.voice

        def choice(manifest: Manifest) -> Setting:
            governed = self._governed
            if governed and governed[0] == manifest.version and wish.level is None:
                return governed[1]
            measured = measured_file(state_dir(self._config), manifest)
            return setting_for(manifest, wish.level or voice.level, voice.threads, measured)

        named = self._store / wish.name / voice_store.CURRENT / MANIFEST
        self._seen[wish.name] = (named, identity(named))
        loaded = load_voice(self._store, wish.name, self._config.caches().ids_kib * 1024, front_end, choice)
        for _ in readings(_WARM_UP, base(loaded.language), loaded.language, len(_WARM_UP), 0):
            pass  # compiles the rules of its language, which the first announcement need not wait for
        return loaded

    def _is_fresh(self, voice: LoadedVoice, wish: Wish) -> bool:
        if wish.level not in (None, voice.engine.level):
            return False
        governed = self._governed
        if governed and governed[0] == voice.version and wish.level is None and governed[1] != voice.setting:
            return False
        return voice_store.current(self._store, wish.name).version == voice.version

    def _report(self, line: str) -> None:
        log.info("%s", line)
        self._tell(line)


def _setting(level: Level) -> Setting:
    return Setting(level.precision, level.threads, level.chunks)


def front_end(folder: Path, spelling_net: SpellingNet | None, cache_bytes: int) -> FrontEnd:
    """The text room's part of an installed version; `spelling_net` is what hibari's voices have."""
    if spelling_net is None:
        if read_manifest(folder).engine == "fastspeech2":
            from edged.text.zh.baker import BakerFrontEnd  # only where there is Chinese

            return BakerFrontEnd(cache_bytes)
        return PiperFrontEnd(folder, cache_bytes)
    return EnglishFrontEnd(folder, spelling_net, cache_bytes)


def state_dir(config: Config) -> Path:
    """Folder for what outlives a restart; $STATE_DIRECTORY is the service manager's."""
    named = config.state_dir or os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "edged"


def store_dir(config: Config) -> Path:
    """Folder of the installed voices."""
    return Path(config.voice.store) if config.voice.store else state_dir(config) / "voices"
