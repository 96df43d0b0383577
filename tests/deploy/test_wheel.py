"""The ARM wheel: built here, run emulated. Longer than the everyday suite: pytest -m slow."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_aarch64_wheel_is_built_and_its_core_runs_under_emulation() -> None:
    built = subprocess.run([ROOT / "deploy" / "wheel-aarch64"], check=False, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = (ROOT / "dist").glob("edged-*-cp310-abi3-*aarch64.whl")
    core = zipfile.ZipFile(wheel).read("edged/audio/_rt_core.abi3.so")
    assert core[:4] == b"\x7fELF"
    assert int.from_bytes(core[18:20], "little") == 183, "e_machine is EM_AARCH64"
