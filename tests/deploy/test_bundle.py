"""What is packed for boards without a network. Longer than the everyday suite: pytest -m slow."""

from __future__ import annotations

import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUNDLE = ROOT / "deploy/bundle"


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def resolved(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, str]]:
    """(architecture, Python) -> package -> version, as pip would choose it there."""
    said = run(BUNDLE, "--dry-run", XDG_CACHE_HOME=str(tmp_path_factory.mktemp("cache")))
    lines = re.findall(r"^(\w+) Python ([\d.]+): (.+)$", said, re.MULTILINE)
    return {(arch, python): dict(pin.split("==") for pin in pins.split()) for arch, python, pins in lines}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("python", ["3.10", "3.11", "3.13"])
@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_everything_is_to_be_had_for_each_board(
    resolved: dict[tuple[str, str], dict[str, str]], arch: str, python: str
) -> None:
    pins = resolved[arch, python]
    assert {"hibari-tts", "numpy", "onnxruntime", "paho-mqtt", "sounddevice", "soxr", "watchfiles"} <= set(
        pins
    )
    # anyio wants it before Python 3.11 only: the markers are those of the board, not of this machine.
    assert ("exceptiongroup" in pins) == (python == "3.10")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_bundle_installs_without_network_and_pip(tmp_path: Path) -> None:
    run(BUNDLE, "x86_64", XDG_CACHE_HOME=str(tmp_path))
    (tar,) = (ROOT / "dist").glob("edged-*-x86_64.tar")
    with tarfile.open(tar) as packed:
        packed.extractall(tmp_path, filter="data")
    folder = tmp_path / tar.stem
    root = tmp_path / "root"
    root.mkdir()
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "XDG_CACHE_HOME": str(tmp_path)}
    run(folder / "deploy/install", "--root", root, **nowhere)
    python = root / "opt/edged/bin/python"
    version = run(python, "-I", "-m", "edged", "--version")
    assert version.split()[1] == tar.stem.split("-")[1]
    run(python, "-I", "-c", "import edged.audio._rt_core, onnxruntime, onnx, sounddevice")
    for release in ("bookworm", "trixie"):
        assert list((folder / "packages" / release).glob("libportaudio2_*_amd64.deb"))
