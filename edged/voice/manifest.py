"""voice.json: what an installed version is, where it came from, and whether its files are whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edged.errors import VoiceError

MANIFEST = "voice.json"

FORMATS = {"hibari": 4, "vits": 3, "fastspeech2": 1, "scripted": 1}
"""Per engine: raised with every change of what its builder writes, or of voice.json. A version of
another format is not read; a voice of the catalog is then installed again by itself."""

MEND = "install the voice again (edged voice install, or import)"

BUILT_WITH = "onnxruntime"
"""Among the options of a version whose graphs another onnxruntime may refuse: the one it was built with."""

_UNKNOWN = "unknown"
_RATES_HZ = (4_000, 192_000)
_LARGEST_BYTES = 1 << 40
_SHOWN_CHARS = 100


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a version."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Licence:
    """As far as known, each in SPDX terms where there are such; `note` is what its user must know."""

    package: str = _UNKNOWN
    weights: str = _UNKNOWN
    training_data: str = _UNKNOWN
    note: str = ""

    def __str__(self) -> str:
        return self.weights


@dataclass(frozen=True, slots=True)
class Manifest:
    """What voice.json says of one version. `options` is for its engine alone."""

    folder: Path
    name: str
    version: str
    language: str
    engine: str
    sample_rate_hz: int
    licence: Licence
    source_package: str
    source_version: str
    source_url: str
    source_files: Mapping[str, str]
    """sha256 of each file that the version was made from."""
    levels: tuple[str, ...]
    speakers: tuple[str, ...]
    options: Mapping[str, Any]
    files: tuple[FileEntry, ...] = field(repr=False)

    @property
    def size_bytes(self) -> int:
        """Of all files but voice.json."""
        return sum(entry.bytes for entry in self.files)


def manifest_text(description: Mapping[str, Any], files: list[dict[str, Any]]) -> str:
    """voice.json for a version. `description` is all of it but format and files.

    Raises VoiceError for an engine that this edged does not have.
    """
    engine = description["engine"]
    if engine not in FORMATS:
        raise VoiceError(
            f"voice {description['name']}: engine {engine!r} is unknown to this edged; update it"
        )
    whole = {"format": FORMATS[engine], **description, "files": files}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def read_manifest(folder: Path) -> Manifest:
    """Parse a version's voice.json. Raises VoiceError in one line."""
    file = folder / MANIFEST
    try:
        raw: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        known = FORMATS.get(raw["engine"])
        if known is None:
            raise VoiceError(f"{file}: engine {_shown(raw['engine'])} is unknown to this edged; update it")
        if raw["format"] != known:
            raise VoiceError(f"{file}: format {_shown(raw['format'])}, this edged reads {known}; {MEND}")
        return _manifest(folder, raw)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        fault = fault_of(file) or f"not a voice ({_shown(error)})"
        raise VoiceError(f"{file}: {fault}; {MEND}") from error


def _manifest(folder: Path, raw: dict[str, Any]) -> Manifest:
    licence, source = raw["licence"], raw["source"]
    about = {"weights": licence} if isinstance(licence, str) else dict(licence)
    levels = tuple(map(_text, _list(raw["levels"])))
    if not levels:
        raise ValueError("no levels")
    options = dict(raw["options"])
    options["levels"] = {level: dict(options["levels"][level]) for level in levels}
    return Manifest(
        folder=folder,
        name=_text(raw["name"]),
        version=folder.name,
        language=_text(raw["language"]),
        engine=raw["engine"],
        sample_rate_hz=_number(raw["sample_rate_hz"], *_RATES_HZ),
        licence=Licence(**{key: _text(said) for key, said in about.items()}),
        source_package=_text(source.get("package", "")),
        source_version=_text(source.get("version", "")),
        source_url=_text(source.get("url", "")),
        source_files={_text(name): _text(digest) for name, digest in source.get("files", {}).items()},
        levels=levels,
        speakers=tuple(map(_text, _list(raw["speakers"]))),
        options=options,
        files=tuple(map(_file, _list(raw["files"]))),
    )


def _file(raw: dict[str, Any]) -> FileEntry:
    name = _text(raw["name"])
    if not name or Path(name).name != name or name.startswith("."):
        raise ValueError(f"{name!r} is no file of it")
    return FileEntry(name, _number(raw["bytes"], 0, _LARGEST_BYTES), _text(raw["sha256"]))


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"{_shown(value)} is no text")
    return value


def _number(value: object, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{_shown(value)} is no number from {low} to {high}")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{_shown(value)} is no list")
    return value


def _shown(value: object) -> str:
    """For a message: one line of bounded length, whatever it is."""
    shown = ascii(value)
    return shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}…"


def check_sizes(manifest: Manifest) -> None:
    """Cheap check before files are mapped: all there, at their full length. Raises VoiceError."""
    for entry in manifest.files:
        file = manifest.folder / entry.name
        fault = fault_of(file)
        if fault is None and (size := file.stat().st_size) != entry.bytes:
            fault = f"has {size} bytes instead of {entry.bytes}"
        if fault:
            raise VoiceError(f"{file}: {fault}; {MEND}")


def verify(manifest: Manifest) -> None:
    """Read every byte and compare checksums. Raises VoiceError for the first fault."""
    check_sizes(manifest)
    for entry in manifest.files:
        if sha256_of(manifest.folder / entry.name) != entry.sha256:
            raise VoiceError(f"{manifest.folder / entry.name}: wrong checksum, the file was changed; {MEND}")


def sha256_of(file: Path) -> str:
    """Of the whole file, in hex. Raises OSError."""
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while block := content.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def fault_of(file: Path) -> str | None:
    """What is plainly wrong with a file, in words; None where nothing is."""
    try:
        with file.open("rb") as content:
            head = content.read(64).lstrip().lower()
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if not head:
        return "is empty"
    if head.startswith(b"version https://git-lfs"):
        return "is a Git LFS pointer, not the file itself"
    if head.startswith((b"<!doctype", b"<html")):
        return "is a web page, not the file that was asked for"
    return None
