"""Text is what is written, whatever YAML would make of it (case C67)."""

import pytest

from edged.config.fields import keys
from tests.config.helpers import File

LOOKS_LIKE_SOMETHING_ELSE = (
    "0123456",
    "20261120.",
    "12:30",
    "190:20:30",
    "no",
    "on",
    "Off",
    "YES",
    "y",
    "true",
    "False",
    "0o17",
    "0x1F",
    "0b101",
    "1_000",
    "1e3",
    "1.5e+3",
    "-.inf",
    ".NaN",
    "2026-11-20",
    "2026-11-20T10:00:00Z",
    "=",
    "3.1.1",
    "007",
    "+1",
    "1.0",
    "00:1A:2B:3C:4D:5E",
    "9" * 400,
)


@pytest.mark.parametrize("text", LOOKS_LIKE_SOMETHING_ELSE)
def test_plain_text_keeps_its_characters(file: File, text: str) -> None:
    config = file.read(f"state_dir: {text}\nmqtt: {{client_id: {text[:100]}, password: {text}}}\n").config
    assert config.state_dir == text
    assert config.mqtt.client_id == text[:100]
    assert config.mqtt.password == text


@pytest.mark.parametrize("text", LOOKS_LIKE_SOMETHING_ELSE)
def test_quotes_change_nothing(file: File, text: str) -> None:
    config = file.read(f"state_dir: '{text}'\nmqtt:\n  password: \"{text}\"\n").config
    assert (config.state_dir, config.mqtt.password) == (text, text)


def test_the_case_as_reported(file: File) -> None:
    config = file.read(
        "node: no\nmqtt:\n  password: 0123456\n  username: 20261120.\n  client_id: 12:30\n"
        "voice:\n  name: on\n"
    ).config
    assert config.mqtt.password == "0123456"
    assert config.mqtt.username == "20261120."
    assert config.mqtt.client_id == "12:30"
    assert (config.node, config.voice.name) == ("no", "on")


def test_items_of_a_list_keep_their_characters(file: File) -> None:
    config = file.read("mqtt:\n  topics: [0123, no, 12:30, 1e3, home/+/say, '#']\n").config
    assert config.mqtt.topics == ("0123", "no", "12:30", "1e3", "home/+/say", "#")


@pytest.mark.parametrize("nothing", ["", "~", "null", "Null", "NULL", "  # later"])
def test_nothing_means_the_default(file: File, nothing: str) -> None:
    config = file.read(f"mqtt:\n  host: {nothing}\n  port: {nothing}\n  topics: {nothing}\n").config
    assert (config.mqtt.host, config.mqtt.port, config.mqtt.topics) == ("localhost", None, ())


def test_null_in_quotes_is_a_text(file: File) -> None:
    assert file.read("mqtt: {password: 'null', username: \"~\"}").config.mqtt.password == "null"


def test_null_is_a_text_where_it_is_a_choice(file: File) -> None:
    assert file.read("audio: {sink: null}").config.audio.sink == "null"
    assert file.read("audio: {sink: 'null'}").config.audio.sink == "null"
    assert file.read("audio: {sink: }").config.audio.sink == "alsa"
    assert file.problems("audio: {sink: NULL}") == [
        "line 1: audio.sink: must be alsa, null, wav or stdout, not NULL; did you mean null?"
    ]


@pytest.mark.parametrize(
    "written",
    [
        "@hunter2",
        "%hunter2",
        "`hunter2",
        "*hunter2",
        "&hunter2",
        "&hunter2 hunter2",
        ">hunter2",
        "|hunter2",
        "? hunter2",
        "& hunter2",
        "* hunter2",
        '"hunter2" hunter2',
        "hunter2\u2028hunter2",
        "hunter2\x85hunter2",
        "!hunter2",
        "! hunter2",
        "!!python/object:hunter2 x",
        "#hunter2",
        "[hunter2",
        "{hunter2",
        "[hunter2]",
        "{hunter2}",
        "{hunter2: hunter2}",
        "'hunter2",
        '"hunter2',
        '"hunter2\\q"',
        '"\\UFFFFFFFFhunter2"',
        '"hunter2\\n"',
        '"hunter2\\ud800"',
        "- hunter2",
        "a: hunter2",
        "|\n    hunter2",
        "hunter2\n    hunter2",
        "'hunter2\n    hunter2'",
        "hunter2\thunter2\t#",
        "\thunter2",
        "hunter2\x07",
        "hunter2" * 1000,
    ],
)
def test_a_password_that_needs_quotes_is_refused_and_never_printed(file: File, written: str) -> None:
    for content in (
        f"mqtt:\n  username: u\n  password: {written}\n",
        f"node: a\nmqtt: {{password: {written}}}\n",
    ):
        lines = file.problems(content)
        assert all(line.startswith("line ") for line in lines)
        assert "hunter" not in "\n".join(lines)
        assert not any(char in line for line in lines for char in "\n\t\x07")


