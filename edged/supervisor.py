"""The main thread's loop: signals, reload, heartbeats, state; it returns when the daemon is to stop.

It alone writes the current Config. The mqtt thread hands it controls, the config watcher a wish to
reload, signals come through a wake-up descriptor; synth and keeper only wake it.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from edged.config.identity import Identity
from edged.config.load import load
from edged.config.model import Config, GovernorConfig
from edged.config.reload import compare, merge_live
from edged.errors import ConfigError
from edged.health.heartbeat import Heartbeats
from edged.health.notify import Notifier
from edged.mqtt.codec import Control, Reload, SetVoice, SetVolume, Stop

log = logging.getLogger("edged.supervisor")

TICK_S = 1.0
STALE_S = 12.0
"""A heartbeat older than this is a hang; less than half of the unit's WatchdogSec."""
CUT_LIMIT_S = 2.0


class CurrentConfig:
    """The configuration in force: read by every thread, replaced by the main thread only."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def __call__(self) -> Config:
        """The present one."""
        return self._config

    def replace(self, config: Config) -> None:
        """Swap the reference; an utterance that has begun keeps the one it has."""
        self._config = config


class Wake:
    """A descriptor that signals and other threads write to, so that the main loop need not poll."""

    def __init__(self) -> None:
        self._read_fd, self._write_fd = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.signals: deque[int] = deque()

    def __enter__(self) -> Wake:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.close(self._read_fd)
        os.close(self._write_fd)

    def _on_signal(self, number: int, _frame: object) -> None:
        self.signals.append(number)
        self.wake()

    def wake(self) -> None:
        """End the wait; safe from any thread and from a signal handler."""
        try:
            os.write(self._write_fd, b"\0")
        except OSError:
            return  # the pipe is full: the loop is already woken; or closed: it has ended

    def wait(self, timeout_s: float) -> None:
        """Wait until woken or the time has passed."""
        if select.select([self._read_fd], [], [], timeout_s)[0]:
            os.read(self._read_fd, 4096)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the supervisor reaches of the running daemon."""

    drain: Callable[[], None]
    cut: Callable[[], None]
    joined: Callable[[float], bool]
    """Waits so many seconds for the synth thread; True when it has ended."""
    stop_speaking: Callable[[str | None], None]
    apply: Callable[[], None]
    """Lets the other threads see that the Config has changed."""
    state: Callable[[], dict[str, object]]
    publish_state: Callable[[dict[str, object]], None]
    notice: Callable[[str, str], None]
    """Publishes a report that belongs to no announcement: what, reason."""
    stale: Callable[[], list[str]]
    """Names of open streams whose device takes nothing."""
    speak_with: Callable[[str], None]
    """Lets another voice speak; what comes of it is reported later."""
    voice_files: Callable[[], Mapping[Path, Identity]]
    """What says which versions of the loaded voices are current."""
    govern: Callable[[GovernorConfig, int], None]
    """Asks less or more of the board; given its limits and the time in ns."""


