"""The real voice: exact in parts, equal in chunks, and in `mixed` no further off than its own noise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from edged.text.piper import PiperFrontEnd
from edged.types import Float32
from edged.voice.engines.vits import USUAL_SCHEDULE, Prior, VitsNetwork, VitsOptions, open_engine
from edged.voice.manifest import Manifest, verify
from tests.voice.sound import agreement_db, log_mel

# None of these was used to calibrate or to measure the voice.
SENTENCES = (
    "Yes.",
    "No",
    "About",
    "The kettle boils.",
    "Dinner is ready in ten minutes.",
    "A parcel has been left with your neighbour at number nineteen.",
    "Please take the umbrella, it looks like rain.",
    "Who turned off the heating in the bathroom?",
    "Stop! The front gate is still open.",
    "Your next bus leaves at a quarter to seven from the square.",
    "Humidity in the cellar has risen above eighty percent.",
    "We measured the usual pressure, then a sudden change.",
    "The chef chose fresh ginger, garlic and thyme.",
    "One, two, three, four, five, six, seven, eight, nine, ten.",
    "Good morning everyone, this is the weekly test of the public address system.",
    "It was the youngest of the three brothers who heard the noise first.",
    "Low battery in the smoke detector of the upper hallway.",
    "Thank you for waiting, somebody will be with you shortly.",
    "The museum closes in a quarter of an hour, so please make your way to the exit on the ground floor.",
    "When the bridge was finished after seven years of work, the people from both sides of the valley came to"
    " walk over it, the mayor gave a speech that nobody could hear in the wind, and the band played on.",
)


@pytest.fixture(scope="module")
def front(joe: Manifest) -> PiperFrontEnd:
    return PiperFrontEnd(joe.folder, 0)


def network(joe: Manifest, level: str) -> VitsNetwork:
    return VitsNetwork(joe.folder, VitsOptions.of(joe.options, level))


def in_chunks(net: VitsNetwork, prior: Prior) -> Float32:
    return np.concatenate(list(net.samples(prior, USUAL_SCHEDULE, None)))


def distance_db(one: Float32, other: Float32) -> float:
    return float(np.abs(log_mel(one, 22_050) - log_mel(other, 22_050)).mean())


def test_installed_voice_says_what_it_is(joe: Manifest) -> None:
    verify(joe)
    assert (joe.engine, joe.language, joe.sample_rate_hz, joe.speakers) == ("vits", "en-us", 22050, ())
    assert joe.levels == ("mixed", "fp32", "fp16")
    options = joe.options
    # Flow: 4 couplings of 4 convolutions of 5 frames. Decoder: 10.1 frames.
    assert (options["hop"], options["flow_ahead_frames"], options["decoder_ahead_samples"]) == (256, 32, 2582)
    assert options["levels"]["mixed"]["int8"][:2] == ["flow", "encoder"]
    assert options["levels"]["mixed"]["distance_db"] < options["natural_db"]
    assert all(db > 0 for db in options["levels"]["mixed"]["refused_db"].values())
    assert 1 < options["gain"] < 3


@pytest.mark.parametrize("text", [SENTENCES[4], SENTENCES[19]])
def test_without_noise_it_is_the_published_network(
    joe: Manifest, front: PiperFrontEnd, joe_network: Path, text: str
) -> None:
    ids = front(text).ids
    published = onnxruntime.InferenceSession(str(joe_network))
    scales = np.array([0, 1, 0], np.float32)
    feed = {"input": ids[None], "input_lengths": np.array([ids.size]), "scales": scales}
    theirs = published.run(None, feed)[0].reshape(-1)
    options = replace(VitsOptions.of(joe.options, "fp32"), noise_scale=0.0, noise_w=0.0)
    silent = VitsNetwork(joe.folder, options)
    assert np.array_equal(theirs, silent.at_once(silent.prior(ids, 1.0, 0, None), None))


def test_chunks_equal_the_whole(joe: Manifest, front: PiperFrontEnd) -> None:
    net = network(joe, "fp32")
    for seed, text in enumerate(SENTENCES):
        prior = net.prior(front(text).ids, 1.0, seed, None)
        assert agreement_db(net.at_once(prior, None), in_chunks(net, prior)) > 100, text


def test_mixed_is_nearer_to_fp32_than_two_draws_of_the_noise(joe: Manifest, front: PiperFrontEnd) -> None:
    fp32, mixed = network(joe, "fp32"), network(joe, "mixed")
    natural, quantised = [], []
    for seed, text in enumerate(SENTENCES[::2]):
        ids = front(text).ids
        one, other = (fp32.prior(ids, 1.0, s, None) for s in (seed, seed + 100))
        same_length = replace(other, mean=one.mean, logs=one.logs, repeats=one.repeats)
        rendered = in_chunks(fp32, one)
        natural.append(distance_db(rendered, in_chunks(fp32, same_length)))
        by_mixed = replace(mixed.prior(ids, 1.0, seed, None), repeats=one.repeats)
        quantised.append(distance_db(rendered, in_chunks(mixed, by_mixed)))
    assert np.mean(quantised) < 0.75 * np.mean(natural)
    assert all(q < 1.2 * n for q, n in zip(quantised, natural, strict=True))


def test_half_the_size_sounds_the_same(joe: Manifest, front: PiperFrontEnd) -> None:
    fp32, fp16 = network(joe, "fp32"), network(joe, "fp16")
    one, other = (n.prior(front(SENTENCES[5]).ids, 1.0, 1, None) for n in (fp32, fp16))
    assert np.array_equal(one.repeats, other.repeats)
    assert distance_db(in_chunks(fp32, one), in_chunks(fp16, other)) < 0.1
    size = {level: sum(f.bytes for f in joe.files if f".{level}." in f.name) for level in ("fp32", "fp16")}
    assert size["fp16"] < 0.55 * size["fp32"]


def test_durations_of_mixed_hold_on_long_sentences(joe: Manifest, front: PiperFrontEnd) -> None:
    fp32, mixed = network(joe, "fp32"), network(joe, "mixed")
    for text in SENTENCES[-2:]:
        a, b = (n.prior(front(text).ids, 1.0, 1, None).repeats for n in (fp32, mixed))
        assert abs(b.sum() / a.sum() - 1) < 0.03


@pytest.mark.parametrize("level", ["fp32", "mixed"])
def test_loudness_and_ends(joe: Manifest, front: PiperFrontEnd, level: str) -> None:
    engine = open_engine(joe, level, 1)
    for text in SENTENCES[3:12]:
        samples = np.concatenate([c.samples for c in engine.stream(front(text), 1.0, 1)])
        assert 0.4 < np.abs(samples).max() <= 1.0
        assert (samples[0], samples[-1]) == (0, 0)  # no step from the pause before, or to the one after


def test_no_step_where_chunks_join(joe: Manifest, front: PiperFrontEnd) -> None:
    engine = open_engine(joe, "mixed", 1)
    chunks = [c.samples for c in engine.stream(front(SENTENCES[-1]), 1.0, 1)]
    steps = np.abs(np.diff(np.concatenate(chunks)))
    joins = np.cumsum([c.size for c in chunks])[:-1] - 1
    assert steps[joins].max() <= np.quantile(steps, 0.999)


@pytest.mark.parametrize("text", ["No", "About"])
def test_first_phoneme_is_audible(joe: Manifest, front: PiperFrontEnd, text: str) -> None:
    """n and ə, the first sounds, have frames of their own and are not silent."""
    net = network(joe, "fp32")
    prior = net.prior(front(text).ids, 1.0, 1, None)
    samples = in_chunks(net, prior)
    begin = int(prior.repeats[:2].sum())
    end = int(prior.repeats[:4].sum())
    assert end - begin >= 2
    loudest = np.abs(samples).max()
    assert np.abs(samples[begin * 256 : end * 256]).max() > 0.05 * loudest
