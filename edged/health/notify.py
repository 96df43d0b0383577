"""What the service manager is told (sd_notify). The only place that imports sdnotify.

Written by the main thread. Without $NOTIFY_SOCKET (started by hand) every call does nothing.
Protocol: sd_notify(3) of systemd 252.
"""

from __future__ import annotations

import time

from sdnotify import SystemdNotifier

SEND_LIMIT_S = 0.5


class Notifier:
    """Sends states to the service manager; never raises, waits at most SEND_LIMIT_S."""

    def __init__(self) -> None:
        self._systemd = SystemdNotifier()
        if self._systemd.socket is not None:
            # A service manager that does not read must not hold up the main thread and its signals.
            self._systemd.socket.settimeout(SEND_LIMIT_S)

    def ready(self, status: str | None = None) -> None:
        """Started, or done with a reload; `status` as in `status`."""
        self._send("READY=1", _status(status))

    def status(self, status: str) -> None:
        """One line for people, shown by `systemctl status`."""
        self._send(_status(status))

    def watchdog(self) -> None:
        """Alive; to be sent several times within WatchdogSec."""
        self._send("WATCHDOG=1")

    def stopping(self, status: str | None = None) -> None:
        """The way down has begun."""
        self._send("STOPPING=1", _status(status))

    def reloading(self, status: str | None = None) -> None:
        """To be followed by `ready`, whether the reload was accepted or not."""
        monotonic_us = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self._send("RELOADING=1", f"MONOTONIC_USEC={monotonic_us}", _status(status))

    def _send(self, *assignments: str) -> None:
        message = "\n".join(line for line in assignments if line)
        # sdnotify encodes as Latin-1 and drops what does not fit: UTF-8 bytes dressed as Latin-1 do.
        self._systemd.notify(message.encode("utf-8", "replace").decode("latin-1"))


def _status(text: str | None) -> str:
    return "STATUS=" + " ".join(text.split()) if text else ""
