"""The watch tells of every way in which a file can change, once it is quiet, and of nothing else."""

import logging
import os
import queue
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from edged.config import watch as watch_module
from edged.config.identity import Identity, identity
from edged.config.watch import watch

SETTLE_S = 0.3
"""Until inotify is set; nothing shows from outside when it is."""
TOLD_S = 8.0


class Told:
    """A file, watched; `by(change)` is how often the callback came within the time it takes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._first = {path: identity(path)}
        self._calls: queue.Queue[float] = queue.Queue()

    def files(self) -> dict[Path, Identity]:
        return self._first

    def on_change(self) -> None:
        self._calls.put(time.monotonic())

    def wait(self) -> float:
        return self._calls.get(timeout=TOLD_S)

    def is_quiet(self, seconds: float = 0.6) -> bool:
        time.sleep(seconds)
        return self._calls.empty()


@pytest.fixture(autouse=True)
def _events_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test sees told was told by inotify, not by looking again now and then."""
    monkeypatch.setattr(watch_module, "LOOK_AGAIN_MS", 600_000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "etc" / "edged"
    folder.mkdir(parents=True)
    (folder / "edged.yaml").write_text("node: a\n")
    return folder


@pytest.fixture
def told(folder: Path) -> Iterator[Told]:
    told = Told(folder / "edged.yaml")
    with watch(told.files, told.on_change):
        time.sleep(SETTLE_S)
        yield told


def _in_place(path: Path) -> None:
    path.write_text("node: b\n")


def _renamed_over(path: Path) -> None:
    aside = path.with_suffix(".tmp")
    aside.write_text("node: b\n")
    os.replace(aside, path)


def _same_size_and_times_set_back(path: Path) -> None:
    times = path.stat()
    path.write_text("node: z\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _made_readable(path: Path) -> None:
    path.chmod(0o600)


def _deleted(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize(
    "change", [_in_place, _renamed_over, _same_size_and_times_set_back, _made_readable, _deleted]
)
def test_a_change_is_told_once(told: Told, change: Callable[[Path], None]) -> None:
    change(told.path)
    told.wait()
    assert told.is_quiet()


def test_a_file_written_in_many_steps_is_told_when_it_is_whole(told: Told) -> None:
    with told.path.open("w") as file:
        for _ in range(50):
            file.write("#" * 9 + "\n")
            file.flush()
            time.sleep(0.02)
    whole_s = time.monotonic()
    calls = [told.wait()]
    while not told.is_quiet():
        calls.append(told.wait())
    assert calls[-1] > whole_s
    assert len(calls) < 10


def test_other_files_of_the_folder_are_nothing(told: Told) -> None:
    told.path.with_name("other.yaml").write_text("x")
    (told.path.parent / "below").mkdir()
    (told.path.parent / "below" / "edged.yaml").write_text("x")
    told.path.read_text()
    assert told.is_quiet()


def test_deleted_and_made_again(told: Told) -> None:
    told.path.unlink()
    told.wait()
    told.path.write_text("node: b\n")
    told.wait()
    _in_place(told.path)
    told.wait()
    assert told.is_quiet()


def test_the_folder_removed_and_made_again(told: Told) -> None:
    shutil.rmtree(told.path.parent)
    told.wait()
    told.path.parent.mkdir()
    told.path.write_text("node: b\n")
    told.wait()
    time.sleep(SETTLE_S)
    _renamed_over(told.path)
    told.wait()


def test_the_folder_exchanged_as_a_whole(told: Told) -> None:
    told.path.parent.rename(told.path.parent.with_name("old"))
    told.path.parent.mkdir()
    told.path.write_text("node: b\n")
    told.wait()


def test_a_change_without_an_event_is_seen_by_looking_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "LOOK_AGAIN_MS", 500)
    told = Told(folder / "edged.yaml")
    with watch(told.files, told.on_change):
        time.sleep(SETTLE_S)
        folder.parent.rename(folder.parent.with_name("old"))
        folder.mkdir(parents=True)
        told.path.write_text("node: b\n")
        told.wait()


def test_a_folder_that_comes_later(tmp_path: Path) -> None:
    told = Told(tmp_path / "later" / "edged" / "edged.yaml")
    with watch(told.files, told.on_change):
        assert told.is_quiet(0.2)
        told.path.parent.mkdir(parents=True)
        told.path.write_text("node: a\n")
        told.wait()


def test_links_turned_as_a_configuration_map_does(tmp_path: Path) -> None:
    for version in ("..1", "..2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "edged.yaml").write_text(f"node: v{version}\n")
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "edged.yaml").symlink_to("..data/edged.yaml")
    told = Told(tmp_path / "edged.yaml")
    with watch(told.files, told.on_change):
        time.sleep(SETTLE_S)
        (tmp_path / "..tmp").symlink_to("..2")
        os.replace(tmp_path / "..tmp", tmp_path / "..data")
        told.wait()
        assert told.path.read_text() == "node: v..2\n"
        time.sleep(SETTLE_S)
        _in_place(tmp_path / "..2" / "edged.yaml")
        told.wait()
        _in_place(tmp_path / "..1" / "edged.yaml")
        assert told.is_quiet()


def test_a_link_to_a_file_elsewhere_and_through_a_linked_folder(tmp_path: Path) -> None:
    (tmp_path / "releases" / "1").mkdir(parents=True)
    (tmp_path / "releases" / "2").mkdir()
    (tmp_path / "stow").mkdir()
    real = tmp_path / "stow" / "real.yaml"
    real.write_text("node: a\n")
    (tmp_path / "releases" / "1" / "edged.yaml").symlink_to(real)
    (tmp_path / "releases" / "2" / "edged.yaml").write_text("node: b\n")
    current = tmp_path / "current"
    current.symlink_to("releases/1")
    told = Told(current / "edged.yaml")
    with watch(told.files, told.on_change):
        time.sleep(SETTLE_S)
        _in_place(real)
        told.wait()
        current.unlink()
        current.symlink_to("releases/2")
        told.wait()
        assert told.path.read_text() == "node: b\n"


def test_a_link_that_leads_to_itself_is_waited_for(tmp_path: Path) -> None:
    told = Told(tmp_path / "edged.yaml")
    told.path.symlink_to(told.path)
    with watch(told.files, told.on_change):
        time.sleep(SETTLE_S)
        told.path.unlink()
        told.path.write_text("node: a\n")
        told.wait()


def test_a_change_between_reading_and_watching_is_told(folder: Path) -> None:
    told = Told(folder / "edged.yaml")
    seen = identity(told.path)
    _in_place(told.path)
    with watch(lambda: {told.path: seen}, told.on_change):
        told.wait()
        assert told.is_quiet()


def test_each_of_several_files_is_told(tmp_path: Path, folder: Path) -> None:
    told, other = Told(folder / "edged.yaml"), tmp_path / "words" / "lexicon.yaml"
    other.parent.mkdir()
    with watch(lambda: told.files() | {other: ()}, told.on_change):
        time.sleep(SETTLE_S)
        other.write_text("en:\n")
        told.wait()
        _in_place(told.path)
        told.wait()
        assert told.is_quiet()


def test_what_is_named_later_is_watched_and_what_is_no_longer_named_is_not(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "LOOK_AGAIN_MS", 300)
    told, other = Told(folder / "edged.yaml"), tmp_path / "lexicon.yaml"
    other.write_text("en:\n")
    named = told.files()
    with watch(lambda: named, told.on_change):
        time.sleep(SETTLE_S)
        named = named | {other: identity(other)}
        assert told.is_quiet()
        _in_place(other)
        told.wait()
        named = told.files()
        assert told.is_quiet()
        _renamed_over(other)
        assert told.is_quiet()
        _in_place(told.path)
        told.wait()


def test_a_file_that_never_rests_is_told_all_the_same(told: Told) -> None:
    stop = threading.Event()

    def write() -> None:
        while not stop.wait(0.05):
            told.path.write_text(f"node: n{time.monotonic_ns()}\n")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        told.wait()
        told.wait()
    finally:
        stop.set()
        writer.join()


def test_it_ends_promptly_and_leaves_no_thread(folder: Path) -> None:
    before = set(threading.enumerate())
    for path in (folder / "edged.yaml", folder / "missing" / "edged.yaml"):
        with watch(Told(path).files, lambda: None):
            (thread,) = set(threading.enumerate()) - before
            assert thread.name == "watch"
        assert not thread.is_alive()


def test_the_log_says_nothing_of_the_files_beside_it(told: Told, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        told.path.with_name("other").write_text("x")
        _in_place(told.path)
        told.wait()
    assert caplog.records == []
