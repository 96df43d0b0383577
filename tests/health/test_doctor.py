"""The doctor's frame and its checks, on made-up boards and on this machine."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from edged.cli.checks import sound, speech, system
from edged.cli.checks.finding import Board, Finding, Level, ok
from edged.cli.doctor import CHECKS, bounded
from edged.config.model import AudioConfig, Config, ProcessConfig, VoiceConfig
from edged.voice.install import ensure_installed
from tests.daemon.harness import STORE


@pytest.fixture
def board(tmp_path) -> Board:
    for name in ("sys", "proc", "dev"):
        (tmp_path / name).mkdir()
    return Board(
        config_file=None,
        config=Config(audio=AudioConfig(sink="null"), state_dir=str(tmp_path / "not/there/yet")),
        sysfs=tmp_path / "sys",
        proc=tmp_path / "proc",
        dev=tmp_path / "dev",
    )


def put(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def by_what(findings) -> dict[str, Finding]:
    return {finding.what: finding for finding in findings}


def test_a_check_that_hangs_is_a_finding_in_time(board):
    def hangs(_board):
        yield ok("before", "said at once")
        time.sleep(5)

    started_s = time.monotonic()
    found = list(bounded("sound", hangs, board, 0.2))
    assert time.monotonic() - started_s < 3
    assert [finding.level for finding in found] == [Level.OK, Level.FAIL]
    assert "no answer" in found[1].fact


def test_a_check_that_breaks_is_a_finding(board):
    def breaks(_board):
        yield ok("before", "fine")
        raise RuntimeError("first line\nsecond line")

    found = list(bounded("voice", breaks, board, 5))
    assert found[1].level is Level.FAIL
    assert "RuntimeError: first line second line" in found[1].fact


def test_every_problem_of_the_configuration_is_a_line(board, tmp_path):
    file = put(tmp_path / "edged.yaml", "nood: hall\naudio: {volume: 3}\n")
    found = list(system.configuration(replace(board, config_file=file)))
    assert [finding.level for finding in found] == [Level.FAIL, Level.FAIL]
    assert all(str(file) in finding.fact and finding.mend for finding in found)
    assert "node" in found[0].fact


def test_advice_on_the_configuration_is_a_warning(board, tmp_path):
    file = put(tmp_path / "edged.yaml", "node: raspberrypi\n")
    found = list(system.configuration(replace(board, config_file=file)))
    assert [finding.level for finding in found] == [Level.OK, Level.WARN]
    assert "raspberrypi" in found[1].fact


def test_cards_and_who_holds_one(board):
    put(board.proc / "asound/cards", " 1 [Device         ]: USB-Audio - USB Audio Device\n      some more\n")
    put(board.proc / "asound/card1/pcm0p/sub0/status", f"state: RUNNING\nowner_pid   : {os.getpid()}\n")
    put(board.proc / "asound/card1/pcm0c/sub0/status", "closed\n")
    put(board.proc / f"{os.getpid()}/comm", "mplayer\n")
    found = by_what(sound.sound(replace(board, config=Config())))
    assert found["sound cards"].fact == "1 Device (USB-Audio - USB Audio Device)"
    assert found["sound in use"].fact == f"card1 pcm0p is held by mplayer (process {os.getpid()})"


def test_no_card_is_a_warning_with_a_mend(board):
    found = by_what(sound.sound(replace(board, config=Config())))
    assert found["sound cards"].level is Level.WARN
    assert found["sound cards"].mend


def test_a_device_that_is_not_there_fails_and_says_what_to_set(board):
    config = Config(audio=AudioConfig(device="no such device anywhere"))
    found = by_what(sound.sound(replace(board, config=config)))
    assert found["sound"].level is Level.FAIL
    assert "audio.device" in found["sound"].mend


def test_the_other_sinks(board, tmp_path):
    assert by_what(sound.sound(board))["sound"].level is Level.OK
    stdout = Config(audio=AudioConfig(sink="stdout"))
    assert by_what(sound.sound(replace(board, config=stdout)))["sound"].level is Level.OK
    wav = Config(audio=AudioConfig(sink="wav", wav_file=str(tmp_path / "nowhere/x.wav")))
    assert by_what(sound.sound(replace(board, config=wav)))["sound"].level is Level.FAIL


def test_heat_and_throttling(board):
    put(board.sysfs / "class/thermal/thermal_zone0/type", "cpu-thermal\n")
    temp = put(board.sysfs / "class/thermal/thermal_zone0/temp", "52000\n")
    flags = put(board.sysfs / "devices/platform/soc/soc:firmware/get_throttled", "0\n")
    assert [finding.level for finding in system.sensors(board)] == [Level.OK, Level.OK]
    temp.write_text("84000\n")
    flags.write_text("4\n")
    assert [finding.level for finding in system.sensors(board)] == [Level.WARN, Level.WARN]


def test_clusters_are_shown_and_the_affinity_is_not_kept(board):
    for cpu, capacity in ((0, 530), (1, 530), (2, 1024), (3, 1024)):
        put(board.sysfs / f"devices/system/cpu/cpu{cpu}/cpu_capacity", f"{capacity}\n")
    before = os.sched_getaffinity(0)
    found = list(system.processors(board))
    assert found[0].fact.endswith("clusters: 2-3 at 1024, 0-1 at 530")
    assert os.sched_getaffinity(0) == before
    wrong = replace(board, config=Config(process=ProcessConfig(affinity="4000")))
    assert next(iter(system.processors(wrong))).level is Level.WARN


def test_what_is_switched_off_is_not_complained_about(board):
    off = Config(process=ProcessConfig(memory_lock=False, realtime=False))
    assert {finding.level for finding in system.limits(replace(board, config=off))} == {Level.OK}


def test_free_space_of_a_folder_that_does_not_exist_yet(board):
    found = list(system.disk(board))
    assert "MB free" in found[0].fact


def doctor(
    tmp_path: Path, config: str, *args: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    file = put(tmp_path / "edged.yaml", config)
    return subprocess.run(
        [sys.executable, "-m", "edged", "doctor", "--config", str(file), *args],
        env=env,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def findings_of(shown: subprocess.CompletedProcess[str]) -> dict[str, Finding]:
    rows = json.loads(shown.stdout)
    return by_what(Finding(Level(row["level"]), row["what"], row["fact"], row["mend"]) for row in rows)


def test_a_machine_with_all_it_needs_has_no_fault(tmp_path, broker, sound_server):
    server = sound_server()
    ensure_installed(STORE, "heart", print)
    config = f"""
