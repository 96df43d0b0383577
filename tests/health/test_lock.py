"""Limits and affinity are tried in a child process: they would outlive the test in this one."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.health.lock import cpu_capacities, fast_cpus, format_cpus, listed_cpus

BIG_LITTLE = {0: 530, 1: 530, 2: 530, 3: 530, 4: 1024, 5: 1024, 6: 1018, 7: 1018}  # RK3588
PRIME = {0: 124, 1: 124, 2: 124, 3: 124, 4: 427, 5: 427, 6: 1024}


@pytest.mark.parametrize(
    ("allowed", "capacities", "chosen"),
    [
        ({0}, {}, {0}),
        ({0, 1}, {}, {0, 1}),
        ({0, 1, 2, 3}, {}, {1, 2, 3}),
        (set(range(8)), BIG_LITTLE, {4, 5, 6, 7}),
        ({4, 5, 6, 7}, BIG_LITTLE, {5, 6, 7}),
        ({0, 1, 2, 4}, BIG_LITTLE, {1, 2, 4}),
        (set(range(7)), PRIME, {4, 5, 6}),
    ],
)
def test_auto_takes_the_fast_cluster_and_leaves_one_core(allowed, capacities, chosen):
    assert fast_cpus(allowed, capacities) == chosen


@given(st.sets(st.integers(0, 15), min_size=1), st.dictionaries(st.integers(0, 15), st.integers(0, 1024)))
def test_auto_always_keeps_two_cores_and_leaves_one(allowed, capacities):
    chosen = fast_cpus(allowed, capacities)
    assert chosen <= allowed
    assert len(chosen) >= min(2, len(allowed))
    assert len(allowed) <= 2 or chosen < allowed


@given(st.sets(st.integers(0, 64), min_size=1))
def test_a_written_list_reads_back(cpus):
    assert listed_cpus(format_cpus(cpus), set(range(65))) == cpus


def test_a_huge_range_costs_nothing():
    assert listed_cpus("0-99999999999", {0, 1}) == {0, 1}


def test_capacities_come_from_sysfs(tmp_path: Path):
    for cpu, text in ((0, "530\n"), (4, "1024\n"), (5, "broken")):
        folder = tmp_path / f"devices/system/cpu/cpu{cpu}"
        folder.mkdir(parents=True)
        (folder / "cpu_capacity").write_text(text)
    assert cpu_capacities(tmp_path) == {0: 530, 4: 1024}
    assert cpu_capacities(tmp_path / "nowhere") == {}


def child(code: str) -> list[str]:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return run.stdout.splitlines()


def test_memory_is_locked_as_touched_and_not_filled():
    lines = child(
        "import mmap\n"
        "from edged.health.lock import lock_memory\n"
        "print(lock_memory())\n"
        "untouched = mmap.mmap(-1, 256 << 20)\n"
        "for line in open('/proc/self/status'):\n"
        "    if line.startswith(('VmRSS', 'VmLck')): print(line.split()[1])\n"
    )
    locked_kib, resident_kib = (int(text) for text in lines[1:])
    assert lines[0] == "Obtained(ok=True, text='locked as touched')"
    assert locked_kib > 256 * 1024 > resident_kib


def test_a_memlock_limit_of_zero_is_a_value_not_an_exception():
    lines = child(
        "import os, resource\n"
        "from edged.health.lock import lock_memory\n"
        "resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))\n"
        "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "got = lock_memory(); print(got.ok); print(got.text)\n"
    )
    assert lines[0] == "False"
    assert "memlock limit 0 MiB" in lines[1]


def test_realtime_is_tried_and_given_back_or_explained():
    lines = child(
        "import os, resource\n"
        "from edged.health.lock import realtime_allowed\n"
        "resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))\n"
        "print(realtime_allowed(60).text); print(os.sched_getscheduler(0) == os.SCHED_OTHER)\n"
        "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "got = realtime_allowed(60); print(got.ok); print(got.text)\n"
        "print(realtime_allowed(1000).ok)\n"
    )
    assert lines[0].startswith("SCHED_FIFO 60")
    assert lines[1] == "True"
    assert lines[2] == "False"
    assert "refused" in lines[3]
    assert "rtprio limit 0" in lines[3]
    assert lines[4] == "False"


def test_affinity_reaches_threads_started_later():
    lines = child(
        "import os, threading\n"
        "from edged.health.lock import set_affinity\n"
        "first = min(os.sched_getaffinity(0))\n"
        "print(set_affinity(str(first)).ok)\n"
        "threading.Thread(target=lambda: print(os.sched_getaffinity(0) == {first})).start()\n"
    )
    assert lines == ["True", "True"]


def test_a_list_of_absent_processors_changes_nothing_and_says_so():
    lines = child(
        "import os\n"
        "from edged.health.lock import set_affinity\n"
        "before = os.sched_getaffinity(0)\n"
        "got = set_affinity('4000-4001'); print(got.ok); print(got.text)\n"
        "print(os.sched_getaffinity(0) == before); print(set_affinity('off').ok)\n"
    )
    assert lines[0] == "False"
    assert "process.affinity" in lines[1]
    assert lines[2:] == ["True", "True"]


def test_thread_stacks_are_small():
    lines = child(
        "import threading\n"
        "from edged.health.lock import set_thread_stack\n"
        "print(set_thread_stack().text); print(threading.stack_size())\n"
    )
    assert lines == ["512 KiB", str(512 * 1024)]
