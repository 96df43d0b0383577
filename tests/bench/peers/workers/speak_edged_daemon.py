"""edged as a service: publish at a private broker, first sample at a silent sink in real time."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from serving import serve, versions_of

from edged import __version__
from edged.bench.daemon import Daemon, caller, sections
from edged.bench.services import LOOPBACK, Broker, Processes
from edged.bench.surroundings import NO_CACHES
from edged.config.load import load
from edged.mqtt.caller import Caller
from edged.types import Event, EventKind

PERIOD_MS = 6
RATE_HZ = 48000
"""What sound cards have: the voice's rate is converted."""
PLAYED_CHARS = 80
"""Longer texts are stopped when they have begun: they are played in real time."""
EVENT_LIMIT_S = 60.0
ONLINE_LIMIT_S = 15.0
SETTLE_S = 1.0
"""Housekeeping after the start."""


class Service:
    """What `serving.Contender` is, for a daemon that plays."""

    def __init__(self, daemon: Daemon, port: int) -> None:
        self._daemon, self._port = daemon, port
        self.pid = daemon.pid
        self.versions = {"edged": __version__, **versions_of("onnxruntime", "paho-mqtt")}
        self.notes = f"period {PERIOD_MS} ms, {RATE_HZ} Hz"

    def measure(self, text: str) -> dict[str, float | None]:
        """From just before the publish call; total time is that of the sound and therefore not told."""
        with caller(self._port) as client:  # one that keeps silent for long would be dropped by the broker
            return self._said(client, text)

    def _said(self, client: Caller, text: str) -> dict[str, float | None]:
        first_ms, ended = None, None
        begun_s = self._daemon.cpu_s()
        sent = client.say(text)
        for event in client.events_of({sent.id}, EVENT_LIMIT_S):
            if event.kind is EventKind.STARTED:
                first_ms = (_first_ns(event) - sent.published_ns) / 1e6
                if len(text) > PLAYED_CHARS:
                    client.stop(sent.id)
            elif event.kind is EventKind.FINISHED:
                ended = event
        if first_ms is None:
            raise ValueError("gave no sound")
        is_whole = ended is not None and len(text) <= PLAYED_CHARS
        return {
            "first_ms": first_ms,
            "total_ms": None,
            "cpu_s": self._daemon.cpu_s() - begun_s if is_whole else None,
            "audio_s": ended.audio_s if ended is not None and is_whole else None,
        }


def _first_ns(event: Event) -> int:
    if event.first_sample_ns is None:
        raise ValueError("the event 'started' has no first_sample_ns")
    return event.first_sample_ns


def main() -> None:
    with ExitStack() as stack:
        processes = Processes()
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="edged-peers-")))
        stack.callback(processes.stop)

        def make(options: dict[str, Any]) -> Service:
            broker = Broker(processes, folder)
            audio = {"sink": "null", "rate_hz": RATE_HZ, "period_ms": PERIOD_MS, "lead_in_ms": 0}
            content = sections(
                *(load(Path(options["config"])), folder / "state", audio),
                mqtt={"host": LOOPBACK, "port": broker.port},
                cache=NO_CACHES,
            )
            daemon = Daemon(processes, folder / "daemon", content, os.environ)
            with caller(broker.port) as client:
                if not client.daemon_online(ONLINE_LIMIT_S):  # what is published before it listens is lost
                    raise ValueError("the daemon does not reach the private broker")
            time.sleep(SETTLE_S)
            return Service(daemon, broker.port)

        serve(make)


if __name__ == "__main__":
    main()
