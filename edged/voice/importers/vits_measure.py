"""What is found by running a voice once: that its parts and its chunks are the whole, hop and gain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from edged.errors import VoiceError
from edged.voice.engines.vits import CALL_FRAMES, USUAL_SCHEDULE, VitsNetwork, VitsOptions
from edged.voice.importers.vits_distance import Sentences, agreement_db
from edged.voice.importers.vits_graph import Cuts
from edged.voice.importers.vits_levels import Level, Workshop

_PEAK = 0.85
"""Of a middling sentence, after the gain that is found here."""

_EXACT_DB = 120.0
_CHUNKED_DB = 100.0
_MOST_AHEAD_FRAMES = CALL_FRAMES * 3 // 4
"""The first call is given these and the first chunk."""


def measured(
    workshop: Workshop, fp32: Level, published: Path, cuts: Cuts, sentences: Sentences
) -> VitsOptions:
    """Hop and gain, after a comparison with the published network. Raises VoiceError."""
    _compare(workshop, fp32, published, cuts, sentences)
    network = workshop.network(fp32)
    ids, speaker = max(sentences, key=lambda sentence: sentence[0].size)
    prior = network.prior(ids, 1.0, 0, speaker)
    frames, whole = int(prior.repeats.sum()), network.at_once(prior, speaker)
    if whole.size % frames:
        raise VoiceError(f"{published}: {whole.size} samples of {frames} frames; it cannot be streamed")
    network.options = replace(network.options, hop=whole.size // frames)
    ahead = network.options.flow_ahead_frames + network.options.decoder_ahead_samples // network.options.hop
    if ahead >= _MOST_AHEAD_FRAMES:
        raise VoiceError(f"{published}: it looks {ahead} frames ahead; it cannot be streamed")
    found_db = agreement_db(whole, np.concatenate(list(network.samples(prior, USUAL_SCHEDULE, speaker))))
    if not found_db >= _CHUNKED_DB:
        raise VoiceError(
            f"{published}: chunks agree with the whole by {found_db:.0f} dB, not {_CHUNKED_DB:.0f}; it cannot"
            " be streamed"
        )
    peaks = [_peak(network, s, seed) for seed, s in enumerate(sentences[::2])]
    gain = _PEAK / max(float(np.median(peaks)), 1e-3)
    return replace(workshop.options, hop=network.options.hop, gain=round(gain, 3))


def _compare(workshop: Workshop, fp32: Level, published: Path, cuts: Cuts, sentences: Sentences) -> None:
    """Speak the first sentence by the published network and by ours, without noise. Raises VoiceError."""
    network = workshop.network(fp32)
    network.options = replace(network.options, noise_scale=0.0, noise_w=0.0)
    ids, speaker = sentences[0]
    ours = network.at_once(network.prior(ids, 1.0, 0, speaker), speaker)
    whole = workshop.published(published)
    inputs = network.front_inputs(ids, 1.0, 0, speaker)
    given = {cuts.ids: inputs["ids"], cuts.lengths: inputs["lengths"], cuts.scales: inputs["scales"]}
    if cuts.speaker:
        given[cuts.speaker] = inputs["speaker"]
    theirs = whole(**given)[0].reshape(-1)
    found_db = agreement_db(theirs, ours)
    if not found_db >= _EXACT_DB:
        raise VoiceError(
            f"{published}: the parts agree with the whole by {found_db:.0f} dB, not {_EXACT_DB:.0f};"
            " it is not built like a VITS voice"
        )


def _peak(network: VitsNetwork, sentence: tuple[Any, int | None], seed: int) -> float:
    ids, speaker = sentence
    chunks = network.samples(network.prior(ids, 1.0, seed, speaker), USUAL_SCHEDULE, speaker)
    return max(float(np.abs(samples).max()) for samples in chunks)
