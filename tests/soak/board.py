"""What stands around the daemon and is broken on purpose: broker, sound server, the daemon itself.

Main thread only, but for the thread that looks at the daemon's memory. Every fault is noted with its
time; each life of the sound server has a recording of its own, which runs before the daemon can play.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edged.bench.services import RATE_HZ, Processes, Recording, StreamClock
from edged.types import Int16
from tests.broker import Broker
from tests.daemon.harness import Daemon, wait_for
from tests.pulse import SoundServer
from tests.soak.verdict import Fault

BASE = "soak"
AUDIO = {
    "sink": "alsa",
    "device": SoundServer.device,
    "rate_hz": RATE_HZ,  # the server's own, so that every sample arrives as it was rendered
    "period_ms": 24,
    "latency_ms": 100,
    "lead_in_ms": 200,
}
WARM_UP_S = 10.0
"""After the start of a daemon its memory still grows: caches, first texts, first reopening of a device."""
CONNECTED = "connected to"
SESSION_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Recorded:
    """All that one life of the sound server has played."""

    samples: Int16
    clock: StreamClock
    killed_ns: int | None
    """When the server was killed; None: it lived to the end."""


@dataclass(slots=True)
class Life:
    """One process of the daemon: (CLOCK_MONOTONIC s, resident MiB) once a second."""

    pid: int
    began_s: float
    rss: list[tuple[float, float]] = field(default_factory=list)

    @property
    def growth_mb(self) -> float | None:
        """Most that it grew by after its warm-up; None for one that did not live longer than that."""
        warm = [mib for at_s, mib in self.rss if at_s - self.began_s >= WARM_UP_S]
        return max(warm) - warm[0] if len(warm) > 1 else None


class Board:
    """Use as a context manager: leaving ends every process and removes every file."""

    def __init__(self, processes: Processes, folder: Path, voice: str, store: Path, seed: int) -> None:
        self.faults: list[Fault] = []
        self.lives: list[Life] = []
        self.recorded: list[Recorded] = []
        self._processes = processes
        self._folder = folder
        self._random = random.Random(seed)
        self._gate = folder / "sound"
        self._stack = ExitStack()
        self._recording: Recording | None = None
        self._ending = threading.Event()
        self.broker = Broker(folder / "broker", persistent=True)
        self._sound = SoundServer(RATE_HZ, 1)
        self.daemon = Daemon(
            folder,
            self.broker.port,
            BASE,
            env=self._env(),
            voice={"name": voice, "store": str(store)},
            queue={"ttl_s": 1800},
            audio=AUDIO,
            process={"memory_lock": True},
            governor={"enabled": False},  # another precision gives other samples than those compared with
        )

    def __enter__(self) -> Board:
        with ExitStack() as stack:
            stack.callback(self._processes.stop)
            stack.callback(self._sound.close)
            stack.callback(self.broker.stop, signal.SIGKILL)
            stack.callback(self.daemon.kill)
            stack.callback(self._ending.set)
            with self._processes.interrupts.held():
                self.broker.start()
                self._start_sound()
                self._start_daemon()
            threading.Thread(target=self._watch_memory, name="memory", daemon=True).start()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: Any) -> None:
        with self._processes.interrupts.held():
            self._stack.close()

    def inflict(self, kind: str, pause: Callable[[], Any], again: Callable[[], None]) -> None:
        """One fault of this kind (of `faults.KINDS`), and its end.

        `pause` is a context in which nothing is published, `again` publishes what a broker may have
        lost; both for `broker_wiped` only.
        """
        with self._processes.interrupts.held():
            if kind == "daemon":
                self._kill_daemon()
            elif kind == "sound":
                self._kill_sound()
            elif kind == "broker":
                self._restart_broker()
            elif kind == "daemon_and_broker":
                self._note("daemon")
                self.daemon.kill()
                self._restart_broker()
                self._start_daemon()
            else:
                with pause():
                    self._wipe_broker()
                    again()

    def counts(self) -> dict[str, int]:
        """Faults so far."""
        counted = Counter(fault.kind for fault in self.faults)
        return {
            "daemon_kills": counted["daemon"],
            "sound_kills": counted["sound"],
            "broker_restarts": counted["broker"],
            "broker_restarts_without_persistence": counted["broker_wiped"],
        }

    def finish(self) -> list[Recorded]:
        """End the recording; all of them."""
        self._end_recording(None)
        return self.recorded

    # -- faults ----------------------------------------------------------------------------------
    def _note(self, kind: str) -> int:
        self.faults.append(Fault(kind, time.monotonic_ns()))
        return self.faults[-1].at_ns

    def _kill_daemon(self) -> None:
        self._note("daemon")
        self.daemon.kill()
        time.sleep(self._random.uniform(0, 1))  # the service manager waits, too
        self._start_daemon()

    def _start_daemon(self) -> None:
        self.daemon.start(online=False)
        assert self.daemon.process is not None
        self.lives.append(Life(self.daemon.process.pid, time.monotonic()))

    def _kill_sound(self) -> None:
        killed_ns = self._note("sound")
        self._sound.kill()
        self._gate.unlink()
        self._end_recording(killed_ns)
        time.sleep(self._random.uniform(0.1, 4))
        self._start_sound()

    def _start_sound(self) -> None:
        self._sound.start()
        self._recording = Recording(self._processes, self._sound, self._folder / "parec.log")
        self._gate.symlink_to(self._sound.address.removeprefix("unix:"))

    def _end_recording(self, killed_ns: int | None) -> None:
        recording, self._recording = self._recording, None
        if recording is not None:
            samples = recording.stop()
            self.recorded.append(Recorded(samples, recording.clock(), killed_ns))

    def _restart_broker(self) -> None:
        self._note("broker")
        self.broker.stop(signal.SIGTERM)
        time.sleep(self._random.uniform(0, 3))
        self.broker.start()

    def _wipe_broker(self) -> None:
        self._note("broker_wiped")
        connected = self.daemon.log().count(CONNECTED)
        self.broker.stop(signal.SIGTERM)
        (self.broker.folder / "mosquitto.db").unlink(missing_ok=True)
        self.broker.start()
        wait_for(
            lambda: self.daemon.log().count(CONNECTED) > connected,
            SESSION_LIMIT_S,
            "the daemon's new session",
        )

    # -- around ----------------------------------------------------------------------------------
    def _env(self) -> dict[str, str]:
        """The daemon reaches the sound server through a link that stands only while a recording runs."""
        file = self._folder / "asound.conf"
        file.write_text(
            "</usr/share/alsa/alsa.conf>\n"
            f'pcm.{SoundServer.device} {{ type pulse server "unix:{self._gate}" device "speaker" '
            "hint { show on description x } }\n"
        )
        return self._sound.env | {"ALSA_CONFIG_PATH": str(file), "PULSE_SERVER": f"unix:{self._gate}"}

    def _watch_memory(self) -> None:
        while not self._ending.wait(1.0):
            life = self.lives[-1]
            if (mib := rss_mib(life.pid)) is not None:
                life.rss.append((time.monotonic(), mib))


def rss_mib(pid: int) -> float | None:
    """Resident memory of a process; None where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), None)


def fds_and_threads(pid: int) -> tuple[int, int]:
    """Open file descriptors and threads of a process."""
    return len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))
