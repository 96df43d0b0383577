"""Which level is chosen where nobody has measured."""

from dataclasses import replace
from pathlib import Path

import pytest

from edged.voice import store as voice_store
from edged.voice.processor import usual_level


@pytest.mark.parametrize(
    ("cpuinfo", "level"),
    [
        ("model name : AMD EPYC\nflags : fpu avx2 avx512_vnni\n", "int8"),
        ("processor : 0\nFeatures : fp asimd evtstrm aes crc32 asimddp\n", "int8"),  # Cortex-A76
        ("processor : 0\nFeatures : fp asimd evtstrm crc32 cpuid\n", "mixed"),  # Cortex-A72: Raspberry Pi 4
        ("flags : fpu avx2\nbugs : asimddp\n", "mixed"),
        ("", "mixed"),
    ],
)
def test_int8_products_decide(store: Path, tmp_path: Path, cpuinfo: str, level: str) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(cpuinfo)
    assert usual_level(voice_store.current(store, "heart"), file) == level


def test_without_a_cpuinfo_nothing_is_presumed(store: Path, tmp_path: Path) -> None:
    manifest = voice_store.current(store, "heart")
    assert usual_level(manifest, tmp_path / "none") == "mixed"
    plain = replace(manifest, levels=("fp32", "mixed"))
    assert usual_level(plain, tmp_path / "none") == "fp32"
