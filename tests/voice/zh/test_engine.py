"""The engine: windows give what the whole gives, long texts are cut, bad sound never leaves it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edged.errors import BadAudioError, VoiceError
from edged.types import Float32, PhonemeIds
from edged.voice import store as voice_store
from edged.voice.engines import fastspeech2 as engine_module
from edged.voice.engines.fastspeech2 import (
    BLOCK_FRAMES,
    LEAD_FRAMES,
    MAX_FRAMES,
    FastSpeech2Engine,
    FastSpeech2Network,
    open_engine,
)
from edged.voice.engines.fastspeech2_parts import (
    CLAUSE_IDS,
    CLAUSE_PAUSE_FRAMES,
    LONG_IDS,
    MAX_IDS,
    Part,
    bounded,
    halved,
)
from edged.voice.engines.sound import FADE, KNEE
from edged.voice.load import Setting, load_voice
from tests.voice.sound import agreement_db
from tests.voice.zh import tiny
from tests.voice.zh.conftest import tiny_ids

SENTENCE = PhonemeIds(tiny_ids(70), "")
BREAKS = (5, 4, 3, 2)


def whole(engine: FastSpeech2Engine, ids: PhonemeIds = SENTENCE, speed: float = 1.0) -> Float32:
    return np.concatenate([c.samples for c in engine.stream(ids, speed, 1)])


@contextmanager
def with_chunks(engine: FastSpeech2Engine, *chunks: int) -> Iterator[None]:
    usual, engine.chunks = engine.chunks, chunks
    try:
        yield
    finally:
        engine.chunks = usual


def in_one_piece(engine: FastSpeech2Engine, ids: PhonemeIds, speed: float = 1.0) -> Float32:
    """Every network called once, on all frames."""
    network = engine._network
    hidden, repeats = network.encoded(ids.ids, speed)
    audio = network.audio(network.features(network.mel(network.states(hidden, repeats))))
    return audio[max(0, int(repeats[0]) - LEAD_FRAMES) * tiny.HOP :] * np.float32(network.options.gain)


@settings(max_examples=30, deadline=None)
@given(
    chunks=st.lists(st.integers(1, 300), min_size=1, max_size=6),
    count=st.integers(1, 90),
    speed=st.sampled_from((0.5, 0.8, 1.0, 1.3, 2.0)),
    block=st.sampled_from((1, 16, 128)),
)
def test_any_chunks_give_what_the_whole_gives(
    engine: FastSpeech2Engine, chunks: list[int], count: int, speed: float, block: int
) -> None:
    ids = PhonemeIds(tiny_ids(count), "")
    with with_chunks(engine, *chunks), pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_module, "BLOCK_FRAMES", block)
        said = whole(engine, ids, speed)
    expected = in_one_piece(engine, ids, speed)
    assert np.abs(expected).max() < KNEE  # the limiter does not hide anything here
    assert said.shape == expected.shape
    assert agreement_db(expected[FADE:-FADE], said[FADE:-FADE]) > 100


def test_chunks_grow_and_the_first_waits_for_little(
    engine: FastSpeech2Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames: dict[str, list[int]] = {"mel": [], "features": [], "audio": []}
    steps = {"mel": 1, "features": 1, "audio": 3}
    for name, seen in frames.items():
        inner = getattr(FastSpeech2Network, name)

        def spy(self: Any, given: Float32, inner: Any = inner, seen: Any = seen, name: str = name) -> Any:
            seen.append(given.shape[-1 if name == "audio" else 0] // steps[name])
            return inner(self, given)

        monkeypatch.setattr(FastSpeech2Network, name, spy)
    stream = engine.stream(SENTENCE, 1.0)
    first = next(stream)
    options = engine._network.options
    assert first.samples.size == 16 * tiny.HOP
    lead = int(engine._network.encoded(SENTENCE.ids, 1.0)[1][0]) - LEAD_FRAMES
    seen_by_features = 16 + options.back_margin + options.front_margin + lead
    assert {name: seen[0] for name, seen in frames.items()} == {
        "audio": 16 + options.back_margin + min(lead, options.back_margin),
        "features": seen_by_features,
        "mel": seen_by_features + options.postnet_margin,
    }
    rest = [chunk.samples.size // tiny.HOP for chunk in stream]
    assert rest[:3] == [32, 64, 64]
    assert max(frames["mel"]) <= 128 + 64 + 2 * 12 + 18
    assert len(frames["features"]) == 1 + -(-(sum(rest) - options.back_margin) // BLOCK_FRAMES)
    assert len(frames["mel"]) <= len(frames["features"])


def test_equal_ids_equal_samples_whatever_the_seed(engine: FastSpeech2Engine) -> None:
    one, other = (
        np.concatenate([c.samples for c in engine.stream(SENTENCE, 1.0, seed)]) for seed in (1, None)
    )
    assert np.array_equal(one, other)


def test_speed_is_held_within_its_limits(engine: FastSpeech2Engine) -> None:
    lengths = {speed: whole(engine, speed=speed).size for speed in (0.1, 0.5, 1.0, 2.0, 9.0)}
    assert lengths[0.1] == lengths[0.5]
    assert lengths[2.0] == lengths[9.0]
    assert lengths[0.5] == pytest.approx(2 * lengths[1.0], rel=0.03)
    assert lengths[2.0] == pytest.approx(lengths[1.0] / 2, rel=0.1)


def test_a_sentence_begins_and_ends_at_zero(engine: FastSpeech2Engine) -> None:
    said = whole(engine)
    assert said[0] == said[-1] == 0
    assert np.abs(np.diff(said))[[0, -1]].max() < 0.01
    assert np.abs(said).max() < 1


def test_loud_samples_are_bent(engine: FastSpeech2Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    options = engine._network.options
    monkeypatch.setattr(engine._network, "options", replace(options, gain=50 * options.gain))
    said = whole(engine)
    assert KNEE < np.abs(said).max() <= 1


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_bad_sound_is_not_let_out(
    engine: FastSpeech2Engine, monkeypatch: pytest.MonkeyPatch, value: float
) -> None:
    inner = FastSpeech2Network.audio
    calls: list[int] = []

    def audio(self: Any, features: Float32) -> Float32:
        calls.append(1)
        made = inner(self, features)
        return made if len(calls) == 1 else np.full_like(made, value)

    monkeypatch.setattr(FastSpeech2Network, "audio", audio)
    stream = engine.stream(SENTENCE, 1.0)
    next(stream)
    with pytest.raises(BadAudioError):
        next(stream)


@pytest.mark.parametrize("duration", [np.nan, 0.0, -3.0, 1e9])
def test_durations_that_cannot_be(
    engine: FastSpeech2Engine, monkeypatch: pytest.MonkeyPatch, duration: float
) -> None:
    inner = engine._network._encoder
    monkeypatch.setattr(
        engine._network,
        "_encoder",
        lambda ids: [inner(ids=ids)[0], np.full(ids.size, duration, np.float32)],
    )
    with pytest.raises(BadAudioError, match="frames for 73 ids; install the voice again"):
        next(engine.stream(SENTENCE, 1.0))


def test_the_shortest_text_is_as_long_as_the_vocoder_needs(engine: FastSpeech2Engine) -> None:
    ids = PhonemeIds(np.array([1, 8, tiny.IDS - 1]), "")
    _, repeats = engine._network.encoded(ids.ids, 2.0)
    assert repeats.sum() == engine._network.options.least_frames == 10
    assert whole(engine, ids, 2.0).size > 0


def test_too_many_frames_are_made_in_halves(
    engine: FastSpeech2Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    inner_states, inner_encoded = FastSpeech2Network.states, FastSpeech2Network.encoded

    def encoded(self: Any, ids: Any, speed: float) -> Any:
        hidden, repeats = inner_encoded(self, ids, speed)
        return hidden, repeats * 4

    def states(self: Any, hidden: Float32, repeats: Any) -> Float32:
        seen.append(int(repeats.sum()))
        return inner_states(self, hidden, repeats)

    monkeypatch.setattr(FastSpeech2Network, "encoded", encoded)
    monkeypatch.setattr(FastSpeech2Network, "states", states)
    said = whole(engine, PhonemeIds(tiny_ids(150), ""), 0.8)
    assert len(seen) >= 2
    assert max(seen) <= MAX_FRAMES
    assert said.size > 2.2 * MAX_FRAMES * tiny.HOP * 0.8


def test_a_long_text_is_cut_at_its_first_clause(engine: FastSpeech2Engine) -> None:
    ids = PhonemeIds(tiny_ids(120, breaks={40: 5, 80: 5}), "")
    first, second = bounded(ids.ids, BREAKS)
    assert first.pause_frames == CLAUSE_PAUSE_FRAMES
    assert second.pause_frames == 0
    parts = [whole(engine, PhonemeIds(part.ids, "")) for part in (first, second)]
    pause = np.zeros(CLAUSE_PAUSE_FRAMES * tiny.HOP, np.float32)
    assert agreement_db(np.concatenate((parts[0], pause, parts[1])), whole(engine, ids)) > 100


@settings(max_examples=200, deadline=None)
@given(
    inner=st.lists(st.one_of(st.sampled_from(BREAKS), st.integers(7, 38)), min_size=1, max_size=3 * MAX_IDS)
)
def test_parts_are_bounded_and_lose_only_breaks(inner: list[int]) -> None:
    ids = np.array([1, *inner, 1, 218], np.int64)
    parts = list(bounded(ids, BREAKS))
    said: list[int] = []
    for part in parts:
        assert part.ids.size <= MAX_IDS
        assert (part.ids[0], *part.ids[-2:]) == (1, 1, 218)
        said += part.ids[1:-2].tolist()
    assert [i for i in said if i not in BREAKS] == [i for i in inner if i not in BREAKS]
    assert len(said) >= len(inner) - len(parts) + 1
    if ids.size <= LONG_IDS:
        assert len(parts) == 1
    if len(parts) > 1 and 5 not in inner:
        assert all(part.ids.size > MAX_IDS // 8 for part in parts[:-1]) or set(inner) & set(BREAKS)


def test_the_best_break_is_taken() -> None:
    ids = tiny_ids(300, breaks={30: 2, 60: 3, 70: 4, 90: 4, 150: 3, 160: 2})
    first = next(bounded(ids, BREAKS))
    assert first.ids.size == 1 + 90 + 2
    assert first.pause_frames == 0
    ids = tiny_ids(300, breaks={10: 5, CLAUSE_IDS + 10: 5, 90: 5})
    assert next(bounded(ids, BREAKS)).ids.size == 1 + CLAUSE_IDS + 10 + 2
    one, other = halved(Part(tiny_ids(40, breaks={5: 5, 22: 3}), 7), BREAKS)
    assert (one.ids.size, other.ids.size, other.pause_frames) == (1 + 22 + 2, 1 + 17 + 2, 7)


def test_a_speaker_that_is_asked_for_is_ignored_with_one_line(
    engine: FastSpeech2Engine, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert next(engine.stream(SENTENCE, 1.0, 1, "somebody")).samples.size
    assert len(caplog.records) == 1
    assert "one speaker" in caplog.text


def test_int8_is_the_same_voice(tiny_store: Path, engine: FastSpeech2Engine) -> None:
    manifest = voice_store.current(tiny_store, "tiny")
    int8 = open_engine(manifest, "int8", 1)
    assert (int8.level, engine.level) == ("int8", "fp32")
    assert whole(int8).size == pytest.approx(whole(engine).size, rel=0.02)


def test_it_is_loaded_like_any_voice(tiny_store: Path) -> None:
    asked: list[tuple[Path, object]] = []

    class FrontEnd:
        cache = SimpleNamespace(hits=0, misses=0)
        reader = "tiny"

        def __call__(self, text: str) -> PhonemeIds:
            assert "语音" in text  # the trial is in the voice's language
            return PhonemeIds(tiny_ids(len(text)), text)

    def factory(folder: Path, net: object, _cache_bytes: int) -> FrontEnd:
        asked.append((folder, net))
        return FrontEnd()

    setting = Setting("int8", 1, (8, 40))
    voice = load_voice(tiny_store, "tiny", 0, factory, lambda _manifest: setting)
    manifest = voice_store.current(tiny_store, "tiny")
    assert asked == [(manifest.folder, None)]
    assert (voice.language, voice.engine.level) == ("zh", "int8")
    assert voice.distance_db == manifest.options["levels"]["int8"]["distance_db"] > 0
    sizes = [c.samples.size // tiny.HOP for c in voice.engine.stream(SENTENCE, 1.0)]
    assert sizes[:3] == [8, 40, 40]


@pytest.mark.parametrize(
    "change",
    [
        lambda options: options.pop("hop"),
        lambda options: options["levels"].pop("int8"),
        lambda options: options["levels"]["int8"].pop("front"),
    ],
)
def test_a_manifest_without_what_is_needed(tiny_store: Path, change: Callable[[Any], Any]) -> None:
    manifest = voice_store.current(tiny_store, "tiny")
    options = {**manifest.options, "levels": {k: dict(v) for k, v in manifest.options["levels"].items()}}
    change(options)
    with pytest.raises(VoiceError, match=r"voice.json: '\w+' is missing; install the voice again"):
        open_engine(replace(manifest, options=options), "int8", 1)
