"""All that the measurements share: configuration, voice, and services that are started when first needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from edged.bench.daemon import Daemon, sections
from edged.bench.player import Report, Task
from edged.bench.services import LOOPBACK, RATE_HZ, Broker, Processes, SoundServer
from edged.config.model import Config
from edged.errors import EdgedError
from edged.types import Int16, Voice
from edged.voice.install import ensure_installed
from edged.voice.manifest import Manifest
from edged.voice.store import current
from edged.voices import Voices, store_dir

NO_CACHES: Mapping[str, object] = {"ids_kib": 0, "pcm_kib": 0}


@dataclass(frozen=True, slots=True)
class Played:
    """A run of the player beside what its voice gives for the same texts."""

    report: Report
    utterances: list[Int16]


class Surroundings:
    """Use as a context manager: leaving ends every service and removes every file."""

    def __init__(self, config: Config, device: str | None, tell: Callable[[str], None]) -> None:
        """`device`: a sound device to use instead of the private one; `tell` gets remarks for the user."""
        self.config = config
        self.device = device
        self._tell = tell
        self._stack = ExitStack()
        self._processes = Processes()
        self._folder = Path()
        self._serial = 0
        self._broker: Broker | None = None
        self._sound: SoundServer | None = None
        self._sound_is_decided = False
        self._voice: Voice | None = None
        self.no_recording = "a recording needs the private sound server; leave out --device"
        """Why there is no `sound`, where there is none."""

    def __enter__(self) -> Surroundings:
        self._stack.enter_context(self._processes.interrupts)
        with self._processes.interrupts.held():
            temporary = tempfile.TemporaryDirectory(prefix="edged-bench-")
            self._folder = Path(self._stack.enter_context(temporary))
            self._stack.callback(self._processes.stop)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _t: TracebackType | None
    ) -> None:
        with self._processes.interrupts.held():
            self._stack.close()

    def voice(self) -> Voice:
        """The configured voice in this process, installed where absent. Raises VoiceError."""
        if self._voice is None:
            self._voice = Voices(self.config, self._tell).get(None)
        return self._voice

    def broker_port(self) -> int:
        """Of the private broker. Raises EdgedError where it cannot be started."""
        if self._broker is None:
            self._broker = Broker(self._processes, self._folder)
        return self._broker.port

    def sound(self) -> SoundServer | None:
        """The private sound server; None with a device of the user's, or where it is not installed."""
        if not self._sound_is_decided:
            self._sound_is_decided = True
            absent = None if self.device else SoundServer.absent()
            if absent is not None:
                self.no_recording = absent
                self._tell(f"{absent}: the 'null' sink is used, and nothing can be recorded")
            elif self.device is None:
                self._sound = SoundServer(self._processes, self._folder)
        return self._sound

    def audio(self, period_ms: int, **more: object) -> dict[str, object]:
        """The section `audio` for a daemon that plays where this benchmark plays.

        At the rate of the private server, which PortAudio does not tell; a device of the user's is asked.
        """
        where: dict[str, object] = {"sink": "null"}
        if server := self.sound():
            where = {"sink": "alsa", "device": server.device, "rate_hz": RATE_HZ}
        elif self.device:
            where = {"sink": "alsa", "device": self.device}
        return {**where, "period_ms": period_ms, "lead_in_ms": 0, **more}

    def env(self) -> Mapping[str, str]:
        """Environment of a process that plays there."""
        server = self.sound()
        return server.env if server else os.environ

    def daemon(self, audio: Mapping[str, object], **more: object) -> Daemon:
        """Start the real daemon in a folder of its own; the caller stops it. Raises EdgedError."""
        folder = self._new_folder("daemon")
        mqtt = {"host": LOOPBACK, "port": self.broker_port()}
        content = sections(self.config, folder / "state", audio, mqtt=mqtt, **more)
        return Daemon(self._processes, folder, content, self.env())

    def play(self, audio: Mapping[str, object], **task: Any) -> Played:
        """Run the player and wait for its end. Raises EdgedError with what it said."""
        folder = self._new_folder("player")
        config_file, rendered = folder / "edged.yaml", folder / "rendered.raw"
        content = sections(self.config, folder / "state", audio, cache=NO_CACHES)
        config_file.write_text(json.dumps(content))
        wanted = Task(config_file=str(config_file), rendered_file=str(rendered), **task)
        command = [sys.executable, "-m", "edged.bench.player", json.dumps(asdict(wanted))]
        player = self._processes.start(command, folder / "log", self.env(), subprocess.PIPE)
        said, _ = player.process.communicate()
        if player.process.returncode:
            raise EdgedError(player.last_line())
        report = Report(**json.loads(said))
        whole = np.fromfile(rendered, np.int16)
        return Played(report, np.split(whole, np.cumsum(report.lengths)[:-1]))

    def installed_voice(self) -> Manifest:
        """The configured voice, installed where absent. Raises VoiceError."""
        store, name = store_dir(self.config), self.config.voice.name
        ensure_installed(store, name, self._tell)
        return current(store, name)

    def config_file(self, audio: Mapping[str, object], **voice: object) -> Path:
        """A configuration for a process that plays, in a folder of its own; `voice` beside what is set."""
        folder = self._new_folder("config")
        content = sections(self.config, folder / "state", audio, cache=NO_CACHES)
        content["voice"].update(voice)
        file = folder / "edged.yaml"
        file.write_text(json.dumps(content))
        return file

    def ask(self, module: str, task: dict[str, Any]) -> dict[str, Any]:
        """Run a module of this room as a process, for what it prints. Raises EdgedError with what it said."""
        folder = self._new_folder("process")
        command = [sys.executable, "-m", module, json.dumps(task)]
        process = self._processes.start(command, folder / "log", os.environ, subprocess.PIPE)
        said, _ = process.process.communicate()
        if process.process.returncode:
            raise EdgedError(process.last_line())
        found: dict[str, Any] = json.loads(said)
        return found

    def _new_folder(self, kind: str) -> Path:
        self._serial += 1
        folder = self._folder / f"{kind}-{self._serial}"
        folder.mkdir()
        return folder
