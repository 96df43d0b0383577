"""wyoming-piper as a service over TCP, asked by the client of the package wyoming in its streaming mode."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from serving import Contender, serve, versions_of
from wyoming.audio import AudioChunk
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.tts import SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeStopped

HOST = "127.0.0.1"
START_LIMIT_S = 30.0
STOP_LIMIT_S = 5.0


class Server:
    """The service as a process; use as a context manager."""

    def __init__(self, options: dict[str, Any]) -> None:
        with socket.socket() as probe:
            probe.bind((HOST, 0))
            self.port: int = probe.getsockname()[1]
        voice = Path(options["voice"])
        limited = [
            sys.executable,
            str(Path(__file__).with_name("wyoming_server.py")),
            str(options["threads"]),
        ]
        uri = f"tcp://{HOST}:{self.port}"
        own = ["--uri", uri, "--voice", voice.stem, "--data-dir", str(voice.parent)]
        self.process = subprocess.Popen([*limited, *own], stdin=subprocess.DEVNULL)

    def __enter__(self) -> Server:
        deadline_s = time.monotonic() + START_LIMIT_S
        while not self._listens():
            if self.process.poll() is not None or time.monotonic() > deadline_s:
                self.__exit__()
                raise RuntimeError("wyoming-piper does not start")
            time.sleep(0.05)
        return self

    def __exit__(self, *_error: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((HOST, self.port)) == 0


class Client:
    """One connection that stays open, as a voice assistant keeps it."""

    def __init__(self, port: int) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = AsyncTcpClient(HOST, port)
        self._loop.run_until_complete(self._client.connect())

    def pieces(self, text: str) -> Iterator[int]:
        """Samples in each audio-chunk, until synthesize-stopped."""
        self._loop.run_until_complete(self._ask(text))
        while True:
            event = self._loop.run_until_complete(self._client.read_event())
            if event is None or Error.is_type(event.type):
                raise RuntimeError(f"wyoming-piper: {event.data if event else 'the connection was closed'}")
            if SynthesizeStopped.is_type(event.type):
                return
            if AudioChunk.is_type(event.type):
                chunk = AudioChunk.from_event(event)
                yield len(chunk.audio) // chunk.width

    async def _ask(self, text: str) -> None:
        for event in (SynthesizeStart(), SynthesizeChunk(text), SynthesizeStop()):
            await self._client.write_event(event.event())


def run(options: dict[str, Any], server: Server) -> Contender:
    versions = versions_of("wyoming-piper", "wyoming", "piper-tts", "onnxruntime", "numpy")
    return Contender(Client(server.port).pieces, options["rate_hz"], versions, pid=server.process.pid)


def main() -> None:
    servers: list[Server] = []

    def make(options: dict[str, Any]) -> Contender:
        servers.append(Server(options))
        return run(options, servers[0].__enter__())

    try:
        serve(make)
    finally:
        for server in servers:
            server.__exit__()


if __name__ == "__main__":
    main()
