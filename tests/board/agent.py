"""Runs on the board: takes commands over a virtio port and answers. JSON, a line each; no library.

-> {"run": "systemctl start edged", "limit_s": 60}
<- {"code": 0, "out": "..."}
"""

import json
import os
import subprocess
import time

PORT = "/dev/virtio-ports/board"


def answer(line: bytes) -> dict[str, object]:
    """One command run by bash to its end, standard error with its output."""
    asked = json.loads(line)
    try:
        done = subprocess.run(
            ["bash", "-c", asked["run"]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=asked["limit_s"],
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return {"code": 124, "out": (late.stdout or b"").decode(errors="replace")}
    return {"code": done.returncode, "out": done.stdout.decode(errors="replace")}


def send(port: int, message: dict[str, object]) -> None:
    """Whole, however little the port takes at once."""
    rest = json.dumps(message).encode() + b"\n"
    while rest:
        rest = rest[os.write(port, rest) :]


def main() -> None:
    """Until the board is switched off."""
    while not os.path.exists(PORT):
        time.sleep(0.2)
    port = os.open(PORT, os.O_RDWR)
    send(port, {"hello": time.monotonic()})
    pending = b""
    while True:
        got = os.read(port, 65536)
        if not got:  # nobody at the other end
            time.sleep(0.2)
        pending += got
        while b"\n" in pending:
            line, _, pending = pending.partition(b"\n")
            send(port, answer(line))


main()
