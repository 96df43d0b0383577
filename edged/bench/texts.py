"""Announcements of a wanted length, all different, the same ones at every run."""

from __future__ import annotations

import random
from collections.abc import Iterator

from edged.bench import chinese

SUBJECTS = (
    "the washing machine",
    "the front door",
    "the oven",
    "dinner",
    "the garage door",
    "the dishwasher",
    "your taxi",
    "the kettle",
    "the kitchen window",
    "the mail",
    "the dog",
    "the dryer",
    "the heating",
    "the water pump",
    "the school bus",
    "the alarm clock",
    "the bedroom light",
    "the printer",
    "the coffee",
    "your parcel",
)
PREDICATES = (
    "is ready",
    "has finished",
    "is open again",
    "needs attention",
    "is still running",
    "stopped early",
    "will be here soon",
    "was switched off",
    "has been waiting",
    "is much too warm",
    "cannot be reached",
    "starts in ten minutes",
)
TAILS = (
    "",
    "now",
    "today",
    "upstairs",
    "since noon",
    "for an hour",
    "at half past six",
    "in the basement",
    "after 25 minutes",
    "behind the house",
    "on the second floor",
    "near the old apple tree",
)
JOINTS = (", and ", " and ", ", but ", " because ", "; ", ", while ", " so ", ", although ")
LONG_TAILS = (
    "in the small room behind the kitchen on the other side of the hall",
    "at the far end of the garden between the two rows of apple trees",
    "for the third time since the electrician was here on Tuesday morning",
)
SEED = 20240229
TOLERANCE_CHARS = 10
"""A long sentence is at most so much shorter than what was asked for."""
SHORT_TOLERANCE_CHARS = 1
"""A Chinese one of up to 60 characters."""
SHORT_CHARS = 60


def texts(chars: int, lang: str = "en") -> Iterator[str]:
    """Different texts, thousands of them, in 'en' or 'zh'.

    Chinese: one sentence of many clauses.
    English: up to 60 characters one clause, those whose length is nearest to `chars` first.
    Up to 400: one sentence of many clauses. Above: many sentences. Long ones are at most
    TOLERANCE_CHARS shorter than `chars`.
    """
    source = random.Random(SEED + chars)  # noqa: S311 (no secret)
    if lang == "zh":
        tolerance = SHORT_TOLERANCE_CHARS if chars <= SHORT_CHARS else TOLERANCE_CHARS
        return chinese.sentences(chars, tolerance, source)
    if chars <= SHORT_CHARS:
        return _clauses(chars, source)
    return _sentences(chars, source) if chars <= 400 else _paragraphs(chars, source)


def _clauses(chars: int, source: random.Random) -> Iterator[str]:
    made = [
        _finished(" ".join(filter(None, (subject, predicate, tail))))
        for subject in SUBJECTS
        for predicate in PREDICATES
        for tail in TAILS
    ]
    source.shuffle(made)
    yield from sorted(made, key=lambda text: abs(len(text) - chars))


def _sentences(chars: int, source: random.Random) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        sentence = _sentence(chars, source)
        if sentence not in seen:
            seen.add(sentence)
            yield sentence


def _sentence(chars: int, source: random.Random) -> str:
    """Clauses joined until the sentence is long enough; every fourth begins with one that is hard to cut."""
    while True:
        clauses = [_clause(source, LONG_TAILS if source.random() < 0.25 else TAILS)]
        while len(_finished("".join(clauses))) < chars - TOLERANCE_CHARS:
            clauses += [source.choice(JOINTS), _clause(source, TAILS)]
        sentence = _finished("".join(clauses))
        if len(sentence) <= chars:
            return sentence


def _clause(source: random.Random, tails: tuple[str, ...]) -> str:
    return " ".join(filter(None, (source.choice(SUBJECTS), source.choice(PREDICATES), source.choice(tails))))


def _paragraphs(chars: int, source: random.Random) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        sentences: list[str] = []
        left = chars
        while left > 120:
            sentences.append(_sentence(source.randint(40, 300) if left > 420 else left - 60, source))
            left -= len(sentences[-1]) + 1
        sentences.append(_sentence(left, source))
        text = " ".join(sentences)
        if text not in seen:
            seen.add(text)
            yield text


def _finished(clause: str) -> str:
    return clause[0].upper() + clause[1:] + "."
