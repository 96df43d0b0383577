"""edged on the board, as a person meets it: configuration, messages, events, state, and what is heard."""

from __future__ import annotations

import io
import json
import time
import wave
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.board.machine import Board, BoardError
from tests.board.sound import Int16

CONFIG = "/etc/edged/edged.yaml"
COST = "/var/lib/edged/cost.json"
"""RTF of each level of the scripted voice."""
TEXT = "the kettle in the kitchen is boiling over"
BASE: dict[str, Any] = {
    "node": "board",
    "state_dir": "/var/lib/edged",
    # An emulated board wakes up late: the longest period, and much in the device.
    "audio": {
        "device": "Loopback",
        "rate_hz": 24000,
        "channels": 1,
        "period_ms": 24,
        "latency_ms": 300,
        "buffer_ms": 2000,
    },
    "voice": {"name": "heart"},
    # It would do its work here all the time; its turn comes.
    "governor": {"enabled": False},
}
SPOKEN_LIMIT_S = 240.0


def configure(board: Board, **changes: dict[str, Any]) -> None:
    """BASE with sections changed key by key. YAML takes JSON."""
    merged = {
        name: section | changes.get(name, {}) if isinstance(section, dict) else section
        for name, section in BASE.items()
    }
    board.write(CONFIG, json.dumps(merged | {n: s for n, s in changes.items() if n not in merged}, indent=1))


def restart(board: Board) -> None:
    """The service, until READY."""
    board.run("systemctl restart edged", 180)


def publish(board: Board, topic: str, payload: str, node: str = "board") -> None:
    """At QoS 1."""
    board.write("/run/payload", payload)
    board.run(f"mosquitto_pub -q 1 -t edged/{node}/{topic} -f /run/payload")


def events(board: Board, name: str) -> list[dict[str, Any]]:
    """Of one announcement, so far."""
    lines = board.run(f'grep -h \'"id":"{name}"\' /run/mqtt.log || true').splitlines()
    heard = (line.partition(" ") for line in lines)
    return [json.loads(payload) for topic, _, payload in heard if topic.endswith("/event")]


def spoken(board: Board, name: str, limit_s: float = SPOKEN_LIMIT_S) -> dict[str, Any]:
    """Its last event. Raises BoardError when none comes, or it is no success."""
    until(
        lambda: any(e["event"] in ("finished", "failed", "dropped", "expired") for e in events(board, name)),
        limit_s,
        f"announcement {name} to end",
    )
    last = events(board, name)[-1]
    assert last["event"] == "finished", f"{name}: {last}"
    return last


def say(board: Board, name: str, text: str, **more: object) -> dict[str, Any]:
    """Publish and wait for its end."""
    publish(board, "say", json.dumps({"text": text, "id": name} | more))
    return spoken(board, name)


def state(board: Board) -> dict[str, Any]:
    """What edged last said of itself."""
    line = board.run("grep -h '^edged/board/state ' /run/mqtt.log | tail -n 1 || true")
    return dict(json.loads(line.partition(" ")[2])) if line else {}


def until(condition: Callable[[], object], limit_s: float, what: str) -> float:
    """Wait; seconds it took. Raises BoardError."""
    begun_s = time.monotonic()
    while not condition():
        if time.monotonic() - begun_s > limit_s:
            raise BoardError(f"waited {limit_s:.0f} s for {what}")
        time.sleep(0.5)
    return time.monotonic() - begun_s


def recorded(board: Board, name: str, text: str, **more: object) -> tuple[Int16, dict[str, Any]]:
    """What the loopback card played while a text was spoken, and the last event."""
    board.run(
        "rm -f /run/played && systemd-run -q --collect --unit=recorder "
        "arecord -q -D hw:Loopback,1,0 -t raw -f S16_LE -r 24000 -c 1 /run/played"
    )
    try:
        board.run("for i in $(seq 100); do [ -s /run/played ] && exit; sleep 0.2; done; exit 1")
        event = say(board, name, text, **more)
        time.sleep(1.0)
    finally:
        board.run("systemctl stop recorder", may_fail=True)
    return np.frombuffer(board.read("/run/played"), "<i2"), event


def rendered(board: Board, text: str, voice: str) -> Int16:
    """The same text by the same voice on the same processor, without a device."""
    board.run(f"runuser -u edged -- edged voice say {voice} --wav /tmp/rendered.wav '{text}'", 240)
    with wave.open(io.BytesIO(board.read("/tmp/rendered.wav"))) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


def listen(board: Board) -> None:
    """All messages into a file, for `events` and `state`; since the last start of the board."""
    board.run(
        "systemctl is-active -q listener || systemd-run -q --unit=listener -p Restart=always "
        "bash -c \"exec mosquitto_sub -F '%t %p' -t 'edged/#' >>/run/mqtt.log\""
    )
