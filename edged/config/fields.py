"""The model as a flat list of keys, read from the dataclasses: the only place that inspects them.

The loader, the schema, the reference, the comparison and `edged check` all walk `KEYS`, so that a
key added to the model is at once checked, documented and compared.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

from edged.config.model import Config

UNITS = {
    "_ms": "ms",
    "_s": "s",
    "_hz": "Hz",
    "_bytes": "bytes",
    "_kib": "KiB",
    "_mib": "MiB",
    "_chars": "characters",
    "_c": "°C",
}
"""Names carry their unit as the last part; this is how people read it."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the configuration, as the model declares it."""

    path: str
    """Dotted, as in messages: 'mqtt.tls.ca_file'."""
    kind: type
    """bool, int, float, str, or tuple for a list of texts."""
    default: Any
    doc: str
    live: bool
    minimum: float | None
    maximum: float | None
    choices: tuple[Any, ...] | None
    secret: bool
    pattern: str | None
    must: str | None
    content: str | None

    @property
    def paths(self) -> tuple[str, ...]:
        """Of all that the key sets: itself, and what was read from the file that it names."""
        return (self.path,) if self.content is None else (self.path, f"{self.section}.{self.content}")

    @property
    def name(self) -> str:
        """The last part of the path, as it stands in the file."""
        return self.path.rpartition(".")[2]

    @property
    def section(self) -> str:
        """Dotted path of the section it lies in; '' at the top."""
        return self.path.rpartition(".")[0]

    @property
    def unit(self) -> str:
        """'ms', 'Hz', ...; '' where the name has none."""
        match = re.search(r"_[a-z]+$", self.name)
        return UNITS.get(match.group(), "") if match and self.kind in (int, float) else ""

    def bounds(self) -> str:
        """'5 to 3600 s', '6, 12 or 24 ms', or '' where every value of the type will do."""
        if self.choices is not None:
            words = [str(choice) for choice in self.choices]
            text = f"{', '.join(words[:-1])} or {words[-1]}"
        elif self.minimum is not None and self.maximum is not None:
            text = f"{self.minimum:.10g} to {self.maximum:.10g}"
        else:
            return ""
        return f"{text} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its dotted path ('' is the whole file), its class, and what lies directly in it."""

    path: str
    cls: type
    doc: str
    keys: dict[str, Key]
    sections: dict[str, Section]
    named: dict[str, Named]


@dataclass(frozen=True, slots=True)
class Named:
    """A section in which the user gives the names, each with the same keys below it."""

    path: str
    item: Section
    """Its path is that of the whole; `at` gives the one of a name."""
    doc: str
    pattern: str
    must: str

    def at(self, name: str) -> Section:
        """The section of one name."""
        path = f"{self.path}.{name}"
        keys = {
            key.name: dataclasses.replace(key, path=f"{path}.{key.name}") for key in self.item.keys.values()
        }
        return dataclasses.replace(self.item, path=path, keys=keys)


@functools.cache
def root() -> Section:
    """The whole model as a tree of sections."""
    return _section("", Config)


def sections(top: Section | None = None) -> list[Section]:
    """Every section that has a fixed name, each before those inside it, in the order of the model."""
    top = top or root()
    return [top] + [inner for child in top.sections.values() for inner in sections(child)]


def keys() -> list[Key]:
    """Every key, in the order of the model; those below names of the user's apart."""
    return [key for section in sections() for key in section.keys.values()]


def value_at(config: Config, path: str) -> Any:
    """The value under a dotted path."""
    value: Any = config
    for part in path.split("."):
        value = getattr(value, part)
    return value


def _section(path: str, cls: Any) -> Section:
    hints = get_type_hints(cls)
    found = Section(path, cls, (cls.__doc__ or "").strip(), {}, {}, {})
    contents = {item.metadata.get("content") for item in dataclasses.fields(cls)}
    for item in dataclasses.fields(cls):
        if item.name in contents:
            continue
        inner = f"{path}.{item.name}" if path else item.name
        if dataclasses.is_dataclass(hints[item.name]):
            found.sections[item.name] = _section(inner, hints[item.name])
        elif (item_cls := _item(hints[item.name])) is not None:
            found.named[item.name] = Named(inner, _section(inner, item_cls), **item.metadata)
        elif item.metadata:
            kind = _kind(hints[item.name])
            found.keys[item.name] = Key(path=inner, kind=kind, default=item.default, **item.metadata)
    return found


def _item(hint: Any) -> Any:
    """`tuple[ZoneConfig, ...]` -> ZoneConfig; None for what is no list of sections."""
    inner = get_args(hint)[:1]
    return inner[0] if inner and dataclasses.is_dataclass(inner[0]) else None


def _kind(hint: Any) -> type:
    """`int | None` -> int, `tuple[str, ...]` -> tuple."""
    if hint == tuple[str, ...]:
        return tuple
    options = [option for option in get_args(hint) or (hint,) if option is not type(None)]
    if len(options) != 1 or options[0] not in (bool, int, float, str):
        raise TypeError(f"the configuration model has no rule for the type {hint}")
    kind: type = options[0]
    return kind
