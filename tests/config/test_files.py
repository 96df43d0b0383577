"""Files that are no configuration: one line each, never a traceback, never a wait."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edged.config import load as load_module
from edged.config.load import DEPTH_LIMIT, SIZE_LIMIT_BYTES, find, load
from edged.config.model import Config
from edged.errors import ConfigError
from tests.config.helpers import File


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n",
        "# a comment\n",
        "---\n",
        "---\n...\n",
        "~",
        "null",
        "\ufeff",
        "\ufeff# a\r\n",
        "%YAML 1.1\n---\n",
        "mqtt:\n",
        "{}",
    ],
)
def test_files_that_say_nothing_are_the_defaults(file: File, content: str) -> None:
    assert file.read(content).config == Config()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("[a]", "line 1: must hold sections as 'key: value', not a list"),
        ("\n\n- a\n", "line 3: must hold sections as 'key: value', not a list"),
        ("abc", "line 1: must hold sections as 'key: value', not a single value"),
        ("12", "line 1: must hold sections as 'key: value', not a single value"),
        ("node: a\n---\nnode: b\n", "line 2: a second document begins here (---); keep one"),
        ("node: a\n...\nnode: b\n", "line 3: the document has ended before this line"),
        ("\tnode: a", "line 1: a tab stands where YAML wants spaces; replace it"),
        ("mqtt:\n\thost: a", "line 2: a tab stands where YAML wants spaces; replace it"),
        ("mqtt:\n  host:\ta", "line 2: a tab stands where YAML wants spaces; replace it"),
        ("node: a: b", "line 1: a second ': ' in one line, a ':' missing above, or wrong indentation"),
        (
            "mqtt:\n host: a\n  port: 1",
            "line 3: a second ': ' in one line, a ':' missing above, or wrong indentation",
        ),
        (
            "mqtt:\n  host: a\n port: 1",
            "line 3: the indentation does not fit the lines above, or a quote ends too soon",
        ),
        (
            "mqtt:\n  host\n  port: 1",
            "line 3: a second ': ' in one line, a ':' missing above, or wrong indentation",
        ),
        (
            "mqtt:\n  port: 1\n  host\n",
            "line 3: a key without ': ' after it, or a quote that is never closed",
        ),
        ("mqtt:\n  host: 'a\n  port: 1", "line 2: a quote that is never closed"),
        ('mqtt:\n  host: "a\n  port: 1', "line 2: a quote that is never closed"),
        ("mqtt: [a, b\nnode: c", "line 1: a list in [ ] that is not closed, or a comma missing in it"),
        ("mqtt: {host: b\nnode: c", "line 1: a section in { } that is not closed, or a comma missing in it"),
        ("node: - a", "line 1: a list must begin on a line of its own, below its key"),
        ("node: @a", "line 1: a value cannot begin with this character; put it in quotes"),
        ("node: >a", "line 1: put a text that begins with | or > in quotes"),
        ("node: |a", "line 1: put a text that begins with | or > in quotes"),
        ("node: * a", "line 1: put a text that begins with & or * in quotes"),
        ("node: ? a", "line 1: put a text that begins with ? in quotes"),
        ("node: a\n# a\u2028b\n", "line 2: an invisible line separator; remove it"),
        ('node: "\\x"', "line 1: is not valid YAML"),
        ('node: "\\q"', "line 1: an unknown escape in double quotes; use single quotes"),
        ("node: \x07", "line 1: a control character; remove it"),
        ("node: a\nx: \x00", "line 2: a control character; remove it"),
        (b"node: a\nx: \xe9t\xe9\n", "line 2: is not UTF-8; save it as UTF-8"),
        ("node: a".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        ("node: a".encode("utf-16-be"), "line 1: a control character; remove it"),
        (b"\x1f\x8b\x08\x00", "line 1: is not UTF-8; save it as UTF-8"),
        ("%YAML 2.0\n---\na: b", "line 1: is not valid YAML"),
        (f"%YAML 1.{'9' * 5000}\n---\na: b", "line 1: is not valid YAML"),
    ],
)
def test_bad_syntax(file: File, content: str | bytes, line: str) -> None:
    assert file.problems(content) == [line]


def test_carriage_returns_and_a_byte_order_mark(file: File) -> None:
    config = file.read("\ufeff# edged\r\nnode: kitchen\r\nmqtt:\r\n  host: broker\r\n").config
    assert (config.node, config.mqtt.host) == ("kitchen", "broker")
    assert file.problems("\ufeff\r\nnode: a\r\nmqtt:\r\n  hots: b\r\n")[0].startswith("line 4: mqtt.hots")
    assert file.problems("node: a\rmqtt:\r  hots: b\r")[0].startswith("line 3: mqtt.hots")


def test_nothing_in_the_file_is_executed(file: File, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    for content in (
        f"node: !!python/object/apply:os.system ['touch {trap}']",
        f"!!python/object/apply:os.mkdir ['{trap}']",
        f"mqtt: !!python/object/new:os.system [touch {trap}]",
        "node: !!python/name:os.system",
        "node: !!binary aGk=",
        "node: !!str 12",
        "node: !vault 12",
        "mqtt: !include mqtt.yaml",
    ):
        assert file.problems(content)[0].endswith("put a text that begins with ! in quotes")
    assert not trap.exists()


def test_anchors_are_followed_by_reference(file: File) -> None:
    config = file.read("node: &name kitchen\nmqtt: {client_id: *name, topics: &t [a, *name]}\n").config
    assert (config.node, config.mqtt.client_id, config.mqtt.topics) == (
        "kitchen",
        "kitchen",
        ("a", "kitchen"),
    )


@pytest.mark.timeout(10)
@pytest.mark.parametrize("opening", ["[", "{", "- ", "? ", "[[{a: ", "!x [", "&a ["])
def test_deep_nesting(file: File, opening: str) -> None:
    lines = file.problems(opening * (SIZE_LIMIT_BYTES // len(opening)))
    assert lines == ["line 1: is nested too deep"]
    assert file.problems("node: " + "[" * DEPTH_LIMIT + "]" * DEPTH_LIMIT)[0].startswith(
        "line 1: node: must be"
    )


@pytest.mark.timeout(10)
def test_a_bomb_of_aliases(file: File) -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
        for old, new in zip("abcdefghijklmnopqrstuvwxy", "bcdefghijklmnopqrstuvwxyz", strict=True)
    )
    assert len(file.problems(f"{bomb}mqtt: {{topics: *z}}\nnode: *z\n")) == 36


def test_an_alias_of_itself(file: File) -> None:
    assert file.problems("mqtt: &m {tls: *m}") == [
        "line 1: refers to nothing; put a text that begins with * in quotes"
    ]


@pytest.mark.timeout(30)
def test_a_file_at_the_limit_of_size_is_quick_and_one_beyond_is_refused(file: File) -> None:
    file.read("#" * SIZE_LIMIT_BYTES)
    file.problems("{" + "a," * (SIZE_LIMIT_BYTES // 2 - 1))
    file.problems("".join(f"k{number}: a\n" for number in range(SIZE_LIMIT_BYTES // 10)))
    assert file.problems("#" * (SIZE_LIMIT_BYTES + 1)) == [
        "is larger than 128 KiB: not a configuration of edged"
    ]


@pytest.fixture
def unprivileged(tmp_path: Path) -> Iterator[None]:
    """Runs as nobody where the tests run as root, for whom every file is readable."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _unreadable(path: Path) -> None:
    path.write_text("node: a")
    path.chmod(0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "cannot be read: No such file or directory"),
        (Path.mkdir, "is a folder; name the YAML file itself"),
        (_fifo, "is not a regular file; name the YAML file itself"),
        (_loop, "cannot be read: Too many levels of symbolic links"),
        (lambda path: path.symlink_to("/dev/zero"), "is not a regular file; name the YAML file itself"),
        (lambda path: path.symlink_to("nowhere"), "cannot be read: No such file or directory"),
    ],
)
def test_what_is_no_file(tmp_path: Path, make: Callable[[Path], None], message: str) -> None:
    path = tmp_path / "edged.yaml"
    make(path)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert str(caught.value) == f"{path}: {message}"


