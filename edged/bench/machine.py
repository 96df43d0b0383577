"""What machine and which versions the figures were measured on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

from edged import __version__
from edged.bench.services import program
from edged.errors import EdgedError
from edged.voice.engines import _ort

CPU_NAMES = ("model name", "Model", "Hardware")
"""Keys of /proc/cpuinfo that name the processor: x86 and most ARM kernels, Raspberry Pi, older ARM."""
DEVICE_TREE_MODEL = Path("/proc/device-tree/model")
GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
VERSION_NUMBER = re.compile(r"\d+(?:\.\d+)+")


def machine() -> dict[str, object]:
    """Processor, cores, memory, kernel; None where it cannot be read."""
    memory_mib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024 / 1024
    return {
        "model": (_text(DEVICE_TREE_MODEL) or "").strip("\0 \n") or None,
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "allowed_cores": len(os.sched_getaffinity(0)),
        "memory_mb": round(memory_mib),
        "kernel": platform.release(),
        "arch": platform.machine(),
        "governor": (_text(GOVERNOR) or "").strip() or None,
        "load_average": [round(load, 2) for load in os.getloadavg()],
    }


def versions() -> dict[str, str | None]:
    """Of everything that the figures depend on; None where it is not installed."""
    return {
        "edged": __version__,
        "python": platform.python_version(),
        "onnxruntime": _ort.version(),
        "numpy": version("numpy"),
        "mosquitto": _of_program("mosquitto", "-h"),
        "pulseaudio": _of_program("pulseaudio", "--version"),
    }


def _cpu_name() -> str | None:
    pairs = (line.partition(":") for line in (_text(Path("/proc/cpuinfo")) or "").splitlines())
    known = {key.strip(): value.strip() for key, _, value in pairs}
    return next((known[name] for name in CPU_NAMES if known.get(name)), platform.processor() or None)


def _of_program(name: str, option: str) -> str | None:
    try:
        path = program(name, name)
        said = subprocess.run([path, option], capture_output=True, text=True, check=False, timeout=10)
    except (EdgedError, OSError, subprocess.TimeoutExpired):
        return None
    found = VERSION_NUMBER.search(said.stdout + said.stderr)
    return found.group() if found else None


def _text(file: Path) -> str | None:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return None
