"""Python and libraries, configuration, rights, processors, sensors, disk, name of the board."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import shutil
import struct
import subprocess
import threading
from collections.abc import Iterator

from edged import __version__
from edged.cli.checks.finding import Board, Finding, fail, ok, warn
from edged.config.advice import advise
from edged.config.build import Loaded
from edged.config.load import read
from edged.config.model import Config
from edged.errors import ConfigError
from edged.health import lock

LIBRARIES = ("onnxruntime", "numpy", "sounddevice", "soxr", "paho-mqtt", "hibari-tts")

PARTS = ("edged.audio._rt_core", "edged.audio.pcm", "edged.voices", "edged.mqtt.caller")
"""Modules of ours behind which compiled and large libraries stand."""

HOT_C = 80.0
"""A Raspberry Pi slows down from 80 degrees on, other boards at about the same."""

LEAST_FREE_MB, LOW_FREE_MB = 20, 200
UNIT = "edged.service"
UNLIMITED = "infinity"


def libraries(_board: Board) -> Iterator[Finding]:
    """Interpreter, its word size, and whether the parts written in C load."""
    fact = f"edged {__version__}, Python {platform.python_version()}, {platform.machine()}"
    if struct.calcsize("P") < 8:
        yield fail("python", f"{fact}, 32 bits", "install the 64-bit image of the system")
    else:
        yield ok("python", fact)
    versions = []
    for name in LIBRARIES:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            yield fail("libraries", f"{name} is not installed", "run deploy/install again")
    yield ok("libraries", ", ".join(versions))
    for module in PARTS:
        try:
            importlib.import_module(module)
        except (ImportError, OSError) as error:
            yield fail("libraries", f"{module} does not load ({error})", "run deploy/install again")


def configuration(board: Board) -> Iterator[Finding]:
    """The file with every problem in it, and what in it was probably not meant."""
    try:
        loaded = read(board.config_file) if board.config_file else Loaded(Config(), {})
    except ConfigError as error:
        for problem in error.problems:
            yield fail("config", f"{error.file}: {problem}", "mend that line (the defaults are used below)")
        return
    yield ok("config", str(board.config_file or "no file, the defaults alone"))
    for advice in advise(loaded, board.config_file):
        yield warn("config", str(advice), "mend that key, or leave it if it is meant")


def limits(board: Board) -> Iterator[Finding]:
    """Locked memory and real-time priority: of the service where it is installed, else of this user."""
    process = board.config.process
    service = _service_limits()
    if not process.memory_lock:
        yield ok("memory lock", "off (process.memory_lock)")
    elif service:
        yield _enough("memory lock", service["LimitMEMLOCK"] == UNLIMITED, "LimitMEMLOCK", service)
    elif os.geteuid() == 0 or lock.memlock_limit() == "unlimited":
        yield ok("memory lock", f"allowed to {board.as_user()}")
    else:
        fact = f"limit of {board.as_user()} is {lock.memlock_limit()}"
        yield warn("memory lock", fact, "run it as the service (deploy/install), which has its own limit")
    if not process.realtime:
        yield ok("real time", "off (process.realtime)")
    elif service:
        given = service["LimitRTPRIO"]
        enough = given == UNLIMITED or int(given) >= process.realtime_priority
        yield _enough("real time", enough, "LimitRTPRIO", service)
    else:
        tried = lock.realtime_allowed(process.realtime_priority)
        mend = "run it as the service (deploy/install), which has its own limit"
        fact = f"{board.as_user()}: {tried.text}"
        yield ok("real time", fact) if tried.ok else warn("real time", fact, mend)


def _enough(what: str, enough: bool, limit: str, service: dict[str, str]) -> Finding:
    fact = f"{UNIT} has {limit}={service[limit]}"
    return ok(what, fact) if enough else warn(what, fact, f"raise {limit}: systemctl edit {UNIT}")


def _service_limits() -> dict[str, str] | None:
    """LimitMEMLOCK and LimitRTPRIO of the installed unit; None where there is none."""
    try:
        shown = subprocess.run(
            ["systemctl", "show", "--property=LoadState,LimitMEMLOCK,LimitRTPRIO", UNIT],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    values = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
    return values if values.get("LoadState") == "loaded" else None


def processors(board: Board) -> Iterator[Finding]:
    """Clusters, and the processors that process.affinity gives."""
    capacities = lock.cpu_capacities(board.sysfs)
    clusters = {c: {cpu for cpu, own in capacities.items() if own == c} for c in set(capacities.values())}
    shown = ", ".join(f"{lock.format_cpus(clusters[c])} at {c}" for c in sorted(clusters, reverse=True))
    got: list[lock.Obtained] = []
    # In a thread of its own: the affinity is set for real, and goes with the thread.
    trial = threading.Thread(
        target=lambda: got.append(lock.set_affinity(board.config.process.affinity, board.sysfs))
    )
    trial.start()
    trial.join()
    fact = f"{got[0].text}; clusters: {shown or 'all alike'}"
    yield ok("processors", fact) if got[0].ok else warn("processors", fact, "mend process.affinity")


def sensors(board: Board) -> Iterator[Finding]:
    """Temperature and throttling."""
    from edged.health.sensors import Sensors

    source = Sensors(board.sysfs)
    readings = source.read()
    zones = ", ".join(f"{name} {celsius:.0f} °C" for name, celsius in source.zones().items())
    if readings.temp_c is None:
        yield ok("temperature", "this machine has no sensor: edged cannot see heat")
    elif readings.temp_c >= HOT_C:
        yield warn("temperature", zones, "give the board air or a heat sink")
    else:
        yield ok("temperature", zones)
    if readings.throttled:
        yield warn("throttling", "the firmware slows the processor down", "check power supply and cooling")
    elif readings.throttled is not None:
        yield ok("throttling", "none now")


def disk(board: Board) -> Iterator[Finding]:
    """Room for voices and the journal in the state folder."""
    from edged.voices import state_dir

    folder = place = state_dir(board.config)
    while not place.exists():
        place = place.parent
    try:
        free_mb = shutil.disk_usage(place).free // (1024 * 1024)
    except OSError as error:
        yield fail("disk", f"{place}: {error.strerror}", "mend state_dir")
        return
    fact = f"{free_mb} MB free for {folder}"
    if free_mb < LEAST_FREE_MB:
        yield fail("disk", fact, "make room: no voice can be installed")
    elif free_mb < LOW_FREE_MB:
        yield warn("disk", fact, "make room: a voice takes some 50 MB")
    else:
        yield ok("disk", fact)
