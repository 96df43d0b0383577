"""The store: what is wrong with a file is said in one line; versions appear and change at once."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from edged.errors import VoiceError
from edged.voice.manifest import Manifest, check_sizes, verify
from edged.voice.store import build_folder, collect, current, hold, installed, publish, remove

DESCRIPTION = {
    "name": "toy",
    "language": "en-us",
    "engine": "hibari",
    "sample_rate_hz": 24000,
    "licence": "CC0-1.0",
    "source": {"package": "none", "version": "1"},
    "levels": ["mixed"],
    "speakers": [],
    "options": {"fft": 1200, "levels": {"mixed": {}}},
}


def install(store: Path, content: bytes = b"weights" * 100, name: str = "toy") -> Manifest:
    with build_folder(store) as folder:
        (folder / "net.onnx").write_bytes(b"graph")
        (folder / "net.onnx.data").write_bytes(content)
        return publish(folder, store, {**DESCRIPTION, "name": name})


def one_line(manifest: Manifest, check: Callable[[Manifest], None]) -> str:
    with pytest.raises(VoiceError) as raised:
        check(manifest)
    assert "\n" not in str(raised.value)
    assert "install the voice again" in str(raised.value)
    return str(raised.value)


def test_published_voice_is_current_and_whole(tmp_path: Path) -> None:
    made = install(tmp_path)
    assert installed(tmp_path) == ("toy",)
    assert current(tmp_path, "toy") == made
    assert (made.version, made.folder) == (made.folder.name, tmp_path / "toy" / made.version)
    assert len(made.version) == 16
    assert made.licence.weights == "CC0-1.0"
    verify(made)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda f: f.unlink(), "net.onnx.data: is missing"),
        (lambda f: f.write_bytes(b""), "net.onnx.data: is empty"),
        (lambda f: f.write_bytes(f.read_bytes()[:-1]), "net.onnx.data: has 699 bytes instead of 700"),
        (
            lambda f: f.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0"),
            "Git LFS pointer",
        ),
        (lambda f: f.write_bytes(b"\n<!DOCTYPE html><html>404"), "is a web page"),
    ],
)
def test_damage_is_named_before_the_file_is_mapped(
    tmp_path: Path, damage: Callable[[Path], object], said: str
) -> None:
    made = install(tmp_path)
    damage(made.folder / "net.onnx.data")
    assert said in one_line(made, check_sizes)
    assert said in one_line(made, verify)


def test_a_changed_byte_is_found_by_verify(tmp_path: Path) -> None:
    made = install(tmp_path)
    (made.folder / "net.onnx.data").write_bytes(b"weighty" + b"weights" * 99)
    check_sizes(made)
    assert "net.onnx.data: wrong checksum" in one_line(made, verify)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        json.dumps({"engine": "hibari", "format": 99}),
        json.dumps({"engine": "hibari", "format": 3, "name": "x"}),
        json.dumps({"engine": "hibari", "format": 3, "licence": {"colour": "red"}, "source": {}}),
        "<html>no</html>",
    ],
)
def test_a_broken_manifest_is_one_line(tmp_path: Path, text: str) -> None:
    made = install(tmp_path)
    (made.folder / "voice.json").write_text(text)
    with pytest.raises(VoiceError, match=r"voice\.json: .*install the voice again") as raised:
        current(tmp_path, "toy")
    assert "\n" not in str(raised.value)


def test_unknown_voice_lists_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match=r"'heart' is not installed in .*installed: none"):
        current(tmp_path / "nowhere", "heart")
    install(tmp_path)
    for name in ("heart", "", "../toy", ".", "toy/current"):
        with pytest.raises(VoiceError, match=r"is not installed in .*installed: toy"):
            current(tmp_path, name)


def test_a_new_version_takes_over_and_the_old_one_stays_readable(tmp_path: Path) -> None:
    install(tmp_path)
    old, handle = hold(tmp_path, "toy")
    new = install(tmp_path, b"other")
    assert old.version != new.version
    assert current(tmp_path, "toy") == new
    verify(old)
    os.close(handle)


def test_the_same_content_is_published_once(tmp_path: Path) -> None:
    first = install(tmp_path)
    marker = (first.folder / "net.onnx").stat().st_ino
    assert install(tmp_path) == first
    assert (first.folder / "net.onnx").stat().st_ino == marker


def test_a_damaged_version_is_replaced(tmp_path: Path) -> None:
    made = install(tmp_path)
    (made.folder / "net.onnx.data").write_bytes(b"")
    assert install(tmp_path) == made
    verify(made)
    assert not list(tmp_path.glob(".*"))


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def build() -> None:
        with build_folder(tmp_path) as folder:
            (folder / "half").write_bytes(b"x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        build()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    with (
        pytest.raises(VoiceError, match=r"cannot be written .No space left on device") as raised,
        build_folder(tmp_path),
    ):
        Path("/dev/full").write_bytes(b"x" * 100_000)
    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(VoiceError, match="cannot be written"), build_folder(tmp_path / "file" / "voices"):
        pass


def run_python(script: str, *arguments: object) -> "subprocess.Popen[str]":
    """A process of its own that prints a line when it has begun."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "begun\n"
    return process


