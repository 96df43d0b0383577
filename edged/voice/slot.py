"""The voices that can speak now, exchanged while they speak.

Three kinds of threads meet here. The synth thread asks `get` at the start of each utterance, never
waits, and keeps what it is given until the utterance ends. Whoever wants another voice (main thread,
or the synth thread for a message that names one) leaves the wish and goes on. A loader, one at a time,
builds and warms a voice aside and exchanges it for the old one by replacing one reference; while it runs it
alone writes `_ready` and `_default`.

A voice that was exchanged goes when its last user does: nothing but references holds it. Its loader
thread sleeps until then, so that glibc gives the next loader another arena, and the memory of a voice
that went is one that nothing else lies in. In one arena for all 60 exchanges (heart, joe) left 21 MB in
holes too small to be given back; in arenas of their own 0.6 MB.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from edged.errors import VoiceError, VoiceNotReady
from edged.voice.load import LoadedVoice

RETRY_S = 30.0
"""A voice that did not load is tried again for a message only after this time; for a command at once."""

NEEDED_S = 30.0
"""What a message has used so lately is not let go for the next one: an announcement in several languages
would wait for ever, each of its voices pushing out the other. Silence ends that (`tidy`)."""

LETTING_GO_S = 0.3
"""Between the word that a voice goes and the moment when its parts have gone."""


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

        `keep` voices stay loaded, those used last, and more while announcements need them. `report` gets
        one line for each exchange and each failure, on the loader thread; `trim` returns the memory of
        what went.
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
        self._settled = threading.Event()
        self._settled.set()

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

    @property
    def loaded(self) -> Mapping[str, LoadedVoice]:
        """The loaded voices as they are now; what is exchanged or let go later does not change it."""
        return self._ready

    def names(self) -> tuple[str, ...]:
        """Of the loaded voices."""
        return tuple(self._ready)

    def wish(self, wish: Wish) -> None:
        """Ask for a voice; a later wish for the same name replaces one that was not begun."""
        with self._changing:
            earlier = self._wishes.get(wish.name)
            if earlier is None or not earlier.speaks or wish.speaks:
                self._wishes[wish.name] = wish
            if self._settled.is_set():
                self._settled.clear()
                self._start_loader()

    def idle(self, timeout_s: float) -> bool:
        """Wait until every wish has been answered; False when the time is over."""
        return self._settled.wait(timeout_s)

    def tidy(self) -> None:
        """Nothing is being said: let go of what `keep` does not allow."""
        with self._changing:  # no loader begins meanwhile
            if self._settled.is_set():
                self._shrink(0.0)

    def _start_loader(self) -> None:
        threading.Thread(target=self._run, name="loader", daemon=True).start()

    # -- the loader threads ----------------------------------------------------------------------
    def _run(self) -> None:
        with self._changing:
            wish = self._wishes.pop(next(iter(self._wishes)))
        gone = self._fulfil(wish)
        with self._changing:
            if self._wishes:
                self._start_loader()
            else:
                self._settled.set()
        if gone is not None:
            gone.wait()
            time.sleep(LETTING_GO_S)
            self._trim()

    def _fulfil(self, wish: Wish) -> threading.Event | None:
        """Load and exchange; returns what is set when the loaded voice has gone."""
        gone = None
        try:
            if wish.name not in self._ready or not self._is_fresh(self._ready[wish.name], wish):
                gone = self._exchange(self._load(wish))
        except Exception as error:  # a graph may raise anything; the voices that speak go on
            line = str(error) if isinstance(error, VoiceError) else f"{type(error).__name__}: {error}"
            self._failed[wish.name] = (time.monotonic_ns(), " ".join(line.split()))
            self._report(f"{self._failed[wish.name][1]}; voice {self._default} goes on")
            return None
        if wish.speaks:
            self._default = wish.name
        level = self._ready[wish.name].engine.level
        self._shrink(0.0 if wish.speaks else NEEDED_S)
        self._trim()
        said = "speaks from now on" if wish.speaks else "is loaded"
        self._report(f"voice {wish.name}, level {level}, {said}")
        return gone

    def _exchange(self, voice: LoadedVoice) -> threading.Event:
        gone = threading.Event()
        weakref.finalize(voice, gone.set)
        self._used_ns[voice.name] = time.monotonic_ns()
        self._ready = {**self._ready, voice.name: voice}
        self._failed.pop(voice.name, None)
        return gone

    def _shrink(self, needed_s: float) -> None:
        """Let go of what was used longest ago; never of the voice that speaks by default."""
        others = [name for name in self._ready if name != self._default]
        others.sort(key=lambda name: self._used_ns.get(name, 0), reverse=True)
        since_ns = time.monotonic_ns() - needed_s * 1e9
        needed = (name for name in others if self._used_ns.get(name, 0) > since_ns)
        kept = {self._default, *others[: self._keep - 1], *needed}
        if len(kept) < len(self._ready):
            self._ready = {name: voice for name, voice in self._ready.items() if name in kept}
