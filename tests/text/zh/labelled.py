"""The labelled lists of readings, and how a reading is compared with its label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from edged.text.zh.g2p import Reader

FOLDER = Path(__file__).parent
BEFORE, LATER = FOLDER / "labels.tsv", FOLDER / "labels_later.tsv"
"""Written before the rules; written after them, without looking at their word lists."""
REVIEWED = FOLDER / "labels_reviewed.tsv"
"""What was once heard wrong: no score, each one has to be right."""


@dataclass(frozen=True, slots=True)
class Label:
    """`wanted`: the syllables of the judged characters, at `places` of `text`."""

    kind: str
    text: str
    places: frozenset[int]
    wanted: str


def labels(file: Path) -> Iterator[Label]:
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        kind, marked, wanted = line.split("\t")
        text, places, is_judged = "", set(), False
        for char in marked:
            if char in "[]":
                is_judged = char == "["
                continue
            if is_judged:
                places.add(len(text))
            text += char
        yield Label(kind, text, frozenset(places), wanted)


def read(reader: Reader, label: Label) -> str:
    """What the reader says for the judged characters."""
    said, at = [], 0
    for syllable in reader.syllables(label.text):
        if label.places & set(range(at, at + len(syllable.hanzi))):
            said.append(syllable.pinyin)
        at += len(syllable.hanzi)
    return " ".join(said)
