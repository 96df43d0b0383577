"""The JSON Schema of the configuration file, for editors, made from the model."""

from __future__ import annotations

import json
from typing import Any

from edged.config.fields import Key, Named, Section, root

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", tuple: "array"}


def schema_text() -> str:
    """The schema as it is printed and committed: JSON with a line break at the end."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def json_schema() -> dict[str, Any]:
    """Draft 2020-12. Every key may be null, which means its default.

    Text is asked for as a string: where the loader takes unquoted `0123` by its characters, an
    editor marks it, for other readers of YAML would make a number of it.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of edged",
        **_section(root()),
    }


def _section(section: Section) -> dict[str, Any]:
    properties = {name: _key(key) for name, key in section.keys.items()}
    properties |= {name: _section(inner) for name, inner in section.sections.items()}
    properties |= {name: _named(inner) for name, inner in section.named.items()}
    return {
        "description": section.doc,
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": properties,
    }


def _named(named: Named) -> dict[str, Any]:
    return {
        "description": named.doc,
        "type": ["object", "null"],
        "propertyNames": {"pattern": f"^(?:{named.pattern})$"},
        "additionalProperties": _section(named.item),
    }


def _key(key: Key) -> dict[str, Any]:
    unit = f" Unit: {key.unit}." if key.unit else ""
    found: dict[str, Any] = {
        "description": key.doc + unit,
        "type": [_TYPES[key.kind], "null"],
        "default": list(key.default) if key.kind is tuple else key.default,
        "x-live": key.live,
    }
    if key.unit:
        found["x-unit"] = key.unit
    if key.choices is not None:
        found["enum"] = [*key.choices, None]
    if key.minimum is not None:
        found["minimum"] = key.minimum
    if key.maximum is not None:
        found["maximum"] = key.maximum
    if key.secret:
        found["writeOnly"] = True
    pattern = {"pattern": f"^(?:{key.pattern})$"} if key.pattern is not None else {}
    if key.kind is tuple:
        found["items"] = {"type": "string", **pattern}
    return found | pattern if key.kind is str else found
