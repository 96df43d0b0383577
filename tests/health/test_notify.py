"""Against a real notification socket."""

import socket
import time

import pytest

from edged.health.notify import Notifier


@pytest.fixture
def manager(tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.bind(str(tmp_path / "notify"))
        server.settimeout(2)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        yield server


def test_each_state_is_one_datagram(manager):
    notifier = Notifier()
    notifier.ready("heart is warm")
    notifier.watchdog()
    notifier.stopping("draining")
    notifier.ready()
    assert manager.recv(4096) == b"READY=1\nSTATUS=heart is warm"
    assert manager.recv(4096) == b"WATCHDOG=1"
    assert manager.recv(4096) == b"STOPPING=1\nSTATUS=draining"
    assert manager.recv(4096) == b"READY=1"


def test_reloading_carries_the_monotonic_time(manager):
    before_us = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    Notifier().reloading("reading edged.yaml")
    lines = manager.recv(4096).decode().splitlines()
    after_us = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    assert lines[0] == "RELOADING=1"
    assert before_us <= int(lines[1].removeprefix("MONOTONIC_USEC=")) <= after_us
    assert lines[2] == "STATUS=reading edged.yaml"


def test_a_status_is_one_line_of_utf8(manager):
    Notifier().status("device “Küche”\nREADY=1\t中文")
    assert manager.recv(4096).decode() == "STATUS=device “Küche” READY=1 中文"


def test_without_a_manager_nothing_happens(monkeypatch):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notifier = Notifier()
    notifier.ready("on its own")
    notifier.watchdog()
