"""Installed voices on disk: immutable versions, published and switched by rename.

    <store>/<name>/<version>/voice.json    what it is, with size and sha256 of every other file
    <store>/<name>/<version>/…             graphs, weights, tables
    <store>/<name>/current                 symbolic link to the version in use

A version is named after its content, so two builders that publish the same one cannot disturb each
other, and a running daemon keeps the files it has mapped whatever is published meanwhile.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edged.errors import VoiceError

MANIFEST = "voice.json"
FORMAT = 1
"""Of voice.json and of what an engine expects beside it; another one is built again."""

_CURRENT = "current"
_BUILD_PREFIX = ".build-"
_STALE_BUILD_S = 3600
_HASH_CHARS = 16
_MEND = "install the voice again (edged voice install)"


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a version."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What voice.json says of one version. `options` is for its engine alone."""

    folder: Path
    name: str
    version: str
    language: str
    engine: str
    sample_rate_hz: int
    licence: str
    source_package: str
    source_version: str
    levels: tuple[str, ...]
    speakers: tuple[str, ...]
    options: dict[str, int]
    files: tuple[FileEntry, ...]


def installed(store: Path) -> tuple[str, ...]:
    """Names of the voices that have a current version, in order."""
    if not store.is_dir():
        return ()
    return tuple(sorted(p.name for p in store.iterdir() if (p / _CURRENT / MANIFEST).is_file()))


def current(store: Path, name: str) -> Manifest:
    """The version in use. Raises VoiceError naming what is installed, or what is wrong in the manifest."""
    link = store / name / _CURRENT
    if not name or Path(name).name != name or not link.exists():
        names = ", ".join(installed(store)) or "none"
        raise VoiceError(f"voice {name!r} is not installed in {store}; installed: {names}")
    return read_manifest(link.resolve())


def read_manifest(folder: Path) -> Manifest:
    """Parse a version's voice.json. Raises VoiceError in one line."""
    file = folder / MANIFEST
    try:
        raw: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if raw["format"] != FORMAT:
            raise VoiceError(f"{file}: format {raw['format']}, this edged reads {FORMAT}; {_MEND}")
        return Manifest(
            folder=folder,
            name=raw["name"],
            version=folder.name,
            language=raw["language"],
            engine=raw["engine"],
            sample_rate_hz=raw["sample_rate_hz"],
            licence=raw["licence"],
            source_package=raw["source"]["package"],
            source_version=raw["source"]["version"],
            levels=tuple(raw["levels"]),
            speakers=tuple(raw["speakers"]),
            options=dict(raw["options"]),
            files=tuple(FileEntry(f["name"], f["bytes"], f["sha256"]) for f in raw["files"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VoiceError(f"{file}: {_fault_of(file) or f'not a voice ({error!r})'}; {_MEND}") from error


def check_sizes(manifest: Manifest) -> None:
    """Cheap check before files are mapped: all there, at their full length. Raises VoiceError."""
    for entry in manifest.files:
        file = manifest.folder / entry.name
        fault = _fault_of(file)
        if fault is None and (size := file.stat().st_size) != entry.bytes:
            fault = f"has {size} bytes instead of {entry.bytes}"
        if fault:
            raise VoiceError(f"{file}: {fault}; {_MEND}")


def verify(manifest: Manifest) -> None:
    """Read every byte and compare checksums. Raises VoiceError for the first fault."""
    check_sizes(manifest)
    for entry in manifest.files:
        if _sha256(manifest.folder / entry.name) != entry.sha256:
            raise VoiceError(f"{manifest.folder / entry.name}: wrong checksum, the file was changed; {_MEND}")


@contextmanager
def build_folder(store: Path) -> Iterator[Path]:
    """An empty folder inside the store for a version being made; removed unless published.

    Raises VoiceError when the store cannot be written or the disk is full.
    """
    try:
        store.mkdir(parents=True, exist_ok=True)
        _remove_stale_builds(store)
        folder = Path(tempfile.mkdtemp(prefix=_BUILD_PREFIX, dir=store))
    except OSError as error:
        raise VoiceError(
            f"{store}: cannot be written ({error.strerror}); choose another voice.store"
        ) from error
    try:
        yield folder
    except OSError as error:
        raise VoiceError(f"{store}: the voice cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(folder: Path, store: Path, description: dict[str, Any]) -> Manifest:
    """Make a finished build folder the current version of the voice `description["name"]`.

    `description` is voice.json without format and files. The same content published before is kept
    when it is whole, and replaced when it is not.
    """
    names = sorted(p.name for p in folder.iterdir())
    files = [{"name": n, "bytes": (folder / n).stat().st_size, "sha256": _sha256(folder / n)} for n in names]
    text = json.dumps({"format": FORMAT, **description, "files": files}, indent=2, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    version = hashlib.sha256(text.encode()).hexdigest()[:_HASH_CHARS]
    for name in (*names, MANIFEST):
        _sync(folder / name)
    home = store / description["name"]
    home.mkdir(exist_ok=True)
    folder.chmod(home.stat().st_mode & 0o7777)  # mkdtemp's is private; group and setgid as in the store

    _place(folder, home / version)
    _switch(home, version)
    return read_manifest(home / version)


def _place(folder: Path, target: Path) -> None:
    """Rename a build to its place. The same version there already stays, unless it is damaged."""
    try:
        folder.rename(target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        if _is_whole(target):
            return
        aside = Path(tempfile.mkdtemp(prefix=_BUILD_PREFIX, dir=target.parent.parent))
        target.rename(aside / target.name)
        folder.rename(target)
        shutil.rmtree(aside, ignore_errors=True)
    _sync(target.parent)


def _is_whole(folder: Path) -> bool:
    try:
        verify(read_manifest(folder))
    except VoiceError:
        return False
    return True


def _switch(home: Path, version: str) -> None:
    """Point `current` at a version in one step."""
    link = home / f".{_CURRENT}.{os.getpid()}"
    link.unlink(missing_ok=True)
    link.symlink_to(version)
    link.replace(home / _CURRENT)
    _sync(home)


def _remove_stale_builds(store: Path) -> None:
    """Folders that a killed builder left behind."""
    for folder in store.glob(f"{_BUILD_PREFIX}*"):
        if time.time() - folder.stat().st_mtime > _STALE_BUILD_S:
            shutil.rmtree(folder, ignore_errors=True)


def _sync(path: Path) -> None:
    """Make sure a power cut after the switch cannot leave an empty file behind."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while block := content.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _fault_of(file: Path) -> str | None:
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
