"""One file from a URL: resumed where the line broke, checked, and never taken for whole before it is."""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edged import __version__
from edged.errors import VoiceError
from edged.voice.manifest import sha256_of

Progress = Callable[[str], None]

_ATTEMPTS = 5
_PAUSE_S = 1.0
_TIMEOUT_S = 30.0
_BLOCK_BYTES = 1 << 16
_TELL_EVERY_MB = 5
_KEPT_S = 7 * 86400
_PART_PREFIX = ".part-"
_NOT_SATISFIABLE = 416
_SERVER_FAULT = 500


def download(url: str, target: Path, sha256: str | None, parts: Path, progress: Progress) -> None:
    """Fetch `url` into the file `target`.

    A broken connection is taken up again up to four times. With a checksum the received part also
    outlives this process, in `parts`, and the next call goes on from there. Raises VoiceError in one
    line, and OSError where the disk is full.
    """
    if not url.startswith(("http://", "https://")):
        raise VoiceError(f"{url}: not an address; it must begin with https:// or http://")
    part = target.with_name(target.name + ".part")
    if sha256 is not None:
        _remove_old(parts)
        part = parts / f"{_PART_PREFIX}{hashlib.sha256(f'{url} {sha256}'.encode()).hexdigest()[:16]}"
    transfer = _Transfer(url, part, sha256 is not None, progress)
    try:
        transfer.run()
    except OSError:
        part.unlink(missing_ok=True)  # the disk is full: not with something half
        raise
    if sha256 is not None and (found := sha256_of(part)) != sha256.lower():
        size = part.stat().st_size
        part.unlink()
        raise VoiceError(f"{url}: wrong checksum ({size} bytes, sha256 {found[:16]}…), not the file expected")
    part.replace(target)


@dataclass(slots=True)
class _Transfer:
    url: str
    part: Path
    resume: bool
    """Go on from what an earlier process has received: only where a checksum proves the result."""
    progress: Progress
    validator: str | None = None
    told_mb: int = -1

    def run(self) -> None:
        if not self.resume:
            self.part.unlink(missing_ok=True)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with self._response() as response:
                    self._receive(response)
                return
            except urllib.error.HTTPError as error:
                if error.code == _NOT_SATISFIABLE and self._received():
                    self.part.unlink()  # longer than the file, or all of it: begin again
                elif error.code < _SERVER_FAULT or attempt == _ATTEMPTS:
                    raise VoiceError(f"{self.url}: {error.code} {error.reason}") from error
            except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
                if attempt == _ATTEMPTS:
                    raise VoiceError(
                        f"{self.url}: {_reason(error)}; check the network, {self._next()}"
                    ) from error
            time.sleep(_PAUSE_S)
        raise VoiceError(f"{self.url}: the server does not give the file")

    def _response(self) -> Any:
        request = urllib.request.Request(self.url, headers={"User-Agent": f"edged/{__version__}"})  # noqa: S310
        if received := self._received():
            request.add_header("Range", f"bytes={received}-")
            if self.validator:
                request.add_header("If-Range", self.validator)
        return urllib.request.urlopen(request, timeout=_TIMEOUT_S)  # noqa: S310 (http or https, see download)

    def _received(self) -> int:
        """Bytes that a request may go on from."""
        may_go_on = self.resume or self.validator is not None
        return self.part.stat().st_size if may_go_on and self.part.exists() else 0

    def _receive(self, response: Any) -> None:
        received = self._received()
        goes_on = response.status == http.client.PARTIAL_CONTENT and response.headers.get(
            "Content-Range", ""
        ).startswith(f"bytes {received}-")
        validator = response.headers.get("ETag") or ""
        self.validator = validator if validator and not validator.startswith("W/") else None
        done = received if goes_on else 0
        length = response.headers.get("Content-Length")
        total = done + int(length) if length else None
        with self.part.open("ab" if goes_on else "wb") as file:
            while block := response.read(_BLOCK_BYTES):
                file.write(block)
                done += len(block)
                self._tell(done, total)
        if total is not None and done < total:
            raise http.client.IncompleteRead(b"", total - done)

    def _tell(self, done: int, total: int | None) -> None:
        mb = done // 1_000_000
        if self.told_mb < 0 or mb >= self.told_mb + _TELL_EVERY_MB:
            self.told_mb = mb
            of = f" of {total / 1e6:.0f}" if total else ""
            self.progress(f"downloading {self.url.rsplit('/', 1)[-1]}: {mb}{of} MB")

    def _next(self) -> str:
        return "the next try goes on from here" if self.resume else "then try again"


def _reason(error: Exception) -> str:
    if isinstance(error, http.client.IncompleteRead):
        return f"the connection broke off {error.expected} bytes before the end"
    cause = getattr(error, "reason", error)
    return str(getattr(cause, "strerror", None) or cause or type(error).__name__)


def _remove_old(parts: Path) -> None:
    for part in parts.glob(f"{_PART_PREFIX}*"):
        if time.time() - part.stat().st_mtime > _KEPT_S:
            part.unlink(missing_ok=True)
