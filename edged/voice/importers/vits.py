"""Install a Piper voice: `python -m edged.voice.importers.vits SOURCE STORE --name NAME`.

SOURCE is a `.onnx` file with its `.onnx.json` beside it, or the folder of both. A process of its own,
so that onnx and the quantiser never enter the daemon. It checks both files, cuts the network in three
(`vits_graph`), compares the result with the network as published, finds margins and loudness, makes
the precisions (`vits_levels`), and publishes the version. One line per step on standard output; a
failure is one line on standard error and leaves nothing behind.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import re
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import onnx

from edged.errors import EdgedError, VoiceError
from edged.voice.engines import _ort
from edged.voice.engines.vits import USUAL_SCHEDULE, VitsNetwork, VitsOptions
from edged.voice.importers.vits_calibration import Material, material
from edged.voice.importers.vits_config import PiperConfig, content, find_network, read_config
from edged.voice.importers.vits_distance import Sentences, Yardstick, agreement_db
from edged.voice.importers.vits_graph import Cuts, Graph, find_cuts, split
from edged.voice.importers.vits_levels import Feeds, Level, Workshop, margins
from edged.voice.manifest import Licence, Manifest
from edged.voice.store import build_folder, publish

ENGINE = "vits"
LEVELS = ("mixed", "fp32", "int8")
PHONEMES = "phonemes.json"
"""Read by edged.text.piper."""

_PEAK = 0.85
"""Of a middling sentence, after the gain that is found here."""

_OPSETS = (13, 22)
"""Of ONNX: below, quantised weights per channel do not exist; above, onnxruntime 1.18 reads nothing."""

_EXACT_DB = 120.0
_SPACE = " "
_MODEL_CARD = "MODEL_CARD"
_LICENCE, _TUNED = ("license:", "licence:"), ("finetuned from", "fine-tuned from")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

_LICENCES = tuple(field.name for field in fields(Licence))

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a voice comes from, as far as the caller knows."""

    package: str | None = None
    version: str | None = None
    url: str | None = None
    licence: Mapping[str, str] = field(default_factory=dict)
    """Keys as in edged.voice.manifest.Licence; what is not given comes from the model card."""


def build(
    source: Path, store: Path, name: str, origin: Origin, levels: Sequence[str], progress: Progress
) -> Manifest:
    """Build and publish the voice; returns what was published. Raises VoiceError in one line.

    `levels` of LEVELS; fp32 is always made.
    """
    if unknown := [level for level in levels if level not in LEVELS]:
        raise VoiceError(f"--levels {unknown[0]}: there is {', '.join(LEVELS)}")
    if not _NAME.fullmatch(name):
        raise VoiceError(f"--name {name!r}: must be letters, digits, '-', '_' and '.', and begin with one")
    file = find_network(source)
    config = read_config(file, lambda line: progress(f"warning: {line}"))
    read = content(file)
    graph = Graph(_parsed(file, read))
    try:
        cuts = find_cuts(graph)
        _check_against(config, cuts)
        parts = split(graph, cuts)
    except VoiceError as error:
        raise VoiceError(f"{file}: {error}") from error

    with build_folder(store) as folder, build_folder(store) as scratch:
        progress(f"cutting {file.name} into front end, flow and decoder")
        _write_phonemes(config, folder / PHONEMES)
        sentences = material(config, folder)
        workshop = Workshop(parts, scratch, folder, _options(config, cuts))
        fp32 = workshop.fp32()
        progress("checking it against the published network")
        workshop.options = _measured(workshop, fp32, file, cuts, sentences.calibration)
        made, yardstick = _levels(workshop, fp32, sentences, config.sample_rate_hz, levels, progress)
        progress("publishing")
        description = {
            "name": name,
            "language": config.language,
            "engine": ENGINE,
            "sample_rate_hz": config.sample_rate_hz,
            "licence": {**_licence(file), **origin.licence},
            "source": _source(file, read, config, origin),
            "levels": list(made),
            "speakers": list(config.speakers),
            "options": _described(workshop.options, config, made, yardstick, sentences),
        }
        return publish(folder, store, description)