node: bench
state_dir: {tmp_path}/state
mqtt: {{host: 127.0.0.1, port: {broker.port}}}
audio: {{device: {server.device}}}
voice: {{store: '{STORE}'}}
"""
    shown = doctor(tmp_path, config, "--json", env=server.env)
    assert (shown.returncode, shown.stderr) == (0, ""), shown.stdout
    found = findings_of(shown)
    assert found["sound"].fact.startswith("speaker: ")
    assert "channels" in found["sound"].fact
    assert "a message is back after" in found["broker"].fact
    assert found["daemon"].level is Level.WARN
    assert found["voice"].fact.endswith("checksums right")
    assert "RTF 0." in found["speech"].fact


def test_a_changed_byte_in_the_voice_is_found(board, tmp_path):
    store = tmp_path / "voices"
    ensure_installed(store, "heart", print)
    file = next(iter(store.glob("heart/current/*.data"))).resolve()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    found = list(speech.voice(replace(board, config=Config(voice=VoiceConfig(store=str(store))))))
    assert [finding.level for finding in found] == [Level.FAIL]
    assert file.name in found[0].fact
    assert f"remove {store}/heart" in found[0].mend


def test_a_bare_machine_is_all_findings_and_no_traceback(tmp_path):
    bare = f"""
node: bench
state_dir: {tmp_path}/state
mqtt: {{host: 127.0.0.1, port: 1}}
audio: {{device: no such device anywhere}}
"""
    shown = doctor(tmp_path, bare, "--json")
    assert shown.returncode == 1
    assert shown.stderr == ""
    found = findings_of(shown)
    assert {found[what].level for what in ("sound", "broker")} == {Level.FAIL}
    assert found["voice"].level is Level.WARN
    assert all(finding.mend for finding in found.values() if finding.level is not Level.OK)
    assert found["python"].level is Level.OK


def test_one_line_per_finding_and_the_exit_code(tmp_path):
    shown = doctor(tmp_path, "audio: {sink: 'null'}\n", "--only", "sound", "--only", "disk")
    assert shown.returncode == 0
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("[ok] sound: null: 24000 Hz")
    assert lines[1].split(":")[0] in ("[ok] disk", "[warn] disk")
    assert "\033" not in shown.stdout


def test_a_broken_configuration_fails_but_the_rest_is_looked_at(tmp_path):
    shown = doctor(tmp_path, "audio: {sink: [}\n", "--only", "config", "--only", "processors")
    assert shown.returncode == 1
    assert [line.split("]")[0] for line in shown.stdout.splitlines()] == ["[fail", "[ok"]
    assert shown.stderr == ""


@pytest.mark.parametrize("library", ["onnxruntime", "numpy", "psutil", "paho.mqtt.client", "soxr"])
def test_a_library_that_does_not_load_is_a_finding(tmp_path, library):
    file = put(tmp_path / "edged.yaml", "mqtt: {host: 127.0.0.1, port: 1}\naudio: {sink: 'null'}\n")
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"from edged.cli import main; sys.exit(main(['doctor', '--config', {str(file)!r}]))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (shown.returncode, shown.stderr) == (1, "")
    assert f"import of {library} halted" in shown.stdout
    assert "[ok] processors" in shown.stdout


def test_every_check_has_a_limit():
    assert all(limit_s > 0 for _, limit_s in CHECKS.values())
