"""The store: what is wrong with a file is said in one line; versions appear and change at once."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from edged.errors import VoiceError
from edged.voice.store import Manifest, build_folder, check_sizes, current, installed, publish, verify

DESCRIPTION = {
    "name": "toy",
    "language": "en-us",
    "engine": "hibari",
    "sample_rate_hz": 24000,
    "licence": "CC0-1.0",
    "source": {"package": "none", "version": "1"},
    "levels": ["mixed"],
    "speakers": [],
    "options": {"fft": 1200},
}


def install(store: Path, content: bytes = b"weights" * 100) -> Manifest:
    with build_folder(store) as folder:
        (folder / "net.onnx").write_bytes(b"graph")
        (folder / "net.onnx.data").write_bytes(content)
        return publish(folder, store, DESCRIPTION)


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
    assert made.licence == "CC0-1.0"
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
        json.dumps({"format": 99}),
        json.dumps({"format": 1, "name": "x"}),
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
    old = install(tmp_path)
    new = install(tmp_path, b"other")
    assert old.version != new.version
    assert current(tmp_path, "toy") == new
    verify(old)


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


def test_leftovers_of_killed_builders_go_when_they_are_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".build-dead").mkdir()
    with build_folder(tmp_path):
        assert (tmp_path / ".build-dead").exists()
    monkeypatch.setattr(time, "time", lambda: 1e12)
    with build_folder(tmp_path):
        assert not (tmp_path / ".build-dead").exists()


def test_permissions_follow_the_store(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy").chmod(0o2775)
    assert install(tmp_path).folder.stat().st_mode & 0o7777 == 0o2775
