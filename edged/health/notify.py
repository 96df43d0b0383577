"""What the service manager is told (sd_notify). The only place that imports sdnotify.

Written by the main thread. Without $NOTIFY_SOCKET (started by hand) every call does nothing.
Protocol: sd_notify(3) of systemd 252.
"""

from __future__ import annotations

import os
import time

from sdnotify import SystemdNotifier

US_PER_S = 1_000_000


class Notifier:
    """Sends states to the service manager; never raises, never waits for an answer."""

    def __init__(self) -> None:
        self._systemd = SystemdNotifier()

    def ready(self, status: str) -> None:
        """Started, or done with a reload; `status` as in `status`."""
        self._send("READY=1", _status(status))

    def status(self, status: str) -> None:
        """One line for people, shown by `systemctl status`."""
        self._send(_status(status))

    def watchdog(self) -> None:
        """Alive; to be called at `watchdog_interval_s`."""
        self._send("WATCHDOG=1")

    def stopping(self, status: str) -> None:
        """The way down has begun."""
        self._send("STOPPING=1", _status(status))

    def reloading(self, status: str) -> None:
        """To be followed by `ready`, whether the reload was accepted or not."""
        monotonic_us = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self._send("RELOADING=1", f"MONOTONIC_USEC={monotonic_us}", _status(status))

    def _send(self, *assignments: str) -> None:
        # sdnotify encodes as Latin-1 and drops what does not fit: UTF-8 bytes dressed as Latin-1 do.
        self._systemd.notify("\n".join(assignments).encode("utf-8", "replace").decode("latin-1"))


def _status(text: str) -> str:
    return "STATUS=" + " ".join(text.split())


def watchdog_interval_s() -> float | None:
    """How often `watchdog` must be called at least: a third of WatchdogSec; None without a watchdog."""
    timeout_us = os.environ.get("WATCHDOG_USEC", "")
    pid = os.environ.get("WATCHDOG_PID", "")
    if not timeout_us.isdecimal() or (pid and pid != str(os.getpid())):
        return None
    return int(timeout_us) / US_PER_S / 3