def _parsed(file: Path, read: bytes) -> Any:
    """The network. Raises VoiceError for what is none, or is too new or too old."""
    try:
        model = onnx.load_from_string(read)
    except Exception as error:  # protobuf's, which onnx lets through
        raise VoiceError(
            f"{file}: cut short or not a network ({len(read)} bytes); download it again"
        ) from error
    opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)
    if not model.graph.node or not model.graph.output:
        raise VoiceError(f"{file}: cut short or not a network (no graph in it); download it again")
    if not _OPSETS[0] <= opset <= _OPSETS[1]:
        raise VoiceError(
            f"{file}: ONNX opset {opset}, edged reads {_OPSETS[0]} to {_OPSETS[1]}; convert it with"
            " onnx.version_converter"
        )
    return model


def _check_against(config: PiperConfig, cuts: Cuts) -> None:
    """Both files are of one voice. Raises VoiceError."""
    for phoneme, ids in config.phoneme_ids.items():
        if max(ids) >= cuts.symbols:
            raise VoiceError(
                f"phoneme_id_map.{phoneme} is {max(ids)}, the network knows 0 to {cuts.symbols - 1}; the two"
                " files are not of the same voice"
            )
    told = max(1, len(config.speakers))
    if told != cuts.speakers:
        raise VoiceError(f"num_speakers is {told}, the network has {cuts.speakers}; the two files differ")


def _options(config: PiperConfig, cuts: Cuts) -> VitsOptions:
    """As far as they are known before anything was measured."""
    return VitsOptions(
        front="",
        flow="",
        decoder="",
        hop=1,
        gain=1.0,
        noise_scale=config.noise_scale,
        length_scale=config.length_scale,
        noise_w=config.noise_w,
        flow_margin=0,
        decoder_margin=0,
        duration_noise=cuts.noise is not None,
        space_ids=config.phoneme_ids.get(_SPACE, ()),
    )


