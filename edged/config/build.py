"""The tree of a file to a Config: every problem at once, each with its line, path and mend. Pure."""

from __future__ import annotations

import dataclasses
import difflib
import re
from dataclasses import dataclass
from typing import Any

from edged.config.fields import Key, Named, Section, root, sections, value_at
from edged.config.model import Config
from edged.config.tree import Mapping, Node, Scalar, kind_of, shown_name
from edged.config.values import convert
from edged.errors import Problem

PROBLEMS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration with where it came from, for `edged check`."""

    config: Config
    lines: dict[str, int]
    """Line of every key the file gives, by dotted path."""
    remarks: tuple[Problem, ...] = ()
    """Allowed, but probably not meant."""


def build(top: Node | None) -> tuple[Loaded, list[Problem]]:
    """Config from a tree (None: an empty file) and the problems; with problems it is not to be used."""
    builder = _Builder()
    config: Config = builder.section(root(), top) if top is not None else Config()
    builder.across(config)
    problems = sorted(builder.problems, key=lambda problem: problem.line or 0)
    if builder.unshown:
        problems.append(Problem("", None, f"and {builder.unshown} more problems"))
    return Loaded(config, builder.lines, tuple(builder.remarks)), problems


class _Builder:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.unshown = 0
        self.lines: dict[str, int] = {}
        self.remarks: list[Problem] = []

    def section(self, section: Section, node: Node) -> Any:
        """An instance of the section's class; wrong keys are at their defaults."""
        if isinstance(node, Scalar) and node.is_null:
            return section.cls()
        if not isinstance(node, Mapping):
            what = "must be a section, its keys indented below it" if section.path else "must hold sections"
            self._report(section.path, node.line, f"{what} as 'key: value', not {kind_of(node)}")
            return section.cls()
        values: dict[str, Any] = {}
        first_lines: dict[str, int] = {}
        for name_node, value_node in node.pairs:
            if not isinstance(name_node, Scalar):
                self._report(section.path, name_node.line, f"a key must be a name, not {kind_of(name_node)}")
                continue
            name, line = name_node.text, name_node.line
            path = _join(section.path, name)
            if node.flow and name not in _names(section) and _is_bare(value_node):
                message = "a name without a value; put a text with a comma in quotes"
                self._report(section.path, line, message)
                continue
            if name in first_lines:
                self._report(path, line, f"given twice, first in line {first_lines[name]}; keep one")
            first_lines.setdefault(name, line)
            if name in section.sections:
                values[name] = self.section(section.sections[name], value_node)
            elif name in section.named:
                values[name] = self._items(section.named[name], value_node)
            elif name in section.keys:
                values[name] = self._value(section.keys[name], value_node, line)
            elif len(self.problems) < PROBLEMS_SHOWN:
                self._report(path, line, _unknown(section, name))
            else:
                self.unshown += 1
        return section.cls(**values)

    def _items(self, named: Named, node: Node) -> tuple[Any, ...]:
        """One instance for each name the user gave, in the order of the file."""
        if isinstance(node, Scalar) and node.is_null:
            return ()
        if not isinstance(node, Mapping):
            self._report(named.path, node.line, f"must hold names, each a section, not {kind_of(node)}")
            return ()
        found: dict[str, Any] = {}
        for name_node, value_node in node.pairs:
            name = name_node.text if isinstance(name_node, Scalar) else ""
            path = _join(named.path, name)
            if not re.fullmatch(named.pattern, name):
                self._report(path, name_node.line, f"must be {named.must}")
            elif name in found:
                self._report(path, name_node.line, "given twice; keep one")
            else:
                item = self.section(named.at(name), value_node)
                found[name] = dataclasses.replace(item, name=name)
        return tuple(found.values())

    def _value(self, key: Key, node: Node, line: int) -> Any:
        self.lines[key.path] = line
        value, problems = convert(key, node)
        for problem in problems:
            self._report(problem.path, problem.line, problem.message)
        if key.secret and isinstance(node, Scalar) and node.plain and node.commented:
            message = "what follows ' #' is a comment; put the whole text in quotes if it belongs to it"
            self.remarks.append(Problem(key.path, node.line, message))
        return value

    def across(self, config: Config) -> None:
        """What no single key shows. Silent where one of the two is itself wrong."""
        wrong = {problem.path for problem in self.problems}
        for path, other, together in (
            ("mqtt.tls.cert_file", "mqtt.tls.key_file", True),
            ("mqtt.tls.key_file", "mqtt.tls.cert_file", True),
            ("mqtt.password", "mqtt.password_file", False),
        ):
            both = value_at(config, other) is not None
            if value_at(config, path) is None or both == together or wrong & {path, other}:
                continue
            mend = f"needs {other} beside it" if together else f"is given beside {other}; keep one of them"
            self._report(path, self.lines.get(path), mend)

    def _report(self, path: str, line: int | None, message: str) -> None:
        if len(self.problems) < PROBLEMS_SHOWN:
            self.problems.append(Problem(path, line, message))
        else:
            self.unshown += 1


def _join(section: str, name: str) -> str:
    return f"{section}.{shown_name(name)}" if section else shown_name(name)


def _unknown(section: Section, name: str) -> str:
    """What to write instead of an unknown key; says nothing of its value."""
    if name == "<<":
        return "merge keys are not used here; write the keys out"
    if ":" in name:
        return "a key needs a space after its ':'"
    by_path = {_join(place.path, valid): place for place in sections() for valid in _names(place)}
    if "." in name and name in by_path:
        return f"a key has no dots; write {name.rpartition('.')[2]} under {by_path[name].path}"
    return f"unknown key; {_meant(section, name)}"


def _meant(section: Section, name: str) -> str:
    """The nearest valid key, here or in another section; else the keys that are valid here."""
    wanted = re.sub(r"[^a-z0-9]+", "_", name.lower()[:60])

    def score(place: Section, valid: str) -> float:
        # A near spelling in the same section is likelier meant than an equally near one elsewhere.
        near = difflib.SequenceMatcher(None, wanted, valid).ratio()
        return near + 0.15 if place is section else near

    places = [section, *(place for place in sections() if place is not section)]
    place, valid = max(
        ((place, valid) for place in places for valid in _names(place)), key=lambda pair: score(*pair)
    )
    if place is section and score(place, valid) >= 0.75:
        return f"did you mean {_join(place.path, valid)}?"
    if place is not section and score(place, valid) == 1.0:
        return f"{valid} belongs {f'under {place.path}' if place.path else 'to the top, in no section'}"
    if place is not section and score(place, valid) >= 0.8:
        return f"did you mean {_join(place.path, valid)}?"
    return f"valid here: {', '.join(_names(section))}"


def _is_bare(node: Node) -> bool:
    return isinstance(node, Scalar) and node.is_null


def _names(section: Section) -> tuple[str, ...]:
    return (*section.keys, *section.sections, *section.named)
