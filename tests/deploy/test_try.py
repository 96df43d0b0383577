"""deploy/try as a person uses it, and interrupted at every stage: nothing may be left."""

import os
import re
import signal
import subprocess
import sys
import time
import uuid
import wave
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
TRY = REPO / "deploy/try"
LIMIT_S = 100

STAGES = ["==> private broker", "==> starting the daemon", "==> publishing"]


class Try:
    """One run of deploy/try in an environment whose processes and files can be told from others."""

    def __init__(self, folder: Path, *args: str) -> None:
        self.folder = folder
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.mark = f"EDGED_TEST_MARK={uuid.uuid4()}"
        name, _, value = self.mark.partition("=")
        self.process = subprocess.Popen(
            [str(TRY), *args],
            cwd=folder,
            env=os.environ
            | {
                name: value,
                "TMPDIR": str(self.temporary),
                "XDG_CACHE_HOME": str(folder / "cache"),
                "EDGED_VENV": sys.prefix,
                "CI": "",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def wait_for(self, line_start: str) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(line_start):
                return
        raise AssertionError(f"{line_start!r} was never said: {self.process.stderr.read()}")

    def press_ctrl_c(self) -> None:
        """As a terminal does it: to the whole foreground group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, out, err

    def left_behind(self) -> list[str]:
        """Processes that this run started, and files it made outside of its log."""
        found = []
        for environ in Path("/proc").glob("[0-9]*/environ"):
            try:
                if self.mark.encode() in environ.read_bytes():
                    command = environ.with_name("cmdline").read_bytes().replace(b"\0", b" ")
                    found.append(command.decode())
            except OSError:  # ended meanwhile, or of another user
                continue
        known = {self.temporary, self.folder / "cache"}
        return found + [
            str(file)
            for file in self.folder.rglob("*")
            if file not in known and self.folder / "cache" not in file.parents
        ]


@pytest.fixture
def run(tmp_path):
    started: list[Try] = []

    def start(*args: str) -> Try:
        started.append(Try(tmp_path, *args))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            os.killpg(one.process.pid, signal.SIGTERM)
            one.process.wait(20)


def test_a_text_is_spoken_over_mqtt_into_a_file(run, tmp_path):
    one = run("--sink", "wav", "Dinner is ready")
    code, out, err = one.end()
    assert (code, err) == (0, ""), out + err
    report = dict(re.findall(r"^    ([\w ]+?) {2,}(.*)$", out, re.MULTILINE))
    assert report["voice"] == "heart"
    assert report["sink"] == f"wav, {tmp_path / 'edged-try.wav'}"
    assert float(report["first audio"].removesuffix(" ms")) > 0
    audio_s = float(report["audio"].removesuffix(" s"))
    assert float(report["RTF"]) > 0
    with wave.open(str(tmp_path / "edged-try.wav")) as file:
        assert file.getnframes() / file.getframerate() == pytest.approx(audio_s, abs=0.3)
        assert max(file.readframes(file.getnframes())) > 0
    assert one.left_behind() == [str(tmp_path / "edged-try.wav")]


@pytest.mark.parametrize("stage", STAGES)
def test_ctrl_c_leaves_nothing_behind(run, stage):
    one = run("--sink", "wav", "This is a long text. " * 20)
    one.wait_for(stage)
    one.press_ctrl_c()
    code, _, _ = one.end()
    assert code == 130
    assert one.left_behind() == []


@pytest.mark.parametrize("after_s", [0.02, 0.2, 0.5, 0.9, 1.5, 2.5])
def test_ctrl_c_at_any_moment_leaves_nothing_behind(run, after_s):
    one = run("--sink", "wav", "This is a long text. " * 20)
    time.sleep(after_s)
    one.press_ctrl_c()
    code, _, _ = one.end()
    assert code in (130, -signal.SIGINT)
    assert one.left_behind() == []


def test_a_stop_by_sigterm_leaves_nothing_behind(run):
    one = run("--sink", "wav", "This is a long text. " * 20)
    one.wait_for("==> publishing")
    one.process.terminate()
    assert one.end()[0] == 143
    assert one.left_behind() == []


def test_a_voice_that_does_not_exist_is_one_line(run):
    one = run("--voice", "nobody", "Dinner is ready")
    code, _, err = one.end()
    assert code == 1
    assert err.count("\n") == 1
    assert "nobody" in err
    assert one.left_behind() == []


@pytest.mark.parametrize("args", [[], ["--frobnicate", "text"], ["--sink", "loud", "text"], ["one", "two"]])
def test_wrong_arguments_are_one_line(run, args):
    one = run(*args)
    code, out, err = one.end()
    assert (code, out) == (1, "")
    assert err.startswith("deploy/try: ")
    assert err.count("\n") == 1
    assert one.left_behind() == []
