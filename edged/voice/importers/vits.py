"""Install a Piper voice: `python -m edged.voice.importers.vits SOURCE STORE --name NAME`.

SOURCE is a `.onnx` file with its `.onnx.json` beside it, or the folder of both. A process of its own,
so that onnx and the quantiser never enter the daemon. It checks both files, cuts the network in three
(`vits_graph`), compares the result with the network as published, finds its loudness, makes
the precisions (`vits_levels`), and publishes the version. One line per step on standard output; a
failure is one line on standard error and leaves nothing behind.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from edged.errors import VoiceError
from edged.voice import builder
from edged.voice.engines import _ort
from edged.voice.engines.vits import VitsOptions
from edged.voice.importers.vits_calibration import Material, material
from edged.voice.importers.vits_config import PiperConfig, content, find_network, read_config
from edged.voice.importers.vits_distance import Yardstick
from edged.voice.importers.vits_files import check_against, parsed
from edged.voice.importers.vits_graph import Cuts, Graph, find_cuts, split
from edged.voice.importers.vits_levels import Feeds, Level, Workshop
from edged.voice.importers.vits_measure import measured
from edged.voice.manifest import Manifest
from edged.voice.store import build_folder, is_name, publish

ENGINE = "vits"
LEVELS = ("mixed", "fp32", "fp16", "int8")
PHONEMES = "phonemes.json"
"""Read by edged.text.piper."""

_SPACE = " "
_REASON_CHARS = 200

Progress = Callable[[str], None]


def build(source: Path, store: Path, name: str, levels: Sequence[str], progress: Progress) -> Manifest:
    """Build and publish the voice; returns what was published. Raises VoiceError in one line.

    `levels` of LEVELS; fp32 is always made.
    """
    if unknown := [level for level in levels if level not in LEVELS]:
        raise VoiceError(f"--levels {unknown[0]}: there is {', '.join(LEVELS)}")
    if not is_name(name):
        raise VoiceError(f"--name {name!r}: cannot be the name of a voice")
    file = find_network(source)
    config = read_config(file, lambda line: progress(f"warning: {line}"))
    with build_folder(store) as folder, build_folder(store) as scratch:
        progress(f"cutting {file.name} into front end, flow and decoder")
        workshop, cuts, origin = _opened(file, config, scratch, folder)
        write_phonemes(config, folder / PHONEMES)
        sentences = material(config, folder)
        fp32 = workshop.fp32()
        progress("checking it against the published network")
        workshop.options = measured(workshop, fp32, file, cuts, sentences.calibration)
        made, yardstick = _levels(workshop, fp32, sentences, config.sample_rate_hz, levels, progress)
        progress("publishing")
        description = {
            "name": name,
            "language": config.language,
            "engine": ENGINE,
            "sample_rate_hz": config.sample_rate_hz,
            "licence": {},  # known to who asked for the installation
            "source": origin,
            "levels": list(made),
            "speakers": list(config.speakers),
            "options": _described(workshop.options, config, made, yardstick, sentences),
        }
        return publish(folder, store, description)


def _opened(
    file: Path, config: PiperConfig, scratch: Path, folder: Path
) -> tuple[Workshop, Cuts, dict[str, Any]]:
    """The network cut into parts, and what it was made from; no more than that stays in memory."""
    read = content(file)
    graph = Graph(parsed(file, read))
    try:
        cuts = find_cuts(graph)
        check_against(config, cuts)
        parts = split(graph, cuts)
        workshop = Workshop(parts, scratch, folder, _options(config, cuts))
    except VoiceError as error:
        raise VoiceError(f"{file}: {error}") from error
    except OSError:
        raise
    except Exception as error:  # a graph may lack anything that is looked for, and onnx has errors of its own
        reason = (str(error).splitlines() or [""])[0][:_REASON_CHARS]
        what = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
        raise VoiceError(f"{file}: the network is not a VITS voice ({what})") from error
    return workshop, cuts, _source(file, read, config)


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
        flow_ahead_frames=0,
        decoder_ahead_samples=0,
        flow_first_frames=1,
        duration_noise=cuts.noise is not None,
        space_ids=config.phoneme_ids.get(_SPACE, ()),
    )


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
    if "fp16" in wanted:
        fp16 = workshop.fp16(fp32, yardstick)
        progress(f"weights in half the size: {fp16.distance_db:.2f} of {yardstick.natural_db:.2f} dB")
        made["fp16"] = fp16
    if "int8" in wanted:
        int8 = workshop.int8(fp32, yardstick, feeds)
        heard = int8.distance_db >= yardstick.natural_db
        progress(
            f"all in int8: {int8.distance_db:.2f} of {yardstick.natural_db:.2f} dB"
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
    own = {
        k: v for k, v in asdict(options).items() if k not in ("front", "flow", "decoder", "flow_first_frames")
    }
    listed = json.dumps([ids.tolist() for ids, _ in sentences.calibration])
    return {
        **own,
        "default_speaker": config.default_speaker,
        "levels": {
            name: {
                **level.files,
                "flow_first_frames": level.flow_first_frames,
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


def write_phonemes(config: PiperConfig, file: Path) -> None:
    """What `edged.text.piper` reads of a voice. Raises OSError."""
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


def _source(file: Path, read: bytes, config: PiperConfig) -> dict[str, Any]:
    digest = hashlib.sha256(read).hexdigest()
    return {
        "package": file.name,
        "version": digest[:16],
        "files": {file.name: digest, config.file.name: hashlib.sha256(content(config.file)).hexdigest()},
    }


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
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """See `edged.voice.builder.run`."""
    logging.getLogger().setLevel(logging.ERROR)  # the quantiser advises on the root logger
    # A network may ask for any amount: it is refused before the board has no memory for its daemon.
    memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes * 9 // 10, resource.RLIM_INFINITY))
    given = _arguments(arguments)
    levels = given.levels.split(",")
    return builder.run(
        lambda: build(given.source, given.store, given.name, levels, lambda line: print(line, flush=True))
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