@pytest.mark.parametrize(
    "content",
    [
        "mqtt: {password:hunter2}",
        "mqtt: {password hunter2}",
        "mqtt: {password: abc,hunter2}",
        "mqtt: [password, hunter2]",
        "mqtt: password=hunter2",
        "mqtt:\n  password:hunter2",
        "password: hunter2",
        "mqtt:\n  passwort: hunter2",
        "mqqt: {password: hunter2}",
        "mqtt: {tls: {password: hunter2}}",
        "mqtt: {? hunter2 : x}",
        "mqtt: {password: hunter2, password: hunter2}",
        "mqtt: {password: hunter2, password_file: x}",
        "mqtt: {password: hunter2, port: 0}",
        "hunter2",
        "[hunter2]",
        "mqtt: {host: mqtt://me:hunter2@broker}",
        "hunter2: ? - hunter2\n",
        "%hunter2 x\n---\na: b",
        "%TAG !hunter2! hunter2\n---\n!other!x a: b",
        "a: &hunter2 1\nb: &hunter2 *hunter2\nc: *hunter22",
    ],
)
def test_no_slip_of_writing_prints_the_password(file: File, content: str) -> None:
    lines = file.problems(content)
    shown = [line for line in lines if "hunter2" in line]
    # The one name that is shown is that of an unknown key itself.
    assert all(line.split(": ")[1].endswith("hunter2") for line in shown), shown
    assert not shown or content.startswith(("mqtt: {? hunter2", "hunter2: ?"))


def test_a_secret_is_not_in_the_repr_of_the_configuration(file: File) -> None:
    config = file.read("mqtt: {password: hunter2}").config
    assert "hunter2" not in repr(config)
    assert [key.path for key in keys() if key.secret] == ["mqtt.password"]


def test_what_yaml_takes_for_a_comment_behind_a_password_is_remarked(file: File) -> None:
    loaded = file.read("mqtt:\n  password: abc #hunter2\n")
    (remark,) = map(str, loaded.remarks)
    assert remark.startswith("line 2: mqtt.password: what follows ' #' is a comment; put the whole text in ")
    assert file.read("mqtt:\n  password: 'abc #hunter2'  # mine\n").remarks == ()
    assert file.read("node: abc  # mine\nmqtt:  # mine\n  host: a # b\n").remarks == ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("node: ''", "node: is empty; leave it out for the default"),
        ("node: a/b", "node: must be one topic level, without /, # or +"),
        ("node: [a]", "node: must be text, not a list; put a text with [, { or ': ' in quotes"),
        ("audio: {device: 2}", "audio.device: must be a name or a part of one; numbers of devices change"),
        ("mqtt: {host: mqtt://broker}", "mqtt.host: must be a host name or an address alone"),
        ("mqtt: {host: 'broker:1883'}", "mqtt.host: must be a host name or an address alone"),
        ("mqtt: {host: '192.168.1.5:1883'}", "mqtt.host: must be a host name or an address alone"),
        ("mqtt: {topics: a/b}", "mqtt.topics: must be a list of texts, not a single value; write each one"),
        ("mqtt: {topics: [a/#/b]}", "mqtt.topics: must be a topic filter"),
        ("mqtt: {topics: [a+]}", "mqtt.topics: must be a topic filter"),
        ("mqtt: {topics: ['']}", "mqtt.topics: is empty"),
        ("mqtt: {topics: [a, ]}\nnode: ''", "node: is empty"),
        ("process: {affinity: fast}", "process.affinity: must be auto, off, or processor numbers"),
        ("mqtt: {base: edged/#}", "mqtt.base: must be a topic without # or +"),
        ("mqtt: {base: /}", "mqtt.base: must be a topic without # or +, not beginning with $ or ending in /"),
        ("mqtt: {base: home/hall/}", "not beginning with $ or ending in /"),
        ("mqtt: {base: $SYS/x}", "not beginning with $ or ending in /"),
    ],
)
def test_wrong_text(file: File, content: str, message: str) -> None:
    (line,) = file.problems(content)
    assert message in line


@pytest.mark.parametrize("host", ["broker.lan", "192.168.1.5", "::1", "fe80::1%eth0", "localhost", "bröker"])
def test_hosts(file: File, host: str) -> None:
    assert file.read(f"mqtt: {{host: '{host}'}}").config.mqtt.host == host


@pytest.mark.parametrize("affinity", ["auto", "off", "2", "2,3", "4-7", "0,4-7"])
def test_affinities(file: File, affinity: str) -> None:
    assert file.read(f"process:\n  affinity: {affinity}\n").config.process.affinity == affinity


def test_every_bad_item_of_a_list_has_its_line(file: File) -> None:
    lines = file.problems("mqtt:\n  topics:\n  - #home\n  - a/#/b\n  - ok\n  - [a]\n")
    assert [line[:7] for line in lines] == ["line 3:", "line 4:", "line 6:"]
