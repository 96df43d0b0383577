"""Texts that the benchmark says."""

from __future__ import annotations

from itertools import islice

import pytest

from edged.bench.dense import CHARS, dense
from edged.bench.dense import TOLERANCE_CHARS as DENSE_TOLERANCE_CHARS
from edged.bench.texts import SHORT_TOLERANCE_CHARS, TOLERANCE_CHARS, texts
from edged.text.scripts import is_han


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


@pytest.mark.parametrize(("chars", "slack"), [(30, SHORT_TOLERANCE_CHARS), (300, TOLERANCE_CHARS)])
def test_chinese_texts_differ_and_have_their_length(chars: int, slack: int) -> None:
    made = list(islice(texts(chars, "zh"), 300))
    assert len(set(made)) == 300
    assert all(chars - slack <= len(text) <= chars and is_han(text[0]) for text in made)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_dense_sentences_differ_and_are_full_of_digits(lang: str) -> None:
    made = list(islice(dense(lang), 400))
    assert len(set(made)) == 400
    assert all(abs(len(text) - CHARS) <= DENSE_TOLERANCE_CHARS for text in made)
    assert all(sum(map(str.isdigit, text)) >= 6 for text in made)
