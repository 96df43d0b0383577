"""What is packed for boards without a network. Longer than the everyday suite: pytest -m slow."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import wave
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


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle for this machine, unpacked."""
    folder = tmp_path_factory.mktemp("bundle")
    run(BUNDLE, "x86_64", XDG_CACHE_HOME=str(folder))
    tar = max((ROOT / "dist").glob("edged-*-x86_64.tar"), key=lambda file: file.stat().st_mtime)
    with tarfile.open(tar) as packed:
        packed.extractall(folder, filter="data")
    return folder / tar.stem


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("release", ["bookworm", "trixie"])
def test_a_fresh_debian_without_network_gets_all_from_the_bundle(
    bundle: Path, tmp_path: Path, release: str
) -> None:
    """No network, no pip, no compiler, no PortAudio: a root made by mmdebstrap, entered by chroot."""
    root = tmp_path / "root"
    run("mmdebstrap", "--mode=root", "--variant=minbase", "--include=systemd,python3", release, root)
    shutil.copytree(bundle, root / "root/bundle", symlinks=True)
    inside = (
        "mount -t proc proc $0/proc && mount --rbind /dev $0/dev && exec chroot $0 bash -ec '"
        "/root/bundle/deploy/install && cd / &&"
        "runuser -u edged -- edged say --wav /tmp/said.wav Dinner is ready'"
    )
    said = run("unshare", "--net", "--mount", "--pid", "--fork", "bash", "-ec", inside, root)
    assert "installing libportaudio2 from the bundle" in said
    assert "placing the voice heart" in said
    with wave.open(str(root / "tmp/said.wav")) as file:
        assert file.getnframes() > file.getframerate() / 2
        assert max(file.readframes(file.getnframes())) > 0
