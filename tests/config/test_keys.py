"""Unknown, misplaced and doubled keys: full path, line, and what to write instead (case C68)."""

import pytest

from edged.config.build import PROBLEMS_SHOWN
from edged.config.model import ZoneConfig
from tests.config.helpers import File


def test_the_case_as_reported(file: File) -> None:
    (line,) = file.problems("mqtt: {host: broker.lan, retian: ignore}")
    assert line.startswith("line 1: mqtt.retian: unknown key; valid here: host, port, protocol, ")
    assert "ignore" not in line


def test_the_same_key_twice(file: File) -> None:
    assert file.problems("mqtt:\n  host: a\n  port: 1\n  host: a\n  'host': b\n") == [
        "line 4: mqtt.host: given twice, first in line 2; keep one",
        "line 5: mqtt.host: given twice, first in line 2; keep one",
    ]
    assert file.problems("mqtt: {password: a}\naudio: {}\nmqtt: {port: 0}\n") == [
        "line 3: mqtt: given twice, first in line 1; keep one",
        "line 3: mqtt.port: must be 1 to 65535, not 0",
    ]


def test_an_unknown_key_twice(file: File) -> None:
    assert [line[:20] for line in file.problems("nodee: a\nnodee: b\n")] == [
        "line 1: nodee: unkno",
        "line 2: nodee: given",
        "line 2: nodee: unkno",
    ]


@pytest.mark.parametrize(
    ("content", "rest"),
    [
        ("mqtt: {hots: a}", "mqtt.hots: unknown key; did you mean mqtt.host?"),
        ("mqtt: {Host: a}", "mqtt.Host: unknown key; did you mean mqtt.host?"),
        ("mqtt: {client-id: a}", "mqtt.client-id: unknown key; did you mean mqtt.client_id?"),
        ("mqtt: {clientId: a}", "mqtt.clientId: unknown key; did you mean mqtt.client_id?"),
        ("mqtt: {keepalive: 3}", "mqtt.keepalive: unknown key; did you mean mqtt.keepalive_s?"),
        ("mqtt: {pasword: a}", "mqtt.pasword: unknown key; did you mean mqtt.password?"),
        ("audio: {period: 12}", "audio.period: unknown key; did you mean audio.period_ms?"),
        ("mqtt: {tls: {cafile: x}}", "mqtt.tls.cafile: unknown key; did you mean mqtt.tls.ca_file?"),
        ("zones: {attic: {devcie: x}}", "zones.attic.devcie: unknown key; did you mean zones.attic.device?"),
        (
            "zones: {all: {}}",
            "zones.all: must be a name of letters, digits, - and _; all and default are taken",
        ),
        (
            "zones: {a b: {}}",
            "zones.a…: must be a name of letters, digits, - and _; all and default are taken",
        ),
        ("zones: 5", "zones: must hold names, each a section, not a single value"),
        ("MQTT: {host: x}", "MQTT: unknown key; did you mean mqtt?"),
        ("audio: {drain_limit: 1}", "audio.drain_limit: unknown key; did you mean audio.drain_limit_ms?"),
        (
            "process: {drain_limit: 1}",
            "process.drain_limit: unknown key; did you mean process.drain_limit_s?",
        ),
        ("host: a", "host: unknown key; host belongs under mqtt"),
        ("audio: {host: a}", "audio.host: unknown key; host belongs under mqtt"),
        ("mqtt: {ca_file: a}", "mqtt.ca_file: unknown key; ca_file belongs under mqtt.tls"),
        ("mqtt: {node: a}", "mqtt.node: unknown key; node belongs to the top, in no section"),
        ("volme: 1", "volme: unknown key; did you mean audio.volume?"),
        ("mqtt.host: a", "mqtt.host: a key has no dots; write host under mqtt"),
        ("mqtt.tls: {}", "mqtt.tls: a key has no dots; write tls under mqtt"),
        (
            "zzz: 1",
            "zzz: unknown key; valid here: node, profile, state_dir, mqtt, home_assistant, hermes, audio",
        ),
        ("<<: {a: 1}", "<<: merge keys are not used here; write the keys out"),
        ("mqtt: &m {port: 1}\naudio: {<<: *m}", "audio.<<: merge keys are not used here; write the keys out"),
        ("? [a]\n: b", "a key must be a name, not a list"),
        ("? {a: b}\n: b", "a key must be a name, not a section"),
        ("1: a", "1: unknown key; valid here:"),
        ("yes: a", "yes: unknown key; valid here:"),
        ("~: a", "…: unknown key; valid here:"),
        ("'': a", "…: unknown key; valid here:"),
        ("ключ: a", "ключ: unknown key; valid here:"),
        ('"a\\nb\\e[31m": 1', "a…: unknown key; valid here:"),
        (f"{'k' * 1000}: a", f"{'k' * 60}…: unknown key; valid here:"),
    ],
)
def test_unknown_keys(file: File, content: str, rest: str) -> None:
    line = file.problems(content)[0]
    assert line.split(": ", 1)[1].startswith(rest)