def test_a_file_without_the_right_to_read_it(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    path = tmp_path / "edged.yaml"
    _unreadable(path)
    request.getfixturevalue("unprivileged")
    with pytest.raises(ConfigError, match="cannot be read: Permission denied"):
        load(path)


def test_the_null_device_is_an_empty_file() -> None:
    assert load(Path(os.devnull)) == Config()


def test_a_file_name_that_breaks_lines_is_printed_on_one(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"a\nb\x1b[31m\xff")
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert caught.value.file == f"{tmp_path}/a\\nb\\x1b[31m\\udcff"


def test_no_file_is_the_defaults() -> None:
    assert load(None) == Config()


def test_which_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_module, "DEFAULT_PATH", tmp_path / "edged" / "edged.yaml")
    monkeypatch.setenv("EDGED_CONFIG", "")
    assert find() is None
    (tmp_path / "edged").mkdir()
    assert find() is None
    load_module.DEFAULT_PATH.symlink_to("nowhere")
    assert find() == load_module.DEFAULT_PATH
    monkeypatch.setenv("EDGED_CONFIG", "other.yaml")
    assert find() == Path("other.yaml")
    assert find(Path("option.yaml")) == Path("option.yaml")


def test_a_default_file_that_cannot_be_reached_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "edged"
    folder.mkdir(mode=0)
    monkeypatch.setattr(load_module, "DEFAULT_PATH", folder / "edged.yaml")
    monkeypatch.delenv("EDGED_CONFIG", raising=False)
    request.getfixturevalue("unprivileged")
    assert find() == folder / "edged.yaml"


WORDS = (
    "node",
    "mqtt",
    "host",
    "tls",
    "password",
    "topics",
    "true",
    "0.5",
    "<<",
    "*a",
    "&a ",
    "!x ",
    "!!str ",
)
SIGNS = (": ", "\n", "\n  ", "- ", "# ", "? ", "---\n", "...\n", "%YAML 1.1\n", "\\U", "ffffffff")
PIECES = (*WORDS, *SIGNS, *"~1[]{},:'\"|>#\\\t\r\ufeff\x85\u2028é😀")
YAML_LIKE = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@settings(max_examples=400, deadline=1000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=400), YAML_LIKE.map(lambda text: text.encode())))
def test_any_bytes_are_a_configuration_or_lines_of_problems(file: File, content: bytes) -> None:
    file.path.write_bytes(content)
    try:
        result: Config | ConfigError = load(file.path)
    except ConfigError as error:
        result = error
    if isinstance(result, ConfigError):
        lines = [str(problem) for problem in result.problems]
        assert lines
        assert all(line.isprintable() and "\n" not in line for line in lines)


def test_what_the_tree_cannot_show_is_told_fifty_times(file: File) -> None:
    problems = file.problems("node: &a x\n" + "".join(f"k{number}: *missing\n" for number in range(300)))
    assert "and 250 more problems" in problems
    assert len(problems) < 110


def test_a_file_name_in_a_message_has_a_length(file: File) -> None:
    (problem,) = file.problems(f"text:\n  lexicon: {'n' * 4000}\n")
    assert len(problem) < 600
    assert "nnn…nnn" in problem