class Supervisor:
    """Runs on the main thread between READY and the end."""

    def __init__(
        self,
        config_file: Path | None,
        current: CurrentConfig,
        beats: Heartbeats,
        notify: Notifier,
        wake: Wake,
        seen: Identity = (),
    ) -> None:
        """`attach` follows before `run`: the parts need the supervisor, too.

        `seen` is the identity of the file before it was read.
        """
        self._config_file = config_file
        self._file_config = current()
        self._current = current
        self._beats = beats
        self._notify = notify
        self._wake = wake
        self._controls: deque[Control] = deque()
        self._reload_wanted = False
        self._seen: dict[Path, Identity] = {config_file: seen} if config_file else {}
        self._files = self._seen | dict(current().files)
        self._config_error: str | None = None
        self._restart_needed: tuple[str, ...] = ()
        self._published: dict[str, object] = {}
        self._published_ns = 0

    def attach(self, parts: Parts) -> None:
        """What there is to supervise."""
        self._parts = parts

    # -- called by other threads -----------------------------------------------------------------
    def control(self, control: Control) -> None:
        """Hand over a decoded control message (mqtt thread). Stops act at once, the rest here."""
        if isinstance(control, Stop):
            self._parts.stop_speaking(control.id)
            return
        self._controls.append(control)
        self._wake.wake()

    def files(self) -> Mapping[Path, Identity]:
        """The configuration, what it names, and the voices' versions, as they were before they were read
        (watcher thread)."""
        return {**self._files, **self._parts.voice_files()}

    def want_reload(self) -> None:
        """One of the files has changed (watcher thread)."""
        self._reload_wanted = True
        self._wake.wake()

    # -- the loop --------------------------------------------------------------------------------
    def run(self) -> None:
        """READY, then tick until SIGTERM or SIGINT, drain with a limit; a second signal cuts."""
        self._notify.ready(status_line(self._state()))
        log.info("ready: %s", status_line(self._state()))
        while True:
            self._wake.wait(TICK_S)
            while self._wake.signals:
                number = self._wake.signals.popleft()
                if number == signal.SIGHUP:
                    self._reload_wanted = True
                else:
                    self._drain(signal.Signals(number).name)
                    return
            self._tick()

    def _tick(self) -> None:
        while self._controls:
            self._obey(self._controls.popleft())
        if self._reload_wanted:
            self._reload_wanted = False
            self._reload()
        self._feed_watchdog()
        self._parts.govern(self._current().governor, time.monotonic_ns())
        self._publish()

    def _feed_watchdog(self) -> None:
        stale = self._parts.stale() + self._beats.stale(STALE_S)
        if stale:
            log.error("no heartbeat from %s; the watchdog is not fed", ", ".join(stale))
        else:
            self._notify.watchdog()

    def _publish(self) -> None:
        """State on change, at most once a second."""
        now_ns = time.monotonic_ns()
        if now_ns - self._published_ns < 1e9 * TICK_S * 0.9:
            return
        state = self._state()
        if state != self._published:
            self._published, self._published_ns = state, now_ns
            self._parts.publish_state(state)
            self._notify.status(status_line(state))

    def _state(self) -> dict[str, object]:
        return self._parts.state() | {
            "config_error": self._config_error,
            "restart_needed": list(self._restart_needed),
        }

    def _obey(self, control: Control) -> None:
        config = self._current()
        if isinstance(control, SetVolume):
            self._current.replace(replace(config, audio=replace(config.audio, volume=control.volume)))
            self._parts.apply()
            log.info("volume %.2f", control.volume)
        elif isinstance(control, SetVoice):
            self._parts.speak_with(control.name)
        elif isinstance(control, Reload):
            self._reload()

    def _reload(self) -> None:
        """Check the file aside; take over what is live, or change nothing and say why."""
        self._notify.reloading("reading the configuration")
        try:
            new = load(self._config_file)
        except ConfigError as error:
            self._files = self._seen | error.seen
            self._config_error = str(error)
            for problem in error.problems:
                log.error("%s: %s", error.file, problem)
            log.error("the configuration is unchanged")
            self._parts.notice("reload", f"refused: {error}")
        else:
            self._files = self._seen | dict(new.files)
            change = compare(self._file_config, new)
            self._current.replace(merge_live(self._current(), new, change.live))
            self._file_config = merge_live(self._file_config, new, change.live)
            self._config_error = None
            self._restart_needed = change.restart
            self._parts.apply()
            logging.getLogger().setLevel(new.process.log_level.upper())
            log.info("reload: %s", change)
            self._parts.notice("reload", str(change))
        self._notify.ready(status_line(self._state()))

    def _drain(self, why: str) -> None:
        limit_s = self._current().process.drain_limit_s
        log.info("%s: finishing what is being said (at most %.0f s)", why, limit_s)
        self._notify.stopping(f"{why}: finishing what is being said")
        self._parts.drain()
        deadline_ns = time.monotonic_ns() + int(limit_s * 1e9)
        while not self._parts.joined(0.05):
            self._feed_watchdog()
            again = [number for number in self._wake.signals if number != signal.SIGHUP]
            if again or time.monotonic_ns() > deadline_ns:
                log.info("cut")
                break
        self._parts.cut()
        self._parts.joined(CUT_LIMIT_S)


def status_line(state: dict[str, object]) -> str:
    """One line for `systemctl status`, made for a person."""
    if state["config_error"]:
        return f"configuration refused, the old one is in force: {state['config_error']}"
    speaking = f"speaking {state['speaking']}" if state["speaking"] else "quiet"
    level = f"level {state['level']} ({state['level_reason']}); " if state["level"] else ""
    return (
        f"{speaking}, {state['queue']} waiting; {level}voice {state['voice']}; "
        f"sound {state['sink']}; {state['broker']}"
    )
