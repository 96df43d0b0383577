"""The real daemon as a process of its own, started as a service manager would."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edged.bench.services import LOOPBACK, Processes
from edged.config.model import Config, MqttConfig
from edged.errors import EdgedError
from edged.mqtt.caller import Caller
from edged.mqtt.topics import Topics
from edged.voices import store_dir

NODE = "bench"
READY_LIMIT_S = 60.0
PULSE_CLIENT_THREAD = "threaded-ml"
CPU_CLOCK_OF_PROCESS = 2
"""CPUCLOCK_SCHED of the kernel's posix-timers.h: nanoseconds of all threads, ended ones too."""


def caller(port: int) -> Caller:
    """A plain client beside the daemon, to be opened by `with`."""
    broker = MqttConfig(host=LOOPBACK, port=port)
    return Caller(broker, Topics(NODE, broker))


def sections(config: Config, state_dir: Path, audio: Mapping[str, object], **more: object) -> dict[str, Any]:
    """A daemon's configuration: voice and process as configured, all else as given."""
    voice, process = config.voice, config.process
    return {
        "node": NODE,
        "state_dir": str(state_dir),
        "audio": dict(audio),
        "voice": {"name": voice.name, "threads": voice.threads, "store": str(store_dir(config).absolute())},
        "process": {
            "memory_lock": process.memory_lock,
            "realtime": process.realtime,
            "realtime_priority": process.realtime_priority,
            "affinity": process.affinity,
        },
        **more,
    }


class Daemon:
    """`edged run` in a folder of its own; ready when the constructor returns."""

    def __init__(
        self,
        processes: Processes,
        folder: Path,
        content: Mapping[str, Any],
        env: Mapping[str, str],
        program: str = "edged",
    ) -> None:
        """`program`: the module that is run. Raises EdgedError where it does not become ready."""
        folder.mkdir(parents=True, exist_ok=True)
        self.state_dir = Path(content["state_dir"])
        file = folder / "edged.yaml"
        file.write_text(json.dumps(content, indent=1))  # JSON is YAML, too
        notify_path = folder / "notify"
        notify_path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(str(notify_path))
            notify.settimeout(0.5)
            started_ns = time.monotonic_ns()
            self._service = processes.start(
                [sys.executable, "-m", program, "run", "--config", str(file)],
                folder / "log",
                {**env, "NOTIFY_SOCKET": str(notify_path)},
            )
            self._await_ready(notify)
            self.ready_ms = (time.monotonic_ns() - started_ns) / 1e6
            """From the start of the process to READY=1."""

    def _await_ready(self, notify: socket.socket) -> None:
        deadline_s = time.monotonic() + READY_LIMIT_S
        while time.monotonic() < deadline_s and not self._service.ended:
            try:
                said = notify.recv(4096)
            except TimeoutError:
                continue
            if b"READY=1" in said.splitlines():
                return
        raise EdgedError(f"the daemon did not become ready: {self._service.last_line()}")

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._service.process.pid

    def memory_mib(self) -> tuple[float, float]:
        """Resident and private dirty memory, as /proc/PID/smaps_rollup says."""
        kib = dict(
            line.split(":")
            for line in Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()[1:]
            if ":" in line
        )
        return int(kib["Rss"].split()[0]) / 1024, int(kib["Private_Dirty"].split()[0]) / 1024

    def cpu_s(self) -> float:
        """Processor time spent so far by all its threads."""
        return time.clock_gettime(~self.pid << 3 | CPU_CLOCK_OF_PROCESS)

    def sound_threads_cpu_s(self) -> float:
        """Of that, what the threads of the sound system spent: PortAudio's, where it has SCHED_FIFO,
        and the one of a sound server's client library."""
        spent_ns = 0
        for task in self._tasks():
            if _is_fifo(int(task.name)) or (task / "comm").read_text().strip() == PULSE_CLIENT_THREAD:
                spent_ns += int((task / "schedstat").read_text().split()[0])
        return spent_ns / 1e9

    def has_fifo_thread(self) -> bool:
        """One of its threads runs under SCHED_FIFO."""
        return any(_is_fifo(int(task.name)) for task in self._tasks())

    def _tasks(self) -> list[Path]:
        return list(Path(f"/proc/{self.pid}/task").iterdir())

    def locks_memory(self) -> bool:
        """It holds locked memory."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmLck:"):
                return int(line.split()[1]) > 0
        return False

    def stop(self) -> None:
        """End it at once: what it says is of no use any more."""
        self._service.stop(signal.SIGKILL)


def _is_fifo(thread: int) -> bool:
    return os.sched_getscheduler(thread) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO
