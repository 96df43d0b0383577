"""Hypothesis: any valid configuration, made from the model's own bounds."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from hypothesis import strategies as st

from edged.config.fields import Key, Named, Section, root
from edged.config.model import Config

_BY_PATTERN = {
    "node": st.text(
        st.characters(exclude_characters="/#+", exclude_categories=("C", "Z")), min_size=1, max_size=8
    ),
    "mqtt.host": st.sampled_from(["broker.lan", "::1", "10.0.0.1", "no", "1e3"]),
    "mqtt.client_id": st.sampled_from(["edged-1", "12:30", "0x10"]),
    "mqtt.base": st.sampled_from(["edged/x", "a b/c", "null"]),
    "home_assistant.prefix": st.sampled_from(["homeassistant", "a b/c", "null"]),
    "hermes.site_id": st.sampled_from(["default", "kitchen 2", "012", "no"]),
    "mqtt.topics": st.sampled_from(["#", "+/say", "a/b", "no", "012"]),
    "audio.device": st.sampled_from(["USB Audio: 2 (hw:1,0)", 'the "good" one\\', "- a", "yes"]),
    **{
        f"chime.{name}": st.sampled_from(["ding", "my-own_1", "no"])
        for name in ("low", "normal", "high", "urgent")
    },
    "zones.*.device": st.sampled_from(["USB", "yes"]),
    "text.lang": st.sampled_from(["en", "zh", "no", "pt-br"]),
    "voice.name": st.sampled_from(["heart", "no", "012", "en_US-joe.medium"]),
    "process.affinity": st.sampled_from(["auto", "off", "2", "2,3", "4-7"]),
}
_ANY_TEXT = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=12)


def configs() -> st.SearchStrategy[Config]:
    """Configs as the loader could give them; cross-field rules are kept by leaving files out."""
    return _section(root())


def _section(section: Section) -> st.SearchStrategy[Any]:
    files = ("_file", "profile")  # they would have to be there
    parts = {name: _value(key) for name, key in section.keys.items() if not name.endswith(files)}
    parts |= {name: _section(inner) for name, inner in section.sections.items()}
    parts |= {name: _items(named) for name, named in section.named.items()}
    return st.builds(section.cls, **parts)


def _items(named: Named) -> st.SearchStrategy[Any]:
    parts = {key.name: _value(key) for key in named.at("*").keys.values() if not key.name.endswith("_file")}
    names = st.lists(st.sampled_from(["kitchen", "no", "012", "a-b_c"]), unique=True, max_size=3)
    items = st.builds(named.item.cls, **parts)

    def called(names: list[str]) -> st.SearchStrategy[Any]:
        return st.tuples(*(st.builds(dataclasses.replace, items, name=st.just(name)) for name in names))

    return names.flatmap(called)


def _value(key: Key) -> st.SearchStrategy[Any]:
    low: Any = key.minimum
    high: Any = key.maximum
    if key.choices is not None:
        values: st.SearchStrategy[Any] = st.sampled_from(key.choices)
    elif key.kind is bool:
        values = st.booleans()
    elif key.kind is int:
        values = st.integers(low, high)
    elif key.kind is float:
        values = st.decimals(low, high, places=3).map(float)
    elif key.content is not None:
        values = st.just(os.devnull)  # what it names is read with it
    else:
        values = _BY_PATTERN[key.path] if key.pattern is not None else _ANY_TEXT
    if key.kind is tuple:
        return st.lists(values, max_size=3).map(tuple)
    return st.one_of(st.just(key.default), values)
