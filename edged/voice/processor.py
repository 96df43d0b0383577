"""Which level of a voice suits this processor, where nobody has measured it yet (`edged voice measure`)."""

from __future__ import annotations

from pathlib import Path

from edged.voice.manifest import Manifest

NEEDS, INT8_PRODUCTS = "needs", "int8_products"
"""Of a level, in voice.json: what makes it worth choosing."""
_CPUINFO = Path("/proc/cpuinfo")
_FLAGS = frozenset({"avx_vnni", "avx512_vnni", "asimddp"})
"""Sums of int8 products in one instruction: x86-64 since 2019, ARM since Cortex-A55 and A76 (Raspberry Pi 5,
RK3588, Jetson Orin). Without, onnxruntime turns the weights of each call into float32, which takes four
times as long."""


def usual_level(manifest: Manifest, cpuinfo: Path = _CPUINFO) -> str:
    """The first that the manifest names and this processor has what it needs for."""
    needs = {name: level.get(NEEDS) for name, level in manifest.options["levels"].items()}
    fast = _has_int8_products(cpuinfo)
    usual = (level for level in manifest.levels if fast or needs[level] != INT8_PRODUCTS)
    return next(usual, manifest.levels[0])


def _has_int8_products(cpuinfo: Path) -> bool:
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    named = (line.partition(":")[2].split() for line in lines if line.startswith(("flags", "Features")))
    return any(_FLAGS.intersection(flags) for flags in named)
