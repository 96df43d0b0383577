"""One board in qemu: its life, commands to its agent, and to qemu itself (QMP)."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.board.image import Image

MEMORY_MIB = 2048
BOOT_LIMIT_S = 240.0
SLACK_S = 20.0
"""Over the limit of a command, until its answer must be here."""


class BoardError(Exception):
    """There is no board, or it did not do what every board does. One line."""


class _Lines:
    """JSON lines over a socket of qemu's, which may take a moment to be there."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        deadline_s = time.monotonic() + 10
        while True:
            try:
                self._socket.connect(str(path))
                break
            except OSError as error:
                if time.monotonic() > deadline_s:
                    raise BoardError(f"qemu does not start ({error}); see its console log") from error
                time.sleep(0.05)
        self._pending = b""

    def send(self, message: dict[str, Any]) -> None:
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, limit_s: float) -> dict[str, Any]:
        deadline_s = time.monotonic() + limit_s
        while b"\n" not in self._pending:
            self._socket.settimeout(max(0.01, deadline_s - time.monotonic()))
            try:
                got = self._socket.recv(1 << 16)
            except TimeoutError as error:
                raise BoardError(f"no answer from the board for {limit_s:.0f} s") from error
            if not got:
                raise BoardError("the board has gone; see its console log")
            self._pending += got
        line, _, self._pending = self._pending.partition(b"\n")
        return dict(json.loads(line))

    def close(self) -> None:
        self._socket.close()


class Board:
    """Runs from entering to leaving; `folder` keeps its logs and what its USB speaker played."""

    def __init__(self, image: Image, folder: Path, drives: list[Path]) -> None:
        """`drives` are tar files, seen on the board as /dev/vdb, /dev/vdc …"""
        self._image = image
        self._folder = folder
        self._drives = drives
        self.usb_wav = folder / "usb.wav"

    def __enter__(self) -> Board:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        overlay = self._folder / "disk.qcow2"
        subprocess.run(
            ["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", self._image.disk, overlay],
            check=True,
        )
        with (self._folder / "console.log").open("wb") as console:
            self._process = subprocess.Popen(
                self._command(overlay), stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT
            )
        self._started_s = time.monotonic()
        try:
            self._agent = _Lines(self._folder / "agent")
            self._qmp = _Lines(self._folder / "qmp")
            self._qmp.receive(10)
            self.qemu("qmp_capabilities")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        (self._folder / "disk.qcow2").unlink(missing_ok=True)

    def _command(self, overlay: Path) -> list[str]:
        architecture, folder = self._image.architecture, self._folder
        drives = [f"file={overlay},format=qcow2,if=virtio,cache=unsafe"]
        drives += [f"file={file},format=raw,if=virtio,readonly=on" for file in self._drives]
        return [
            *architecture.qemu,
            # An emulated processor, never the machine's own: KVM is not to be had everywhere.
            *("-accel", "tcg,thread=multi", "-smp", "2", "-m", str(MEMORY_MIB)),
            *("-nodefaults", "-nic", "none", "-display", "none", "-serial", "stdio"),
            *("-kernel", str(self._image.kernel), "-initrd", str(self._image.first_root)),
            *("-append", f"console={architecture.console} quiet panic=5"),
            *(part for drive in drives for part in ("-drive", drive)),
            *(
                "-device",
                "virtio-serial-pci",
                "-chardev",
                f"socket,id=agent,path={folder}/agent,server=on,wait=off",
            ),
            *("-device", "virtserialport,chardev=agent,name=board"),
            *("-qmp", f"unix:{folder}/qmp,server=on,wait=off"),
            *("-audiodev", f"wav,id=speaker,path={self.usb_wav},out.frequency=48000"),
            *("-device", "qemu-xhci,id=usb"),
        ]

    # -- the board -------------------------------------------------------------------------------
    def wait_booted(self) -> float:
        """Until the agent answers after a start or a restart; seconds since it was switched on."""
        while "hello" not in self._agent.receive(BOOT_LIMIT_S):
            continue  # the answer to a command that a restart overtook
        return time.monotonic() - self._started_s

    def restart(self) -> float:
        """Seconds from the order to the agent's answer."""
        self._started_s = time.monotonic()
        self._agent.send({"run": "systemctl --no-block reboot", "limit_s": 10})
        return self.wait_booted()

    def run(self, command: str, limit_s: float = 60.0, *, may_fail: bool = False) -> str:
        """What a command of bash prints. Raises BoardError when it fails, with its last line."""
        self._agent.send({"run": command, "limit_s": limit_s})
        answer = self._agent.receive(limit_s + SLACK_S)
        out = str(answer["out"]).strip()
        if answer["code"] and not may_fail:
            last = out.splitlines()[-1] if out else "no output"
            raise BoardError(f"`{command[:120]}` ended with {answer['code']}: {last}")
        return out

    def read(self, path: str) -> bytes:
        """A file of the board."""
        return base64.b64decode(self.run(f"base64 -w 0 {path}"))

    def write(self, path: str, content: str) -> None:
        """Written aside and renamed, as editors do."""
        encoded = base64.b64encode(content.encode()).decode()
        self.run(f"base64 -d <<<{encoded} >{path}.new && chmod 0644 {path}.new && mv {path}.new {path}")

    # -- qemu ------------------------------------------------------------------------------------
    def qemu(self, command: str, **arguments: Any) -> None:
        """A command of QMP. Raises BoardError when it is refused."""
        self._qmp.send({"execute": command, "arguments": arguments})
        while True:
            answer = self._qmp.receive(30)
            if "error" in answer:
                raise BoardError(f"qemu refuses {command}: {answer['error']['desc']}")
            if "return" in answer:
                return

    def plug_speaker(self) -> None:
        """A USB speaker."""
        self.qemu("device_add", driver="usb-audio", id="usb-speaker", bus="usb.0", audiodev="speaker")

    def pull_speaker(self) -> None:
        """The same, pulled out."""
        self.qemu("device_del", id="usb-speaker")

    # -- afterwards ------------------------------------------------------------------------------
    def note_failure(self, step: str) -> None:
        """Keeps the service's log of a step that failed."""
        try:
            shown = self.run(
                "journalctl --no-pager -n 120 -u edged -u 'edged@*'; tail -n 40 /run/mqtt.log;"
                "tail -n 40 /root/.cache/edged/install.log",
                may_fail=True,
            )
        except BoardError as error:
            shown = str(error)
        (self._folder / f"failed-{step}.log").write_text(shown + "\n")