def test_a_missing_space_after_the_colon(file: File) -> None:
    assert file.problems("mqtt: {port:1883: x}") == ["line 1: mqtt.port…: a key needs a space after its ':'"]


def test_all_problems_at_once_in_the_order_of_the_file(file: File) -> None:
    lines = file.problems(
        "audio:\n  volume: 2\n  sink: als\nmqtt:\n  prot: 1\n  password: [x]\n  topics: [a, '#b']\n"
        "queue: 3\nnode: ''\nnode: x\n"
    )
    assert [line.split(": ")[:2] for line in lines] == [
        ["line 2", "audio.volume"],
        ["line 3", "audio.sink"],
        ["line 5", "mqtt.prot"],
        ["line 6", "mqtt.password"],
        ["line 7", "mqtt.topics"],
        ["line 8", "queue"],
        ["line 9", "node"],
        ["line 10", "node"],
    ]


def test_endless_problems_are_counted(file: File) -> None:
    lines = file.problems("".join(f"key{number}: 1\n" for number in range(5000)))
    assert len(lines) == PROBLEMS_SHOWN + 1
    assert lines[-1] == f"and {5000 - PROBLEMS_SHOWN} more problems"


@pytest.mark.parametrize(
    "content", ["mqtt: broker.lan", "mqtt: [host]", "mqtt: 5", "mqtt:\n- host: a", "tls: x"]
)
def test_a_section_that_is_none(file: File, content: str) -> None:
    (line,) = file.problems(content)
    assert "mqtt: must be a section" in line or "tls belongs under mqtt" in line


def test_an_empty_section_is_one(file: File) -> None:
    assert file.read("mqtt:\naudio: {}\nqueue: ~\n").config == file.read("").config


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (
            "mqtt:\n  tls:\n    cert_file: a\n",
            ["line 3: mqtt.tls.cert_file: needs mqtt.tls.key_file beside it"],
        ),
        ("mqtt:\n  tls: {key_file: a}\n", ["line 2: mqtt.tls.key_file: needs mqtt.tls.cert_file beside it"]),
        (
            "mqtt:\n  password: a\n  password_file: b\naudio: {volume: 2}\n",
            [
                "line 2: mqtt.password: is given beside mqtt.password_file; keep one of them",
                "line 4: audio.volume: must be 0 to 1, not 2",
            ],
        ),
    ],
)
def test_keys_that_belong_together(file: File, content: str, lines: list[str]) -> None:
    assert file.problems(content) == lines


def test_a_wrong_key_is_not_called_missing_as_well(file: File) -> None:
    assert file.problems("mqtt:\n  tls:\n    cert_file: a\n    key_file: [b]\n") == [
        "line 4: mqtt.tls.key_file: must be text, not a list; put a text with [, { or ': ' in quotes"
    ]


def test_zones_in_the_order_of_the_file(file: File) -> None:
    loaded = file.read("zones:\n  attic:\n    device: USB\n  'no': {volume: 0.5}\n  hall:\n")
    assert loaded.config.zones == (
        ZoneConfig("attic", device="USB"),
        ZoneConfig("no", volume=0.5),
        ZoneConfig("hall"),
    )
    assert loaded.lines == {"zones.attic.device": 3, "zones.no.volume": 4}
    assert file.problems("zones:\n  a: {}\n  a: {volume: 2}\n") == [
        "line 3: zones.a: given twice; keep one",
    ]
