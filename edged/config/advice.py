"""What is allowed in a configuration but probably not meant, or not fit for this machine.

For `edged check` and `edged doctor`; the daemon starts all the same, for a missing file may come and
a host name may be right.
"""

from __future__ import annotations

import os
import re
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from edged.config.build import Loaded
from edged.config.fields import keys, value_at
from edged.config.model import Config, MqttConfig
from edged.errors import Problem

_DEFAULT_NAMES = re.compile(
    r"localhost(\.localdomain\d?)?|raspberrypi|raspberry|debian|ubuntu|armbian|dietpi|radxa|khadas\w*|odroid\w*"
    r"|rock-?(pi-?)?\d\w{0,2}|(orange|banana|nano)pi-?\w{0,8}|(jetson|orin)(-?(nano|nx|orin|xavier|agx))*"
    r"|(nvidia|tegra)(-(desktop|ubuntu))?|homeassistant|linux|board|beaglebone"
)
"""Host names that images for boards come with, so that several in one house bear the same."""

_FILES = ("mqtt.tls.ca_file", "mqtt.tls.cert_file", "mqtt.tls.key_file", "mqtt.password_file")
_PRIVATE = ("mqtt.tls.key_file", "mqtt.password_file")

_Finding = tuple[str, str]


def advise(loaded: Loaded, path: Path | None) -> list[Problem]:
    """Warnings for a valid configuration read from `path` (None: defaults), in the model's order."""
    order = [key.path for key in keys()]
    findings = sorted(_findings(loaded.config, path), key=lambda finding: order.index(finding[0]))
    found = [Problem(key, loaded.lines.get(key), message) for key, message in findings]
    return [*loaded.remarks, *found]


def _findings(config: Config, path: Path | None) -> Iterator[_Finding]:
    yield from _node(config)
    yield from _signing_in(config.mqtt, path)
    yield from _tls(config.mqtt)
    for key in _FILES:
        if (name := value_at(config, key)) is not None:
            yield from _file(key, name)
    if config.audio.sink == "wav":
        yield from _wav_folder(config.audio.wav_file)
    for key in ("state_dir", "voice.store"):
        name = value_at(config, key)
        if name is not None and os.path.exists(name) and not os.path.isdir(name):
            yield key, "is not a folder"


def _node(config: Config) -> Iterator[_Finding]:
    if config.mqtt.base is not None:
        return
    name = config.node or socket.gethostname()
    if _DEFAULT_NAMES.fullmatch(name.lower()):
        yield "node", f"{name} is a name that many boards bear; give each its own, so that topics differ"


def _signing_in(mqtt: MqttConfig, path: Path | None) -> Iterator[_Finding]:
    if mqtt.username is None:
        for key, value in (("mqtt.password", mqtt.password), ("mqtt.password_file", mqtt.password_file)):
            if value is not None:
                yield key, "is given without mqtt.username; many brokers refuse that"
    if mqtt.password is not None and path is not None and _is_open_to_all(path):
        yield "mqtt.password", "can be read by every user of this machine; chmod o-r the file"


def _tls(mqtt: MqttConfig) -> Iterator[_Finding]:
    tls = mqtt.tls
    if tls.enabled:
        if mqtt.port == 1883:
            yield "mqtt.port", "1883 is the port without TLS, but mqtt.tls.enabled is true; 8883 is usual"
        if tls.insecure:
            yield "mqtt.tls.insecure", "any certificate will do: the broker may be somebody else"
        return
    if mqtt.port == 8883:
        yield "mqtt.port", "8883 is the port for TLS, but mqtt.tls.enabled is false"
    for name in ("ca_file", "cert_file", "key_file", "insecure"):
        if getattr(tls, name):
            yield f"mqtt.tls.{name}", "has no effect while mqtt.tls.enabled is false"


def _file(key: str, name: str) -> Iterator[_Finding]:
    if not os.path.exists(name):
        yield key, f"there is no file {name}"
    elif not os.path.isfile(name):
        yield key, f"{name} is not a file"
    elif not os.access(name, os.R_OK):
        yield key, f"{name} cannot be read by this user"
    elif key in _PRIVATE and _is_open_to_all(Path(name)):
        yield key, f"{name} can be read by every user of this machine; chmod o-r it"


def _wav_folder(name: str) -> Iterator[_Finding]:
    folder = os.path.dirname(os.path.abspath(name))
    if not os.path.isdir(folder):
        yield "audio.wav_file", f"there is no folder {folder}"
    elif not os.access(folder, os.W_OK):
        yield "audio.wav_file", f"this user cannot write into {folder}"
    elif os.path.isdir(name):
        yield "audio.wav_file", f"{name} is a folder"


def _is_open_to_all(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & stat.S_IROTH)
    except OSError:
        # It was readable a moment ago; what cannot be looked at now cannot be judged.
        return False
