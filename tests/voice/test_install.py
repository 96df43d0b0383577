"""The real voice is built by a process of its own: once, whole or not at all, and by two at a time."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from edged.errors import VoiceError
from edged.voice import install as installing
from edged.voice.catalog import catalog
from edged.voice.install import ensure_installed
from edged.voice.load import LoadedVoice, Setting, first_level, load_voice
from edged.voice.manifest import BUILT_WITH, MANIFEST, verify
from edged.voice.processor import usual_level
from edged.voice.store import current
from edged.voices import front_end
from tests.voice.sound import log_mel_distance_db

BUILDER = [sys.executable, "-m", "edged.voice.heart"]


def hidden(store: Path) -> list[Path]:
    return [p for p in store.rglob("*") if p.name.startswith(".")]


def test_installed_voice_says_what_it_is(store: Path) -> None:
    manifest = current(store, "heart")
    entry = catalog()["heart"]
    verify(manifest)
    assert manifest.licence == entry.licence
    assert manifest.licence.weights == "Apache-2.0"
    assert (manifest.source_package, manifest.source_version) == (entry.package, entry.version)
    assert (manifest.language, manifest.engine, manifest.levels) == (
        "en-us",
        "hibari",
        ("int8", "mixed", "fp32"),
    )
    assert manifest.sample_rate_hz == entry.sample_rate_hz == 24_000
    assert entry.files.items() <= manifest.source_files.items()
    assert {f.name for f in manifest.files} == {p.name for p in manifest.folder.iterdir()} - {"voice.json"}


def test_installing_twice_builds_once(store: Path) -> None:
    lines: list[str] = []
    ensure_installed(store, "heart", lines.append)
    assert lines == []


def test_two_builders_at_once(tmp_path: Path) -> None:
    builders = [subprocess.Popen([*BUILDER, str(tmp_path)], stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [builder.wait() for builder in builders] == [0, 0]
    verify(current(tmp_path, "heart"))
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("after_s", [0.05, 0.4, 0.8])
@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_builder_leaves_nothing_half_done(
    tmp_path: Path, after_s: float, kind: signal.Signals
) -> None:
    builder = subprocess.Popen(
        [*BUILDER, str(tmp_path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    time.sleep(after_s)
    builder.send_signal(kind)
    _, errors = builder.communicate()
    if (tmp_path / "heart" / "current").exists():
        verify(current(tmp_path, "heart"))
    if builder.returncode in (130, 0):
        assert hidden(tmp_path) == []
        assert errors == ""
    else:
        assert builder.returncode in (-kind, 1)  # before the handler stood: nothing was begun
        assert not list(tmp_path.iterdir())


def test_interrupting_the_installation_stops_the_builder(tmp_path: Path) -> None:
    def interrupt(_line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ensure_installed(tmp_path, "heart", interrupt)
    assert hidden(tmp_path) == []
    assert not (tmp_path / "heart").exists()


def test_a_builder_that_fails_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "voices").write_text("a file")
    with pytest.raises(
        VoiceError, match=r"voice heart was not installed: .*voices: cannot be written"
    ) as raised:
        ensure_installed(tmp_path / "voices", "heart", lambda line: None)
    assert "\n" not in str(raised.value)


def test_another_source_is_refused_in_one_line(tmp_path: Path) -> None:
    """A package with the right name and version whose network was changed."""
    fake = tmp_path / "site"
    (fake / "hibari" / "assets").mkdir(parents=True)
    (fake / "hibari" / "__init__.py").write_text("")
    (fake / "hibari" / "assets" / "hibari.onnx").write_bytes(b"something else")
    done = subprocess.run(
        [*BUILDER, str(tmp_path / "voices")],
        env={**os.environ, "PYTHONPATH": f"{fake}:{Path.cwd()}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "hibari.onnx: wrong checksum; pip install hibari-tts==0.2.1" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "voices").exists()


def test_a_voice_of_another_version_is_built_again(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    entry = catalog()["heart"]
    newer = {"heart": type(entry)(**{**{f: getattr(entry, f) for f in entry.__slots__}, "version": "9"})}
    monkeypatch.setattr(installing, "catalog", lambda: newer)
    monkeypatch.setattr(installing, "install", lambda *arguments, **_more: asked.append(arguments[0].version))
    ensure_installed(store, "heart", lambda line: None)
    assert asked == ["9"]


def test_a_voice_outside_the_catalog_is_not_guessed_at(store: Path) -> None:
    with pytest.raises(VoiceError, match=r"voice 'brain' is not installed in .*installed: heart"):
        ensure_installed(store, "brain", lambda line: None)


def test_loaded_voice_is_warm_and_named(heart: LoadedVoice, store: Path) -> None:
    manifest = current(store, "heart")
    assert (heart.name, heart.language, heart.engine.level) == ("heart", "en-us", usual_level(manifest))
    assert heart.version == manifest.version
    assert next(iter(heart.engine.stream(heart.phonemize("Ready."), 1.0))).samples.size


def test_the_usual_level_and_fp32_speak_and_differ_by_less_than_is_heard(
    heart: LoadedVoice, store: Path
) -> None:
    fp32 = load_voice(store, "heart", 0, front_end, lambda _manifest: Setting("fp32", 1))
    assert (fp32.engine.level, fp32.distance_db) == ("fp32", 0.0)
    assert 0 < heart.distance_db < 1
    ids = heart.phonemize("Turn left at the next corner.")
    one, other = (np.concatenate([c.samples for c in v.engine.stream(ids, 1.0, 1)]) for v in (heart, fp32))
    assert 0.05 < log_mel_distance_db(other, one) < 1


def test_a_level_that_the_voice_lacks_is_refused(store: Path) -> None:
    with pytest.raises(VoiceError, match="voice heart has no level 'fp16'; there is int8, mixed, fp32"):
        load_voice(store, "heart", 0, front_end, lambda _manifest: Setting("fp16", 1))


def test_loading_an_unknown_voice_lists_the_others(store: Path) -> None:
    with pytest.raises(VoiceError, match="installed: heart"):
        load_voice(store, "brain", 0, front_end, first_level(1))


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("decoder.onnx.data", b""),
        ("front.onnx", b"<html>"),
        ("gold.marisa", None),
        ("spelling.onnx", b"no graph"),
    ],
)
def test_loading_a_damaged_voice_is_one_line(
    store: Path, tmp_path: Path, file: str, content: bytes | None
) -> None:
    folder = current(store, "heart").folder
    target = tmp_path / "heart" / folder.name
    target.mkdir(parents=True)
    for source in folder.iterdir():
        (target / source.name).symlink_to(source)
    (tmp_path / "heart" / "current").symlink_to(folder.name)
    (target / file).unlink()
    if content is not None:
        (target / file).write_bytes(content)
    with pytest.raises(VoiceError, match=file) as raised:
        load_voice(tmp_path, "heart", 0, front_end, first_level(1))
    assert "\n" not in str(raised.value)


def test_a_graph_of_the_right_size_that_is_none_is_one_line(store: Path, tmp_path: Path) -> None:
    folder = current(store, "heart").folder
    target = tmp_path / "heart" / folder.name
    target.mkdir(parents=True)
    for source in folder.iterdir():
        (target / source.name).write_bytes(source.read_bytes())
    (tmp_path / "heart" / "current").symlink_to(folder.name)
    (target / "front.onnx").write_bytes(b"x" * (target / "front.onnx").stat().st_size)
    with pytest.raises(VoiceError, match=r"front\.onnx: does not load") as raised:
        load_voice(tmp_path, "heart", 0, front_end, first_level(1))
    assert "\n" not in str(raised.value)


def test_nothing_of_the_builder_is_imported_to_speak(store: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from edged.voice.load import first_level, load_voice;"
        "from edged.voices import front_end;"
        f"load_voice(Path({str(store)!r}), 'heart', 0, front_end, first_level(1));"
        "builder = ('onnx', 'google.protobuf', 'edged.voice.decoder', 'edged.voice.heart');"
        "print([m for m in builder if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_graphs_of_another_onnxruntime_are_built_again(store: Path, tmp_path: Path) -> None:
    made = current(store, "heart").folder
    older = tmp_path / "heart" / "0123456789abcdef"
    shutil.copytree(made, older)
    (tmp_path / "heart" / "current").symlink_to(older.name)
    ensure_installed(tmp_path, "heart", lambda line: None)
    assert current(tmp_path, "heart").folder == older
    about = json.loads((older / MANIFEST).read_text())
    about["options"][BUILT_WITH] = "1.0.0"
    (older / MANIFEST).write_text(json.dumps(about))
    ensure_installed(tmp_path, "heart", lambda line: None)
    assert current(tmp_path, "heart").version == made.name
