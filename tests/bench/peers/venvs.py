"""Virtual environments of the peers: made once, and made again where their requirements have changed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from edged.errors import EdgedError

STAMP = "requirements"
INSTALL_LIMIT_S = 900.0

Tell = Callable[[str], None]


def ensure_venv(folder: Path, requirements: Sequence[str], wishes: Sequence[str], tell: Tell) -> Path:
    """The Python of an environment with these packages from PyPI, and with those of `wishes` that exist for
    this machine. Raises EdgedError with pip's last line."""
    python, stamp = folder / "bin" / "python", folder / STAMP
    wanted = "\n".join((sys.version, *requirements, *wishes))
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    tell(f"installing {' '.join(requirements)}")
    shutil.rmtree(folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    pip += ["install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, *requirements])
    for wish in wishes:
        try:
            _run([*pip, wish])
        except EdgedError as error:
            tell(f"{wish}: {error}; goes on without")
    stamp.write_text(wanted)
    return python


def _run(command: Sequence[str]) -> None:
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALL_LIMIT_S,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise EdgedError(f"installation took more than {INSTALL_LIMIT_S:.0f} s") from None
    if ended.returncode:
        lines = [line.strip() for line in (ended.stderr + ended.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines or ["pip said nothing"]
        raise EdgedError(f"cannot be installed: {errors[-1]}")
