from __future__ import annotations

from pathlib import Path

import pytest

from edged.config.model import MqttConfig
from edged.errors import BrokerError
from edged.mqtt.credentials import find_password

SECRET = "s3cret-never-shown"


def test_the_nearest_source_wins(tmp_path: Path) -> None:
    (tmp_path / "mqtt-password").write_text("of the credential\n")
    (tmp_path / "file").write_text("of the file\nsecond line\n")
    file = MqttConfig(password="of the configuration", password_file=str(tmp_path / "file"))
    credential = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    environment = {**credential, "EDGED_MQTT_PASSWORD": "of the environment"}
    assert find_password(file, environment) == "of the environment"
    assert find_password(file, credential) == "of the credential"
    assert find_password(file, {"CREDENTIALS_DIRECTORY": str(tmp_path / "empty")}) == "of the file"
    assert find_password(MqttConfig(password="of the configuration"), {}) == "of the configuration"
    assert find_password(MqttConfig(), {"EDGED_MQTT_PASSWORD": ""}) is None


@pytest.mark.parametrize(
    ("content", "password"),
    [(" spaces count \n", " spaces count "), ("crlf\r\n", "crlf"), ("ünïcode", "ünïcode"), ("", "")],
)
def test_the_first_line_without_its_end(tmp_path: Path, content: str, password: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content.encode())
    assert find_password(MqttConfig(password_file=str(file)), {}) == password


def test_a_file_that_cannot_be_read_is_named_and_its_content_is_not(tmp_path: Path) -> None:
    with pytest.raises(BrokerError, match=r"mqtt.password_file .*missing: No such file or directory; make"):
        find_password(MqttConfig(password_file=str(tmp_path / "missing")), {})
    bad = tmp_path / "bad"
    bad.write_bytes(SECRET.encode() + b"\xff")
    with pytest.raises(BrokerError) as caught:
        find_password(MqttConfig(password_file=str(bad)), {})
    assert (
        str(caught.value)
        == f"mqtt.password_file {bad} is not UTF-8 text; write the password on its first line"
    )
    assert caught.value.__suppress_context__
