"""The unit file, judged by systemd itself."""

import configparser
import re
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from edged.config.model import AudioConfig, ProcessConfig
from edged.mqtt.credentials import CREDENTIAL

REPO = Path(__file__).parents[2]
UNIT = REPO / "systemd/edged.service"
TEMPLATE = REPO / "systemd/edged@.service"
BOARDS = sorted((REPO / "systemd/boards").glob("*.conf"))


def analyze(*args: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *map(str, args)], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture(scope="module")
def unit() -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(UNIT)
    return {section: dict(parser[section]) for section in parser.sections()}


def maximum(section: type, name: str) -> float:
    return next(f for f in fields(section) if f.name == name).metadata["maximum"]


@pytest.mark.parametrize("file", [UNIT, TEMPLATE], ids=lambda file: file.name)
def test_exposure_is_at_most_two(file):
    shown = analyze("security", "--offline=true", "--no-pager", file)
    level = re.search(r"Overall exposure level for edged(?:@\w+)?\.service: ([\d.]+)", shown.stdout)
    assert level, shown.stdout + shown.stderr
    assert float(level[1]) <= 2.0


@pytest.mark.parametrize("file", [UNIT, TEMPLATE], ids=lambda file: file.name)
def test_systemd_finds_no_fault(tmp_path, file):
    # The program is not installed here: its place is taken by one that is.
    copy = tmp_path / file.name.replace("@", "@kitchen")
    copy.write_text(file.read_text().replace("/opt/edged/bin/edged", "/bin/true"))
    shown = analyze("verify", "--man=no", copy)
    assert [line for line in shown.stderr.splitlines() if "edged" in line] == []
    copy.write_text(copy.read_text().replace("LimitRTPRIO=70", "LimitRTPRIO=much"))
    assert re.search(
        "Failed to parse (resource value|LimitRTPRIO)", analyze("verify", "--man=no", copy).stderr
    )


def allowed_calls() -> set[str]:
    """SystemCallFilter of the unit, spread out: lists add, lists with ~ take away, in order."""
    calls: set[str] = set()
    for line in UNIT.read_text().splitlines():
        if line.startswith("SystemCallFilter="):
            value = line.partition("=")[2]
            for entry in value.removeprefix("~").split():
                named = spread(entry)
                calls = calls - named if value.startswith("~") else calls | named
    return calls


def spread(entry: str) -> set[str]:
    if not entry.startswith("@"):
        return {entry}
    listed = analyze("syscall-filter", entry).stdout.splitlines()[1:]
    names = [line.strip() for line in listed if line.strip() and not line.strip().startswith("#")]
    return set().union(*(spread(name) for name in names))


def test_what_the_daemon_calls_is_allowed_and_what_it_must_not_is_not():
    calls = allowed_calls()
    assert {"sched_setscheduler", "sched_setaffinity", "mlockall", "inotify_add_watch", "sendto"} <= calls
    assert {"semop", "shmat", "ioctl", "ppoll", "futex"} <= calls
    assert not {"mount", "ptrace", "init_module", "setuid", "chown", "reboot", "bpf"} & calls


def test_it_restarts_for_ever_but_not_on_a_bad_configuration(unit):
    assert unit["Unit"]["StartLimitIntervalSec"] == "0"
    assert unit["Service"]["Restart"] == "always"
    assert float(unit["Service"]["RestartSec"]) > 0
    assert unit["Service"]["RestartPreventExitStatus"] == "78"


def test_it_does_not_wait_for_the_network(unit):
    assert "network-online.target" not in UNIT.read_text()
    assert not {"Requires", "BindsTo", "Wants"} & set(unit["Unit"])


def test_a_stop_may_take_as_long_as_the_configuration_allows(unit):
    longest_s = maximum(ProcessConfig, "drain_limit_s") + maximum(AudioConfig, "drain_limit_ms") / 1000
    assert float(unit["Service"]["TimeoutStopSec"]) > longest_s


def test_the_default_realtime_priority_is_within_the_limit(unit):
    assert ProcessConfig().realtime_priority <= int(unit["Service"]["LimitRTPRIO"])


def test_a_reload_checks_the_file_first():
    reload = [line for line in UNIT.read_text().splitlines() if line.startswith("ExecReload=")]
    assert reload == [
        "ExecReload=/opt/edged/bin/edged check /etc/edged/edged.yaml",
        "ExecReload=/bin/kill -HUP $MAINPID",
    ]


def settings(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if line and not line.startswith("#")]


def test_the_template_differs_only_in_what_an_instance_has_of_its_own():
    own = {
        "Description=Speaks announcements published over MQTT": " (%i)",
        "StateDirectory=edged": "-%i",
        "RuntimeDirectory=edged": "-%i",
        "WorkingDirectory=/var/lib/edged": "-%i",
    }
    expected = [
        line.replace("/etc/edged/edged.yaml", "/etc/edged/%i.yaml") + own.get(line, "")
        for line in settings(UNIT)
    ]
    assert settings(TEMPLATE) == expected


def test_a_password_is_handed_over_where_there_is_one(unit):
    # Without a path: one that does not exist would keep the service from starting.
    assert unit["Service"]["LoadCredential"] == CREDENTIAL


def mebibytes(text: str) -> int:
    return int(text[:-1]) * {"M": 1, "G": 1024}[text[-1]]


def test_memory_is_bounded_on_every_board(unit):
    assert {file.stem for file in BOARDS} == {f.stem for f in (REPO / "configs").glob("*.yaml")} - {"edged"}
    for file in BOARDS:
        *_, section, line = settings(file)
        assert section == "[Service]"
        key, _, value = line.partition("=")
        assert key == "MemoryMax"
        assert mebibytes(value) >= mebibytes(unit["Service"]["MemoryMax"]) >= 512
        assert file.read_text().startswith("# "), "the reason"


def test_sound_cards_are_allowed_by_number(unit):
    # A name that the kernel does not know yet, because the first card comes later, allows nothing.
    assert unit["Service"]["DeviceAllow"] == "char-116 rw"