BUILDING = """
import sys
from pathlib import Path
from edged.voice.store import build_folder
with build_folder(Path(sys.argv[1])) as folder:
    (folder / "half").write_bytes(b"x" * 1000)
    print("begun", flush=True)
    sys.stdin.read()
"""

HOLDING = """
import sys
from pathlib import Path
from edged.voice.store import hold
manifest, handle = hold(Path(sys.argv[1]), "toy")
print("begun", flush=True)
sys.stdin.read()
print((manifest.folder / "net.onnx.data").read_bytes()[:6].decode())
"""


def test_leftovers_of_a_killed_builder_go_and_those_of_a_living_one_stay(tmp_path: Path) -> None:
    living, killed = run_python(BUILDING, tmp_path), run_python(BUILDING, tmp_path)
    assert len(list(tmp_path.glob(".build-*/half"))) == 2
    killed.kill()
    killed.wait()
    install(tmp_path)
    assert len(list(tmp_path.glob(".build-*/half"))) == 1
    living.communicate("")
    assert living.returncode == 0
    assert not list(tmp_path.glob(".*"))


def test_a_version_that_a_process_holds_is_kept_until_it_ends(tmp_path: Path) -> None:
    old = install(tmp_path)
    holder = run_python(HOLDING, tmp_path)
    new = install(tmp_path, b"other")
    assert collect(tmp_path, "toy") == ()
    assert {p.name for p in (tmp_path / "toy").iterdir()} == {"current", old.version, new.version}
    out, _ = holder.communicate("")
    assert out == "weight\n"
    assert collect(tmp_path, "toy") == (old.version,)
    assert {p.name for p in (tmp_path / "toy").iterdir()} == {"current", new.version}
    verify(new)


def test_several_processes_hold_one_version(tmp_path: Path) -> None:
    install(tmp_path)
    holders = [run_python(HOLDING, tmp_path) for _ in range(3)]
    install(tmp_path, b"other")
    for holder in holders[:2]:
        holder.communicate("")
    assert collect(tmp_path, "toy") == ()
    holders[2].communicate("")
    assert len(collect(tmp_path, "toy")) == 1


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    old = install(tmp_path)
    holder = run_python(HOLDING, tmp_path)
    holder.kill()
    holder.wait()
    install(tmp_path, b"other")
    assert not old.folder.exists()


def test_removing_a_voice(tmp_path: Path) -> None:
    install(tmp_path)
    assert remove(tmp_path, "toy")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(VoiceError, match="'toy' is not installed"):
        remove(tmp_path, "toy")


def test_removing_a_voice_that_speaks_leaves_its_files_until_it_is_let_go(tmp_path: Path) -> None:
    made = install(tmp_path)
    held, handle = hold(tmp_path, "toy")
    assert held == made
    assert not remove(tmp_path, "toy")
    assert installed(tmp_path) == ()
    verify(made)
    os.close(handle)
    assert collect(tmp_path, "toy") == (made.version,)
    assert list(tmp_path.iterdir()) == []


