"""What the curves share: a private broker, a sound server where there is one, and daemons to be started."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from edged.bench.daemon import Daemon, sections
from edged.bench.services import LOOPBACK, RATE_HZ, Broker, Processes, SoundServer
from edged.bench.surroundings import NO_CACHES
from edged.config.model import Config, MqttConfig
from edged.errors import EdgedError
from edged.mqtt.caller import Caller
from edged.mqtt.topics import Topics
from edged.types import Event, EventKind
from edged.voice.install import ensure_installed

PERIOD_MS = 6
SILENT: Mapping[str, object] = {"sink": "null", "rate_hz": RATE_HZ}
PIPED: Mapping[str, object] = {"sink": "stdout", "rate_hz": RATE_HZ}
"""Takes sound as fast as it comes: whole long texts in seconds."""
NO_FLOOD = {"rate_limit": 1000.0, "rate_burst": 1000}
EVENT_LIMIT_S = 120.0
ONLINE_LIMIT_S = 15.0

Progress = Callable[[str], None]


class Board:
    """Use as a context manager: leaving ends every process and removes every file."""

    def __init__(self, voice: str, store: Path, tell: Progress, program: str = "edged") -> None:
        """`program`: what its daemons run. Raises VoiceError where the voice cannot be had."""
        ensure_installed(store, voice, tell)
        default = Config()
        self.config = replace(default, voice=replace(default.voice, name=voice, store=str(store.absolute())))
        self._tell, self._program = tell, program
        self._stack = ExitStack()
        self.processes = Processes()
        self.folder = Path()
        self._serial = 0

    def __enter__(self) -> Board:
        """Raises EdgedError where the broker does not start."""
        self._stack.enter_context(self.processes.interrupts)
        with self.processes.interrupts.held():
            temporary = TemporaryDirectory(prefix="edged-growth-")
            self.folder = Path(self._stack.enter_context(temporary))
            self._stack.callback(self.processes.stop)
        try:
            self.broker = Broker(self.processes, self.folder)
            absent = SoundServer.absent()
            if absent:
                self._tell(f"{absent}: the 'null' sink is used")
            self._sound = None if absent else SoundServer(self.processes, self.folder)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        with self.processes.interrupts.held():
            self._stack.close()

    @property
    def audible(self) -> Mapping[str, object]:
        """Where a daemon plays: the private sound server, or a silent sink."""
        if self._sound is None:
            return SILENT
        return {"sink": "alsa", "device": self._sound.device, "rate_hz": RATE_HZ}

    @property
    def sink(self) -> str:
        """Of `audible`, in words."""
        return "null" if self._sound is None else "PortAudio over a private sound server"

    @contextmanager
    def daemon(self, audio: Mapping[str, object], **more: object) -> Iterator[tuple[Daemon, Caller]]:
        """The real daemon in a folder of its own, caches off, and a client, until the block ends.

        Its node is its own, too: what waits at the broker for one must not come to the next.
        Raises EdgedError.
        """
        folder = self.new_folder("daemon")
        content = sections(
            self.config,
            folder / "state",
            {**audio, "period_ms": PERIOD_MS, "lead_in_ms": 0},
            mqtt={"host": LOOPBACK, "port": self.broker.port, **NO_FLOOD},
            cache=NO_CACHES,
            node=folder.name,
            **more,
        )
        env = os.environ if self._sound is None else self._sound.env
        daemon = Daemon(self.processes, folder, content, env, self._program)
        broker = MqttConfig(host=LOOPBACK, port=self.broker.port)
        try:
            with Caller(broker, Topics(folder.name, broker)) as client:
                if not client.daemon_online(ONLINE_LIMIT_S):  # what is published before it listens is lost
                    raise EdgedError("the daemon does not reach the private broker")
                yield daemon, client
        finally:
            daemon.stop()

    def new_folder(self, kind: str) -> Path:
        """An empty one, removed at the end."""
        self._serial += 1
        folder = self.folder / f"{kind}-{self._serial}"
        folder.mkdir()
        return folder


def first_sample_ms(client: Caller, text: str, **members: Any) -> float:
    """From the publish call to the first sample; the rest is stopped. Raises EdgedError."""
    sent = client.say(text, **members)
    found: float | None = None
    for event in client.events_of({sent.id}, EVENT_LIMIT_S):
        if event.kind is EventKind.STARTED:
            found = (first_ns(event) - sent.published_ns) / 1e6
            client.stop(sent.id)
    if found is None:
        raise EdgedError(f"an announcement of {len(text)} characters was never started")
    return found


def first_ns(event: Event) -> int:
    """CLOCK_MONOTONIC of the first sample. Raises EdgedError."""
    if event.first_sample_ns is None:
        raise EdgedError(f"the event {event.kind.value!r} has no first_sample_ns ({event.reason})")
    return event.first_sample_ns


def peak_rss_mb(pid: int) -> float:
    """Since the process started, or since `forget_peak`."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


def forget_peak(pid: int) -> None:
    """Let the peak begin at what is resident now (proc(5), clear_refs)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
