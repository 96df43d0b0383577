"""Runs the real daemon as a process of its own, as the service manager would."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

STORE = Path(os.environ.get("EDGED_TEST_STORE", Path.home() / ".cache" / "edged-tests" / "voices"))
"""Voices built once for all tests; a version is named after its content, so a stale one is never used."""
PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 65, 1


def wait_for(condition: Callable[[], Any], timeout_s: float = 20.0, what: str = "the condition") -> Any:
    """Poll until `condition` gives something true; fails with `what` when the time is over."""
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout_s} s for {what}")
        time.sleep(0.01)
    return value


def refuse_new_executable_memory() -> None:
    """What MemoryDenyWriteExecute=yes does, by the kernel's own switch (Linux 6.3)."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_MDWE refused")


class Daemon:
    """`edged run` with a configuration of its own in `folder`; restart it by `start` after `kill`."""

    def __init__(
        self,
        folder: Path,
        broker_port: int,
        base: str,
        mdwe: bool = False,
        env: dict[str, str] | None = None,
        online: bool = True,
        **sections: Any,
    ) -> None:
        self.folder = folder
        self.base = base
        self.config_file = folder / "edged.yaml"
        self.log_file = folder / "log"
        self._mdwe = mdwe
        self._env = env or {}
        self._online = online
        self.sections: dict[str, Any] = {
            "node": "test",
            "state_dir": str(folder / "state"),
            "mqtt": {"host": "127.0.0.1", "port": broker_port, "base": base},
            "audio": {"sink": "wav", "wav_file": str(folder / "out.wav"), "lead_in_ms": 0},
            "voice": {"store": str(STORE)},
            "process": {"memory_lock": False, "affinity": "off"},
        }
        for name, values in sections.items():
            if isinstance(values, dict):
                self.sections.setdefault(name, {}).update(values)
            else:
                self.sections[name] = values
        self.process: subprocess.Popen[bytes] | None = None
        self.notified: list[str] = []
        self._socket: socket.socket | None = None

    def __enter__(self) -> Daemon:
        self.start(online=self._online)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None:
        self.kill()
        print(self.log())  # shown by pytest where the test fails

    def write_config(self) -> None:
        self.config_file.write_text(yaml.safe_dump(self.sections))

    def start(self, ready: bool = True, online: bool = True) -> None:
        """Start; wait for READY=1 as the service manager does, and until the broker has us (`online`)."""
        logged = len(self.log()) if self.log_file.exists() else 0
        if not self.config_file.exists():
            self.write_config()
        path = self.folder / f"notify-{time.monotonic_ns()}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self.notified.clear()
        threading.Thread(target=self._listen, args=(self._socket,), daemon=True).start()
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "edged", "run", "--config", str(self.config_file)],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "NOTIFY_SOCKET": str(path), **self._env},
                preexec_fn=refuse_new_executable_memory if self._mdwe else None,
            )
        if ready:
            wait_for(lambda: self._dead() or self.saw("READY=1"), 60, "READY=1")
            assert not self._dead(), self.log()
        if ready and online:
            wait_for(lambda: "connected to" in self.log()[logged:], 30, "the broker connection")

    def _dead(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def saw(self, assignment: str) -> bool:
        """The daemon has notified a line that begins with this."""
        return any(line.startswith(assignment) for line in list(self.notified))

    def _listen(self, notifications: socket.socket) -> None:
        while datagram := notifications.recv(4096):
            self.notified += datagram.decode().splitlines()

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def wait(self, timeout_s: float = 20.0) -> int:
        """The exit code."""
        assert self.process is not None
        return self.process.wait(timeout_s)

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        """SIGKILL, as a power cut."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self._socket is not None:
            self._socket.shutdown(socket.SHUT_RD)  # ends the reader
            self._socket = None

    def log(self) -> str:
        return self.log_file.read_text()
