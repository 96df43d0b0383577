"""Memory, temperature and throttling of this board. The only place that imports psutil.

Every reading may be absent (None): virtual machines have no sensors, and not every board says that it
slows its processor down. Nothing here raises.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psutil

MIB = 1024 * 1024

THROTTLED_NOW = 0xF
"""Bits 0 to 3 of get_throttled: under-voltage, frequency capped, throttled, soft temperature limit;
bits 16 up say that it happened since boot (Raspberry Pi documentation, vcgencmd)."""

PROCESSOR_ZONES = ("cpu", "soc", "x86_pkg", "package", "bigcore", "littlecore", "center", "tj")
"""Beginnings of thermal zone names that are the processor's, in lower case, from the device trees of Linux
and of NVIDIA's kernels: cpu-thermal (Raspberry Pi, Allwinner), soc-thermal, package-thermal,
bigcore0-thermal, littlecore-thermal, center-thermal (RK3588), cpu-thermal, soc0-thermal, tj-thermal, the
hottest place of all (Jetson Orin), CPU-therm (Jetson Xavier and Nano, whose PMIC-Die is 100 for ever)."""

FREQUENCY_COOLING = ("cpufreq-", "thermal-cpufreq-")
"""Beginnings of cooling device names that cap the processor's frequency (cpufreq_cooling.c of Linux)."""

PLAUSIBLE_C = (-40.0, 150.0)
"""Zones that are switched off report values like -274 or 0x7fffffff."""


@dataclass(frozen=True, slots=True)
class Readings:
    """One look at this process and this board; None where there is nothing to read."""

    rss_mb: float | None
    """Resident memory of this process, MiB, mapped files included."""
    private_dirty_mb: float | None
    """Of that, what belongs to this process alone and cannot be dropped, MiB."""
    temp_c: float | None
    """The hottest processor zone, or the hottest of all when none is named after the processor."""
    throttled: bool | None
    """The firmware or the kernel slows the processor down now."""


class Sensors:
    """Reads below `sysfs` (a test heats the board there) and about this process below `proc`."""

    def __init__(self, sysfs: Path = Path("/sys"), proc: Path = Path("/proc")) -> None:
        self._sysfs = sysfs
        self._proc = proc

    def read(self) -> Readings:
        """Takes about a millisecond: the kernel walks the process' page tables for private_dirty_mb."""
        return Readings(
            rss_mb=_rss_mb(),
            private_dirty_mb=self._private_dirty_mb(),
            temp_c=self.temp_c(),
            throttled=self.throttled(),
        )

    def zones(self) -> dict[str, float]:
        """Thermal zones that report something plausible: type -> degrees Celsius (the hottest of equals)."""
        found: dict[str, float] = {}
        for zone in sorted((self._sysfs / "class/thermal").glob("thermal_zone*")):
            millidegrees = _text(zone / "temp")
            name = _text(zone / "type") or zone.name
            try:
                celsius = int(millidegrees or "") / 1000
            except ValueError:
                continue
            if PLAUSIBLE_C[0] < celsius < PLAUSIBLE_C[1]:
                found[name] = max(celsius, found.get(name, celsius))
        return found

    def temp_c(self) -> float | None:
        """As in Readings; cheap."""
        zones = self.zones()
        of_processor = [c for name, c in zones.items() if name.lower().startswith(PROCESSOR_ZONES)]
        return max(of_processor or zones.values(), default=None)

    def throttled(self) -> bool | None:
        """As in Readings; cheap. The firmware's word, and where it says nothing the kernel's."""
        # soc:firmware on a Raspberry Pi 3 and 4; under another soc@... node on later ones.
        for file in (self._sysfs / "devices/platform").glob("soc*/*firmware/get_throttled"):
            try:
                return bool(int(_text(file) or "", 16) & THROTTLED_NOW)
            except ValueError:
                continue
        states = [
            _text(device / "cur_state") or "0"
            for device in (self._sysfs / "class/thermal").glob("cooling_device*")
            if (_text(device / "type") or "").startswith(FREQUENCY_COOLING)
        ]
        return any(state != "0" for state in states) if states else None

    def _private_dirty_mb(self) -> float | None:
        for line in (_text(self._proc / "self/smaps_rollup") or "").splitlines():
            if line.startswith("Private_Dirty:"):
                return round(int(line.split()[1]) / 1024, 1)
        return None


def _rss_mb() -> float | None:
    try:
        return round(psutil.Process().memory_info().rss / MIB, 1)
    except (psutil.Error, OSError):
        return None


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None
