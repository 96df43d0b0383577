"""Texts that the benchmark says."""

from __future__ import annotations

from itertools import islice

import pytest

from edged.bench.texts import TOLERANCE_CHARS, texts


@pytest.mark.parametrize(("chars", "count"), [(30, 300), (300, 300), (3000, 40), (10000, 20)])
def test_texts_differ_and_have_their_length(chars: int, count: int) -> None:
    made = list(islice(texts(chars), count))
    assert len(set(made)) == count
    slack = 3 if chars == 30 else TOLERANCE_CHARS
    assert all(chars - slack <= len(text) <= chars + (slack if chars == 30 else 0) for text in made)


def test_every_run_says_the_same() -> None:
    assert list(islice(texts(300), 20)) == list(islice(texts(300), 20))


def test_300_characters_are_one_sentence() -> None:
    assert all(text.count(".") == 1 and text.endswith(".") for text in islice(texts(300), 50))
