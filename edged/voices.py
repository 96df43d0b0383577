"""The voices that are loaded: installed where absent, given to an utterance by name.

Filled by the main thread before READY; read by the synth thread, which keeps the voice it was given
for the whole of an utterance.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from edged.config.model import Config
from edged.errors import VoiceError
from edged.text.cache import LruBytes
from edged.text.english import EnglishFrontEnd, SpellingNet
from edged.types import PhonemeIds, Voice
from edged.voice.load import ensure_installed, load_voice


class Voices:
    """Voices by name; None stands for the configured one."""

    def __init__(self, config: Config, progress: Callable[[str], None]) -> None:
        """Install and load the configured voice. Raises VoiceError in one line."""
        store = store_dir(config)
        ensure_installed(store, config.voice.name, progress)
        progress(f"loading voice {config.voice.name}")
        self.ids_cache: LruBytes[str, PhonemeIds] = LruBytes(0, lambda _text, _ids: 0)

        def front_end(folder: Path, spelling_net: SpellingNet, cache_bytes: int) -> EnglishFrontEnd:
            front = EnglishFrontEnd(folder, spelling_net, cache_bytes)
            self.ids_cache = front.cache
            return front

        voice = load_voice(
            store, config.voice.name, config.voice.threads, config.cache.ids_kib * 1024, front_end
        )
        self._voices: dict[str, Voice] = {voice.name: voice}
        self._default = voice.name

    def get(self, name: str | None) -> Voice:
        """Raises VoiceError where no voice of this name is loaded; never for None."""
        voice = self._voices.get(name or self._default)
        if voice is None:
            raise VoiceError(f"voice {name!r} is not loaded; there is {', '.join(self._voices)}")
        return voice

    def names(self) -> tuple[str, ...]:
        """Names of the loaded voices."""
        return tuple(self._voices)


def state_dir(config: Config) -> Path:
    """Folder for what outlives a restart; $STATE_DIRECTORY is the service manager's."""
    named = config.state_dir or os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "edged"


def store_dir(config: Config) -> Path:
    """Folder of the installed voices."""
    return Path(config.voice.store) if config.voice.store else state_dir(config) / "voices"
