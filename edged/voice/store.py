"""Installed voices on disk: immutable versions, published and switched by rename.

    <store>/<name>/<version>/voice.json    what it is, with size and sha256 of every other file
    <store>/<name>/<version>/…             graphs, weights, tables
    <store>/<name>/current                 symbolic link to the version in use

A version is named after its content, so two builders that publish the same one cannot disturb each
other, and a running daemon keeps the files it has mapped whatever is published meanwhile.

Locks are flock's, on what is there anyway, so a process that is killed leaves none behind:

    the store's folder    held by whoever adds or removes a folder in it, for that moment
    a build's folder      held while it is being filled; one without a lock is a killed builder's
    a version's voice.json    shared, held by every process that has the version loaded (`hold`)
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from edged.errors import VoiceError
from edged.voice.manifest import MANIFEST, MEND, Manifest, manifest_text, read_manifest, sha256_of, verify

CURRENT = "current"
"""Link in the folder of a voice to the version that is in use."""
_BUILD_PREFIX = ".build-"
_HASH_CHARS = 16
_NAME_LIMIT_BYTES = 200
_SHOWN_CHARS = 60


def installed(store: Path) -> tuple[str, ...]:
    """Names of the voices that have a current version, in order."""
    if not store.is_dir():
        return ()
    return tuple(sorted(p.name for p in store.iterdir() if (p / CURRENT / MANIFEST).is_file()))


def is_name(name: str) -> bool:
    """A voice may be called so: one plain folder name that is not hidden, and that file systems take."""
    if not name or Path(name).name != name or name.startswith(".") or not name.isprintable():
        return False
    return len(name.encode()) <= _NAME_LIMIT_BYTES


def current(store: Path, name: str) -> Manifest:
    """The version in use. Raises VoiceError naming what is installed, or what is wrong in the manifest."""
    link = store / name / CURRENT
    if not is_name(name) or not link.exists():
        raise _not_installed(store, name)
    while True:
        folder = link.resolve()
        try:
            return read_manifest(folder)
        except VoiceError:
            if link.resolve() == folder or not link.exists():
                raise  # else it was switched, and the old version collected, between the two steps


def _not_installed(store: Path, name: str) -> VoiceError:
    shown = name if len(name) <= _SHOWN_CHARS else f"{name[:_SHOWN_CHARS]}…"
    names = ", ".join(installed(store)) or "none"
    return VoiceError(f"voice {shown!r} is not installed in {store}; installed: {names}")


def hold(store: Path, name: str) -> tuple[Manifest, int]:
    """The version in use and a descriptor that keeps it from being collected until it is closed.

    Raises VoiceError as `current` does.
    """
    while True:
        manifest = current(store, name)
        file = manifest.folder / MANIFEST
        try:
            handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            if not file.exists():
                continue  # collected between the two steps: there is a newer one
            raise VoiceError(f"{file}: cannot be read ({error.strerror}); {MEND}") from error
        fcntl.flock(handle, fcntl.LOCK_SH)
        if file.exists() and os.path.samestat(os.fstat(handle), file.stat()):
            return manifest, handle
        os.close(handle)


@contextmanager
def build_folder(store: Path) -> Iterator[Path]:
    """An empty folder inside the store for a version being made; removed unless published.

    Raises VoiceError when the store cannot be written or the disk is full.
    """
    try:
        store.mkdir(parents=True, exist_ok=True)
        with _locked(store):
            _remove_dead_builds(store)
            folder = Path(tempfile.mkdtemp(prefix=_BUILD_PREFIX, dir=store))
            handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            fcntl.flock(handle, fcntl.LOCK_EX)
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
        os.close(handle)


def publish(folder: Path, store: Path, description: dict[str, Any]) -> Manifest:
    """Make a finished build folder the current version of the voice `description["name"]`.

    `description` is voice.json without format and files. The same content published before is kept
    when it is whole, and replaced when it is not. Versions that nobody uses any more are removed.
    """
    names = sorted(p.name for p in folder.iterdir() if p.name != MANIFEST)
    files = [
        {"name": n, "bytes": (folder / n).stat().st_size, "sha256": sha256_of(folder / n)} for n in names
    ]
    text = manifest_text(description, files)
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    version = hashlib.sha256(text.encode()).hexdigest()[:_HASH_CHARS]
    for name in (*names, MANIFEST):
        (folder / name).chmod(0o644)
        _sync(folder / name)
    home = store / description["name"]
    with _locked(store):
        home.mkdir(exist_ok=True)
        folder.chmod(home.stat().st_mode & 0o7777)  # mkdtemp's is private; group and setgid as in the store
        _place(folder, home / version)
        made = read_manifest(home / version)
        _switch(home, version)
    sweep(store)
    return made


def sweep(store: Path) -> None:
    """Remove, of all voices, the versions that nobody uses any more. Raises OSError."""
    for home in sorted(store.iterdir()) if store.is_dir() else ():
        if home.is_dir() and not home.name.startswith("."):
            collect(store, home.name)


def collect(store: Path, name: str) -> tuple[str, ...]:
    """Remove the versions of a voice that are neither current nor held; returns them."""
    home = store / name
    gone = []
    with _locked(store):
        in_use = os.readlink(home / CURRENT) if (home / CURRENT).is_symlink() else None
        for folder in sorted(home.iterdir()) if home.is_dir() else ():
            if folder.is_symlink() or folder.name == in_use:
                continue
            # Who begins to hold it meanwhile waits, and then finds it gone.
            with _nobodys(folder) as is_nobodys:
                if is_nobodys:
                    folder.rename(Path(tempfile.mkdtemp(prefix=_BUILD_PREFIX, dir=store)) / folder.name)
                    gone.append(folder.name)
        _remove_dead_builds(store)
        if home.is_dir() and in_use is None and not any(home.iterdir()):
            home.rmdir()
    return tuple(gone)


def remove(store: Path, name: str) -> bool:
    """Take a voice out of the store; False when a process still holds its files, which then stay.

    Raises VoiceError when no such voice is installed, or the store cannot be written.
    """
    home = store / name
    if not is_name(name) or not home.is_dir():
        raise _not_installed(store, name)
    try:
        (home / CURRENT).unlink(missing_ok=True)
        collect(store, name)
    except OSError as error:
        raise VoiceError(f"{home}: cannot be removed ({error.strerror})") from error
    return not home.exists()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Alone among the processes that change what is in this folder."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def _nobodys(folder: Path) -> Iterator[bool]:
    """Whether no process has this version loaded; none can begin to inside. One without voice.json is
    damaged, and nobody's."""
    file = folder / MANIFEST
    if not file.exists():
        yield True
        return
    with _lock_if_free(file) as is_free:
        yield is_free


@contextmanager
def _lock_if_free(path: Path) -> Iterator[bool]:
    """Whether nobody has the lock of a file or folder; inside it is ours, if so."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_free = True
    except BlockingIOError:
        is_free = False
    try:
        yield is_free
    finally:
        os.close(handle)


def _remove_dead_builds(store: Path) -> None:
    """Folders that a killed builder left behind. Called with the store locked."""
    for folder in store.glob(f"{_BUILD_PREFIX}*"):
        with _lock_if_free(folder) as is_free:
            if is_free:
                shutil.rmtree(folder, ignore_errors=True)


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
    """Point `current` at a version in one step. Called with the store locked."""
    link = home / f".{CURRENT}.new"
    link.unlink(missing_ok=True)
    link.symlink_to(version)
    link.replace(home / CURRENT)
    _sync(home)


def _sync(path: Path) -> None:
    """Make sure a power cut after the switch cannot leave an empty file behind."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
