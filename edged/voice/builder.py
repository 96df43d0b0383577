"""A process that makes a voice: it ends in one line whatever goes wrong, and with whoever started it."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable
from types import FrameType

from edged.errors import EdgedError

_PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>


def run(build: Callable[[], object]) -> int:
    """Exit code 0, 1 with one line on standard error, or 130 when interrupted."""
    signal.signal(signal.SIGTERM, _stop)
    # Killed, an installer can stop nobody: a conversion would go on for a minute beside a daemon that speaks.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    try:
        build()
    except EdgedError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # the libraries that rebuild networks raise many kinds
        reason = next((line for line in str(error).splitlines() if line.strip()), "no reason given")
        print(f"{type(error).__name__}: {reason}", file=sys.stderr)
        return 1
    return 0


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
