"""The scripted voice: a product part, so the daemon's other voices and it keep the same promises."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from edged.audio.pcm import PcmStream
from edged.config.model import Config, VoiceConfig
from edged.errors import VoiceError
from edged.voice.engines.scripted import HOP, RATE_HZ, samples_of
from edged.voice.load import LoadedVoice
from edged.voices import Voices

MAKE = Path(__file__).parents[2] / "models" / "make_scripted.py"
TEXT = "The same ramp, whatever the chunks are."


@pytest.fixture
def voice(tmp_path: Path) -> LoadedVoice:
    words = [str(tmp_path / "voices"), str(tmp_path / "cost"), "--state", str(tmp_path)]
    subprocess.run([sys.executable, str(MAKE), *words, "--rtf", "fp32=0.4", "--rtf", "int8=0.1"], check=True)
    config = Config(state_dir=str(tmp_path), voice=VoiceConfig(name="scripted"))
    return Voices(config, lambda _line: None).get(None)


def test_chunks_make_up_the_ramp_to_the_sample(voice: LoadedVoice) -> None:
    ids = voice.phonemize(TEXT)
    for chunks in ((16, 32, 64), (1, 7), (1000,)):
        voice.use_chunks(chunks)
        pcm = PcmStream(RATE_HZ, RATE_HZ)
        made = [pcm.push(chunk.samples, 1.0) for chunk in voice.engine.stream(ids, 1.0)]
        assert made[0].size == min(chunks[0] * HOP, samples_of(ids).size)
        np.testing.assert_array_equal(np.concatenate(made), samples_of(ids))
    assert samples_of(ids).min() > 0
    assert not np.array_equal(samples_of(ids)[:100], samples_of(voice.phonemize("Another one."))[:100])
    assert samples_of(ids, 2.0).size * 2 == pytest.approx(samples_of(ids).size, abs=2 * HOP)


def test_it_costs_what_the_file_says_from_the_next_chunk_on(voice: LoadedVoice, tmp_path: Path) -> None:
    assert voice.setting.level == "fp32"
    voice.use_chunks((16,))
    stream = voice.engine.stream(voice.phonemize(TEXT), 1.0)
    next(stream)
    (tmp_path / "cost").write_text(json.dumps({"fp32": 1.5, "int8": 0}))
    begun_s = time.monotonic()
    next(stream)
    assert time.monotonic() - begun_s >= 1.5 * 16 * HOP / RATE_HZ


@pytest.mark.parametrize("text", ["", "[]", '{"fp32": []}', '{"fp32": "x"}'])
def test_a_broken_cost_file_is_one_line(voice: LoadedVoice, tmp_path: Path, text: str) -> None:
    (tmp_path / "cost").write_text(text)
    with pytest.raises(VoiceError, match="cost: not the cost of a scripted voice"):
        next(voice.engine.stream(voice.phonemize(TEXT), 1.0))
