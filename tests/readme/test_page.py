"""README.md is true as far as that can be seen without running it; `python3 -m tests.readme` runs it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from edged import cli
from edged.cli import COMMANDS
from edged.config.fields import keys, root, sections
from edged.config.load import load, read_words
from edged.config.model import Config
from edged.mqtt import codec
from edged.mqtt.discovery import discovery_of
from edged.mqtt.topics import Topics
from tests.board import steps
from tests.readme import __main__ as walk
from tests.readme import commands
from tests.readme.page import README, REPO, Block, blocks, prose, spans

PICTURE_LIMIT_BYTES = 150_000
KITCHEN = Topics.of(Config(node="kitchen"))
ORDER = [
    "What to expect",
    "Install it as a service",
    "Publish",
    "Choose a voice",
    "Change a setting while it runs",
    "What happens when things fail",
    "Figures",
    "Boards and profiles",
    "Troubleshooting",
    "Commands",
    "Licences",
]


def of(language: str) -> list[Block]:
    found = [block for block in blocks() if block.language == language]
    assert found
    return found


def told(block: Block, content: str) -> str:
    return f"{block}: {content}"


# -- how it is laid out ------------------------------------------------------------------------------


def test_the_sections_stand_in_the_order_in_which_a_newcomer_asks() -> None:
    assert re.findall(r"(?m)^## (.+)$", prose()) == ORDER


def test_first_comes_what_it_is_then_the_picture_then_the_two_commands() -> None:
    page = README.read_text()
    first, second = of("sh")[:2]
    assert (first.text, second.text) == ('deploy/try "Dinner is ready"\n', "deploy/check\n")
    assert (first.heading, second.heading) == ("", "")
    begin, picture, command = page.index("edged is "), page.index("!["), page.index("```sh")
    assert begin < picture < command
    assert 3 <= page[begin:picture].strip().count("\n") + 1 <= 6
    name = re.search(r"!\[[^\]]+\]\(([^)]+)\)", page)
    assert name
    assert 0 < (REPO / name[1]).stat().st_size < PICTURE_LIMIT_BYTES
    assert (REPO / name[1]).read_bytes().startswith(b"\x89PNG")


def test_every_block_says_what_it_is() -> None:
    assert {block.language for block in blocks()} == {"sh", "text", "yaml", "json"}
    for before, block in zip(blocks(), blocks()[1:], strict=False):
        if block.language == "text":
            assert before.language == "sh", told(block, "an output without a command")
    assert README.read_text().count("```") == 2 * len(blocks())


def test_no_line_is_too_long_to_be_read_in_a_terminal() -> None:
    for number, line in enumerate(prose().splitlines(), 1):
        assert len(line) <= 120 or line.startswith("|"), f"line {number}"


# -- commands ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", of("sh"), ids=str)
def test_every_shell_block_can_be_read_by_a_shell(block: Block) -> None:
    read = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, check=False)
    assert (read.returncode, read.stderr) == (0, "")


def test_every_command_of_edged_is_one() -> None:
    named = [(where, line) for where, line in commands.lines() if line.split(" ")[0] == "edged"]
    assert len(named) > 20
    for where, line in named:
        assert commands.fault_of_edged(commands.words_of(line)) is None, where


def test_every_other_command_of_the_project_is_one() -> None:
    named = [
        (where, line) for where, line in commands.lines() if re.match(r"deploy/\w+|python3 -m tests", line)
    ]
    assert len(named) > 10
    for where, line in named:
        assert commands.fault_of_script(commands.words_of(line)) is None, where


def test_every_option_on_its_own_is_one() -> None:
    known = commands.options_of_edged() | commands.options_of_scripts()
    for program in REPO.glob("tests/**/__main__.py"):
        known |= set(re.findall(r"--[a-z-]+", program.read_text()))
    for span in spans():
        if span.text.startswith("-"):
            assert span.text.split()[0].rstrip(",") in known | {"-"}, span


def test_the_list_of_commands_is_that_of_the_program() -> None:
    table = prose().partition("\n## Commands\n")[2].partition("\n\nExit codes")[0]
    assert sorted(re.findall(r"(?m)^\| `edged (\w+)` \|", table)) == sorted(COMMANDS)


def test_the_exit_codes_are_those_of_the_program() -> None:
    line = re.search(r"(?s)Exit codes: (.*?)\.\n", prose())
    assert line
    assert [int(code) for code in re.findall(r"\d+", line[1])] == [
        0,
        cli.EXIT_FAILED,
        cli.EXIT_BUG,
        cli.EXIT_IO,
        cli.EXIT_CONFIG,
    ]


def test_every_file_that_is_named_is_there() -> None:
    named = list(commands.paths())
    assert len(named) > 15
    for where, path in named:
        assert (REPO / path).exists(), f"{where}: {path}"
    anchors = {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in _headings()}
    assert set(re.findall(r"\]\(#([^)]+)\)", prose())) <= anchors


def _headings() -> list[str]:
    return re.findall(r"(?m)^#+ (.+)$", prose())


# -- settings ----------------------------------------------------------------------------------------


def test_every_key_that_is_named_is_one() -> None:
    names = {section.path.split(".")[0] for section in sections() if section.path} | set(root().named)
    known = {key.path for key in keys()} | {section.path for section in sections()}
    named = [span for span in spans() if span.text.partition(".")[0] in names and " " not in span.text[:12]]
    named = [span for span in named if re.match(r"[a-z_]+\.[a-z_]", span.text)]
    assert len(named) > 20
    for span in named:
        assert span.text.partition(":")[0] in known, span


@pytest.mark.parametrize("block", of("yaml"), ids=str)
def test_every_yaml_block_is_taken_by_what_it_is_for(block: Block, tmp_path: Path) -> None:
    name = block.text.splitlines()[0].removeprefix("# ")
    if name == "/etc/edged/edged.yaml":
        for profile in (REPO / "configs").glob("*.yaml"):
            shutil.copy(profile, tmp_path)
        (tmp_path / "edged.yaml").write_text(block.text)
        assert load(tmp_path / "edged.yaml") != Config()
    elif name == "/etc/edged/words.yaml":
        (tmp_path / "words.yaml").write_text(block.text)
        assert len(read_words(tmp_path / "words.yaml")) == 3
    else:
        assert name == "Home Assistant"
        _check_automations(yaml.safe_load(block.text))


def _check_automations(automations: list[dict[str, Any]]) -> None:
    """Our entities and topics; the shape is that of www.home-assistant.io/docs/automation/yaml."""
    discovery = discovery_of(Config(node="kitchen"), KITCHEN)
    assert discovery is not None
    entities = {each["default_entity_id"] for each in discovery.members(["heart"])["cmps"].values()}
    used = set()
    for automation in automations:
        assert {"alias", "triggers", "actions"} == set(automation)
        for action in automation["actions"]:
            used.add(action["action"])
            if action["action"] == "notify.send_message":
                assert action["target"]["entity_id"] in entities
                assert set(action["data"]) == {"message"}
            else:
                assert action["action"] == "mqtt.publish"
                assert action["data"]["qos"] == 1
                _check_message(action["data"]["topic"], action["data"]["payload"])
    assert used == {"notify.send_message", "mqtt.publish"}
    for span in spans():
        if re.match(r"notify\.\w+_", span.text):
            assert span.text in entities, span


def test_the_profiles_are_those_that_there_are() -> None:
    table = prose().partition("\n## Boards and profiles\n")[2]
    rows = re.findall(
        r"(?m)^\| .+? \| \[(\w+)\]\(.+?\) \| (\d+) ms \| (\d+) MB \| (\d+) °C, (\d+) °C \|$", table
    )
    assert {row[0] for row in rows} == {file.stem for file in (REPO / "configs").glob("*.yaml")}
    for name, period_ms, memory_mb, soft_c, hard_c in rows:
        config = load(REPO / f"configs/{name}.yaml")
        assert (config.audio.period_ms, config.governor.soft_c, config.governor.hard_c) == (
            int(period_ms),
            float(soft_c),
            float(hard_c),
        )
        limits = REPO / f"systemd/boards/{name}.conf"
        unit = (limits if limits.exists() else REPO / "systemd/edged.service").read_text()
        limit = re.search(r"(?m)^MemoryMax=(\d+)([MG])$", unit)
        assert limit
        assert int(limit[1]) * {"M": 1, "G": 1024}[limit[2]] == int(memory_mb)


# -- messages ----------------------------------------------------------------------------------------


def test_every_published_example_is_obeyed_or_spoken() -> None:
    published = [
        shlex.split(line)
        for block in of("sh")
        for line in block.text.splitlines()
        if line.startswith("mosquitto_pub")
    ]
    assert len(published) >= 4
    for words in published:
        topic, payload = words[words.index("-t") + 1], words[words.index("-m") + 1]
        _check_message(topic, payload)
        assert KITCHEN.control_of(topic) is not None or words[words.index("-q") + 1] == "1"


def _check_message(topic: str, payload: str) -> None:
    command = KITCHEN.control_of(topic)
    if command is not None:
        codec.decode_control(command, payload.encode())
        return
    assert KITCHEN.is_spoken(topic)
    announcement = codec.decode(payload.encode(), KITCHEN.zone_of(topic), lambda: "1", 1000)
    assert "{" not in announcement.text
    if payload.startswith("{"):
        assert set(json.loads(payload)) <= {*codec._TEXT_KEYS, *codec._KEYS}


def test_every_json_payload_in_a_sentence_is_taken() -> None:
    named = [span for span in spans() if span.text.startswith('{"')]
    assert named
    for span in named:
        _check_message("edged/kitchen/say", span.text)


def test_every_topic_in_a_sentence_is_one() -> None:
    published = {KITCHEN.availability, KITCHEN.state, KITCHEN.event}
    named = [span for span in spans() if span.text.startswith("edged/kitchen")]
    assert len(named) >= 5
    for span in named:
        is_in = KITCHEN.is_spoken(span.text) or KITCHEN.control_of(span.text)
        assert is_in or span.text in published, span


def test_the_node_red_flow_is_one() -> None:
    """Nodes and properties as Node-RED exports them, nodered.org/docs/user-guide/editor/workspace."""
    (block,) = of("json")
    nodes = json.loads(block.text)
    by_id = {node["id"]: node for node in nodes}
    assert len(by_id) == len(nodes)
    (inject,) = (node for node in nodes if node["type"] == "inject")
    (out,) = (node for node in nodes if node["type"] == "mqtt out")
    assert inject["wires"] == [[out["id"]]]
    assert by_id[out["broker"]]["type"] == "mqtt-broker"
    assert (out["qos"], out["retain"]) == ("1", "false")
    assert inject["payloadType"] == "str"
    _check_message(out["topic"], inject["payload"])


# -- the walk ----------------------------------------------------------------------------------------


def test_the_walk_knows_every_block_that_it_treats_in_a_way_of_its_own() -> None:
    begins = [*walk.ELSEWHERE, *walk.IN_PART, *walk.SEEN, walk.CHECK, walk.INSTALL, walk.BROKER_SERVICE]
    for begin in begins:
        assert sum(block.text.startswith(begin) for block in of("sh")) == 1, begin
    assert {*walk.ELSEWHERE.values(), *walk.IN_PART.values()} <= {step.__name__ for step in steps.X86_64}
    assert sum(block.heading == walk.LIVE_HEADING for block in of("yaml")) == 1
