"""The precisions of a VITS voice: made, compared with float32, kept where they sound no different.

`fp32` is the network as published. `mixed` has in int8 what can be without being heard: flow, the first
stages of the decoder, encoder, each kept only while the distance to fp32 stays below what two draws of
the voice's own noise differ by. `int8` has all convolutions in int8, `fp16` weights of half the size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import onnx

from edged.errors import VoiceError
from edged.types import Float32
from edged.voice.engines import _ort
from edged.voice.engines.vits import FLOW_FRAMES, Passage, VitsNetwork, VitsOptions
from edged.voice.importers.vits_distance import Sentences, Yardstick
from edged.voice.importers.vits_graph import IDS, LATENT, LOGS, MEAN, PRIOR, Graph, Parts, decoder_stages
from edged.voice.importers.vits_halves import store_halves
from edged.voice.importers.vits_norms import fuse_norms
from edged.voice.importers.vits_quantise import Feed, quantise
from edged.voice.importers.vits_stream import streamed

FRONT, FLOW, DECODER = "front", "flow", "decoder"
PARTS = (FRONT, FLOW, DECODER)

SHARE = 0.75
"""Of the natural variation, at most, `mixed` may add."""

_WINDOWS = {FLOW: 128, DECODER: 24}
"""Frames of one feed. The range of a tensor is the average over the feeds: the widest one, of a shout,
would make the steps so coarse that pauses hiss (en_US-joe-medium, first two stages of the decoder in int8:
noise in pauses -65 dBFS, log-mel distance 4.4 dB; with averages -74 dBFS and 2.1 dB). The encoder takes
the widest range: it grows with the length of a sentence, and durations go wrong beyond it."""

_FEEDS_MAX = 60


@dataclass(frozen=True, slots=True)
class Level:
    """One precision of a voice, as it is written into the manifest."""

    files: dict[str, str]
    int8: tuple[str, ...] = ()
    distance_db: float = 0.0
    refused: dict[str, float] = field(default_factory=dict)
    """Pieces that stayed in float, and the distance with them in int8."""

    def options(self, voice: VitsOptions) -> VitsOptions:
        """The options of a voice with the files of this level."""
        files = self.files
        return replace(
            voice,
            front=files[FRONT],
            flow=files[FLOW],
            decoder=files[DECODER],
            flow_first_frames=self.flow_first_frames,
        )

    @property
    def flow_first_frames(self) -> int:
        """Sums of integers are the same in any order."""
        return 1 if FLOW in self.int8 else FLOW_FRAMES


@dataclass(frozen=True, slots=True)
class Piece:
    """Convolutions that are in int8 or not as one."""

    part: str
    title: str
    convolutions: tuple[str, ...]


class Workshop:
    """One voice being made. Optimised graphs go into `folder`, all else into `scratch`."""

    def __init__(self, parts: Parts, scratch: Path, folder: Path, options: VitsOptions) -> None:
        """Raises VoiceError where flow or decoder cannot be streamed."""
        flow, flow_ahead_frames = streamed(parts.flow, PRIOR)
        decoder, ahead_samples = streamed(parts.decoder, LATENT)
        self.options = replace(
            options, flow_ahead_frames=flow_ahead_frames, decoder_ahead_samples=ahead_samples
        )
        self._folder = folder
        self._scratch = scratch
        for part, graph in zip(PARTS, (parts.front, flow, decoder), strict=True):
            onnx.save(graph, str(self._source(part)))
        self._whole = _whole(parts)
        self._pieces = _pieces(parts)
        fuse_norms(parts.front)
        onnx.save(parts.front, str(self._to_quantise(FRONT)))

    def fp32(self) -> Level:
        """The parts as they were published, optimised."""
        return Level({part: self._optimised(self._source(part), f"{part}.fp32.onnx") for part in PARTS})

    def published(self, file: Path) -> _ort.Network:
        """The whole network, optimised as its parts are."""
        target = self._scratch / "whole.onnx"
        _ort.optimise(file, target)
        return _ort.Network(target)

    def network(self, level: Level) -> VitsNetwork:
        """The network of a level."""
        return VitsNetwork(self._folder, level.options(self.options))

    def mixed(
        self, fp32: Level, yardstick: Yardstick, feeds: Feeds, progress: Callable[[str], None]
    ) -> Level:
        """The pieces in int8 that together stay within SHARE of the natural variation."""
        level = fp32
        limit_db, limit = SHARE * yardstick.natural_db, SHARE * yardstick.natural_timing
        for number, piece in enumerate(self._pieces):
            kept = [p for p in self._pieces if p.part == piece.part and p.title in level.int8]
            file = self._quantised([*kept, piece], f"{piece.part}.tried{number}.onnx", feeds)
            tried = replace(level, files={**level.files, piece.part: file}, int8=(*level.int8, piece.title))
            network = self.network(tried)
            distance_db = yardstick.distance_db(network)
            moved = yardstick.timing(network) if piece.part == FRONT else 0.0
            is_taken = distance_db <= limit_db and moved <= limit
            progress(
                f"{piece.title} in int8: {distance_db:.2f} of {limit_db:.2f} dB"
                + (f", {moved:.1%} of {limit:.1%} of the frames moved" if moved else "")
                + ("" if is_taken else "; kept in float")
            )
            unused = level.files[piece.part] if is_taken else file
            if unused not in fp32.files.values():
                self._forget(unused)
            if is_taken:
                level = replace(tried, distance_db=distance_db)
            else:
                level = replace(level, refused={**level.refused, piece.title: distance_db})
        return replace(level, files={part: self._named(part, level, fp32) for part in PARTS})

    def _named(self, part: str, level: Level, fp32: Level) -> str:
        """The file of a part of `mixed` under its final name."""
        tried, final = level.files[part], f"{part}.mixed.onnx"
        if tried == fp32.files[part]:
            return tried
        self._optimised(self._scratch / f"quantised.{tried}", final)
        self._forget(tried)
        return final

    def fp16(self, fp32: Level, yardstick: Yardstick) -> Level:
        """The weights of fp32 in half the size."""
        files = {part: f"{part}.fp16.onnx" for part in PARTS}
        for part, file in files.items():
            store_halves(self._folder / fp32.files[part], self._folder / file)
        level = Level(files)
        return replace(level, distance_db=yardstick.distance_db(self.network(level)))

    def int8(self, fp32: Level, yardstick: Yardstick, feeds: Feeds) -> Level:
        """Every convolution but the last in int8, whatever it sounds like.

        `distance_db` tells; it is infinite where the durations move more than they do by themselves.
        """
        files = {p.part: self._quantised([p], f"{p.part}.int8.onnx", feeds) for p in self._whole}
        level = replace(fp32, files=files, int8=PARTS)
        try:
            network = self.network(level)
            keeps_time = yardstick.timing(network) < yardstick.natural_timing
            distance_db = yardstick.distance_db(network) if keeps_time else np.inf
        except VoiceError:  # durations that cannot be
            distance_db = np.inf
        return replace(level, distance_db=distance_db)

    def forget(self, level: Level) -> None:
        """Remove the files of a level that shares none with another."""
        for file in level.files.values():
            self._forget(file)

    def _quantised(self, pieces: Sequence[Piece], file: str, feeds: Feeds) -> str:
        part = pieces[0].part
        chosen = [name for piece in pieces for name in piece.convolutions]
        target = self._scratch / f"quantised.{file}"
        quantise(self._to_quantise(part), target, chosen, feeds.of(part), averaged=part in _WINDOWS)
        return self._optimised(target, file)

    def _optimised(self, source: Path, file: str) -> str:
        _ort.optimise(source, self._folder / file)
        return file

    def _source(self, part: str) -> Path:
        return self._scratch / f"{part}.onnx"

    def _to_quantise(self, part: str) -> Path:
        return self._scratch / "front.fused.onnx" if part == FRONT else self._source(part)

    def _forget(self, file: str) -> None:
        (self._folder / file).unlink()
        (self._folder / f"{file}.data").unlink(missing_ok=True)


def _pieces(parts: Parts) -> list[Piece]:
    """What may be in int8, the most worthwhile first. The end of the decoder is not among them:

    in int8 it hisses in pauses (9 dB in log-mel for en_US-joe-medium).
    """
    flow = next(piece for piece in _whole(parts) if piece.part == FLOW)
    front = Graph(parts.front)
    before = front.before([MEAN, LOGS])
    encoder = [n.name for n in front.of_kind("Conv") if n.output[0] in before]
    pieces = [flow, Piece(FRONT, "encoder", tuple(encoder[:-1]))]
    for number, stage in enumerate(decoder_stages(parts.decoder)[:-1]):
        title = f"decoder stage {number}"
        if number == 0:
            pieces.append(Piece(DECODER, title, tuple(name for names in stage.values() for name in names)))
        else:
            pieces += [Piece(DECODER, f"{title} kernel {k}", tuple(names)) for k, names in stage.items()]
    return pieces


def _whole(parts: Parts) -> list[Piece]:
    """All convolutions of each part but the last of the decoder, and but those of the speaker alone."""
    result = []
    for part, model, source in (
        (FRONT, parts.front, IDS),
        (FLOW, parts.flow, PRIOR),
        (DECODER, parts.decoder, LATENT),
    ):
        graph = Graph(model)
        after = graph.after(source)
        names = [n.name for n in graph.of_kind("Conv") if n.output[0] in after]
        result.append(Piece(part, part, tuple(names[:-1] if part == DECODER else names)))
    return result


class Feeds:
    """Inputs of each part, as the calibration sentences give them."""

    def __init__(self, reference: VitsNetwork, sentences: Sentences) -> None:
        self._feeds: dict[str, list[Feed]] = {part: [] for part in PARTS}
        for seed, (ids, speaker) in enumerate(sentences):
            prior = reference.prior(ids, 1.0, seed, speaker)
            noisy = prior.draws()(0, int(prior.repeats.sum()))
            latent = reference.flow(speaker)(noisy, last=True)
            self._feeds[FRONT].append(reference.front_inputs(ids, 1.0, seed, speaker))
            self._add(FLOW, reference.flow(speaker), noisy)
            self._add(DECODER, reference.decoder(speaker), latent)

    def of(self, part: str) -> Iterator[Feed]:
        """The inputs of one part, spread over all sentences."""
        feeds = self._feeds[part]
        step = max(1, len(feeds) // _FEEDS_MAX) if part in _WINDOWS else 1
        return iter(feeds[::step])

    def _add(self, part: str, passage: Passage, frames: Float32) -> None:
        """Windows of the frames, each as if it were all."""
        size, total = _WINDOWS[part], frames.shape[2]
        for begin in range(0, max(1, total - size + 1), size):
            window = frames[:, :, begin : begin + size].copy()
            self._feeds[part].append(passage.inputs(window, last=True))
