"""The board's disk: a Debian made by mmdebstrap, kept in the cache; kernel and a first root beside it.

Built once per architecture and content of this file and of the agent. The disk holds what an image
from a board's vendor has (systemd, Python, ALSA's tools), a broker and the agent, and nothing of edged.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tests.board.machine import BoardError

Say = Callable[[str], None]
HERE = Path(__file__).parent
SUITE = "bookworm"
DISK_SIZE = "3G"
PACKAGES = (
    "systemd,systemd-sysv,udev,dbus,kmod,iproute2,procps,alsa-utils,mosquitto,mosquitto-clients,"
    "python3,busybox-static"
)
UNUSED = (
    "/usr/share/man/*",
    "/usr/share/doc/*",
    "/usr/share/locale/*",
    "/usr/share/i18n/*",
    "/usr/lib/*-linux-gnu/gconv/*",
)
MODULES = (
    "sound/*",
    "drivers/usb/*",
    "drivers/virtio/*",
    "drivers/block/virtio*",
    "drivers/char/virtio*",
    "drivers/media/mc/*",
    "fs/ext4/*",
    "fs/jbd2/*",
    "fs/mbcache*",
    "lib/*",
    "crypto/*",
    "arch/*",
)
FIRST_MODULES = ("virtio_pci", "virtio_blk", "ext4")
FIRST_ROOT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /disk
/bin/busybox mount -t devtmpfs dev /dev
for module in {modules}; do /bin/busybox insmod /modules/$module; done
until [ -b /dev/vda ]; do /bin/busybox sleep 0.1; done
/bin/busybox mount -t ext4 /dev/vda /disk || exec /bin/busybox sh
exec /bin/busybox switch_root /disk /lib/systemd/systemd
"""
AGENT_UNIT = """[Unit]
After=basic.target
[Service]
ExecStart=/usr/bin/python3 /usr/local/lib/board-agent.py
[Install]
WantedBy=multi-user.target
"""
NOT_WANTED = (
    "e2scrub_reap.service",
    "remote-fs.target",
    "e2scrub_all.timer",
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "fstrim.timer",
    "getty@tty1.service",
)


@dataclass(frozen=True, slots=True)
class Architecture:
    """What differs between the two boards."""

    debian: str
    qemu: tuple[str, ...]
    console: str


ARCHITECTURES = {
    "x86_64": Architecture("amd64", ("qemu-system-x86_64", "-M", "q35", "-cpu", "max"), "ttyS0"),
    "aarch64": Architecture("arm64", ("qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a72"), "ttyAMA0"),
}
TOOLS = ("mmdebstrap", "mke2fs", "cpio", "depmod", "qemu-img")


@dataclass(frozen=True, slots=True)
class Image:
    """A disk that is never written to, and what boots it."""

    architecture: Architecture
    disk: Path
    kernel: Path
    first_root: Path


def ensure(arch: str, cache: Path, say: Say) -> Image:
    """The cached image, or a new one. Raises BoardError, naming what is missing or the log."""
    architecture = ARCHITECTURES[arch]
    missing = [tool for tool in (*TOOLS, architecture.qemu[0]) if shutil.which(tool) is None]
    if missing:
        raise BoardError(
            f"needs {', '.join(missing)}: apt install mmdebstrap e2fsprogs cpio kmod qemu-utils "
            "qemu-system-x86 qemu-system-arm qemu-user-static"
        )
    content = Path(__file__).read_bytes() + (HERE / "agent.py").read_bytes()
    folder = cache / f"image-{arch}-{hashlib.sha256(content).hexdigest()[:12]}"
    image = Image(architecture, folder / "disk.ext4", folder / "kernel", folder / "first-root.cpio")
    if folder.exists():
        return image
    for old in cache.glob(f"image-{arch}-*"):
        shutil.rmtree(old)
    say(f"building the image for {arch} (once, some minutes)")
    scratch = folder.with_name("building")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    log = cache / f"image-{arch}.log"
    with log.open("w") as output:
        try:
            _Builder(architecture, scratch, output).build()
        except subprocess.CalledProcessError as error:
            raise BoardError(f"{error.cmd[0]} failed; see {log}") from error
    shutil.rmtree(scratch / "root")
    scratch.rename(folder)
    return image


