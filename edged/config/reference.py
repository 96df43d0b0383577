"""The configuration as YAML text: the commented reference, and what is in force."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from edged.config.build import Loaded
from edged.config.fields import Key, Section, root, value_at

MASK = "********"
_GLUE = "\0"
"""Stands for a space at which a comment is not broken."""
_WORDS_OF_YAML = ("null", "true", "false", "yes", "no", "on", "off")
_HEAD = """\
# yaml-language-server: $schema=edged.schema.json
#
# The configuration of edged. Every key is optional; a line that begins with # and a key shows the
# default. To change one, remove its # and nothing else.
#
# After a change: `edged check FILE` names every mistake with its line. Keys marked "live" apply at
# the next announcement as soon as the file is saved, "restart" ones when edged starts again.
#
# Text is taken exactly as written, with or without quotes: 0123, 12:30, no and 1e3 stay those
# characters. Quotes are needed around a text that begins with one of # & * ! | > ' " % @ ` [ { or
# holds ': ' or ' #'. Nothing, ~ and null mean the default.
"""


def reference() -> str:
    """configs/edged.yaml as it is committed: every key commented out at its default."""
    return _HEAD + "\n".join(_reference(root(), "")) + "\n"


def uncommented(text: str) -> str:
    """The reference with every key in force, as if each # before a key had been removed."""
    return re.sub(r"(?m)^( *)#(?=[a-z])", r"\1", text)


def shown(loaded: Loaded) -> str:
    """The configuration in force as YAML; secrets masked, keys from the file with their line."""
    return "\n".join(_shown(loaded, root(), "")) + "\n"


def _reference(section: Section, indent: str) -> Iterator[str]:
    for key in section.keys.values():
        yield ""
        facts = f"[{key.bounds() or key.unit}; {'live' if key.live else 'restart'}]".replace("[; ", "[")
        yield from _comment(f"{key.doc} {facts.replace(' ', _GLUE)}", indent)
        default = "" if key.default is None else f" {_yaml(key, key.default)}"
        yield f"{indent}#{key.name}:{default}"
    for name, inner in section.sections.items():
        yield ""
        yield from _comment(inner.doc, indent)
        yield f"{indent}{name}:"
        yield from _reference(inner, indent + "  ")
    for name, named in section.named.items():
        yield ""
        yield from _comment(named.doc, indent)
        yield f"{indent}{name}:"
        yield f"{indent}  # NAME:"
        for key in named.item.keys.values():
            facts = f"[{key.bounds() or key.unit}; {'live' if key.live else 'restart'}]".replace("[; ", "[")
            yield f"{indent}  #   {key.name}: …  {key.doc} {facts}"


def _comment(text: str, indent: str) -> list[str]:
    lines = textwrap.wrap(text, 98 - len(indent), break_long_words=False, break_on_hyphens=False)
    return [f"{indent}# {line}".replace(_GLUE, " ") for line in lines]


def _shown(loaded: Loaded, section: Section, indent: str) -> Iterator[str]:
    for key in section.keys.values():
        value = value_at(loaded.config, key.path)
        text = _quoted(MASK) if key.secret and value is not None else _yaml(key, value)
        line = loaded.lines.get(key.path)
        yield f"{indent}{key.name}: {text}" + (f"  # line {line}" if line is not None else "")
    for name, inner in section.sections.items():
        yield f"{indent}{name}:"
        yield from _shown(loaded, inner, indent + "  ")
    for name, named in section.named.items():
        yield f"{indent}{name}:"
        for item in getattr(loaded.config, name):
            yield f"{indent}  {_quoted(item.name)}:"
            for key in named.at(item.name).keys.values():
                line = loaded.lines.get(key.path)
                shown_line = f"  # line {line}" if line is not None else ""
                yield f"{indent}    {key.name}: {_yaml(key, getattr(item, key.name))}{shown_line}"


def _yaml(key: Key, value: Any) -> str:
    """One value as our loader and any YAML 1.1 or 1.2 reader understand it alike."""
    if key.kind is tuple:
        return f"[{', '.join(_quoted(item) for item in value)}]"
    if isinstance(value, str):
        is_word = re.fullmatch(r"[a-z][a-z.]+", value) and value not in _WORDS_OF_YAML
        return value if is_word else _quoted(value)
    return json.dumps(value)


def _quoted(text: str) -> str:
    """In double quotes, with YAML's escapes."""

    def escaped(char: str) -> str:
        if char in '"\\':
            return f"\\{char}"
        return char if char.isprintable() else f"\\U{ord(char):08x}"

    return f'"{"".join(map(escaped, text))}"'
