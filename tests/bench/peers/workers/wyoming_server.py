"""wyoming-piper's own command with a limit on threads, for which it has no option."""

from __future__ import annotations

import runpy
import sys

from serving import limit_threads

if __name__ == "__main__":
    limit_threads(int(sys.argv.pop(1)))
    runpy.run_module("wyoming_piper", run_name="__main__", alter_sys=True)