class _Builder:
    def __init__(self, architecture: Architecture, folder: Path, output: IO[str]) -> None:
        self.debian = architecture.debian
        self.folder = folder
        self.root = folder / "root"
        self.output = output

    def run(self, *command: str | Path, stdout: IO[Any] | None = None) -> None:
        subprocess.run(
            [str(part) for part in command],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=stdout or self.output,
            stderr=self.output,
        )

    def build(self) -> None:
        if self.debian == "arm64" and platform.machine() != "aarch64":
            self._let_the_kernel_run_arm()
        self._bootstrap()
        version = self._kernel()
        self._configure()
        self._first_root(version)
        # From a folder: no mounting. Without a journal: an emulated disk that nobody pulls.
        disk = self.folder / "disk.ext4"
        options = ("-O", "^has_journal", "-E", "lazy_itable_init=1")
        self.run("mke2fs", "-q", "-t", "ext4", *options, "-d", self.root, disk, DISK_SIZE)

    def _let_the_kernel_run_arm(self) -> None:
        """As systemd-binfmt does at boot, which a container may have left out."""
        known = Path("/proc/sys/fs/binfmt_misc")
        if not (known / "register").exists():
            self.run("mount", "-t", "binfmt_misc", "binfmt_misc", known)
        if not (known / "qemu-aarch64").exists():
            rule = Path("/usr/lib/binfmt.d/qemu-aarch64.conf").read_text().splitlines()
            (known / "register").write_text(next(line for line in rule if line.startswith(":")))

    def _bootstrap(self) -> None:
        self.run(
            "mmdebstrap",
            "--mode=root",
            "--variant=minbase",
            f"--architectures={self.debian}",
            '--aptopt=Acquire::Languages "none"',
            "--dpkgopt=force-unsafe-io",
            *(f"--dpkgopt=path-exclude={pattern}" for pattern in UNUSED),
            f"--include={PACKAGES}",
            # The kernel is only fetched: installed, it would have a first root made for itself.
            f"--customize-hook=cd {self.folder} && export APT_CONFIG=$MMDEBSTRAP_APT_CONFIG"
            f" && apt-get download -q $(apt-cache depends linux-image-{self.debian}"
            " | sed -n 's/.*Depends: \\(linux-image-6[^:]*\\).*/\\1/p' | head -n 1)",
            SUITE,
            self.root,
        )

    def _kernel(self) -> str:
        """The kernel beside the disk, the modules that are used on it; returns its version."""
        (package,) = self.folder.glob("linux-image-*.deb")
        version = package.name.removeprefix("linux-image-").partition("_")[0]
        folder = f"./lib/modules/{version}"
        wanted = ["./boot/vmlinuz*", f"{folder}/modules.*", *(f"{folder}/kernel/{name}" for name in MODULES)]
        tar = self.folder / "kernel.tar"
        with tar.open("wb") as unpacked:
            self.run("dpkg-deb", "--fsys-tarfile", package, stdout=unpacked)
        # /lib is a link: it must stay one.
        self.run("tar", "-C", self.root, "--keep-directory-symlink", "--wildcards", "-xf", tar, *wanted)
        shutil.move(next(self.root.glob("boot/vmlinuz-*")), self.folder / "kernel")
        tar.unlink()
        package.unlink()
        self.run("depmod", "-b", self.root, version)
        return version

    def _configure(self) -> None:
        etc = self.root / "etc"
        (etc / "hostname").write_text("board\n")
        (etc / "hosts").write_text("127.0.0.1 localhost board\n")
        (etc / "fstab").write_text("")
        (etc / "modules-load.d/board.conf").write_text("virtio_console\n")
        (self.root / "usr/local/lib/board-agent.py").write_bytes((HERE / "agent.py").read_bytes())
        system = etc / "systemd/system"
        (system / "board-agent.service").write_text(AGENT_UNIT)
        self.run("systemctl", f"--root={self.root}", "enable", "board-agent.service")
        for unit in NOT_WANTED:
            for link in system.glob(f"*.wants/{unit}"):
                link.unlink()
        shutil.rmtree(self.root / "var/cache/apt")

    def _first_root(self, version: str) -> None:
        """As little as finds the disk: busybox and the modules in the order in which they are needed."""
        first = self.folder / "first"
        for name in ("bin", "modules"):
            (first / name).mkdir(parents=True)
        shutil.copy(self.root / "bin/busybox", first / "bin/busybox")
        names: list[str] = []
        for module in FIRST_MODULES:
            shown = subprocess.run(
                ["modprobe", "-d", self.root, "-S", version, "--show-depends", module],
                check=True,
                capture_output=True,
                text=True,
            )
            files = [Path(line.split()[1]) for line in shown.stdout.splitlines() if line.startswith("insmod")]
            for file in files:
                if file.name not in names:
                    names.append(file.name)
                    shutil.copy(file, first / "modules" / file.name)
        init = first / "init"
        init.write_text(FIRST_ROOT.format(modules=" ".join(names)))
        init.chmod(0o755)
        with (self.folder / "first-root.cpio").open("wb") as packed:
            self.run("sh", "-c", f"cd {first} && find . | cpio -o -H newc --quiet", stdout=packed)
        shutil.rmtree(first)
