"""Phonemes of zh-baker: numbers of the published mapper, layout, all syllables of the table."""

from __future__ import annotations

import numpy as np
import pytest

from edged.text.zh.baker import PHONEME_IDS, BakerFrontEnd, split
from edged.text.zh.table import SYLLABLES, Table


@pytest.fixture(scope="module")
def front_end() -> BakerFrontEnd:
    return BakerFrontEnd(1 << 20)


def test_numbers_of_the_mapper() -> None:
    known = {
        "pad": 0,
        "sil": 1,
        "#0": 2,
        "#3": 5,
        "^": 6,
        "b": 7,
        "zh": 27,
        "a1": 28,
        "ai3": 35,
        "vn5": 217,
        "eos": 218,
    }
    assert known.items() <= PHONEME_IDS.items()
    assert sorted(PHONEME_IDS.values()) == list(range(219))


@pytest.mark.parametrize(
    ("base", "parts"),
    [
        ("zhi", "zh iii"), ("ri", "r iii"), ("si", "s ii"), ("yi", "^ i"), ("yin", "^ in"),
        ("ying", "^ ing"), ("you", "^ iou"), ("yu", "^ v"), ("yue", "^ ve"), ("yuan", "^ van"),
        ("yun", "^ vn"), ("yong", "^ iong"), ("ya", "^ ia"), ("wu", "^ u"), ("wei", "^ uei"),
        ("wen", "^ uen"), ("weng", "^ ueng"), ("wo", "^ uo"), ("wang", "^ uang"), ("ju", "j v"),
        ("quan", "q van"), ("xue", "x ve"), ("lv", "l v"), ("nve", "n ve"), ("lue", "l ve"),
        ("liu", "l iou"), ("gui", "g uei"), ("dun", "d uen"), ("jun", "j vn"), ("er", "^ er"),
        ("ng", "^ en"), ("an", "^ an"), ("shuang", "sh uang"), ("bo", "b o"),
    ],
)  # fmt: skip
def test_pinyin_to_initial_and_final(base: str, parts: str) -> None:
    assert split(base) == tuple(parts.split())


def test_every_syllable_of_the_table_can_be_said() -> None:
    table = Table()
    for syllable in table.syllables:
        initial, final = split(syllable[:-1])
        assert {initial, final + syllable[-1]} <= PHONEME_IDS.keys(), syllable
    assert SYLLABLES not in table.syllables


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("你好", "sil n i2 #0 h ao3 sil eos"),
        ("花儿开了。", "sil h ua1 er5 #1 k ai1 #0 l e5 sil eos"),
        ("二儿子", "sil ^ er4 #1 ^ er2 #0 z ii5 sil eos"),
        ("苹果、梨，橘子", "sil p ing2 #0 g uo3 #2 l i2 #3 j v2 #0 z ii5 sil eos"),
        ("-5℃", "sil f u4 #1 ^ u3 #1 sh e4 #0 sh iii4 #0 d u4 sil eos"),
        ("OK", "sil ^ ou1 #1 k ei4 sil eos"),
    ],
)
def test_layout(front_end: BakerFrontEnd, text: str, phonemes: str) -> None:
    ids = front_end(text)
    assert ids.phonemes == phonemes
    assert ids.ids.dtype == np.int64
    assert ids.ids.tolist() == [PHONEME_IDS[symbol] for symbol in phonemes.split()]


@pytest.mark.parametrize("text", ["", "。", "\ue000", "……"])
def test_nothing_to_say(front_end: BakerFrontEnd, text: str) -> None:
    assert front_end(text).ids.tolist() == [1, 218]
    assert not front_end(text).speakable


def test_the_cache_gives_the_same_ids(front_end: BakerFrontEnd) -> None:
    first = front_end("请关好冰箱门")
    hits = front_end.cache.hits
    assert front_end("请关好冰箱门") is first
    assert front_end.cache.hits == hits + 1
