"""What a measurement needs around it, started for it alone: a broker, a sound server, a recording."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from edged.bench.interrupts import Interrupts
from edged.errors import EdgedError
from edged.types import Int16

START_LIMIT_S = 15.0
END_LIMIT_S = 5.0
LOOPBACK = "127.0.0.1"
RATE_HZ = 24000
"""Of the sound server: what the default voice gives, so that nothing resamples on the way."""
SYSTEM_FOLDERS = ("/usr/sbin", "/sbin")
"""Where Debian puts mosquitto; not in an ordinary user's PATH."""
PULSE_PLUGIN = "**/alsa-lib/libasound_module_pcm_pulse.so"
AROUND_S = 2.0
"""The clock of a recording is taken from the deliveries within so long around a sample."""


def program(name: str, package: str) -> str:
    """Path of an installed program. Raises EdgedError with the mend."""
    found = shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), *SYSTEM_FOLDERS)))
    if found is None:
        raise EdgedError(f"{name} is not installed; apt install {package}")
    return found


def wait_for(condition: Callable[[], object], limit_s: float) -> bool:
    """Look every few milliseconds until `condition` holds; False at the limit."""
    deadline_s = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.005)
    return True


class Service:
    """A process in a session of its own, so that ctrl-C reaches only the command, which ends it in order."""

    def __init__(
        self,
        command: Sequence[str],
        log_file: Path,
        env: Mapping[str, str] | None = None,
        stdout: int | None = None,
    ) -> None:
        self._log_file = log_file
        with log_file.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log if stdout is None else stdout,
                stderr=log,
                env=None if env is None else dict(env),
                start_new_session=True,
            )

    @property
    def ended(self) -> bool:
        """It runs no more."""
        return self.process.poll() is not None

    def last_line(self) -> str:
        """The last thing it said."""
        lines = self._log_file.read_text(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")

    def stop(self, number: int = signal.SIGTERM, limit_s: float = END_LIMIT_S) -> None:
        """Ask it to end, and end it where it does not; a second call does nothing."""
        if not self.ended:
            self.process.send_signal(number)
        try:
            self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.process.kill()
            self.process.wait()


class Processes:
    """Starts processes, and ends those that still run when it is left."""

    def __init__(self) -> None:
        self.interrupts = Interrupts()
        self._started: list[Service] = []

    def start(
        self,
        command: Sequence[str],
        log_file: Path,
        env: Mapping[str, str] | None = None,
        stdout: int | None = None,
    ) -> Service:
        """A process that no interruption makes forgotten."""
        with self.interrupts.held():
            self._started.append(Service(command, log_file, env, stdout))
        return self._started[-1]

    def stop(self) -> None:
        """End them all, the last one first."""
        while self._started:
            self._started.pop().stop()


class Broker:
    """A mosquitto on a free loopback port, with the defaults of its package."""

    def __init__(self, processes: Processes, folder: Path) -> None:
        """Raises EdgedError where it is not installed or does not start."""
        mosquitto = program("mosquitto", "mosquitto")
        config = folder / "mosquitto.conf"
        with socket.socket() as probe:
            probe.bind((LOOPBACK, 0))
            self.port: int = probe.getsockname()[1]
        config.write_text(f"listener {self.port} {LOOPBACK}\nallow_anonymous true\npersistence false\n")
        self._service = processes.start([mosquitto, "-c", str(config)], folder / "mosquitto.log")
        answered = wait_for(lambda: self._service.ended or self._listens(), START_LIMIT_S)
        if self._service.ended or not answered:
            said = self._service.last_line()
            self._service.stop()
            raise EdgedError(f"mosquitto does not start ({said}); try 'mosquitto -p 18830 -v' by hand")

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((LOOPBACK, self.port)) == 0


class SoundServer:
    """A private PulseAudio whose only sink plays into nothing, in real time."""

    device = "speaker"
    """Its PortAudio name in a process with `env`."""

    @staticmethod
    def absent() -> str | None:
        """What is not installed of it, with the mend; None when all is there."""
        for name, package in (
            ("pulseaudio", "pulseaudio"),
            ("pactl", "pulseaudio-utils"),
            ("parec", "pulseaudio-utils"),
        ):
            try:
                program(name, package)
            except EdgedError as error:
                return str(error)
        if not any(Path("/usr/lib").glob(PULSE_PLUGIN)):
            return "ALSA's way to PulseAudio is not installed; apt install libasound2-plugins"
        return None

    def __init__(self, processes: Processes, folder: Path) -> None:
        """Raises EdgedError when it does not start; call `absent` before."""
        self._processes = processes
        self._folder = folder
        runtime = folder / "run"
        runtime.mkdir(mode=0o700)
        address = f"unix:{runtime}/native"
        self.env = os.environ | {
            "PULSE_SERVER": address,
            "PULSE_RUNTIME_PATH": str(runtime),
            "PULSE_STATE_PATH": str(runtime),
            "PULSE_CLIENTCONFIG": str(folder / "client.conf"),
            "ALSA_CONFIG_PATH": str(folder / "asound.conf"),
        }
        (folder / "client.conf").write_text("autospawn = no\nenable-shm = no\n")
        (folder / "asound.conf").write_text(
            "</usr/share/alsa/alsa.conf>\n"
            f'pcm.{self.device} {{ type pulse server "{address}" device "{self.device}" '
            "hint { show on description x } }\n"
        )
        # Without norewinds and with shared memory, recordings are not always what was played.
        self._service = processes.start(
            [
                *(program("pulseaudio", "pulseaudio"), "-n", "--daemonize=no", "--exit-idle-time=-1"),
                *("--use-pid-file=no", "--disable-shm=yes", "--realtime=no", "--high-priority=no"),
                *("-L", f"module-native-protocol-unix auth-anonymous=1 socket={runtime}/native"),
                "-L",
                f"module-null-sink sink_name={self.device} format=s16le rate={RATE_HZ} channels=1 "
                "channel_map=mono norewinds=1",
            ],
            folder / "pulseaudio.log",
            self.env,
        )
        answered = wait_for(lambda: self._service.ended or self._answers(), START_LIMIT_S)
        if self._service.ended or not answered:
            said = self._service.last_line()
            self._service.stop()
            raise EdgedError(f"pulseaudio does not start ({said}); use --device NAME")

    def _answers(self) -> bool:
        asked = subprocess.run(
            ["pactl", "list", "short", "sinks"], env=self.env, capture_output=True, check=False
        )
        return self.device.encode() in asked.stdout

    def record(self) -> Recording:
        """Begin to record what the sink plays."""
        return Recording(self._processes, self, self._folder / "parec.log")


class Recording:
    """What the sink of a SoundServer plays, from now on, and when each sample was played."""

    def __init__(self, processes: Processes, server: SoundServer, log_file: Path) -> None:
        """Returns when the recording runs. Raises EdgedError where it does not."""
        self._service = processes.start(
            [
                *("parec", f"--device={server.device}.monitor", "--raw", "--format=s16le"),
                *(f"--rate={RATE_HZ}", "--channels=1", "--channel-map=mono", "--latency-msec=20"),
            ],
            log_file,
            server.env,
            subprocess.PIPE,
        )
        self._lock = threading.Lock()
        self._data = bytearray()
        self._deliveries: list[tuple[int, int]] = []  # (CLOCK_MONOTONIC ns, frames until then)
        self._pipe = self._service.process.stdout
        self._thread = threading.Thread(target=self._read, name="recording", daemon=True)
        self._thread.start()
        if not wait_for(lambda: self._data, START_LIMIT_S):
            self.stop()
            raise EdgedError("parec records nothing; run 'parec --version' by hand")

    def _read(self) -> None:
        while self._pipe and (piece := os.read(self._pipe.fileno(), 65536)):
            with self._lock:
                self._data.extend(piece)
                self._deliveries.append((time.monotonic_ns(), len(self._data) // 2))

    def samples(self) -> Int16:
        """All so far, int16 [frames]."""
        with self._lock:
            return np.frombuffer(bytes(self._data[: len(self._data) // 2 * 2]), np.int16)

    def clock(self) -> StreamClock:
        """From samples recorded so far to times."""
        with self._lock:
            return StreamClock(np.array(self._deliveries, np.int64).reshape(-1, 2))

    def stop(self) -> Int16:
        """End the recording; all of it."""
        self._service.stop()
        self._thread.join(END_LIMIT_S)
        if self._pipe:
            self._pipe.close()
        return self.samples()


class StreamClock:
    """When a recorded sample left the sound server, on CLOCK_MONOTONIC.

    Samples come in pieces, each a little late. The promptest delivery around a sample tells the time:
    every piece says that its last sample was played at its arrival or before, so a sample d seconds
    ahead of that one was played d before its arrival; the earliest of these claims is the nearest. What
    remains is the delay of the promptest delivery, well below a millisecond on an idle machine.
    """

    def __init__(self, deliveries: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> None:
        """`deliveries` int64 [n, 2]: arrival in ns, frames received until then."""
        self._arrived_ns = deliveries[:, 0]
        self._frames = deliveries[:, 1]

    def ns(self, frame: int) -> int:
        """Time of one frame of the recording."""
        distance_s = (frame - self._frames) / RATE_HZ
        near = np.abs(distance_s) <= AROUND_S
        claims_ns = self._arrived_ns[near] + (distance_s[near] * 1e9).astype(np.int64)
        return int(np.min(claims_ns))

    def frame(self, time_ns: int) -> int:
        """About the frame that was played at a time; right to a piece."""
        index = int(np.searchsorted(self._arrived_ns, time_ns))
        return int(self._frames[min(index, self._frames.size - 1)])
