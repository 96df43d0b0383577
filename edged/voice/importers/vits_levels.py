"""The precisions of a VITS voice: made, compared with float32, kept where they sound no different.

`fp32` is the network as published. `mixed` has in int8 what can be without being heard: flow, the first
stages of the decoder, encoder, each kept only while the distance to fp32 stays below what two draws of
the voice's own noise differ by. `int8` has all convolutions in int8, `fp16` weights of half the size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from edged.errors import VoiceError
from edged.types import Float32
from edged.voice.engines import _ort
from edged.voice.engines.vits import VitsNetwork, VitsOptions
from edged.voice.importers.vits_distance import Sentences, Yardstick
from edged.voice.importers.vits_graph import LOGS, MEAN, Graph, Parts, decoder_stages
from edged.voice.importers.vits_quantise import Feed, quantise

FRONT, FLOW, DECODER = "front", "flow", "decoder"
PARTS = (FRONT, FLOW, DECODER)

SHARE = 0.85
"""Of the natural variation, at most, `mixed` may add."""

_WINDOWS = {FLOW: 128, DECODER: 24}
"""Frames of one feed. The range of a tensor is the average over the feeds: the widest one, of a shout,
would make the steps so coarse that pauses hiss (en_US-joe-medium, first two stages of the decoder in int8:
noise in pauses -65 dBFS, log-mel distance 4.4 dB; with averages -74 dBFS and 2.1 dB). The encoder takes
the widest range: it grows with the length of a sentence, and durations go wrong beyond it."""

_FEEDS_MAX = 90


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
        return replace(voice, front=files[FRONT], flow=files[FLOW], decoder=files[DECODER])


@dataclass(frozen=True, slots=True)
class Piece:
    """Convolutions that are in int8 or not as one."""

    part: str
    title: str
    convolutions: tuple[str, ...]


class Workshop:
    """One voice being made. Optimised graphs go into `folder`, all else into `scratch`."""

    def __init__(self, parts: Parts, scratch: Path, folder: Path, options: VitsOptions) -> None:
        self.folder = folder
        self._scratch = scratch
        self._graphs: dict[str, Any] = {FRONT: parts.front, FLOW: parts.flow, DECODER: parts.decoder}
        for part, graph in self._graphs.items():
            onnx.save(graph, str(self._source(part)))
        self.options = options

    def fp32(self) -> Level:
        """The parts as they were published, optimised."""
        return Level({part: self._optimised(self._source(part), f"{part}.fp32.onnx") for part in PARTS})

    def whole(self, published: Path) -> _ort.Network:
        """The network as published, optimised as its parts are."""
        target = self._scratch / "whole.onnx"
        _ort.optimise(published, target)
        return _ort.Network(target)

    def network(self, level: Level) -> VitsNetwork:
        """The network of a level."""
        return VitsNetwork(self.folder, level.options(self.options))

    def pieces(self) -> list[Piece]:
        """What may be in int8, the most worthwhile first. The end of the decoder is not among them:

        in int8 it hisses in pauses (9 dB in log-mel for en_US-joe-medium).
        """
        decoder = [
            Piece(DECODER, f"decoder stage {i} kernel {size}", tuple(names))
            for i, stage in enumerate(decoder_stages(self._graphs[DECODER])[:-1])
            for size, names in stage.items()
        ]
        front = Graph(self._graphs[FRONT])
        before = front.before([MEAN, LOGS])
        encoder = [n.name for n in front.of_kind("Conv") if n.output[0] in before]
        return [
            Piece(FLOW, FLOW, self._convolutions(FLOW)),
            Piece(FRONT, "encoder", tuple(encoder[:-1])),
            *decoder,
        ]

    def mixed(
        self, fp32: Level, yardstick: Yardstick, feeds: Feeds, progress: Callable[[str], None]
    ) -> Level:
        """The pieces in int8 that together stay within SHARE of the natural variation."""
        level = fp32
        limit_db = SHARE * yardstick.natural_db
        for piece in self.pieces():
            kept = [p for p in self.pieces() if p.part == piece.part and p.title in level.int8]
            title = f"{piece.part}.mixed{len(level.int8)}.onnx"
            file = self._quantised([*kept, piece], title, feeds)
            tried = replace(level, files={**level.files, piece.part: file}, int8=(*level.int8, piece.title))
            network = self.network(tried)
            distance_db = yardstick.distance_db(network)
            moved = yardstick.timing(network) if piece.part == FRONT else 0.0
            taken = distance_db <= limit_db and moved <= SHARE * yardstick.natural_timing
            progress(
                f"{piece.title} in int8: {distance_db:.2f} dB of {limit_db:.2f} dB"
                + (f", {moved:.1%} of {SHARE * yardstick.natural_timing:.1%} moved" if moved else "")
                + ("" if taken else "; kept in float")
            )
            previous = level.files[piece.part] if taken else file
            level = (
                replace(tried, distance_db=distance_db)
                if taken
                else replace(level, refused={**level.refused, piece.title: distance_db})
            )
            if previous not in fp32.files.values():
                self._forget(previous)
        return level

    def int8(self, fp32: Level, yardstick: Yardstick, feeds: Feeds) -> Level:
        """Every convolution but the last in int8, whatever it sounds like.

        `distance_db` tells; it is infinite where the durations move more than they do by themselves.
        """
        whole = [Piece(part, part, self._convolutions(part)) for part in PARTS]
        files = {p.part: self._quantised([p], f"{p.part}.int8.onnx", feeds) for p in whole}
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

    def _convolutions(self, part: str) -> tuple[str, ...]:
        names = [n.name for n in Graph(self._graphs[part]).of_kind("Conv")]
        return tuple(names[:-1] if part == DECODER else names)

    def _quantised(self, pieces: Sequence[Piece], file: str, feeds: Feeds) -> str:
        part = pieces[0].part
        chosen = [name for piece in pieces for name in piece.convolutions]
        target = self._scratch / f"quantised.{file}"
        quantise(self._source(part), target, chosen, feeds.of(part), averaged=part in _WINDOWS)
        return self._optimised(target, file)

    def _optimised(self, source: Path, file: str) -> str:
        _ort.optimise(source, self.folder / file)
        return file

    def _source(self, part: str) -> Path:
        return self._scratch / f"{part}.onnx"

    def _forget(self, file: str) -> None:
        (self.folder / file).unlink()
        (self.folder / f"{file}.data").unlink(missing_ok=True)


class Feeds:
    """Inputs of each part, as the calibration sentences give them."""

    def __init__(self, reference: VitsNetwork, sentences: Sentences) -> None:
        self._feeds: dict[str, list[Feed]] = {part: [] for part in PARTS}
        for seed, (ids, speaker) in enumerate(sentences):
            prior = reference.prior(ids, 1.0, seed, speaker)
            noisy = prior.draws()(0, int(prior.repeats.sum()))
            given = {} if speaker is None else {"speaker": np.array([speaker], np.int64)}
            self._feeds[FRONT].append(reference.front_inputs(ids, 1.0, seed, speaker))
            self._add(FLOW, "prior", noisy, given)
            self._add(DECODER, "latent", reference.latent(noisy, speaker), given)

    def of(self, part: str) -> Iterator[Feed]:
        """The inputs of one part, spread over all sentences."""
        feeds = self._feeds[part]
        step = max(1, len(feeds) // _FEEDS_MAX) if part in _WINDOWS else 1
        return iter(feeds[::step])

    def _add(self, part: str, name: str, frames: Float32, given: Feed) -> None:
        size, total = _WINDOWS[part], frames.shape[2]
        for begin in range(0, max(1, total - size + 1), size):
            self._feeds[part].append({name: frames[:, :, begin : begin + size].copy(), **given})
