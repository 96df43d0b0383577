"""What a new configuration changes, and how much of it a running daemon can take over. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from edged.config.fields import Key, Section, keys, root, value_at
from edged.config.model import Config


@dataclass(frozen=True, slots=True)
class Change:
    """Dotted paths of the keys that differ, in the order of the model."""

    live: tuple[str, ...]
    """Applied at the next utterance."""
    restart: tuple[str, ...]
    """Applied when the daemon starts again."""

    def __bool__(self) -> bool:
        return bool(self.live or self.restart)

    def __str__(self) -> str:
        """One line for the log; names keys, never values."""
        parts = []
        if self.live:
            parts.append(f"applied: {', '.join(self.live)}")
        if self.restart:
            parts.append(f"needs a restart: {', '.join(self.restart)}")
        return "; ".join(parts) or "nothing changed"


def compare(old: Config, new: Config) -> Change:
    """The keys whose values differ. `old` is what runs, so a pending restart key shows each time."""
    changed = [key for key in keys() if any(value_at(old, path) != value_at(new, path) for path in key.paths)]
    live, restart = [key.path for key in changed if key.live], [key.path for key in changed if not key.live]
    for name, named in root().named.items():
        was, will = _by_name(getattr(old, name)), _by_name(getattr(new, name))
        restart += [f"{named.path}.{item}" for item in sorted(was.keys() ^ will.keys())]
        for item in sorted(was.keys() & will.keys()):
            for key in named.at(item).keys.values():
                if getattr(was[item], key.name) != getattr(will[item], key.name):
                    (live if key.live else restart).append(key.path)
    return Change(tuple(live), tuple(restart))


def merge_live(old: Config, new: Config, paths: Collection[str] | None = None) -> Config:
    """`old` with the live keys of `new`; with `paths` only those among them.

    A daemon whose volume was set over MQTT names the keys that changed in the file, and so keeps it.
    """
    merged: Config = _merge(root(), old, new, paths)
    return merged


def _merge(section: Section, old: Any, new: Any, paths: Collection[str] | None) -> Any:
    def source(key: Key) -> Any:
        return new if key.live and (paths is None or key.path in paths) else old

    names = [(key, path.rpartition(".")[2]) for key in section.keys.values() for path in key.paths]
    values = {name: getattr(source(key), name) for key, name in names}
    for name, inner in section.sections.items():
        values[name] = _merge(inner, getattr(old, name), getattr(new, name), paths)
    for name, named in section.named.items():
        will = _by_name(getattr(new, name))
        values[name] = tuple(
            _merge(named.at(item.name), item, will.get(item.name, item), paths) for item in getattr(old, name)
        )
    return dataclasses.replace(old, **values)


def _by_name(items: tuple[Any, ...]) -> dict[str, Any]:
    return {item.name: item for item in items}
