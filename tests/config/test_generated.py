"""The committed reference and schema are what the model gives, and agree with the loader."""

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from edged.config.build import Loaded
from edged.config.fields import keys, root, sections
from edged.config.model import Config
from edged.config.reference import MASK, reference, shown, uncommented
from edged.config.schema import json_schema, schema_text
from edged.config.values import _BOOLS
from tests.config.helpers import File
from tests.config.strategies import configs

CONFIGS = Path(__file__).parents[2] / "configs"
VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def test_the_committed_files_are_up_to_date() -> None:
    assert (CONFIGS / "edged.yaml").read_text() == reference(), "edged check --reference > configs/edged.yaml"
    assert (CONFIGS / "edged.schema.json").read_text() == schema_text(), (
        "edged check --schema > configs/edged.schema.json"
    )


def test_the_reference_names_every_key_with_its_default_unit_and_bounds() -> None:
    text = reference()
    assert [line.strip("# :") for line in re.findall(r"(?m)^ *#[a-z]\w*:", text)] == [
        key.name for key in keys()
    ]
    assert all(len(line) <= 100 for line in text.splitlines())
    flat = " ".join(text.replace("#", " ").split())
    for key in keys():
        assert f"{key.doc} [" in flat
        assert key.bounds() in text


def test_the_reference_is_the_defaults_as_shipped_and_uncommented(file: File) -> None:
    assert file.read(reference()).config == Config()
    loaded = file.read(uncommented(reference()))
    assert loaded.config == Config()
    assert list(loaded.lines) == [key.path for key in keys()]


def test_uncommenting_one_key_of_the_reference_is_enough(file: File) -> None:
    for key in keys():
        lines = reference().splitlines()
        for number, line in enumerate(lines):
            changed = [*lines[:number], line.replace("#", "", 1), *lines[number + 1 :]]
            if line.strip().startswith(f"#{key.name}:") and key.path in file.read("\n".join(changed)).lines:
                break
        else:
            pytest.fail(f"{key.path} cannot be uncommented")


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    assert json.loads(schema_text()) == json_schema()


def test_the_schema_describes_every_key() -> None:
    for key in keys():
        node = json_schema()
        for part in key.path.split("."):
            assert node["additionalProperties"] is False
            node = node["properties"][part]
        assert node["description"].startswith(key.doc)
        assert node["x-live"] is key.live
        assert node.get("writeOnly", False) is key.secret
        assert (node.get("minimum"), node.get("maximum")) == (key.minimum, key.maximum)
        VALIDATOR.evolve(schema=node).validate(node["default"])


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ("mqtt: {retian: x}", "mqtt"),
        ("mqtt: {port: 0}", "mqtt.port"),
        ("mqtt: {port: '1883'}", "mqtt.port"),
        ("audio: {period_ms: 10}", "audio.period_ms"),
        ("audio: {volume: 1.5}", "audio.volume"),
        ("audio: {device: '2'}", "audio.device"),
        ("mqtt: {host: 'mqtt://x'}", "mqtt.host"),
        ("mqtt: {topics: ['a/#/b']}", "mqtt.topics.0"),
        ("process: {realtime: 1}", "process.realtime"),
        ("mqtt: x", "mqtt"),
        ("zzz: 1", ""),
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(file: File, content: str, path: str) -> None:
    assert file.problems(content)
    (error,) = VALIDATOR.iter_errors(yaml.safe_load(content))
    assert ".".join(map(str, error.absolute_path)) == path


def test_the_schema_asks_for_quotes_where_other_readers_would_guess() -> None:
    assert not VALIDATOR.is_valid(yaml.safe_load("mqtt: {password: 0123456}"))
    assert VALIDATOR.is_valid(yaml.safe_load("mqtt: {password: '0123456'}"))


def test_the_schema_lets_everything_be_null() -> None:
    VALIDATOR.validate(yaml.safe_load(re.sub(r"(?m)(^ *#?\w+:).*", r"\1", uncommented(reference()))))
    VALIDATOR.validate(None)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(configs())
def test_what_is_shown_loads_again_to_the_same_and_passes_the_schema(file: File, config: Config) -> None:
    config = replace(config, mqtt=replace(config.mqtt, password=None))
    text = shown(Loaded(config, {}))
    assert file.read(text).config == config
    VALIDATOR.validate(yaml.safe_load(text))


def test_a_secret_is_masked_and_keys_of_the_file_show_their_line(file: File) -> None:
    text = shown(file.read("node: kitchen\nmqtt:\n  password: hunter2\n"))
    assert "hunter2" not in text
    assert f'  password: "{MASK}"  # line 3\n' in text
    assert text.startswith("node: kitchen  # line 1\nprofile: null\nstate_dir: null\n")


def test_the_model_keeps_its_own_rules() -> None:
    assert root().cls is Config
    for section in sections():
        assert section.doc.endswith(".")
    for key in keys():
        assert key.doc.endswith("."), key.path
        assert (key.pattern is None) == (key.must is None), key.path
        if key.secret:
            # What a message shows of a wrong value is decided by type: free text is never shown.
            assert (key.kind, key.choices) == (str, None), key.path
        if key.kind in (int, float):
            assert key.bounds(), f"{key.path} has no bounds"
    assert set(map(str.lower, _BOOLS)) == {"true", "false"}
