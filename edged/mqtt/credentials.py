"""Where the broker's password comes from. Nothing here is ever printed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from edged.config.model import MqttConfig
from edged.errors import BrokerError

ENVIRONMENT = "EDGED_MQTT_PASSWORD"
CREDENTIAL = "mqtt-password"
"""Name of the systemd credential (LoadCredential=)."""


def find_password(config: MqttConfig, environ: Mapping[str, str]) -> str | None:
    """The password, from what is nearest to the process: environment, credential, file, configuration.

    Only the first line of a file counts. Raises BrokerError where a file that is named cannot be
    read, without a word of what is in it.
    """
    if environ.get(ENVIRONMENT):
        return environ[ENVIRONMENT]
    folder = environ.get("CREDENTIALS_DIRECTORY")
    if folder and (Path(folder) / CREDENTIAL).exists():
        return _first_line(Path(folder) / CREDENTIAL, f"the systemd credential {CREDENTIAL}")
    if config.password_file is not None:
        return _first_line(Path(config.password_file), f"mqtt.password_file {config.password_file}")
    return config.password


def _first_line(path: Path, name: str) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return file.readline().rstrip("\r\n")
    except OSError as error:
        raise BrokerError(f"{name}: {error.strerror}; make it readable for the user edged runs as") from None
    except UnicodeDecodeError:
        raise BrokerError(f"{name} is not UTF-8 text; write the password on its first line") from None
