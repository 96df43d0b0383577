"""Rights and places in the machine: locked memory, processors, real-time scheduling, thread stacks.

Called once by the main thread before other threads start (they inherit affinity and stack size).
Every function tells what was obtained as an `Obtained`; none raises.
"""

from __future__ import annotations

import ctypes
import os
import resource
import threading
from dataclasses import dataclass
from pathlib import Path

MCL_CURRENT, MCL_FUTURE, MCL_ONFAULT = 1, 2, 4
"""From the kernel's asm-generic/mman.h; x86-64 and arm64 use these values."""

THREAD_STACK_BYTES = 512 * 1024
"""The default of 8 MiB counts in full against locked memory once touched; 512 KiB is enough."""

FAST_ENOUGH = 0.9
"""Cores within 10 % of the fastest are one cluster: binned cores of one kind differ a little."""


@dataclass(frozen=True, slots=True)
class Obtained:
    """What was asked for and what came of it, in words for the log and the state topic."""

    ok: bool
    text: str


def lock_memory() -> Obtained:
    """Keeps every page that is touched from now on in RAM.

    MCL_ONFAULT always: without it the kernel fills all mappings at once, several times the memory.
    """
    # ctypes.CDLL with plain integers only: a ctypes callback would need memory that is writable
    # and executable, which the hardened unit forbids.
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0:
        return Obtained(True, "locked as touched")
    reason = os.strerror(ctypes.get_errno())
    return Obtained(False, f"not locked: {reason}; memlock limit {memlock_limit()}")


def memlock_limit() -> str:
    """The soft RLIMIT_MEMLOCK for people: 'unlimited' or MiB."""
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return "unlimited" if soft == resource.RLIM_INFINITY else f"{soft / 1024 / 1024:.0f} MiB"


def set_thread_stack() -> Obtained:
    """Stack size of the threads that Python starts from now on."""
    try:
        threading.stack_size(THREAD_STACK_BYTES)
    except (ValueError, RuntimeError) as error:
        return Obtained(False, f"default thread stacks: {error}")
    return Obtained(True, f"{THREAD_STACK_BYTES // 1024} KiB")


def realtime_allowed(priority: int) -> Obtained:
    """Asks for SCHED_FIFO in the calling thread, and gives it back at once.

    The attempt is the only sure answer: besides RLIMIT_RTPRIO and capabilities, a control group
    without a real-time budget refuses too.
    """
    policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except (OSError, OverflowError) as error:
        limit, _ = resource.getrlimit(resource.RLIMIT_RTPRIO)
        return Obtained(False, f"SCHED_FIFO {priority} refused ({error}); rtprio limit {limit}")
    os.sched_setscheduler(0, policy, parameter)
    return Obtained(True, f"SCHED_FIFO {priority}")


def set_affinity(setting: str, sysfs: Path = Path("/sys")) -> Obtained:
    """Restricts the calling thread, and all it starts, to the processors of process.affinity.

    `setting` is 'auto', 'off' or a list like '2,3' or '0-2,5'.
    """
    allowed = os.sched_getaffinity(0)
    if setting == "off":
        return Obtained(True, f"off: processors {format_cpus(allowed)}")
    chosen = fast_cpus(allowed, cpu_capacities(sysfs)) if setting == "auto" else listed_cpus(setting, allowed)
    if not chosen:
        return Obtained(
            False,
            f"processors {setting} are not among the allowed {format_cpus(allowed)}; mend process.affinity",
        )
    try:
        os.sched_setaffinity(0, chosen)
    except OSError as error:
        return Obtained(False, f"processors {format_cpus(chosen)} refused ({error})")
    return Obtained(True, f"{setting}: processors {format_cpus(chosen)} of {format_cpus(allowed)}")


def fast_cpus(allowed: set[int], capacities: dict[int, int]) -> set[int]:
    """The processors for 'auto': the fast cluster, one core left to the rest of the system.

    The fastest cores come first, cluster by cluster, until there are two: a lone prime core cannot
    carry synthesis and audio side by side. If that is all the cores there are, the lowest-numbered
    one is left to the rest (interrupts land there); with one or two cores nothing is restricted.
    Cores of unknown capacity count as equal.
    """
    if len(allowed) <= 2:
        return set(allowed)
    capacity = {cpu: capacities.get(cpu, 0) for cpu in allowed}
    chosen: set[int] = set()
    while len(chosen) < 2:
        rest = allowed - chosen
        fastest = max(capacity[cpu] for cpu in rest)
        chosen |= {cpu for cpu in rest if capacity[cpu] >= FAST_ENOUGH * fastest}
    return chosen - {min(chosen)} if chosen == allowed else chosen


def cpu_capacities(sysfs: Path = Path("/sys")) -> dict[int, int]:
    """Relative speed per processor, 1024 the fastest; empty where all cores are alike (no such file)."""
    found: dict[int, int] = {}
    for file in (sysfs / "devices/system/cpu").glob("cpu[0-9]*/cpu_capacity"):
        try:
            found[int(file.parent.name.removeprefix("cpu"))] = int(file.read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue
    return found


def listed_cpus(text: str, allowed: set[int]) -> set[int]:
    """Those of `allowed` that a list like '0-2,5' names; its shape is guaranteed by process.affinity."""
    ranges = [part.partition("-") for part in text.split(",")]
    return {cpu for cpu in allowed if any(int(a) <= cpu <= int(b or a) for a, _, b in ranges)}


def format_cpus(cpus: set[int]) -> str:
    """{0, 1, 2, 5} to '0-2,5'."""
    parts: list[str] = []
    ordered = sorted(cpus)
    start = 0
    for index, cpu in enumerate(ordered):
        if index + 1 == len(ordered) or ordered[index + 1] != cpu + 1:
            parts.append(str(cpu) if index == start else f"{ordered[start]}-{cpu}")
            start = index + 1
    return ",".join(parts)