def _measured(
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
    workshop.options = replace(workshop.options, hop=samples // frames)
    network = workshop.network(fp32)
    flow_margin, decoder_margin = margins(network, sentences)
    network.options = replace(network.options, flow_margin=flow_margin, decoder_margin=decoder_margin)
    peaks = [_peak(network, s, seed) for seed, s in enumerate(sentences)]
    gain = _PEAK / max(float(np.median(peaks)), 1e-3)
    return replace(
        workshop.options, flow_margin=flow_margin, decoder_margin=decoder_margin, gain=round(gain, 3)
    )


def _compare(workshop: Workshop, fp32: Level, published: Path, cuts: Cuts, sentences: Sentences) -> None:
    """Speak the first sentence by the published network and by ours, without noise. Raises VoiceError."""
    silent = replace(workshop.options, noise_scale=0.0, noise_w=0.0)
    network = VitsNetwork(workshop.folder, fp32.options(silent))
    ids, speaker = sentences[0]
    prior = network.prior(ids, 1.0, 0, speaker)
    latent = network.latent(prior.draws()(0, int(prior.repeats.sum())), speaker)
    ours = network.audio(latent, speaker)
    whole = workshop.whole(published)
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


def _levels(
    workshop: Workshop,
    fp32: Level,
    sentences: Material,
    rate_hz: int,
    wanted: Sequence[str],
    progress: Progress,
) -> tuple[dict[str, Level], Yardstick]:
    """The levels that are worth keeping, first the one to be used where nothing else is said."""
    made: dict[str, Level] = {}
    reference = workshop.network(fp32)
    progress("measuring how much the voice varies by itself")
    yardstick = Yardstick(reference, sentences.evaluation, rate_hz)
    if {"mixed", "int8"} & set(wanted):
        feeds = Feeds(reference, sentences.calibration)
    if "mixed" in wanted:
        mixed = workshop.mixed(fp32, yardstick, feeds, progress)
        if mixed.int8:
            made["mixed"] = mixed
    made["fp32"] = fp32
    if "int8" in wanted:
        int8 = workshop.int8(fp32, yardstick, feeds)
        heard = int8.distance_db >= yardstick.natural_db
        progress(
            f"all in int8: {int8.distance_db:.2f} dB of {yardstick.natural_db:.2f} dB"
            + ("; left out" if heard else "")
        )
        if heard:
            workshop.forget(int8)
        else:
            made["int8"] = int8
    return made, yardstick


def _described(
    options: VitsOptions,
    config: PiperConfig,
    made: dict[str, Level],
    yardstick: Yardstick,
    sentences: Material,
) -> dict[str, Any]:
    """What the engine reads, and what was measured."""
    own = {k: v for k, v in asdict(options).items() if k not in ("front", "flow", "decoder")}
    listed = json.dumps([ids.tolist() for ids, _ in sentences.calibration])
    return {
        **own,
        "default_speaker": config.default_speaker,
        "levels": {
            name: {
                **level.files,
                "int8": list(level.int8),
                "distance_db": round(level.distance_db, 3),
                "refused_db": {piece: round(db, 3) for piece, db in level.refused.items()},
            }
            for name, level in made.items()
        },
        "natural_db": round(yardstick.natural_db, 3),
        "natural_timing": round(yardstick.natural_timing, 4),
        "calibration": {
            "made_of": sentences.made_of,
            "sentences": len(sentences.calibration),
            "ids_sha256": hashlib.sha256(listed.encode()).hexdigest(),
            "seeds": f"0 to {len(sentences.calibration) - 1}, one a sentence",
            "evaluated_on": len(sentences.evaluation),
            "onnxruntime": _ort.version(),
        },
    }


def _write_phonemes(config: PiperConfig, file: Path) -> None:
    file.write_text(
        json.dumps(
            {
                "type": config.phoneme_type,
                "espeak_voice": config.espeak_voice,
                "ids": {phoneme: list(ids) for phoneme, ids in config.phoneme_ids.items()},
                "vowel_clusters": list(config.vowel_clusters),
            },
            ensure_ascii=False,
        ),
        encoding="utf-8",
    )


def _source(file: Path, read: bytes, config: PiperConfig, origin: Origin) -> dict[str, Any]:
    digest = hashlib.sha256(read).hexdigest()
    return {
        "package": origin.package or file.name,
        "version": origin.version or digest[:16],
        "url": origin.url or "",
        "files": {file.name: digest, config.file.name: hashlib.sha256(content(config.file)).hexdigest()},
    }


def _licence(file: Path) -> dict[str, str]:
    """What the model card beside a voice says of its recordings and its training."""
    card = file.with_name(_MODEL_CARD)
    try:
        lines = card.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {"note": f"there is no {_MODEL_CARD} beside {file.name}"}
    said = [line.strip(" *\t") for line in lines]
    data = [line.partition(":")[2].strip() for line in said if line.lower().startswith(_LICENCE)]
    tuned = [line for line in said if line.lower().startswith(_TUNED)]
    note = f"{tuned[0]} The licence of that voice's recordings applies, too." if tuned else ""
    return {"note": note[:300], **({"training_data": data[0][:100]} if data else {})}


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m edged.voice.importers.vits", description="Installs a Piper voice."
    )
    parser.add_argument(
        "source", type=Path, help="a .onnx file with its .onnx.json beside it, or their folder"
    )
    parser.add_argument("store", type=Path, help="folder of the installed voices")
    parser.add_argument("--name", required=True, help="what the voice is called from now on")
    parser.add_argument(
        "--levels", default=",".join(LEVELS), help="precisions to make (default: %(default)s)"
    )
    for name in ("package", "version", "url"):
        parser.add_argument(f"--{name}", help=f"{name} of the source, for voice.json")
    for name in _LICENCES:
        parser.add_argument(f"--licence-{name.replace('_', '-')}", help="for voice.json")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Exit code 0, 1 with one line on standard error, or 130 when interrupted."""
    signal.signal(signal.SIGTERM, _stop)
    logging.getLogger().setLevel(logging.ERROR)  # the quantiser advises on the root logger
    given = _arguments(arguments)
    licence = {name: getattr(given, f"licence_{name}") for name in _LICENCES}
    known = {name: text for name, text in licence.items() if text is not None}
    origin = Origin(given.package, given.version, given.url, known)
    try:
        build(
            given.source,
            given.store,
            given.name,
            origin,
            given.levels.split(","),
            lambda line: print(line, flush=True),
        )
    except EdgedError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
