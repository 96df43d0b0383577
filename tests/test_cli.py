"""The command `edged` as a user meets it: exit codes, one line for every error, `check`."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from edged import __version__, cli
from edged.config.reference import MASK, reference
from edged.config.schema import json_schema
from edged.errors import BrokerError, SinkError

EDGED = (sys.executable, "-m", "edged")
SURROUNDINGS = {
    key: value
    for key, value in os.environ.items()
    if key not in ("EDGED_CONFIG", "EDGED_DEBUG", "PYTHONUNBUFFERED")
}
"""Without this machine's own configuration, and with output buffered as it is for a user."""
Run = Callable[[argparse.Namespace], int]


def edged(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command in a process of its own."""
    return subprocess.run(
        [*EDGED, *arguments],
        env=SURROUNDINGS | environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "edged.yaml"
    path.write_text("node: kitchen\n")
    return path


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Run], None]:
    """Adds the command `probe`, which does what the test wants."""

    def add(run: Run) -> None:
        module = types.ModuleType("edged_probe")
        module.add_arguments = lambda parser: parser.add_argument("--flag", action="store_true")  # type: ignore[attr-defined]
        module.run = run  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "edged_probe", module)
        monkeypatch.setitem(cli.COMMANDS, "probe", ("edged_probe", "a test"))

    return add


def raising(error: BaseException) -> Run:
    def run(_args: argparse.Namespace) -> int:
        raise error

    return run


def test_version_and_help() -> None:
    assert edged("--version").stdout == f"edged {__version__}\n"
    bare = edged()
    assert (bare.returncode, bare.stderr) == (0, "")
    assert bare.stdout == edged("--help").stdout
    words = " ".join(bare.stdout.split())
    for name, (_, summary) in cli.COMMANDS.items():
        assert f"{name} {summary}" in words


@pytest.mark.parametrize(
    "arguments", [("chekc",), ("check", "--shw"), ("check", "--show", "--schema"), ("-x",)]
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    result = edged(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_has_help_and_takes_a_configuration(name: str) -> None:
    result = edged(name, "--help")
    assert result.returncode == 0
    assert "--config FILE" in result.stdout


def test_the_command_alone_imports_nothing_heavy() -> None:
    code = "import sys, edged.cli; edged.cli.main([]); print(*sorted(sys.modules), file=sys.stderr)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stderr.split()
    assert "edged.cli" in loaded
    heavy = {"numpy", "yaml", "paho", "onnxruntime", "sounddevice", "psutil", "watchfiles", "jsonschema"}
    assert heavy.isdisjoint(loaded)
    assert not [name for name in loaded if name.startswith(("edged.config", "edged.audio", "edged.cli."))]


def test_checking_needs_neither_voice_nor_sound(file: Path) -> None:
    code = (
        f"import sys, edged.cli as c; c.main(['check', {str(file)!r}]); print(*sys.modules, file=sys.stderr)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stderr.split()
    assert "yaml" in loaded
    assert {"numpy", "paho", "onnxruntime", "sounddevice", "watchfiles"}.isdisjoint(loaded)


def test_only_the_module_of_the_command_is_imported(
    command: Callable[[Run], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[argparse.Namespace] = []
    command(lambda args: seen.append(args) or 7)  # type: ignore[func-returns-value]
    monkeypatch.setitem(cli.COMMANDS, "broken", ("edged.no_such_module", "not there"))
    assert cli.main(["probe", "--flag", "-c", "a.yaml"]) == 7
    assert (seen[0].flag, seen[0].config) == (True, Path("a.yaml"))


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (SinkError("audio.device: no such device"), 1, "edged: audio.device: no such device\n"),
        (BrokerError("broker.lan:\nrefused"), 1, "edged: broker.lan: refused\n"),
        (KeyboardInterrupt(), 130, ""),
        (
            FileNotFoundError(2, "No such file or directory", "a.wav"),
            74,
            "edged: a.wav: No such file or directory\n",
        ),
        (
            ConnectionRefusedError(111, "Connection refused"),
            74,
            "edged: input or output: Connection refused\n",
        ),
        (
            ZeroDivisionError("division\nby zero"),
            70,
            "edged: ZeroDivisionError: division by zero; "
            "this is a bug; run with EDGED_DEBUG=1 for the details\n",
        ),
    ],
)
def test_an_error_is_one_line(
    command: Callable[[Run], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    said: str,
) -> None:
    monkeypatch.delenv("EDGED_DEBUG", raising=False)
    command(raising(error))
    assert cli.main(["probe"]) == code
    assert capsys.readouterr().err == said


def test_the_details_of_a_bug(
    command: Callable[[Run], None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDGED_DEBUG", "1")
    command(raising(ZeroDivisionError("x")))
    assert cli.main(["probe"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_quiet() -> None:
    code = """
import sys, time
from edged import cli
from edged.cli import check
check.run = lambda args: (print("up", flush=True), time.sleep(30))
sys.exit(cli.main(["check"]))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=10) == ("", "")
    assert process.returncode == 130


