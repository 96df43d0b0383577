"""How much processes wait for the processors: pressure stall information of the kernel.

Format: Documentation/accounting/psi.rst of Linux; absent before 4.20, and where psi=0 was given at boot.
"""

from __future__ import annotations

import re
from pathlib import Path

_SOME = re.compile(r"^some avg10=(\d+(?:\.\d+)?)", re.MULTILINE)


def cpu_pressure_percent(file: Path) -> float | None:
    """Share of the last ten seconds in which some process waited; None where it cannot be read."""
    try:
        found = _SOME.search(file.read_text(encoding="ascii", errors="replace"))
    except OSError:
        return None
    return float(found[1]) if found else None
