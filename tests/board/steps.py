"""What is done to the board, in order. A step gives what was seen in a few words, or fails by raising."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import numpy as np

from tests.board.governor import heat, slow_voice
from tests.board.machine import Board
from tests.board.service import (
    CONFIG,
    COST,
    TEXT,
    configure,
    events,
    listen,
    publish,
    recorded,
    rendered,
    restart,
    say,
    spoken,
    state,
    until,
)
from tests.board.sound import compare, whole

Step = Callable[[Board], str]

HEART_TEXT = "Tea."
AUDIBLE = 500


def boot(board: Board) -> str:
    """Until systemd has started what a board has."""
    took_s = board.wait_booted()
    board.run("modprobe snd-aloop pcm_substreams=1")
    kernel, systemd = board.run("uname -r"), board.run("systemctl --version | head -n 1").split()[1]
    return f"{took_s:.0f} s to the first command; Linux {kernel}, systemd {systemd}"


def install(board: Board) -> str:
    """From the bundle, with no network at all, until the service is ready."""
    assert board.run("ls /sys/class/net") == "lo"
    board.run("tar -C /root -xf /dev/vdb", 120)
    board.run("mkdir -p /etc/edged")
    configure(board)
    listen(board)
    begun_s = time.monotonic()
    board.run("/root/edged-*/deploy/install", 1200)
    took_s = time.monotonic() - begun_s
    assert board.run("systemctl is-active edged") == "active"
    status = board.run("systemctl show -P StatusText edged")
    return f"{took_s:.0f} s without network and pip; READY: {status}"


def security(board: Board) -> str:
    """As systemd sees the running service."""
    shown = board.run("systemd-analyze security --no-pager edged.service | tail -n 1")
    exposure = float(shown.split(":")[1].split()[0])
    assert exposure <= 2.0, shown
    status = board.run(
        "grep -E '^(NoNewPrivs|Seccomp|CapEff)' /proc/$(systemctl show -P MainPID edged)/status"
    )
    assert "CapEff:\t0000000000000000" in status, status
    limit = board.run("systemctl show -P MemoryMax edged")
    asked = state(board)
    got = ", ".join(str(asked.get(key)) for key in ("memory_lock", "realtime_limit"))
    memory = f"MemoryMax {int(limit) >> 20} MiB, rss {asked.get('rss_mb')} MB"
    return f"exposure {exposure}; no capability; {memory}; {got}"


def announcement(board: Board) -> str:
    """One text of the voice heart, whole; played again from memory, without a gap."""
    first, event = recorded(board, "heart-1", HEART_TEXT)
    again, _ = recorded(board, "heart-2", HEART_TEXT)
    original = rendered(board, HEART_TEXT, "heart")
    one, two = compare(original, first), compare(original, again)
    whole(one, 20.0)
    whole(two, 60.0)
    assert two.gaps == 0, f"with gaps: {two}"
    return f"{original.size / 24000:.2f} s of heart: {one}; RTF {event['rtf']}; again from memory: {two}"


def credential(board: Board) -> str:
    """A broker that wants a password, which systemd hands over; without one the service runs as well."""
    board.run("install -d -m 0700 /etc/credstore && printf 'secret\\n' >/etc/credstore/mqtt-password")
    restart(board)
    seen = board.run("cat /run/credentials/edged.service/mqtt-password")
    assert seen == "secret", seen
    board.run("rm /etc/credstore/mqtt-password")
    return "mqtt-password from /etc/credstore; absent it is no fault"


def voices(board: Board) -> str:
    """Two more voices in the store: a small network, and the scripted one, made on the board."""
    board.run("tar -C /tmp -xf /dev/vdc && chown -R edged:edged /tmp/voices")
    board.run("cp -a /tmp/voices/pebble /var/lib/edged/voices/")
    made = board.run(
        "runuser -u edged -- /opt/edged/bin/python /tmp/make_scripted.py /var/lib/edged/voices"
        f" {COST} --state /var/lib/edged --rtf fp32=0.4 --rtf int8=0.1",
        120,
    )
    return f"pebble; {made}"


def voice_swap(board: Board) -> str:
    """Another voice by command while one speaks; what is heard is one after the other, each whole."""
    publish(board, "voice/set", "scripted")
    until(lambda: state(board).get("voice") == "scripted", 60, "the scripted voice to speak")
    played, event = recorded(board, "scripted-1", TEXT)
    one = compare(rendered(board, TEXT, "scripted"), played)
    whole(one, 60.0)
    assert (event["voice"], event.get("underfills", 0)) == ("scripted", 0), event
    publish(board, "say", json.dumps({"text": TEXT, "id": "scripted-2"}))
    until(
        lambda: any(e["event"] == "started" for e in events(board, "scripted-2")), 60, "scripted-2 to start"
    )
    publish(board, "voice/set", "pebble")
    last = spoken(board, "scripted-2")
    assert (last["voice"], last.get("underfills", 0)) == ("scripted", 0), last
    until(lambda: state(board).get("voice") == "pebble", 60, "the voice pebble to speak")
    say(board, "pebble-1", TEXT)
    played, event = recorded(board, "pebble-2", TEXT)
    two = compare(rendered(board, TEXT, "pebble"), played)
    whole(two, 60.0)
    assert event["voice"] == "pebble", event
    return f"scripted {one}; swapped in mid-speech without underfill; pebble {two}"


def bad_voice(board: Board) -> str:
    """A truncated version is refused aside; the one that speaks goes on."""
    board.run(
        "cd /var/lib/edged/voices && cp -r pebble broken && cd broken/current/ && "
        'for f in *.onnx; do truncate -s 100 $f; done; sed -i \'s/"pebble"/"broken"/\' voice.json'
    )
    publish(board, "voice/set", "broken")
    until(
        lambda: "broken" in board.run("grep notice /run/mqtt.log | tail -n 1"),
        60,
        "a report of the bad voice",
    )
    assert say(board, "after-bad", TEXT)["voice"] == "pebble"
    board.run("rm -r /var/lib/edged/voices/broken")
    return "a truncated voice is reported and the old one speaks on"


def bad_configuration(board: Board) -> str:
    """`systemctl reload` fails and names the line; nothing else changes. Mended, it applies at once."""
    good = board.run(f"cat {CONFIG}")
    board.write(CONFIG, good.replace('"node"', '"nood"'))
    refused = board.run("systemctl reload edged; echo code $?", may_fail=True)
    assert refused.splitlines()[-1] != "code 0", refused
    logged = board.run("journalctl -u edged -n 30 --no-pager | grep nood | tail -n 1")
    assert "node" in logged, logged
    assert board.run("systemctl is-active edged") == "active"
    until(lambda: "nood" in str(state(board).get("config_error")), 20, "the state to name the fault")
    say(board, "after-bad-file", TEXT)
    configure(board, audio={"volume": 0.5})
    took_s = until(lambda: state(board).get("volume") == 0.5, 20, "the new volume")
    board.run("systemctl reload edged")
    assert not state(board).get("config_error"), state(board)
    configure(board)
    return f"reload refused, naming the key; mended: applied {took_s:.1f} s after the write"


def watchdog(board: Board) -> str:
    """A service that stands still is restarted by systemd, and speaks again."""
    before = int(board.run("systemctl show -P NRestarts edged"))
    board.run("systemctl kill --signal=STOP edged")
    took_s = until(
        lambda: (
            int(board.run("systemctl show -P NRestarts edged")) > before
            and board.run("systemctl is-active edged", may_fail=True) == "active"
        ),
        150,
        "the watchdog to restart the service",
    )
    assert (
        "watchdog" in board.run("journalctl -u edged -n 40 --no-pager | grep -i watchdog | tail -n 1").lower()
    )
    say(board, "after-stop", HEART_TEXT)
    return f"stopped by SIGSTOP, active again after {took_s:.0f} s, speaks"


def usb_speaker(board: Board) -> str:
    """The card is pulled in mid-speech and put back: the announcement is said again, whole."""
    board.plug_speaker()
    until(lambda: "USB" in board.run("cat /proc/asound/cards"), 30, "the USB card")
    configure(
        board, audio={"device": "USB Audio", "rate_hz": 48000, "channels": 2}, voice={"name": "scripted"}
    )
    restart(board)
    process = board.run("systemctl show -P MainPID edged")
    until(lambda: "USB" in str(state(board).get("sink")), 30, "the USB card to be opened")
    say(board, "usb-1", TEXT)
    publish(board, "say", json.dumps({"text": TEXT, "id": "usb-2"}))
    until(lambda: any(e["event"] == "started" for e in events(board, "usb-2")), 60, "usb-2 to start")
    board.pull_speaker()
    until(lambda: "USB" not in board.run("cat /proc/asound/cards"), 30, "the USB card to go")
    lost_s = until(lambda: " Hz" not in str(state(board).get("sink")), 30, "the loss to be seen")
    gone = state(board)["sink"]
    board.plug_speaker()
    begun_s = time.monotonic()
    spoken(board, "usb-2", 60)
    back_s = time.monotonic() - begun_s
    starts = sum(e["event"] == "started" for e in events(board, "usb-2"))
    assert starts == 2, f"started {starts} times"
    assert board.run("systemctl show -P MainPID edged") == process, "the service was started anew"
    samples = np.frombuffer(board.usb_wav.read_bytes()[44:], "<i2")
    assert np.abs(samples).max(initial=0) > AUDIBLE, "the speaker has played nothing"
    board.pull_speaker()
    configure(board)
    restart(board)
    seen = f"pulled in mid-speech: seen {lost_s:.1f} s later ({gone})"
    return f"{seen}; said again whole {back_s:.1f} s after it was back"


def instance(board: Board) -> str:
    """A second edged by the template, with its own state and the voices of the first."""
    board.write(
        "/etc/edged/kitchen.yaml",
        json.dumps(
            {
                "node": "kitchen",
                "audio": {"sink": "null"},
                "voice": {"name": "pebble", "store": "/var/lib/edged/voices"},
            }
        ),
    )
    board.run("systemctl start edged@kitchen", 180)
    publish(board, "say", json.dumps({"text": TEXT, "id": "kitchen-1"}), node="kitchen")
    spoken(board, "kitchen-1")
    assert board.run("ls -d /var/lib/edged-kitchen/journal*")
    board.run("systemctl stop edged@kitchen", 60)
    assert board.run("systemctl is-active edged") == "active"
    return "edged@kitchen speaks with the shared voices, state in /var/lib/edged-kitchen"


def late_network(board: Board) -> str:
    """The board starts without broker and sound card: READY all the same, at work once both are there."""
    board.run("systemctl disable mosquitto", 60)
    took_s = board.restart()
    until(
        lambda: board.run("systemctl is-active edged", may_fail=True) == "active",
        120,
        "the service after a restart of the board",
    )
    status = board.run("systemctl show -P StatusText edged")
    assert not board.run("ls -d /proc/asound/card[0-9]* 2>/dev/null || true"), "a sound card is there already"
    time.sleep(20)
    board.run("modprobe snd-aloop pcm_substreams=1")
    board.run("systemctl start mosquitto", 60)
    begun_s = time.monotonic()
    listen(board)
    until(lambda: state(board), 90, "the service to be online")
    online_s = time.monotonic() - begun_s
    say(board, "after-boot", HEART_TEXT)
    board.run("systemctl enable mosquitto", 60)
    up = f"up {took_s:.0f} s after reboot, READY without broker and card ({status})"
    return f"{up}; online {online_s:.1f} s after the broker came, speaks on the late card"


def upgrade(board: Board) -> str:
    """Installed again and rolled back: configuration and voices stay, it speaks each time."""
    before = board.run(f"sha256sum {CONFIG}; ls -l /var/lib/edged/voices/*/current")
    board.run("/root/edged-*/deploy/install", 1200)
    say(board, "upgraded", HEART_TEXT)
    board.run("/root/edged-*/deploy/install --rollback", 300)
    say(board, "rolled-back", HEART_TEXT)
    after = board.run(f"sha256sum {CONFIG}; ls -l /var/lib/edged/voices/*/current")
    assert before == after, f"{before} became {after}"
    return "upgrade and rollback: configuration and voices unchanged, it speaks after each"


X86_64: tuple[Step, ...] = (
    boot,
    install,
    security,
    announcement,
    voices,
    voice_swap,
    bad_voice,
    bad_configuration,
    watchdog,
    usb_speaker,
    heat,
    slow_voice,
    instance,
    credential,
    upgrade,
    late_network,
)
AARCH64: tuple[Step, ...] = (boot, install, security, announcement)


def of(arch: str) -> tuple[Step, ...]:
    """An emulated ARM processor is too slow for more than to start and to speak."""
    return X86_64 if arch == "x86_64" else AARCH64
