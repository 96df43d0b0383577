"""The voices that can speak now, exchanged while they speak.

Three kinds of threads meet here. The synth thread asks `get` at the start of each utterance, never
waits, and keeps what it is given until the utterance ends. Whoever wants another voice (main thread,
or the synth thread for a message that names one) leaves the wish and goes on. The loader, a thread
that lives as long as there are wishes, builds and warms a voice aside and exchanges it for the old one
by replacing one reference; it alone writes `_ready` and `_default`.

A voice that was exchanged goes when its last user does: nothing but references holds it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from edged.errors import VoiceError, VoiceNotReady
from edged.voice.load import LoadedVoice

RETRY_S = 30.0
"""A voice that did not load is tried again for a message only after this time; for a command at once."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A voice to be loaded; `level` None: as configured. `speaks`: it then speaks by default."""

    name: str
    level: str | None = None
    speaks: bool = False


class Slot:
    """Voices by name; None stands for the one that speaks by default."""

    def __init__(
        self,
        first: LoadedVoice,
        keep: int,
        load: Callable[[Wish], LoadedVoice],
        is_fresh: Callable[[LoadedVoice, Wish], bool],
        report: Callable[[str], None],
        trim: Callable[[], None],
    ) -> None:
        """`load` raises VoiceError; `is_fresh` says that a loaded voice is what a wish would load.

        `keep` voices stay loaded, those used last. `report` gets one line for each exchange and each
        failure, on the loader thread; `trim` returns the memory of what went.
        """
        self._ready: dict[str, LoadedVoice] = {first.name: first}
        self._default = first.name
        self._keep = keep
        self._load = load
        self._is_fresh = is_fresh
        self._report = report
        self._trim = trim
        self._used_ns: dict[str, int] = {}
        self._failed: dict[str, tuple[int, str]] = {}
        self._changing = threading.Lock()
        self._wishes: dict[str, Wish] = {}
        self._loader: threading.Thread | None = None

    def get(self, name: str | None) -> LoadedVoice:
        """The voice, at once. Raises VoiceNotReady while it is being loaded, VoiceError where it failed.

        Never raises for None.
        """
        ready, wanted = self._ready, name or self._default
        voice = ready.get(wanted)
        if voice is not None:
            self._used_ns[wanted] = time.monotonic_ns()
            return voice
        failed_ns, reason = self._failed.get(wanted, (0, ""))
        if reason and time.monotonic_ns() - failed_ns < RETRY_S * 1e9:
            raise VoiceError(reason)
        self.wish(Wish(wanted))
        raise VoiceNotReady(f"voice {wanted} is being loaded")

    def names(self) -> tuple[str, ...]:
        """Of the loaded voices."""
        return tuple(self._ready)

    def wish(self, wish: Wish) -> None:
        """Ask for a voice; a later wish for the same name replaces one that was not begun."""
        with self._changing:
            earlier = self._wishes.get(wish.name)
            if earlier is None or not earlier.speaks or wish.speaks:
                self._wishes[wish.name] = wish
            if self._loader is None:
                self._loader = threading.Thread(target=self._run, name="loader", daemon=True)
                self._loader.start()

    def idle(self, timeout_s: float) -> bool:
        """Wait until every wish has been answered; False when the time is over."""
        deadline_s = time.monotonic() + timeout_s
        while (loader := self._loader) is not None:
            loader.join(max(0.0, deadline_s - time.monotonic()))
            if loader.is_alive():
                return False
        return True

    # -- the loader thread -----------------------------------------------------------------------
    def _run(self) -> None:
        while True:
            with self._changing:
                if not self._wishes:
                    self._loader = None
                    return
                wish = self._wishes.pop(next(iter(self._wishes)))
            self._fulfil(wish)

    def _fulfil(self, wish: Wish) -> None:
        try:
            if wish.name not in self._ready or not self._is_fresh(self._ready[wish.name], wish):
                self._exchange(self._load(wish))
        except Exception as error:  # a graph may raise anything; the voices that speak go on
            line = str(error) if isinstance(error, VoiceError) else f"{type(error).__name__}: {error}"
            self._failed[wish.name] = (time.monotonic_ns(), " ".join(line.split()))
            self._report(f"{self._failed[wish.name][1]}; voice {self._default} goes on")
            return
        if wish.speaks:
            self._default = wish.name
            self._report(
                f"voice {wish.name}, level {self._ready[wish.name].engine.level}, speaks from now on"
            )
        self._shrink()
        self._trim()

    def _exchange(self, voice: LoadedVoice) -> None:
        self._used_ns[voice.name] = time.monotonic_ns()
        self._ready = {**self._ready, voice.name: voice}
        self._failed.pop(voice.name, None)

    def _shrink(self) -> None:
        """Let go of what was used longest ago; never of the voice that speaks by default."""
        others = [name for name in self._ready if name != self._default]
        others.sort(key=lambda name: self._used_ns.get(name, 0), reverse=True)
        kept = {self._default, *others[: self._keep - 1]}
        if len(kept) < len(self._ready):
            self._ready = {name: voice for name, voice in self._ready.items() if name in kept}
