"""Readings: the score on the labelled lists, words, tones, and what no text may do."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from edged.errors import VoiceError
from edged.text.zh.g2p import INSIDE, PAUSE, PHRASE, WORD, Reader
from edged.text.zh.table import FILE, Table
from tests.text.zh.labelled import BEFORE, LATER, REVIEWED, Label, labels, read

SANDHI = ("yi", "bu", "third")


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(Table())


def pinyin(reader: Reader, text: str) -> str:
    return " ".join(syllable.pinyin for syllable in reader.syllables(text))


@pytest.mark.parametrize("file", [BEFORE, LATER], ids=["before", "later"])
def test_score(reader: Reader, file: Path) -> None:
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    wrong = []
    for label in labels(file):
        said = read(reader, label)
        total[label.kind] += 1
        right[label.kind] += said == label.wanted
        if said != label.wanted:
            wrong.append(f"{label.text}: {said}, not {label.wanted}")
    print(*(f"{kind} {right[kind]}/{total[kind]}" for kind in total), *wrong, sep="\n")
    assert total["polyphone"] >= 200
    assert right["polyphone"] >= 0.95 * total["polyphone"], wrong
    assert sum(right[k] for k in SANDHI) >= 0.95 * sum(total[k] for k in SANDHI), wrong
    assert sum(right.values()) >= 0.95 * sum(total.values()), wrong


@pytest.mark.parametrize("label", list(labels(REVIEWED)), ids=lambda label: label.text)
def test_what_was_once_wrong(reader: Reader, label: Label) -> None:
    assert read(reader, label) == label.wanted


def test_the_first_list_is_long_enough() -> None:
    assert len({label.text for label in labels(BEFORE)}) >= 300


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("等一等，不对", "deng3 yi5 deng3 bu2 dui4"),
        ("一共一个", "yi2 gong4 yi2 ge4"),
        ("第一不算一点儿", "di4 yi1 bu2 suan4 yi4 dianr3"),
        ("我很好", "wo3 hen2 hao3"),
        ("我也想买", "wo2 ye3 xiang2 mai3"),
        ("展览馆很远", "zhan2 lan2 guan3 hen2 yuan3"),
        ("五点五十五分", "wu2 dian3 wu3 shi2 wu3 fen1"),
        ("三十一个", "san1 shi2 yi1 ge4"),
        ("一百一十一", "yi4 bai3 yi1 shi2 yi1"),
        ("零点一米", "ling2 dian3 yi1 mi3"),
        ("二零一一年一月一日", "er4 ling2 yi1 yi1 nian2 yi1 yue4 yi1 ri4"),
        ("百分之一", "bai3 fen1 zhi1 yi1"),
        ("女儿", "nv3 er2"),
        ("一", "yi1"),
        ("不", "bu4"),
    ],
)
def test_tones(reader: Reader, text: str, wanted: str) -> None:
    assert pinyin(reader, text) == wanted


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("銀行關門後請還鑰匙", "银行关门后请还钥匙"),
        ("頭髮乾了", "头发干了"),
        ("乾隆皇帝的著作", "乾隆皇帝的著作"),
        ("裡面的麵條", "里面的面条"),
        ("一會兒請調高空調溫度", "一会儿请调高空调温度"),
        ("這裡的音樂廳長期開放", "这里的音乐厅长期开放"),
    ],
)
def test_traditional_characters_are_read_like_simplified_ones(
    reader: Reader, traditional: str, simplified: str
) -> None:
    assert pinyin(reader, traditional) == pinyin(reader, simplified)


def test_a_syllable_carries_what_separates_it_from_the_next(reader: Reader) -> None:
    after = [(s.hanzi, s.after) for s in reader.syllables("银行关了，苹果、梨一点儿")]
    assert [hanzi for hanzi, _ in after] == ["银", "行", "关", "了", "苹", "果", "梨", "一", "点儿"]
    assert [gap for _, gap in after] == [
        INSIDE, WORD, INSIDE, PAUSE, INSIDE, PHRASE, WORD, INSIDE, WORD,
    ]  # fmt: skip


def test_a_telephone_number_is_said_in_groups(reader: Reader) -> None:
    syllables = reader.syllables("幺三八幺二三四五六七八")
    assert [at for at, s in enumerate(syllables, 1) if s.after == PHRASE] == [3, 7]


def test_letters_are_spelled(reader: Reader) -> None:
    assert pinyin(reader, "u s b") == "you1 ai2 si5 bi4"


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="reinstall edged"):
        Table(tmp_path / "zh.marisa")
    (tmp_path / "zh.marisa").write_bytes(FILE.read_bytes()[:1000])
    with pytest.raises(VoiceError, match="reinstall edged"):
        Table(tmp_path / "zh.marisa")


@settings(max_examples=300, deadline=None)
@given(
    st.text(
        st.sampled_from("一不儿的了地得行长好你我们很想买水果老虎十百零点第个万，。a ") | st.characters(),
        max_size=60,
    )
)
@example("請\0好")
def test_any_text_is_read(text: str) -> None:
    table_reader = Reader(_TABLE)
    for syllable in table_reader.syllables(text):
        assert syllable.pinyin[-1] in "12345"
        assert syllable.pinyin[:-1].isalpha()
    written = "".join(s.hanzi for s in table_reader.syllables(text) if not s.hanzi.isascii())
    # A character that is left out has no reading by itself either, and none that has one is left out.
    alone = {char: "".join(s.hanzi for s in table_reader.syllables(char)) for char in set(text)}
    assert written == "".join(alone[char] for char in text if not char.isascii())


_TABLE = Table()