def test_what_was_let_go_goes_with_the_next_voice_or_the_next_removal(tmp_path: Path) -> None:
    for clean in (lambda: install(tmp_path, name="other"), lambda: remove(tmp_path, "toy")):
        made = install(tmp_path)
        _, handle = hold(tmp_path, "toy")
        assert not remove(tmp_path, "toy")
        os.close(handle)
        assert made.folder.exists()
        clean()
        assert not (tmp_path / "toy").exists()


def test_a_version_is_locked_while_it_is_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a process could begin to hold it between the look and the move, and find its files gone."""
    old = install(tmp_path)
    move, seen = Path.rename, []

    def watched(self: Path, target: Path) -> Path:
        if self == old.folder:
            with (self / "voice.json").open() as file, pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            seen.append(self)
        return move(self, target)

    monkeypatch.setattr(Path, "rename", watched)
    install(tmp_path, b"other")
    assert seen == [old.folder]
    assert not old.folder.exists()


def test_a_voice_is_read_while_it_is_being_replaced(tmp_path: Path) -> None:
    """Each of many looks finds a whole version, whatever two installers do meanwhile."""
    install(tmp_path)
    script = """
import sys
from pathlib import Path
from tests.voice.test_store import install
print("begun", flush=True)
for n in range(60):
    install(Path(sys.argv[1]), bytes([n % 7]) * (n % 5 + 1))
"""
    writers = [run_python(script, tmp_path) for _ in range(2)]
    looks = 0
    while any(writer.poll() is None for writer in writers):
        manifest, handle = hold(tmp_path, "toy")
        verify(manifest)
        os.close(handle)
        looks += 1
    assert [writer.wait() for writer in writers] == [0, 0]
    assert looks > 20
    collect(tmp_path, "toy")
    assert len(list((tmp_path / "toy").iterdir())) == 2
    assert not list(tmp_path.glob(".*"))


def test_power_lost_between_placing_and_switching_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = install(tmp_path)

    def fail(_home: Path, _version: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("edged.voice.store._switch", fail)
        with pytest.raises(KeyboardInterrupt):
            install(tmp_path, b"other")
    assert current(tmp_path, "toy") == old
    verify(old)
    collect(tmp_path, "toy")
    assert len(list((tmp_path / "toy").iterdir())) == 2


def test_permissions_follow_the_store(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy").chmod(0o2775)
    assert install(tmp_path).folder.stat().st_mode & 0o7777 == 0o2775


@pytest.mark.parametrize("name", ["x" * 201, "ä" * 101, "x" * 5000])
def test_a_name_longer_than_file_systems_take_is_not_installed(tmp_path: Path, name: str) -> None:
    for ask in (current, remove):
        with pytest.raises(VoiceError, match="is not installed in") as raised:
            ask(tmp_path, name)
        assert len(str(raised.value)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize(
    "changes",
    [
        {"files": [{"name": "../outside", "bytes": 1, "sha256": "x"}]},
        {"files": [{"name": "/etc/passwd", "bytes": 1, "sha256": "x"}]},
        {"files": [{"name": "..", "bytes": 1, "sha256": "x"}]},
        {"files": [{"name": "a\0b", "bytes": 1, "sha256": "x"}]},
        {"files": [{"name": "net.onnx", "bytes": "1", "sha256": "x"}]},
        {"files": {"name": "net.onnx"}},
        {"levels": []},
        {"levels": ["int8"]},
        {"levels": "fp32"},
        {"speakers": [1]},
        {"sample_rate_hz": "24000"},
        {"sample_rate_hz": 10**9},
        {"language": "en\n"},
        {"name": 5},
        {"licence": {"weights": ["MIT"]}},
        {"format": "\n" * 5000},
        {"engine": "e" * 5000},
    ],
)
def test_a_manifest_with_something_else_in_it_is_one_line(tmp_path: Path, changes: dict[str, object]) -> None:
    made = install(tmp_path)
    file = made.folder / "voice.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))
    with pytest.raises(VoiceError) as raised:
        current(tmp_path, made.name)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 300 + len(str(file))


def test_a_deeply_nested_manifest_is_one_line(tmp_path: Path) -> None:
    made = install(tmp_path)
    (made.folder / "voice.json").write_text("[" * 100_000)
    with pytest.raises(VoiceError, match="not a voice"):
        current(tmp_path, made.name)
