"""The engine: chunks equal the whole, the whole is the published voice, bad sound never leaves it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hibari import dsp

from edged.errors import BadAudioError, VoiceError
from edged.types import Float32, PhonemeIds
from edged.voice import store as voice_store
from edged.voice.engines._ort import Network, optimise
from edged.voice.engines.hibari import MAX_IDS, bounded, open_engine, speech_span
from edged.voice.engines.source_filter import FrameShape, SourceFilter, white_noise
from edged.voice.load import LoadedVoice, Setting, load_voice
from edged.voices import front_end
from tests.voice.sound import agreement_db, log_mel_distance_db
from tests.voice.test_source_filter import GivenNoise

SHORT = "Turn left at the next corner."
LONG = (
    "When the train finally reached the station after a long delay in the mountains, the passengers stepped"
    " out into the cold evening air, gathered their bags and coats, and walked slowly toward the small cafe."
)
SHAPE = FrameShape(24_000, 1200, 300)


def whole(heart: LoadedVoice, text: str, speed: float = 1.0, seed: int | None = 1) -> Float32:
    return np.concatenate([c.samples for c in heart.engine.stream(heart.phonemize(text), speed, seed)])


@pytest.fixture(scope="module")
def levels(store: Path) -> dict[str, LoadedVoice]:
    def load(level: str) -> LoadedVoice:
        return load_voice(store, "heart", 0, front_end, lambda _manifest: Setting(level, 1))

    return {level: load(level) for level in ("int8", "mixed")}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Network:
    spec = find_spec("hibari")
    assert spec is not None
    assert spec.submodule_search_locations
    file = tmp_path_factory.mktemp("published") / "whole.onnx"
    optimise(Path(spec.submodule_search_locations[0]) / "assets" / "hibari.onnx", file)
    return Network(file)


def test_chunks_grow_and_are_float32_mono(heart: LoadedVoice) -> None:
    chunks = list(heart.engine.stream(heart.phonemize(LONG), 1.0))
    assert [c.samples.size // 300 for c in chunks[:5]] == [6, 16, 32, 64, 64]
    assert all(c.samples.dtype == np.float32 and c.samples.ndim == 1 for c in chunks)
    assert {c.sample_rate_hz for c in chunks} == {24_000}
    assert 0.1 < max(float(np.abs(c.samples).max()) for c in chunks) <= 1.0


@pytest.mark.parametrize("text", [SHORT, LONG, "Yes", "Is it?"])
@pytest.mark.parametrize("sizes", [(8,), (8, 16, 32, 64), (33, 7)])
@pytest.mark.parametrize(("level", "least_db", "most_db"), [("mixed", 90, 0.01), ("int8", 30, 0.1)])
def test_chunks_equal_the_whole(
    levels: dict[str, LoadedVoice],
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    sizes: tuple[int, ...],
    level: str,
    least_db: float,
    most_db: float,
) -> None:
    """In int8 a last bit more or less in a frame may round it differently."""
    voice = levels[level]

    def stream(frames: tuple[int, ...]) -> Float32:
        monkeypatch.setattr(voice.engine, "chunks", frames)
        return whole(voice, text)

    at_once, in_chunks = stream((100_000,)), stream(sizes)
    assert agreement_db(at_once, in_chunks) > least_db
    assert log_mel_distance_db(at_once, in_chunks) < most_db


@pytest.mark.parametrize("text", [SHORT, LONG, "Five, four, three.", "Shut the fridge."])
@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(("level", "most_db"), [("int8", 0.32), ("mixed", 0.28)])
def test_sounds_as_published(
    levels: dict[str, LoadedVoice], level: str, most_db: float, published: Network, text: str, speed: float
) -> None:
    heart = levels[level]
    ids = heart.phonemize(text)
    lh, theta, ln, lr, phi, f0_hz = (
        part[0] for part in published(ids=ids.ids[None], speed=np.array([speed], np.float32))
    )
    ours = whole(heart, text, speed)
    frames = ours.size // 300
    hidden = heart.engine._front(ids=ids.ids[None], speed=np.array([speed], np.float32))[0]  # type: ignore[attr-defined]
    begin, end = speech_span(hidden)
    assert end - begin == frames
    noise = np.zeros((f0_hz.size, SHAPE.bins), np.complex64)
    noise[begin:end] = white_noise(SHAPE, 1)(frames)
    theirs = dsp.synth(lh, theta, ln, lr, phi, f0_hz, GivenNoise(noise))
    # Most of it is what dynamic quantisation adds to the published decoder: 0.12 to 0.20 dB.
    assert log_mel_distance_db(theirs[begin * 300 : end * 300], ours) < most_db
    left_out = np.concatenate([theirs[: begin * 300], theirs[end * 300 :]])
    assert np.abs(left_out).max() < 10 ** (-60 / 20)


def test_silence_around_speech_is_left_out(heart: LoadedVoice) -> None:
    for text in (SHORT, LONG, "Yes", "Hello", "Zebra crossing."):
        level = np.abs(whole(heart, text)).reshape(-1, 300).max(axis=1)
        audible = np.flatnonzero(level > 0.01)
        assert audible[0] <= 10, text
        assert level.size - audible[-1] <= 24, text


def test_equal_seeds_give_equal_samples(heart: LoadedVoice) -> None:
    assert np.array_equal(whole(heart, SHORT, seed=3), whole(heart, SHORT, seed=3))
    assert not np.array_equal(whole(heart, SHORT, seed=3), whole(heart, SHORT, seed=4))
    assert not np.array_equal(whole(heart, SHORT, seed=None), whole(heart, SHORT, seed=None))


def test_two_streams_may_be_interleaved(heart: LoadedVoice) -> None:
    ids = heart.phonemize(LONG), heart.phonemize(SHORT)
    streams = [heart.engine.stream(i, 1.0, 1) for i in ids]
    made: list[list[Float32]] = [[], []]
    running = [0, 1]
    while running:
        for i in list(running):
            chunk = next(streams[i], None)
            if chunk is None:
                running.remove(i)
            else:
                made[i].append(chunk.samples)
    assert np.array_equal(np.concatenate(made[0]), whole(heart, LONG))
    assert np.array_equal(np.concatenate(made[1]), whole(heart, SHORT))


def test_a_stream_can_be_left_at_any_chunk(heart: LoadedVoice) -> None:
    for taken in range(4):
        stream = heart.engine.stream(heart.phonemize(LONG), 1.0, 1)
        first = list(islice(stream, taken))
        stream.close()  # type: ignore[attr-defined]
        assert len(first) == taken
    assert whole(heart, SHORT).size


def test_speed_changes_the_length_and_is_held_within_bounds(heart: LoadedVoice) -> None:
    lengths = [whole(heart, LONG, speed).size for speed in (0.5, 1.0, 2.0)]
    assert lengths[0] > 1.7 * lengths[1] > 3 * lengths[2]
    assert whole(heart, SHORT, 9.0).size == whole(heart, SHORT, 2.0).size
    assert whole(heart, SHORT, 0.01).size == whole(heart, SHORT, 0.5).size


@pytest.mark.parametrize("text", ["a", "I", "?!", "9" * 200, "%" * 200, "w" * 200], ids=lambda t: t[:2])
def test_odd_texts_make_sound(heart: LoadedVoice, text: str) -> None:
    ids = heart.phonemize(text)
    if ids.speakable:
        assert whole(heart, text).size > 1000


def test_many_ids_are_run_in_bounded_parts(heart: LoadedVoice) -> None:
    ids = heart.phonemize("9" * 200)
    assert ids.ids.size > 2 * MAX_IDS
    parts = list(bounded(ids.ids, 16))
    assert all(part.size <= MAX_IDS and part[0] == part[-1] == 0 for part in parts)
    assert np.array_equal(np.concatenate([part[1:-1] for part in parts]), ids.ids[1:-1])
    assert all(part[-2] == 16 for part in parts[:-1])
    unbroken = np.concatenate(([0], np.full(1000, 50), [0]))
    assert [part.size for part in bounded(unbroken, 16)] == [400, 400, 206]


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
    heart: LoadedVoice, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Float32], Float32], reason: str
) -> None:
    push = SourceFilter.push
    monkeypatch.setattr(SourceFilter, "push", lambda self, parts: damage(push(self, parts)))
    with pytest.raises(BadAudioError, match=reason):
        next(iter(heart.engine.stream(heart.phonemize(SHORT), 1.0)))


def test_weights_that_are_not_numbers_give_no_sound(store: Path, tmp_path: Path) -> None:
    manifest = voice_store.current(store, "heart")
    for file in manifest.folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = np.fromfile(tmp_path / "decoder.onnx.data", np.float32)
    weights[::1000] = np.nan
    weights.tofile(tmp_path / "decoder.onnx.data")
    engine = open_engine(replace(manifest, folder=tmp_path), "mixed", 1)
    with pytest.raises(BadAudioError, match="not numbers"):
        next(engine.stream(PhonemeIds(np.array([0, 50, 60, 0]), ""), 1.0))


def test_ids_out_of_range_are_one_line(heart: LoadedVoice) -> None:
    def run() -> Iterator[object]:
        return heart.engine.stream(PhonemeIds(np.array([0, 99_999, 0]), ""), 1.0)

    with pytest.raises(VoiceError, match="does not run") as raised:
        next(run())
    assert "\n" not in str(raised.value)
