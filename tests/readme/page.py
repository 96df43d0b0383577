"""README.md as blocks of code, code inside sentences, and headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).parents[2]
README = REPO / "README.md"
_FENCE = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block."""

    language: str
    text: str
    line: int
    """Of its first line of content."""
    heading: str
    """Of the section that it stands in; '' before the first."""

    def __str__(self) -> str:
        return f"README.md line {self.line}"


@dataclass(frozen=True, slots=True)
class Span:
    """Code inside a sentence or a table."""

    text: str
    line: int

    def __str__(self) -> str:
        return f"README.md line {self.line}: `{self.text}`"


def blocks(page: str | None = None) -> list[Block]:
    """All fenced blocks, in order."""
    page = _read(page)
    found = []
    for match in _FENCE.finditer(page):
        before = page[: match.start(2)]
        headings = re.findall(r"(?m)^#{2,} (.+)$", _without_blocks(before))
        found.append(Block(match[1], match[2], before.count("\n") + 1, headings[-1] if headings else ""))
    return found


def spans(page: str | None = None) -> list[Span]:
    """All code inside sentences, in order; a line break inside counts as a space."""
    page = _without_blocks(_read(page))
    return [
        Span(" ".join(match[1].split()), page[: match.start()].count("\n") + 1)
        for match in re.finditer(r"`([^`]+)`", page)
    ]


def prose(page: str | None = None) -> str:
    """The page with its blocks left out; lines keep their numbers."""
    return _without_blocks(_read(page))


def _read(page: str | None) -> str:
    return README.read_text(encoding="utf-8") if page is None else page


def _without_blocks(page: str) -> str:
    return re.sub(r"(?ms)^```.*?(^```$|\Z)", lambda match: "\n" * match[0].count("\n"), page)
