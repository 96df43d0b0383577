from __future__ import annotations

import logging
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edged.queue.journal import Journal

KEY = "7:0123456789abcdef"
OTHER = "8:fedcba9876543210"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal"


def crash_and_reopen(path: Path) -> Journal:
    """A journal is never closed by a crash; a second one on the file is what the next process sees."""
    return Journal(path)


def test_attempts_count_over_crashes(path: Path) -> None:
    for attempt in (1, 2, 3):
        journal = crash_and_reopen(path)
        assert journal.begin(KEY) == attempt
        assert journal.begin(KEY) == attempt, "resumed after an interruption: the same attempt"


def test_an_orderly_end_is_no_crash(path: Path) -> None:
    for _ in range(5):
        journal = Journal(path)
        assert journal.begin(KEY) == 1
        journal.close()


def test_an_orderly_end_keeps_the_crashes_before_it(path: Path) -> None:
    Journal(path).begin(KEY)
    journal = crash_and_reopen(path)
    assert journal.begin(KEY) == 2
    journal.close()
    assert Journal(path).begin(KEY) == 2


def test_done_outlives_a_crash_and_an_acknowledged_one_is_forgotten(path: Path) -> None:
    journal = Journal(path)
    journal.begin(KEY)
    journal.done(KEY)
    journal.done(OTHER)
    journal.acked(OTHER)
    after = crash_and_reopen(path)
    assert after.is_done(KEY)
    assert not after.is_done(OTHER)
    assert after.begin(OTHER) == 1


def test_done_ends_the_count_of_attempts(path: Path) -> None:
    journal = Journal(path)
    journal.begin(KEY)
    journal.done(KEY)
    journal.acked(KEY)
    assert crash_and_reopen(path).begin(KEY) == 1


def test_a_reused_packet_id_forgets_every_key_with_it(path: Path) -> None:
    journal = Journal(path)
    journal.done(KEY)
    journal.begin("7:ffffffffffffffff")
    journal.done("77:0123456789abcdef")
    journal.reused(7)
    after = crash_and_reopen(path)
    assert not after.is_done(KEY)
    assert after.is_done("77:0123456789abcdef")
    assert after.begin("7:ffffffffffffffff") == 1


def test_clear_forgets_all(path: Path) -> None:
    journal = Journal(path)
    journal.done(KEY)
    journal.begin(OTHER)
    journal.remember_filters(["a/#"])
    journal.clear()
    for state in (journal, crash_and_reopen(path)):
        assert not state.is_done(KEY)
        assert state.filters() == ()
    assert path.stat().st_size == 0


def test_filters_are_kept_whatever_they_hold(path: Path) -> None:
    filters = ["küche/+/say", "with space/#", "a/b"]
    journal = Journal(path)
    journal.remember_filters(filters)
    journal.remember_filters(filters)
    assert crash_and_reopen(path).filters() == tuple(sorted(filters))


def test_messages_without_a_redelivery_leave_no_trace(path: Path) -> None:
    journal = Journal(path)
    assert [journal.begin(""), journal.begin("")] == [1, 1]
    journal.done("")
    assert not journal.is_done("")
    assert path.stat().st_size == 0


def test_no_text_is_in_the_file(path: Path) -> None:
    journal = Journal(path)
    journal.begin(KEY)
    journal.done(KEY)
    assert path.read_bytes().count(b"\n") == 2
    assert all(len(line.split(b" ")) <= 4 for line in path.read_bytes().splitlines())


def test_the_file_stays_small(path: Path) -> None:
    journal = Journal(path)
    for index in range(5000):
        key = f"{index % 65535 + 1}:0123456789abcdef"
        journal.begin(key)
        journal.done(key)
        journal.acked(key)
    assert path.stat().st_size < 100_000
    assert Journal(path).filters() == ()
    assert path.stat().st_size == 0


def test_done_keys_are_bounded(path: Path) -> None:
    journal = Journal(path)
    for index in range(9000):
        journal.done(f"{index}:x")
    assert not journal.is_done("0:x")
    assert journal.is_done("8999:x")
    assert crash_and_reopen(path).is_done("8999:x")


@given(garbage=st.binary(max_size=300), cut=st.integers(0, 200), at=st.integers(0, 200))
@settings(max_examples=150, deadline=None)
def test_garbage_costs_only_the_lines_it_hits(
    tmp_path_factory: pytest.TempPathFactory, garbage: bytes, cut: int, at: int
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal"
    journal = Journal(path)
    journal.done(KEY)
    journal.done(OTHER)
    image = path.read_bytes()
    path.write_bytes(image[: min(at, len(image))] + garbage + b"\n" + image + image[:cut])
    after = Journal(path)
    assert after.is_done(KEY)
    assert after.is_done(OTHER)
    after.done("9:x")
    assert Journal(path).is_done("9:x")


def test_damage_is_told_in_one_line(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.parent.mkdir()
    path.write_bytes(os.urandom(500).replace(b"\n", b"x") + b"\nmore\n")
    Journal(path)
    assert [record.getMessage() for record in caplog.records] == [f"{path}: 2 damaged lines passed over"]


@contextmanager
def full_disk(limit_bytes: int) -> Iterator[None]:
    """The kernel refuses to let any file grow beyond the limit, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_survived_reported_once_and_made_good(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    journal = Journal(path)
    journal.done("1:before")
    size = path.stat().st_size
    with full_disk(size + 10):
        journal.done(KEY)
        assert journal.begin(OTHER) == 1
        journal.acked("5:unknown")
        assert journal.is_done(KEY)
        messages = [record.getMessage() for record in caplog.records]
        assert len(messages) == 1, messages
        assert "going on in memory" in messages[0]
        assert crash_and_reopen(path).is_done("1:before")
    journal.done("2:after")
    after = crash_and_reopen(path)
    assert all(after.is_done(key) for key in ("1:before", KEY, "2:after"))
    assert after.begin(OTHER) == 2
    assert caplog.records[-1].getMessage() == f"{path}: written again"


def test_a_folder_that_cannot_be_made_is_survived(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    journal = Journal(tmp_path / "file" / "journal")
    journal.done(KEY)
    assert journal.is_done(KEY)
    assert len(caplog.records) == 1
    journal.close()


def test_the_count_is_on_disk_before_begin_returns(path: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path; from edged.queue.journal import Journal\n"
        f"Journal(Path(sys.argv[1])).begin({KEY!r}); os.kill(os.getpid(), signal.SIGKILL)"
    )
    for _ in range(2):
        ended = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
        assert ended.returncode == -signal.SIGKILL
    assert Journal(path).begin(KEY) == 3


def test_a_message_is_as_old_after_a_crash_as_before(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    assert journal.received("7:a", 1000) == 1000
    assert journal.received("7:a", 5000) == 1000
    assert journal.received("", 7) == 7
    again = Journal(tmp_path / "journal")
    assert again.received("7:a", 9000) == 1000
    again.reused(7)
    assert again.received("7:a", 9000) == 9000
    again.done("7:a")
    assert Journal(tmp_path / "journal").received("7:a", 10_000) == 10_000


def test_the_clock_of_another_boot_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Journal(tmp_path / "journal").received("7:a", 1000)
    monkeypatch.setattr("edged.queue.journal._boot", lambda: "another1")
    assert Journal(tmp_path / "journal").received("7:a", 9000) == 9000
