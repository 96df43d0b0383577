"""The engine: windows give what the whole gives, noise follows the seed, bad sound never leaves it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edged.errors import BadAudioError, VoiceError
from edged.types import Float32, PhonemeIds
from edged.voice import store as voice_store
from edged.voice.engines.sound import FADE, KNEE, faded, limited
from edged.voice.engines.vits import (
    CALL_FRAMES,
    MAX_IDS,
    Passage,
    Schedule,
    VitsEngine,
    VitsOptions,
    bounded,
    open_engine,
)
from edged.voice.speakers import Speakers
from tests.voice.sound import agreement_db
from tests.voice.vits import tiny

SENTENCE = PhonemeIds(tiny.ids_of([8, 12, 9, 3, 20, 21, 8, 30, 14, 3, 17, 9, 25, 11, 6] * 4), "")
SHORT = PhonemeIds(tiny.ids_of([9, 12]), "")


def whole(
    engine: VitsEngine,
    ids: PhonemeIds = SENTENCE,
    speed: float = 1.0,
    seed: int | None = 1,
    speaker: Any = None,
) -> Float32:
    return np.concatenate([c.samples for c in engine.stream(ids, speed, seed, speaker)])


def with_schedule(engine: VitsEngine, *chunks: int) -> Float32:
    usual = engine.schedule
    engine.schedule = Schedule(chunks)
    try:
        return whole(engine)
    finally:
        engine.schedule = usual


@pytest.mark.parametrize(("name", "speaker"), [("ramp", None), ("ramps", 0), ("ramps", 2)])
def test_every_frame_is_said_once_and_in_order(
    engines: dict[str, VitsEngine], tiny_store: Path, name: str, speaker: int | None
) -> None:
    gain = voice_store.current(tiny_store, name).options["gain"]
    levels = np.repeat(tiny.level(SENTENCE.ids, speaker or 0), tiny.FRAMES_PER_ID)
    expected = np.repeat(limited((gain * levels).astype(np.float32)), tiny.HOP)
    said = whole(engines[name], speaker=speaker)
    assert said.shape == expected.shape
    assert np.abs(said - expected)[tiny.HOP : -tiny.HOP].max() < 1e-5


@settings(max_examples=40, deadline=None)
@given(chunks=st.lists(st.integers(1, 300), min_size=1, max_size=6), length=st.integers(1, 90))
def test_any_schedule_gives_the_same_samples(
    engines: dict[str, VitsEngine], chunks: list[int], length: int
) -> None:
    engine = engines["random"]
    ids = PhonemeIds(tiny.ids_of([8 + i * 7 % 20 for i in range(length)]), "")
    usual = whole(engine, ids)
    engine.schedule = Schedule(tuple(chunks))
    try:
        other = whole(engine, ids)
    finally:
        engine.schedule = Schedule()
    assert agreement_db(usual, other) > 100


@pytest.mark.parametrize(("name", "speaker"), [("random", None), ("randoms", 0), ("randoms", 2)])
@pytest.mark.parametrize("letters", [1, 2, 5, 20, 90])
def test_chunks_equal_one_call_over_everything(
    engines: dict[str, VitsEngine], name: str, speaker: int | None, letters: int
) -> None:
    network = engines[name].network
    prior = network.prior(tiny.ids_of([8 + i * 7 % 20 for i in range(letters)]), 1.0, 1, speaker)
    for chunks in ((8, 28, 64), (1,), (3, 100)):
        in_chunks = np.concatenate(list(network.samples(prior, Schedule(chunks), speaker)))
        assert agreement_db(network.at_once(prior, speaker), in_chunks) > 100


def test_no_frame_is_computed_twice(engines: dict[str, VitsEngine], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, list[int]] = {"prior": [], "latent": []}
    spied(monkeypatch, lambda name, frames: seen[name].append(frames.shape[2]))
    said = with_schedule(engines["random"], 8, 28, 64)
    assert all(len(frames) > 2 and sum(frames) == said.size // tiny.HOP for frames in seen.values())


def spied(monkeypatch: pytest.MonkeyPatch, see: Callable[[str, Float32], None]) -> None:
    """Let `see` have every input of flow and decoder."""
    inner = Passage.__call__

    def call(self: Passage, frames: Float32, *, last: bool) -> Float32:
        see(self._name, frames)
        return inner(self, frames, last=last)

    monkeypatch.setattr(Passage, "__call__", call)


def test_no_call_gets_more_frames_than_said(
    engines: dict[str, VitsEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    spied(monkeypatch, lambda _name, frames: seen.append(frames.shape[2]))
    for chunks in ((8, 28, 108), (1,), (300,), (127, 3)):
        with_schedule(engines["random"], *chunks)
    for letters in range(1, 70, 3):  # every length of what is left for the last call
        whole(engines["ramp"], PhonemeIds(tiny.ids_of([9] * letters), ""))
    assert max(seen) <= CALL_FRAMES


def test_both_kinds_of_noise_are_drawn_apart(engines: dict[str, VitsEngine]) -> None:
    network = engines["random"].network
    timing = network.front_inputs(SENTENCE.ids, 1.0, 5, None)["noise"]
    prior = network.prior(SENTENCE.ids, 1.0, 5, None)
    still = replace(prior, mean=0 * prior.mean, logs=0 * prior.logs, noise_scale=1.0)
    noise = still.draws()(0, 20)
    assert abs(float(noise.std()) - 1) < 0.3
    assert not np.isin(noise, timing).any()


def test_chunks_grow_and_are_float32_mono(engines: dict[str, VitsEngine]) -> None:
    chunks = list(engines["random"].stream(SENTENCE, 1.0, 1))
    assert [c.samples.size // tiny.HOP for c in chunks[:3]] == [8, 28, 64]
    assert all(c.samples.dtype == np.float32 and c.samples.ndim == 1 for c in chunks)
    assert {c.sample_rate_hz for c in chunks} == {tiny.RATE_HZ}


def test_equal_seeds_give_equal_samples(engines: dict[str, VitsEngine]) -> None:
    engine = engines["random"]
    assert np.array_equal(whole(engine, seed=3), whole(engine, seed=3))
    other, unseeded = whole(engine, seed=4), [whole(engine, seed=None) for _ in range(2)]
    same_length = min(other.size, unseeded[0].size, unseeded[1].size)
    assert not np.array_equal(whole(engine, seed=3)[:same_length], other[:same_length])
    assert not np.array_equal(unseeded[0][:same_length], unseeded[1][:same_length])


def test_two_streams_may_be_interleaved(engines: dict[str, VitsEngine]) -> None:
    engine = engines["random"]
    streams = [engine.stream(ids, 1.0, 1) for ids in (SENTENCE, SHORT)]
    made: list[list[Float32]] = [[], []]
    running = [0, 1]
    while running:
        for i in list(running):
            chunk = next(streams[i], None)
            if chunk is None:
                running.remove(i)
            else:
                made[i].append(chunk.samples)
    assert np.array_equal(np.concatenate(made[0]), whole(engine, SENTENCE))
    assert np.array_equal(np.concatenate(made[1]), whole(engine, SHORT))


def test_a_stream_can_be_left_at_any_chunk(engines: dict[str, VitsEngine]) -> None:
    for taken in range(4):
        stream = engines["random"].stream(SENTENCE, 1.0, 1)
        assert len(list(islice(stream, taken))) == taken
        stream.close()  # type: ignore[attr-defined]


def test_speed_changes_the_length_and_is_held_within_bounds(engines: dict[str, VitsEngine]) -> None:
    engine = engines["random"]
    lengths = [whole(engine, speed=speed).size for speed in (0.5, 1.0, 2.0)]
    assert lengths[0] > 1.6 * lengths[1] > 2.2 * lengths[2]
    assert whole(engine, speed=9.0).size == lengths[2]
    assert whole(engine, speed=0.01).size == lengths[0]


def test_many_ids_are_run_in_bounded_parts(engines: dict[str, VitsEngine]) -> None:
    letters = [8 + i % 20 if i % 7 else 3 for i in range(1, 1000)]
    ids = tiny.ids_of(letters)
    parts = list(bounded(ids, (3,)))
    assert len(parts) == 3
    for part in parts:
        assert part.size <= MAX_IDS
        assert (part[:2].tolist(), part[-1]) == ([1, 0], 2)
        assert not part[3:-1:2].any()  # pads stay between
    assert np.array_equal(np.concatenate([part[2:-1] for part in parts]), ids[2:-1])
    assert all(part[-3] == 3 for part in parts[:-1])
    assert whole(engines["ramp"], PhonemeIds(ids, "")).size == tiny.HOP * tiny.FRAMES_PER_ID * (ids.size + 6)
    assert [part.size for part in bounded(tiny.ids_of([9] * 500), (3,))] == [799, 207]


# Speakers (C59).


def test_no_speaker_is_the_default_one_noted_once(caplog: pytest.LogCaptureFixture) -> None:
    speakers = Speakers("ann", ("a", "b", "2"), default=1)
    with caplog.at_level(logging.INFO, "edged"):
        assert [speakers.choose(None) for _ in range(3)] == [1, 1, 1]
    assert [r.message for r in caplog.records] == ["voice ann: no speaker asked for, using 1"]


@pytest.mark.parametrize("asked", [9999, 3, -1, True, False, 1.0, "c", "", [1], b"a"])
def test_a_speaker_that_does_not_exist_is_refused(asked: object) -> None:
    speakers = Speakers("ann", ("a", "b", "2"))
    with pytest.raises(VoiceError, match=r"valid is 0 to 2, or a name: a, b$"):
        speakers.choose(asked)


def test_speakers_by_number_and_name() -> None:
    speakers = Speakers("ann", ("a", "b", "2"))
    assert [speakers.choose(s) for s in (0, 2, "b", "2")] == [0, 2, 1, 2]


def test_speakers_change_the_sound(engines: dict[str, VitsEngine]) -> None:
    sounds = [whole(engines["randoms"], speaker=s) for s in (0, 1, "voice1", None)]
    assert np.array_equal(sounds[1], sounds[2])
    assert np.array_equal(sounds[0], sounds[3])
    n = min(sounds[0].size, sounds[1].size)
    assert agreement_db(sounds[0][:n], sounds[1][:n]) < 20
    with pytest.raises(VoiceError, match="valid is 0 to 2"):
        whole(engines["randoms"], speaker=9999)


def test_one_speaker_speaks_whatever_is_asked(
    engines: dict[str, VitsEngine], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "edged"):
        assert np.array_equal(whole(engines["random"], speaker=3), whole(engines["random"]))
        whole(engines["random"], speaker=3)
    assert [r.message for r in caplog.records] == ["voice random has one speaker; 3 is ignored"]


# Sound that must not leave (C61).


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda s: np.full_like(s, np.nan), "not numbers"),
        (lambda s: np.where(np.arange(s.size) == 7, np.inf, s).astype(np.float32), "not numbers"),
        (lambda s: s * 0, "only silence"),
        (lambda s: s[:0], "no samples"),
    ],
)
def test_bad_sound_is_not_let_out(
    engines: dict[str, VitsEngine],
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Float32], Float32],
    reason: str,
) -> None:
    inner = Passage.__call__

    def call(self: Passage, frames: Float32, *, last: bool) -> Float32:
        made = inner(self, frames, last=last)
        return damage(made) if self._name == "latent" else made

    monkeypatch.setattr(Passage, "__call__", call)
    with pytest.raises(BadAudioError, match=reason):
        next(engines["random"].stream(SENTENCE, 1.0))


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, -3.0, 1e9])
def test_durations_that_cannot_be(
    engines: dict[str, VitsEngine], monkeypatch: pytest.MonkeyPatch, value: float
) -> None:
    network = engines["random"].network
    front = network._front

    def damaged(**inputs: Any) -> list[Any]:
        mean, logs, durations = front(**inputs)
        return [mean, logs, np.full_like(durations, value)]

    monkeypatch.setattr(network, "_front", damaged)
    with pytest.raises(BadAudioError, match="frames for"):
        next(engines["random"].stream(SENTENCE, 1.0))


def test_weights_that_are_not_numbers_give_no_sound(tiny_store: Path, tmp_path: Path) -> None:
    manifest = voice_store.current(tiny_store, "random")
    for file in manifest.folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    data = tmp_path / f"{manifest.options['levels']['fp32']['decoder']}.data"
    weights = np.fromfile(data, np.float32)
    weights[::10] = np.nan
    weights.tofile(data)
    engine = open_engine(replace(manifest, folder=tmp_path), "fp32", 1)
    with pytest.raises(BadAudioError, match="not numbers"):
        next(engine.stream(SENTENCE, 1.0))


def test_ids_out_of_range_are_one_line(engines: dict[str, VitsEngine]) -> None:
    with pytest.raises(VoiceError, match="does not run") as raised:
        next(engines["random"].stream(PhonemeIds(tiny.ids_of([99_999]), ""), 1.0))
    assert "\n" not in str(raised.value)


def test_limiter_bends_only_what_is_loud() -> None:
    ramp = np.linspace(-3, 3, 6001, dtype=np.float32)
    bent = limited(ramp)
    quiet = np.abs(ramp) <= KNEE
    assert np.array_equal(bent[quiet], ramp[quiet])
    assert np.abs(bent).max() <= 1
    assert (np.diff(bent) >= 0).all()
    assert np.diff(bent).max() < 1.01 * np.diff(ramp).max()  # no step at the knee
    assert np.array_equal(np.concatenate([limited(part) for part in np.split(ramp, [10, 700])]), bent)
    assert bent.dtype == np.float32


def test_a_sentence_begins_and_ends_at_zero(engines: dict[str, VitsEngine]) -> None:
    for ids in (SENTENCE, SHORT):
        said = whole(engines["ramp"], ids)
        assert (said[0], said[-1]) == (0, 0)
        assert said[tiny.HOP] > 0.02


def test_fades() -> None:
    ones = np.ones(200, np.float32)
    assert faded(ones, FADE, begins=False, ends=False) is ones
    both = faded(ones, FADE, begins=True, ends=True)
    assert np.array_equal(both, both[::-1])
    assert (both[0], both[FADE - 1], both[-1]) == (0, 1, 0)
    assert ones.min() == 1
    assert (
        faded(ones[:9], FADE, begins=True, ends=False).tolist()
        == np.linspace(0, 1, 9, dtype=np.float32).tolist()
    )


# What the manifest says.


def test_an_unknown_level_lists_the_others(tiny_store: Path) -> None:
    with pytest.raises(
        VoiceError, match=r"voice random has no level 'fp8'; there is mixed, fp32, fp16, int8"
    ):
        open_engine(voice_store.current(tiny_store, "random"), "fp8", 1)


def test_a_manifest_without_an_option_is_one_line(tiny_store: Path) -> None:
    manifest = voice_store.current(tiny_store, "random")
    broken = replace(manifest, options={k: v for k, v in manifest.options.items() if k != "hop"})
    with pytest.raises(VoiceError, match=r"voice.json: 'hop' is missing; install the voice again"):
        open_engine(broken, "fp32", 1)


def test_every_level_speaks(tiny_store: Path) -> None:
    manifest = voice_store.current(tiny_store, "random")
    fp32 = whole(open_engine(manifest, "fp32", 1))
    for level in ("mixed", "fp16", "int8"):
        engine = open_engine(manifest, level, 1)
        assert engine.level == level
        assert abs(whole(engine).size / fp32.size - 1) < 0.05
    assert open_engine(manifest, None, 1).level == "mixed"


def test_weights_of_half_the_size_are_rounded_and_no_more(
    tiny_store: Path, engines: dict[str, VitsEngine]
) -> None:
    manifest = voice_store.current(tiny_store, "ramp")
    fp16, fp32 = whole(open_engine(manifest, "fp16", 1)), whole(engines["ramp"])
    assert 50 < agreement_db(fp32, fp16) < 120
    assert manifest.options["levels"]["fp16"]["distance_db"] < 0.1


def test_options_are_read_for_one_level() -> None:
    options = {
        "levels": {
            "x": {"front": "a", "flow": "b", "decoder": "c", "flow_first_frames": 65, "distance_db": 1.0}
        },
        **dict.fromkeys(VitsOptions.__slots__, 1),
        "space_ids": [3],
        "more": 2,
    }
    read = VitsOptions.of(options, "x")
    assert (read.front, read.flow, read.decoder, read.space_ids) == ("a", "b", "c", (3,))
    assert (read.flow_first_frames, read.hop) == (65, 1)
