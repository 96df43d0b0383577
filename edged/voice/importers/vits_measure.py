"""What is found by running a voice once: that its parts are the whole, hop, margins and gain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from edged.errors import VoiceError
from edged.types import Float32
from edged.voice.engines.vits import USUAL_SCHEDULE, VitsNetwork, VitsOptions
from edged.voice.importers.vits_distance import Sentences, agreement_db
from edged.voice.importers.vits_graph import Cuts
from edged.voice.importers.vits_levels import Level, Workshop

_PEAK = 0.85
"""Of a middling sentence, after the gain that is found here."""

_EXACT_DB = 120.0
_MARGIN_DB = 110.0
_FLOW_MARGINS, _DECODER_MARGINS = (28, 32, 40, 52), (10, 12, 14, 18, 24, 32)


def measured(
    workshop: Workshop, fp32: Level, published: Path, cuts: Cuts, sentences: Sentences
) -> VitsOptions:
    """Hop, margins and gain, after a comparison with the published network. Raises VoiceError."""
    _compare(workshop, fp32, published, cuts, sentences)
    network = workshop.network(fp32)
    ids, speaker = sentences[0]
    prior = network.prior(ids, 1.0, 0, speaker)
    frames = min(64, int(prior.repeats.sum()))
    latent = network.latent(prior.draws()(0, frames), speaker)
    samples = network.audio(latent, speaker).size
    if samples % frames:
        raise VoiceError(f"{published}: {samples} samples of {frames} frames; it cannot be streamed")
    network.options = replace(network.options, hop=samples // frames)
    flow_margin, decoder_margin = margins(network, sentences)
    network.options = replace(network.options, flow_margin=flow_margin, decoder_margin=decoder_margin)
    peaks = [_peak(network, s, seed) for seed, s in enumerate(sentences[::2])]
    gain = _PEAK / max(float(np.median(peaks)), 1e-3)
    found = network.options
    return replace(
        workshop.options,
        hop=found.hop,
        flow_margin=flow_margin,
        decoder_margin=decoder_margin,
        gain=round(gain, 3),
    )


def _compare(workshop: Workshop, fp32: Level, published: Path, cuts: Cuts, sentences: Sentences) -> None:
    """Speak the first sentence by the published network and by ours, without noise. Raises VoiceError."""
    network = workshop.network(fp32)
    network.options = replace(network.options, noise_scale=0.0, noise_w=0.0)
    ids, speaker = sentences[0]
    prior = network.prior(ids, 1.0, 0, speaker)
    latent = network.latent(prior.draws()(0, int(prior.repeats.sum())), speaker)
    ours = network.audio(latent, speaker)
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


def margins(network: VitsNetwork, sentences: Sentences) -> tuple[int, int]:
    """Frames a side with which windows of flow and decoder give what the whole gives. Raises VoiceError."""
    ids, speaker = max(sentences, key=lambda sentence: sentence[0].size)
    prior = network.prior(ids, 1.0, 0, speaker)
    noisy = prior.draws()(0, min(600, int(prior.repeats.sum())))
    latent = network.latent(noisy, speaker)
    audio = network.audio(latent, speaker).reshape(1, 1, -1)
    hop = network.options.hop

    def least(
        candidates: Sequence[int], whole: Float32, part: Callable[[int, int], Float32], scale: int
    ) -> int:
        total = noisy.shape[2]
        for margin in candidates:
            starts = range(0, total - 16, 48)
            pieces = []
            for begin in starts:
                first, last = max(0, begin - margin), min(total, begin + 16 + margin)
                pieces.append(part(first, last)[:, :, (begin - first) * scale :][:, :, : 16 * scale])
            expected = [whole[:, :, begin * scale : (begin + 16) * scale] for begin in starts]
            if agreement_db(np.concatenate(expected, axis=2), np.concatenate(pieces, axis=2)) >= _MARGIN_DB:
                return margin
        raise VoiceError(f"the network sees more than {candidates[-1]} frames a side; it cannot be streamed")

    flow = least(_FLOW_MARGINS, latent, lambda a, b: network.latent(noisy[:, :, a:b].copy(), speaker), 1)
    decoder = least(
        _DECODER_MARGINS,
        audio,
        lambda a, b: network.audio(latent[:, :, a:b].copy(), speaker).reshape(1, 1, -1),
        hop,
    )
    return flow, decoder
