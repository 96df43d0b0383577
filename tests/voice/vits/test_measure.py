"""What `edged voice measure` adds to the times of a voice: strides of the device, samples for the ear."""

from __future__ import annotations

import csv
import json
import wave
from dataclasses import replace
from pathlib import Path

import pytest

from edged.cli import voice_stride
from edged.cli.voice_samples import DRAWS, INDEX, SENTENCES, write_samples
from edged.cli.voice_stride import STRIDES_MS, strides
from edged.config.model import AudioConfig, Config
from edged.errors import EdgedError, SinkError, VoiceError
from edged.voice import store as voice_store
from tests.voice.vits import tiny

NULL = Config(audio=AudioConfig(sink="null"))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voice_stride, "MEASURE_S", 0.1)
    monkeypatch.setattr(voice_stride, "SETTLE_S", 0.02)


def test_strides_are_measured_once_per_device(tmp_path: Path) -> None:
    said: list[str] = []
    found = strides(NULL, tmp_path, said.append)
    assert tuple(stride.period_ms for stride in found) == STRIDES_MS
    assert all(0 < stride.cpu < 1 for stride in found)
    assert all(s.callback_us == pytest.approx(1000 * s.cpu * s.period_ms, rel=0.1, abs=1) for s in found)
    assert len(said) == 3
    assert strides(NULL, tmp_path, said.append) == found
    assert len(said) == 3
    other = replace(NULL, audio=replace(NULL.audio, device="other"))
    strides(other, tmp_path, said.append)
    assert len(said) == 6
    (file,) = tmp_path.iterdir()
    assert set(json.loads(file.read_text())) == {"null: default", "null: other"}


@pytest.mark.parametrize("text", ["[]", "{", '{"null: default": [{"period": 6}]}'])
def test_strides_that_cannot_be_read_are_measured_again(tmp_path: Path, text: str) -> None:
    strides(NULL, tmp_path, lambda _line: None)
    (file,) = tmp_path.iterdir()
    file.write_text(text)
    assert len(strides(NULL, tmp_path, lambda _line: None)) == 3


def test_strides_without_a_device_are_one_line(tmp_path: Path) -> None:
    config = Config(audio=AudioConfig(sink="alsa", device="no such device"))
    with pytest.raises(SinkError) as raised:
        strides(config, tmp_path, lambda _line: None)
    assert "\n" not in str(raised.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["random", "randoms"])
def test_samples_differ_in_nothing_but_their_precision(tiny_store: Path, tmp_path: Path, name: str) -> None:
    manifest = voice_store.current(tiny_store, name)
    samples = write_samples(manifest, tmp_path / "heard")
    assert len(samples) == len(SENTENCES) * (len(manifest.levels) + len(DRAWS))
    with (tmp_path / "heard" / INDEX).open(newline="") as index:
        rows = list(csv.DictReader(index, delimiter="\t"))
    assert [row["file"] for row in rows] == [sample.file for sample in samples]
    frames: dict[str, set[int]] = {}
    for sample in samples:
        with wave.open(str(tmp_path / "heard" / sample.file)) as wav:
            assert (wav.getnchannels(), wav.getsampwidth(), wav.getframerate()) == (1, 2, tiny.RATE_HZ)
            frames.setdefault(sample.text, set()).add(wav.getnframes())
    assert set(frames) == set(SENTENCES)
    assert all(len(lengths) == 1 and min(lengths) > 0 for lengths in frames.values())
    distance = {(s.level, s.noise): s.distance_db for s in samples}
    assert distance["fp32", 1] == 0
    assert 0 < distance["fp16", 1] < distance["fp32", 2]


def test_samples_that_cannot_be_written_are_one_line(tiny_store: Path, tmp_path: Path) -> None:
    manifest = voice_store.current(tiny_store, "random")
    (tmp_path / "file").write_text("")
    with pytest.raises(EdgedError, match=r"file: .*; name a folder you may write to"):
        write_samples(manifest, tmp_path / "file")
    with pytest.raises(VoiceError, match="--samples is for Piper voices"):
        write_samples(replace(manifest, engine="hibari"), tmp_path / "heard")
