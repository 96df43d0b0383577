"""A clean Debian in a folder, made by mmdebstrap, and commands run in it as on a machine of its own.

Mounts, processes and the host name are in namespaces of this process (see `in_namespaces`), so that
nothing is left when it ends. The network is the machine's.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

RELEASES = ("bookworm", "trixie")
"""Debian 12 and 13."""
INSIDE = "EDGED_README_INSIDE"
HOST_NAME = "kitchen"
"""As the page has it."""
HOME = "/root"
CARRIED = ("PIP_CERT", "PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT", "http_proxy", "https_proxy", "no_proxy")
"""How this machine reaches a package index."""
CA_BUNDLE = "etc/ssl/certs/ca-certificates.crt"
MOUNTS = (
    ("proc", "proc"),
    ("sysfs", "sys"),
    ("tmpfs", "run"),
    ("tmpfs", "tmp"),
    ("tmpfs", "dev"),
    ("tmpfs", "dev/shm"),
    ("devpts", "dev/pts"),
)
DEVICES = (("null", 1, 3), ("zero", 1, 5), ("full", 1, 7), ("random", 1, 8), ("urandom", 1, 9), ("tty", 5, 0))
"""Of the kernel's devices.txt. No sound card of this machine is among them."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class TreeError(Exception):
    """There is no tree to begin with."""


def in_namespaces() -> None:
    """Start this program again in namespaces of its own, unless it is there. Raises TreeError."""
    if os.environ.get(INSIDE):
        subprocess.run(["hostname", HOST_NAME], check=True)
        return
    if os.geteuid() != 0:
        raise TreeError("must be run as root: it makes a Debian in a folder and changes into it")
    missing = [name for name in ("mmdebstrap", "unshare", "git") if shutil.which(name) is None]
    if missing:
        raise TreeError(f"needs {', '.join(missing)}: apt install mmdebstrap util-linux git")
    spaces = ("--mount", "--uts", "--pid", "--fork", "--kill-child")
    os.environ[INSIDE] = "1"
    # bash stays as the first process, for it reaps orphans as an init does.
    first = ("bash", "-c", '"$@"; exit $?', "bash")
    os.execvp("unshare", ["unshare", *spaces, *first, sys.executable, "-m", "tests.readme", *sys.argv[1:]])


class Tree:
    """Use as a context manager; `keep` leaves the folder, without its mounts."""

    def __init__(self, release: str, cache: Path, keep: bool) -> None:
        self.root = cache / f"tree-{release}"
        self._base = cache / f"{release}.tar"
        self._release = release
        self._keep = keep
        self._services: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Tree:
        """Raises TreeError."""
        self._base.parent.mkdir(parents=True, exist_ok=True)
        if not self._base.exists():
            self._bootstrap()
        self._remove()
        self.root.mkdir()
        _run("tar", "-C", self.root, "-xf", self._base)
        for kind, place in MOUNTS:
            (self.root / place).mkdir(exist_ok=True)
            _run("mount", "-t", kind, kind, self.root / place)
        for name, major, minor in DEVICES:
            os.mknod(self.root / "dev" / name, stat.S_IFCHR | 0o666, os.makedev(major, minor))
            (self.root / "dev" / name).chmod(0o666)
        for name, target in (("fd", "/proc/self/fd"), ("ptmx", "pts/ptmx")):
            (self.root / "dev" / name).symlink_to(target)
        (self.root / "etc/resolv.conf").write_bytes(Path("/etc/resolv.conf").read_bytes())
        (self.root / "etc/hostname").write_text(f"{HOST_NAME}\n")
        (self.root / "etc/hosts").write_text(f"127.0.0.1 localhost {HOST_NAME}\n")
        (self.root / CA_BUNDLE).write_bytes((Path("/") / CA_BUNDLE).read_bytes())
        return self

    def __exit__(self, *_error: object) -> None:
        for service in reversed(self._services):
            service.send_signal(signal.SIGTERM)
            try:
                service.wait(20)
            except subprocess.TimeoutExpired:
                service.kill()
        for _, place in reversed(MOUNTS):
            subprocess.run(["umount", "--lazy", self.root / place], check=False)
        if not self._keep:
            self._remove()

    def clone(self, repository: Path, place: str) -> None:
        """A fresh clone of what is committed. Raises TreeError."""
        _run("git", "clone", "--quiet", "--no-hardlinks", repository, self.root / place.lstrip("/"))

    def run(self, script: str, folder: str, limit_s: float) -> tuple[int, str, str]:
        """A script of bash as a person at a terminal would give it: exit code, output, complaints.

        -e: each of its commands must succeed. What it prints comes through pipes, not a terminal.
        """
        command = self._command(f"cd {folder}\n{script}")
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self._env(),
            start_new_session=True,
        ) as process:
            try:
                out, err = process.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                return -1, out, f"{err}\nnot done after {limit_s:.0f} s"
        return process.returncode, out, err

    def start(self, script: str, ready: str, limit_s: float = 60.0) -> None:
        """What a service manager would start, and wait until the command `ready` succeeds. Raises
        TreeError with the end of its log."""
        log = self.root / f"var/log/started-{len(self._services)}.log"
        with log.open("wb") as output:
            service = subprocess.Popen(
                self._command(f"exec {script}"),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self._env(),
                start_new_session=True,
            )
        self._services.append(service)
        deadline_s = time.monotonic() + limit_s
        while self.run(ready, HOME, 20)[0] != 0:
            if service.poll() is not None or time.monotonic() > deadline_s:
                said = log.read_text(errors="replace")[-2000:]
                raise TreeError(f"{script.split(maxsplit=1)[0]} does not become ready: {said}")
            time.sleep(0.2)

    def _remove(self) -> None:
        # Never into a mount, whatever went wrong before.
        _run("rm", "-rf", "--one-file-system", self.root)

    def _command(self, script: str) -> Sequence[str | Path]:
        return ["chroot", self.root, "/bin/bash", "-euo", "pipefail", "-c", script]

    def _env(self) -> dict[str, str]:
        carried = {name: os.environ[name] for name in CARRIED if name in os.environ}
        return {"PATH": PATH, "HOME": HOME, "USER": "root", "LANG": "C.UTF-8", "TERM": "dumb"} | carried

    def _bootstrap(self) -> None:
        coming = self._base.with_suffix(".coming.tar")
        _run(
            "mmdebstrap",
            "--mode=root",
            "--variant=minbase",
            "--include=ca-certificates",
            self._release,
            coming,
        )
        coming.rename(self._base)


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise TreeError(f"{command[0]}: {done.stderr.strip()[-2000:]}")