def test_a_reader_that_goes_away_is_quiet() -> None:
    process = subprocess.Popen(
        [*EDGED, "check", "--reference"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(10) == 141


@pytest.mark.parametrize("arguments", [("check", "--reference"), ("check", "/dev/null")])
def test_a_full_disk_is_one_line(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [*EDGED, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=SURROUNDINGS,
            check=False,
        )
    assert (result.returncode, result.stderr) == (74, "edged: input or output: No space left on device\n")


def test_closed_output() -> None:
    result = subprocess.run(
        ["sh", "-c", '"$0" -m edged check /dev/null >&-', sys.executable],
        stderr=subprocess.PIPE,
        text=True,
        env=SURROUNDINGS,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_check_says_ok_and_what_is_in_force(file: Path) -> None:
    result = edged("check", str(file))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        f"{file}: ok",
        "  broker: localhost port 1883, no TLS",
        "  speaks: edged/kitchen/say, edged/kitchen/say/<zone>",
        "  sound: alsa default device, periods of 12 ms, volume 1",
        "  voice: heart, speed 1",
    ]


def test_check_warns_and_still_says_ok(file: Path) -> None:
    file.write_text("node: raspberrypi\naudio:\n  sink: wav\n  wav_file: /no/such/a.wav\n")
    result = edged("check", str(file))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0] == f"{file}: ok"
    warnings = result.stdout.splitlines()[5:]
    assert [line.split(" is ")[0] for line in warnings] == [
        f"{file}: warning: line 1: node: raspberrypi",
        f"{file}: warning: line 4: audio.wav_file: there",
    ]


@pytest.mark.parametrize("name", ["check", "run", "say", "doctor"])
def test_every_command_refuses_a_bad_file_with_every_problem_a_line(file: Path, name: str) -> None:
    file.write_text(
        "mqtt: {host: broker.lan, retian: ignore, password: hunter2}\naudio: {volume: 2}\nnode: a\nnode: b\n"
    )
    result = edged(name, "-c", str(file), *(["hello"] if name == "say" else []))
    said = result.stdout + result.stderr
    assert "mqtt.retian: unknown key; valid here: host, port" in said
    assert "audio.volume: must be 0 to 1, not 2" in said
    assert "node: given twice, first in line 3; keep one" in said
    assert "hunter2" not in said
    assert "ignore" not in said
    assert "Traceback" not in said
    if name != "doctor":
        assert (result.returncode, result.stdout) == (78, "")
        assert [line.rpartition("edged.yaml: ")[2][:7] for line in result.stderr.splitlines()] == [
            "line 1:",
            "line 2:",
            "line 4:",
        ]


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("mqtt: {password: hunter2}", "hunter2"),
        ("password: 0123456", "42798"),
        ("mqtt: {passwd: hunter2}", "hunter2"),
    ],
)
@pytest.mark.parametrize("option", [(), ("--show",)])
def test_check_never_prints_a_password(file: Path, content: str, value: str, option: tuple[str, ...]) -> None:
    file.write_text(content)
    result = edged("check", str(file), *option)
    assert value not in result.stdout + result.stderr


def test_which_file_is_checked(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("node: hall\n")
    assert edged("check", EDGED_CONFIG=str(file)).stdout.startswith(f"{file}: ok")
    assert edged("check", "-c", str(other), EDGED_CONFIG=str(file)).stdout.startswith(f"{other}: ok")
    assert edged("check", "-c", str(file), str(other)).stdout.startswith(f"{other}: ok")
    missing = edged("check", EDGED_CONFIG="/no/such/file")
    assert (missing.returncode, missing.stderr) == (
        78,
        "/no/such/file: cannot be read: No such file or directory\n",
    )


def test_show_masks_and_loads_again(file: Path) -> None:
    file.write_text("mqtt:\n  password: hunter2\n  topics: ['#']\n")
    shown = edged("check", "--show", str(file))
    assert shown.returncode == 0
    assert f'  password: "{MASK}"  # line 2' in shown.stdout
    file.write_text(shown.stdout)
    assert edged("check", str(file)).returncode == 0


def test_schema_and_reference_are_printed() -> None:
    assert json.loads(edged("check", "--schema").stdout) == json_schema()
    assert edged("check", "--reference").stdout == reference()


def test_a_terminal_without_unicode(file: Path) -> None:
    file.write_text("mqtt: {username: Jürgen}\n", encoding="utf-8")
    result = edged("check", str(file), PYTHONIOENCODING="ascii", LC_ALL="C")
    assert (result.returncode, result.stderr) == (0, "")
    assert "user J\\xfcrgen" in result.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ch"], ["check"]),
        (["--v"], ["--version"]),
        (["check", "--sh"], ["--show"]),
        (["say", "hello", "--pri"], ["--priority"]),
        (["say", "--priority", ""], ["low", "normal", "high", "urgent"]),
        (["say", "--priority", "u"], ["urgent"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["check", "edged."], []),
        (["say", "--wav", ""], []),
    ],
)
def test_completion_in_bash(words: list[str], expected: list[str]) -> None:
    script = edged("completion", "bash").stdout
    line = " ".join(f"'{word}'" for word in ["edged", *words])
    ask = f'COMP_WORDS=({line}); COMP_CWORD={len(words)}; _edged; printf "%s\\n" "${{COMPREPLY[@]}}"'
    result = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, timeout=30, check=True
    )
    assert (result.stdout.split(), result.stderr) == (expected, "")


def test_completion_in_other_shells() -> None:
    assert edged("completion", "zsh").stdout.endswith(edged("completion", "bash").stdout)
    fish = edged("completion", "fish").stdout.splitlines()
    assert all(line.startswith("complete -c edged -n ") for line in fish)
    assert sum(" -n __fish_use_subcommand " in line for line in fish) == len(cli.COMMANDS)
    seen = "complete -c edged -n '__fish_seen_subcommand_from say'"
    assert f"{seen} -l priority -x -a 'low normal high urgent' -d 'default: normal'" in fish
