"""Install the voice `heart` from the package hibari-tts: `python -m edged.voice.heart STORE`.

A process of its own, so that onnx and the dictionaries never enter the daemon. It splits the network
(front end as published, in int8, and in float32; decoder rebuilt by `edged.voice.decoder` in both), optimises
all for any CPU, has the text room compile its dictionaries, checks the result on a real sentence against the
published network, and publishes the version. One line per step on standard output; a failure is one
line on standard error and leaves nothing behind.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged.errors import VoiceError
from edged.types import Float32, PhonemeIds
from edged.voice import builder
from edged.voice.catalog import catalog
from edged.voice.decoder import HIDDEN, PARTS, STREAM_PARTS, StreamingDecoder, split, weights_of
from edged.voice.dequantise import as_float
from edged.voice.engines import _ort
from edged.voice.engines.hibari import (
    DECODER,
    DECODER_INT8,
    FP32,
    FRONT,
    FRONT_FP32,
    INT8,
    MIXED,
    SPELLING,
    DecoderShape,
    FrameDecoder,
    HibariEngine,
)
from edged.voice.engines.source_filter import FrameShape
from edged.voice.importers.vits_distance import log_mel
from edged.voice.manifest import BUILT_WITH, Manifest, sha256_of
from edged.voice.processor import INT8_PRODUCTS, NEEDS
from edged.voice.speakers import Speakers
from edged.voice.store import build_folder, publish

ENTRY = catalog()["heart"]
FRAME = FrameShape(sample_rate_hz=ENTRY.sample_rate_hz, fft=1200, hop=300)
"""Of hibari.dsp."""

# 'The kitchen window is still open, please close it.' in hibari's ids: the sentence of the check.
_CHECK_IDS = (
    0, 81, 83, 16, 53, 156, 102, 133, 42, 56, 16, 65, 156, 102, 56, 46, 31, 16, 102, 68, 16, 61, 62, 156, 102,
    54, 16, 156, 31, 58, 42, 56, 3, 16, 58, 54, 156, 51, 68, 16, 53, 54, 156, 31, 68, 16, 102, 62, 4, 0,
)  # fmt: skip
_SPACE_ID = 16  # ' ' in hibari's vocab.json
_GRAPHS = {INT8: (FRONT, DECODER_INT8), MIXED: (FRONT, DECODER), FP32: (FRONT_FP32, DECODER)}
_NATURAL = "natural"
_SPLIT_DB = 60.0
_DECODER_DB = 15.0
_STREAM_DB = 100.0
_ROUNDED_DB = 20.0


def build(store: Path, progress: Callable[[str], None]) -> Manifest:
    """Build and publish the voice; returns what was published.

    Raises VoiceError for another version of the package, a full disk, or a result that fails its check.
    """
    source = _source()
    with build_folder(store) as folder, _tables_in(folder) as tables_done, build_folder(store) as scratch:
        progress(f"splitting the network of {ENTRY.package} {ENTRY.version}")
        split(source, scratch / "front.onnx", scratch / "decoder.onnx")
        weights, matrices = weights_of(scratch / "decoder.onnx")
        streaming = StreamingDecoder(weights, matrices, in_int8=False)
        streaming.save(scratch / "streaming.onnx")
        StreamingDecoder(weights, matrices, in_int8=True).save(scratch / "streaming-int8.onnx")
        progress("optimising it for this and any other processor")
        as_float(scratch / "front.onnx", scratch / "front-fp32.onnx")
        _ort.optimise(scratch / "front.onnx", folder / FRONT)
        _ort.optimise(scratch / "front-fp32.onnx", folder / FRONT_FP32)
        _ort.optimise(scratch / "streaming.onnx", folder / DECODER)
        _ort.optimise(scratch / "streaming-int8.onnx", folder / DECODER_INT8)
        _ort.optimise(source.parent / "oov.onnx", folder / SPELLING)
        shape = DecoderShape(streaming.layers, streaming.channels, streaming.kernel)
        progress("checking it against the published network")
        _check(source, scratch, folder, shape)
        distances = _distances(folder, shape)
        progress("waiting for the dictionaries")
        tables_done()
        progress("publishing")
        return publish(folder, store, _description(source, shape, distances))


def _source() -> Path:
    """The published network, known to the byte. Raises VoiceError."""
    mend = f"pip install {ENTRY.package}=={ENTRY.version}"
    spec = importlib.util.find_spec("hibari")
    if spec is None or not spec.submodule_search_locations:
        raise VoiceError(f"voice {ENTRY.name}: the package {ENTRY.package} is not installed; {mend}")
    found = importlib.metadata.version(ENTRY.package)
    file = Path(spec.submodule_search_locations[0]) / "assets" / "hibari.onnx"
    if found != ENTRY.version:
        raise VoiceError(
            f"voice {ENTRY.name}: {ENTRY.package} is {found}, this edged builds from {ENTRY.version}; {mend}"
        )
    try:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise VoiceError(f"{file}: cannot be read ({error.strerror}); {mend} --force-reinstall") from error
    if digest != ENTRY.files[file.name]:
        raise VoiceError(f"{file}: wrong checksum; {mend} --force-reinstall")
    return file


@contextmanager
def _tables_in(folder: Path) -> Iterator[Callable[[], None]]:
    """The dictionaries being compiled beside the graphs; yields what waits for them."""
    command = [sys.executable, "-m", "edged.text.tables", str(folder)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as compiler:

        def finished() -> None:
            _, errors = compiler.communicate()
            if compiler.returncode:
                raise VoiceError((errors.strip().splitlines() or ["the dictionaries were not compiled"])[-1])

        try:
            yield finished
        finally:
            compiler.kill()


def _check(source: Path, scratch: Path, folder: Path, shape: DecoderShape) -> None:
    """Speak a sentence by the published network and by ours. Raises VoiceError when they differ."""
    ids, speed = np.array([_CHECK_IDS], np.int64), np.ones(1, np.float32)
    _ort.optimise(source, scratch / "whole.onnx")  # fused as ours is: int8 rounds otherwise
    whole = _ort.Network(scratch / "whole.onnx")(ids=ids, speed=speed)
    hidden, f0_hz = _ort.Network(folder / FRONT)(ids=ids, speed=speed)
    published = _ort.Network(scratch / "decoder.onnx")(**{HIDDEN: hidden})
    _require("pitch", _distance_db(whole[len(PARTS)], f0_hz), _SPLIT_DB)

    own = np.concatenate([published[PARTS.index(part)][0].T for part in STREAM_PARTS], axis=1)
    total = hidden.shape[2]
    for graph, least_db in ((DECODER, _STREAM_DB), (DECODER_INT8, _ROUNDED_DB)):
        decoder = FrameDecoder(_ort.Network(folder / graph), shape)
        at_once = next(decoder.chunks(hidden, 0, total, (total,)))
        in_chunks = np.concatenate(list(decoder.chunks(hidden, 0, total)))
        _require(f"spectra of {graph}", _distance_db(own, at_once), _DECODER_DB)
        _require(f"spectra of {graph} in chunks", _distance_db(at_once, in_chunks), least_db)


def _distances(folder: Path, shape: DecoderShape) -> dict[str, float]:
    """Log-mel distance from float32 of each level, and of another draw of the noise (NATURAL)."""
    ids = PhonemeIds(np.array(_CHECK_IDS, np.int64), "")

    def said(level: str, seed: int) -> NDArray[np.float64]:
        front, decoder = (_ort.Network(folder / graph) for graph in _GRAPHS[level])
        engine = HibariEngine(
            front, FrameDecoder(decoder, shape), FRAME, _SPACE_ID, level, Speakers("heart", ())
        )
        samples = np.concatenate([chunk.samples for chunk in engine.stream(ids, 1.0, seed)])
        return log_mel(samples, FRAME.sample_rate_hz)

    def distance_db(mel: NDArray[np.float64]) -> float:
        frames = min(len(reference), len(mel))  # the durations are the front end's, too: a frame may differ
        return round(float(np.abs(reference[:frames] - mel[:frames]).mean()), 3)

    reference = said(FP32, 1)
    return {**{level: distance_db(said(level, 1)) for level in _GRAPHS}, _NATURAL: distance_db(said(FP32, 2))}


def _distance_db(reference: Float32, result: Float32) -> float:
    """Signal to difference; minus infinity where the shapes differ."""
    if reference.shape != result.shape:
        return -np.inf
    difference = float(np.square(reference - result).sum())
    return 10 * np.log10(float(np.square(reference).sum()) / difference) if difference else np.inf


def _require(what: str, found_db: float, least_db: float) -> None:
    if not found_db >= least_db:
        raise VoiceError(
            f"voice {ENTRY.name}: {what} agree by {found_db:.0f} dB, not {least_db:.0f}, with onnxruntime"
            f" {_ort.version()} on this machine; install another version of onnxruntime"
        )


def _description(source: Path, shape: DecoderShape, distances: dict[str, float]) -> dict[str, object]:
    """voice.json, without what the store adds."""
    return {
        "name": ENTRY.name,
        "language": ENTRY.language,
        "engine": ENTRY.engine,
        "sample_rate_hz": ENTRY.sample_rate_hz,
        "licence": asdict(ENTRY.licence),
        "source": {
            "package": ENTRY.package,
            "version": ENTRY.version,
            "url": ENTRY.url,
            "files": {p.name: sha256_of(p) for p in sorted(source.parent.iterdir()) if p.is_file()},
        },
        "levels": list(_GRAPHS),
        "speakers": [],
        "options": {
            "levels": {
                level: {
                    "front": front,
                    "decoder": decoder,
                    "distance_db": distances[level],
                    **({NEEDS: INT8_PRODUCTS} if level == INT8 else {}),
                }
                for level, (front, decoder) in _GRAPHS.items()
            },
            "natural_db": distances[_NATURAL],
            BUILT_WITH: _ort.version(),
            "fft": FRAME.fft,
            "hop": FRAME.hop,
            "layers": shape.layers,
            "channels": shape.channels,
            "kernel": shape.kernel,
            "space_id": _SPACE_ID,
        },
    }


def main(store: str) -> int:
    """See `edged.voice.builder.run`."""
    return builder.run(lambda: build(Path(store), lambda line: print(line, flush=True)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
