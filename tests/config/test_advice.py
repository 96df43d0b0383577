"""Warnings of `edged check`: allowed, but probably not meant."""

import socket
from pathlib import Path

import pytest

from edged.config.advice import advise
from edged.config.build import Loaded
from edged.config.model import Config
from tests.config.helpers import File


def advice(file: File, content: str) -> list[str]:
    file.path.touch(mode=0o600)
    return [str(problem) for problem in advise(file.read(f"node: kitchen\n{content}"), file.path)]


def test_nothing_to_say(file: File) -> None:
    assert advice(file, "mqtt: {username: a, password: b}\n") == []
    assert advice(file, "mqtt: {port: 8883, tls: {enabled: true}}\n") == []


BORNE_BY_MANY = (
    *(
        "raspberrypi",
        "RaspberryPi",
        "localhost",
        "localhost.localdomain",
        "debian",
        "ubuntu",
        "armbian",
        "dietpi",
    ),
    *("rock-5b", "rock5b", "rockpi-4b", "orangepi", "orangepi5plus", "radxa", "odroidc4", "jetson"),
    *("jetson-nano", "tegra-ubuntu", "nvidia-desktop"),
)


@pytest.mark.parametrize("name", BORNE_BY_MANY)
def test_names_that_many_boards_bear(file: File, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = (str(problem) for problem in advise(file.read(f"\nnode: {name}\n"), file.path))
    assert line.startswith(f"line 2: node: {name} is a name that many boards bear; give each its own")
    monkeypatch.setattr(socket, "gethostname", lambda: name)
    (line,) = map(str, advise(Loaded(Config(), {}), None))
    assert line.startswith(f"node: {name} is")
    assert advise(file.read("mqtt: {base: home/kitchen}"), file.path) == []


@pytest.mark.parametrize("name", ["kitchen", "rock-5b-kitchen", "raspberrypi-2", "rockery", "jetsons", "pi4"])
def test_names_of_ones_own(file: File, name: str) -> None:
    assert advise(file.read(f"node: '{name}'"), file.path) == []


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (
            "mqtt: {port: 8883}",
            ["line 2: mqtt.port: 8883 is the port for TLS, but mqtt.tls.enabled is false"],
        ),
        (
            "mqtt: {port: 1883, tls: {enabled: true}}",
            ["line 2: mqtt.port: 1883 is the port without TLS, but mqtt.tls.enabled is true; 8883 is usual"],
        ),
        (
            "mqtt: {tls: {enabled: true, insecure: true}}",
            ["line 2: mqtt.tls.insecure: any certificate will do: the broker may be somebody else"],
        ),
        (
            "mqtt: {tls: {insecure: true}}",
            ["line 2: mqtt.tls.insecure: has no effect while mqtt.tls.enabled is false"],
        ),
        (
            "mqtt: {password: a}",
            ["line 2: mqtt.password: is given without mqtt.username; many brokers refuse that"],
        ),
        (
            "mqtt: {username: u, password_file: /no/such}",
            ["line 2: mqtt.password_file: there is no file /no/such"],
        ),
        ("mqtt: {username: u, password_file: /tmp}", ["line 2: mqtt.password_file: /tmp is not a file"]),
        (
            "audio: {sink: wav, wav_file: /no/such/a.wav}",
            ["line 2: audio.wav_file: there is no folder /no/such"],
        ),
        ("audio: {sink: wav, wav_file: /tmp}", ["line 2: audio.wav_file: /tmp is a folder"]),
        ("audio: {sink: alsa, wav_file: /no/such/a.wav}", []),
        ("voice: {store: /dev/null}", ["line 2: voice.store: is not a folder"]),
        (
            "mqtt: {username: u, password: a #b\n}",
            ["line 2: mqtt.password: what follows ' #' is a comment; put "],
        ),
    ],
)
def test_advice(file: File, content: str, lines: list[str]) -> None:
    found = advice(file, content)
    assert len(found) == len(lines)
    assert all(line.startswith(expected) for line, expected in zip(found, lines, strict=True)), found


def test_secrets_that_everybody_can_read(file: File, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    secret.chmod(0o644)
    assert advice(file, f"mqtt: {{username: u, password_file: {secret}}}") == [
        f"line 2: mqtt.password_file: {secret} can be read by every user of this machine; chmod o-r it"
    ]
    assert advice(file, f"mqtt: {{tls: {{enabled: true, ca_file: {secret}}}}}") == []
    file.path.chmod(0o644)
    assert advice(file, "mqtt: {username: u, password: hunter2}") == [
        "line 2: mqtt.password: can be read by every user of this machine; chmod o-r the file"
    ]


def test_advice_is_in_the_order_of_the_model(file: File) -> None:
    found = advice(
        file,
        "audio: {sink: wav, wav_file: /no/such/a}\nmqtt: {password_file: /no/such, port: 8883, "
        "tls: {cert_file: /no/c, key_file: /no/k}}",
    )
    assert [line.split(": ")[1] for line in found] == [
        "mqtt.port",
        "mqtt.password_file",
        "mqtt.password_file",
        "mqtt.tls.cert_file",
        "mqtt.tls.cert_file",
        "mqtt.tls.key_file",
        "mqtt.tls.key_file",
        "audio.wav_file",
    ]
