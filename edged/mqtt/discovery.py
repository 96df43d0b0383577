"""This board as Home Assistant sees it: the payload of MQTT device discovery. Pure.

Fields as documented at www.home-assistant.io/integrations/mqtt (device discovery payload) and on the
page of each platform (/integrations/notify.mqtt and so on).
"""

from __future__ import annotations

import platform
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from edged import __version__
from edged.config.model import Config
from edged.mqtt.codec import encode_json
from edged.mqtt.topics import Topics, device_id

_MODEL_FILE = "proc/device-tree/model"
_TEXT_TEMPLATE = '{"text":{{ value | tojson }}}'
_ALARM_TEMPLATE = '{"text":{{ value | tojson }},"priority":"urgent"}'


class Discovery:
    """Where the device is described, and how. `prefix` is Home Assistant's; `root` is where /proc lies."""

    def __init__(self, topics: Topics, prefix: str, root: Path = Path("/")) -> None:
        self._topics = topics
        self._id = device_id(topics.base, root)
        self._model = _model(root)
        self._slug = _slug(topics.node) or self._id
        self.topic = f"{prefix}/device/{self._id}/config"

    def payload(self, voices: Sequence[str]) -> bytes:
        """The device with all its entities; `voices` are those to choose from."""
        return encode_json(self.members(voices))

    def members(self, voices: Sequence[str]) -> dict[str, Any]:
        """The JSON object of the payload."""
        return {
            "dev": {
                "ids": [self._id],
                "name": self._topics.node,
                "mf": "edged",
                "mdl": self._model,
                "sw": __version__,
            },
            "o": {"name": "edged", "sw": __version__},
            "availability": [{"topic": self._topics.availability}],
            "qos": 1,
            "cmps": self._commands(voices) | self._readings(),
        }

    def _commands(self, voices: Sequence[str]) -> dict[str, dict[str, Any]]:
        base, say = self._topics.base, self._topics.say
        return {
            "announce": self._entity("notify", "announce", "Announce")
            | {"command_topic": say, "command_template": _TEXT_TEMPLATE, "icon": "mdi:bullhorn"},
            "alarm": self._entity("notify", "alarm", "Alarm")
            | {"command_topic": say, "command_template": _ALARM_TEMPLATE, "icon": "mdi:alarm-light"},
            "volume": self._entity("number", "volume", "Volume")
            | self._state("volume")
            | {"command_topic": f"{base}/volume/set", "min": 0, "max": 1, "step": 0.05, "mode": "slider"}
            | {"icon": "mdi:volume-high"},
            "voice": self._entity("select", "voice", "Voice")
            | self._state("voice")
            | {"command_topic": f"{base}/voice/set", "options": list(voices)}
            | {"entity_category": "config", "icon": "mdi:account-voice"},
            "stop": self._entity("button", "stop", "Stop")
            | {"command_topic": f"{base}/stop", "payload_press": "all", "icon": "mdi:stop"},
        }

    def _readings(self) -> dict[str, dict[str, Any]]:
        number = {"state_class": "measurement"}
        diagnostic = {"entity_category": "diagnostic"}
        return {
            "speaking": self._entity("binary_sensor", "speaking", "Speaking")
            | {"state_topic": self._topics.state, "device_class": "running"}
            | {"value_template": "{{ 'ON' if value_json.speaking else 'OFF' }}"},
            "queue": self._sensor("queue", "Queue", "queue") | number | {"icon": "mdi:tray-full"},
            "rtf": self._sensor("rtf", "Real-time factor", "rtf_1m") | number | diagnostic,
            "temperature": self._sensor("temperature", "Temperature", "temp_c")
            | {"device_class": "temperature", "unit_of_measurement": "°C"}
            | (number | diagnostic),
            "level": self._sensor("level", "Level", "level") | diagnostic,
            "first_audio": self._sensor("first_audio", "First audio", "first_audio_ms_p50")
            | {"device_class": "duration", "unit_of_measurement": "ms"}
            | (number | diagnostic),
        }

    def _sensor(self, key: str, name: str, member: str) -> dict[str, Any]:
        return self._entity("sensor", key, name) | self._state(member)

    def _state(self, member: str) -> dict[str, Any]:
        return {
            "state_topic": self._topics.state,
            "value_template": f"{{{{ value_json.{member} }}}}",
        }

    def _entity(self, kind: str, key: str, name: str) -> dict[str, Any]:
        return {
            "p": kind,
            "unique_id": f"{self._id}_{key}",
            "default_entity_id": f"{kind}.{self._slug}_{key}",
            "name": name,
        }


def discovery_of(config: Config, topics: Topics) -> Discovery | None:
    """The configured board's; None where Home Assistant is not to see it."""
    return Discovery(topics, config.home_assistant.prefix) if config.home_assistant.enabled else None


def _slug(name: str) -> str:
    """What Home Assistant takes in an entity id: a-z, 0-9 and _."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")


def _model(root: Path) -> str:
    """The board's name, as the kernel has it from the firmware; else the kind of processor."""
    try:
        told = (root / _MODEL_FILE).read_text(encoding="ascii", errors="replace").strip("\0\n ")
    except OSError:  # no device tree: not an ARM board
        told = ""
    return told or platform.machine()
