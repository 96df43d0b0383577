"""The command that says where time and memory go: what it wraps is there, what is mapped is put together."""

import subprocess
import sys

from tests.bench.stages.__main__ import grouped

SMAPS = """
5581-5582 rw-p 00000000 00:00 0                          [heap]
Rss:                2048 kB
Private_Dirty:      1024 kB
7f00-7f01 rw-p 00000000 00:00 0
Rss:                1024 kB
Private_Dirty:      1024 kB
7f02-7f03 r-xp 00000000 fe:00 12     /v/site-packages/onnxruntime/capi/state.so
Rss:                4096 kB
Private_Dirty:         0 kB
7f04-7f05 r--p 00000000 fe:00 13     /v/site-packages/yaml/_yaml.so
Rss:                 512 kB
Private_Dirty:         0 kB
7f06-7f07 r--p 00000000 fe:00 14     /usr/lib/libasound.so.2
Rss:                 512 kB
Private_Dirty:         0 kB
""".splitlines()


def test_memory_is_put_together_by_what_is_mapped() -> None:
    found = grouped(SMAPS)
    assert found["the heap: Python's objects, networks' weights"] == (3.0, 2.0)
    assert found["onnxruntime"] == (4.0, 0.0)
    assert found["Python"] == (0.5, 0.0)
    assert found["system libraries, sound among them"] == (0.5, 0.0)
    assert found["all"] == (8.0, 2.0)


def test_all_that_is_wrapped_is_there() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.bench.stages.daemon", "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "usage: edged" in ran.stdout
