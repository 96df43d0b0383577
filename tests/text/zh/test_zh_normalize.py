"""Normalization: the table of cases, and what holds for any text."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from edged.text.scripts import is_han
from edged.text.zh import normalize
from edged.text.zh.numbers import cardinal
from edged.text.zh.text import PAUSES

CASES = [
    line.split("\t")
    for line in (Path(__file__).parent / "cases.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
_ORDINARY = (
    "今天气温一不儿的了地得行长年月日点分第个元号室楼座电话密码0123456789012345678901234567890.,:-~%/°C¥$()（）《》。，！？…—"
    "abcKWhmgVA@#&*+=<>^ 　１２３：．％"
)


@pytest.mark.parametrize(("kind", "source", "spoken"), CASES, ids=[f"{c[0]} {c[1]}" for c in CASES])
def test_case(kind: str, source: str, spoken: str) -> None:
    said = normalize(source)
    assert said.text == spoken
    assert not said.warnings or kind == "C28"


def test_there_are_many_cases_of_each_kind() -> None:
    kinds = [case[0] for case in CASES]
    assert len(kinds) >= 150
    assert all(kinds.count(kind) >= 5 for kind in ("C19", "C20", "C22", "C23", "C26", "C28"))


@pytest.mark.parametrize("source", ["请\ue000先生（1920年生）到前台", "请〔\ue000〕先生（1920年生）到前台"])
def test_a_character_without_a_reading_is_skipped_with_one_warning(source: str) -> None:
    said = normalize(source)
    assert said.text == "请先生，一九二零年生，到前台"
    assert said.warnings == ("no reading for U+E000: left out",)


def test_many_unreadable_characters_make_one_warning() -> None:
    said = normalize("".join(map(chr, range(0xE000, 0xE064))) + "好")
    assert said.text == "好"
    assert len(said.warnings) == 1
    assert "U+E000, U+E001" in said.warnings[0]
    assert "92 more" in said.warnings[0]


@pytest.mark.parametrize("source", ["", " ", "---", "……！？。", "（）", "“”"])
def test_nothing_to_say(source: str) -> None:
    assert not normalize(source).text
    assert not normalize(source).warnings


def test_the_rules_that_fired_are_named() -> None:
    assert normalize("今天-5~3℃，电话13812345678").rules == ("telephone", "range", "unit", "number")


@pytest.mark.parametrize(
    ("number", "spoken"), [(20, "二十"), (1_0000_0001, "一亿零一"), (1_2000_0000_0000, "一万二千亿")]
)
def test_cardinals(number: int, spoken: str) -> None:
    assert cardinal(str(number)) == spoken


@given(st.integers(0, 10**16 - 1))
def test_a_cardinal_says_its_number(number: int) -> None:
    assert _value(cardinal(str(number))) == number


def _value(spoken: str) -> int:
    """The number that a cardinal names, by the grammar of numerals."""
    for unit, size in (("亿", 10**8), ("万", 10**4)):
        head, found, rest = spoken.rpartition(unit)
        if found:
            return _value(head) * size + (_value(rest) if rest else 0)
    total, digit = 0, 0
    for char in spoken:
        if char in "十百千":
            total += (digit or 1) * {"十": 10, "百": 100, "千": 1000}[char]
            digit = 0
        else:
            digit = 2 if char == "两" else "零一二三四五六七八九".index(char)
    return total + digit


def _is_speakable(text: str) -> bool:
    return all(is_han(c) or c in PAUSES or c in " '" or "a" <= c <= "z" for c in text)


@settings(max_examples=400, deadline=None)
@given(st.text(st.sampled_from(_ORDINARY) | st.characters(), max_size=60))
@example("发到help@example.com")
@example("請\0好2個")
def test_any_text_becomes_speakable_and_stays_as_it_is(text: str) -> None:
    said = normalize(text)
    assert _is_speakable(said.text)
    assert normalize(said.text).text == said.text


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "今天",
                "气温",
                "-",
                "5",
                "12",
                "0",
                "3.5",
                "%",
                "℃",
                "：",
                "第",
                "个",
                "年",
                "，",
                "A",
                "~",
                "/",
            ]
        ),
        max_size=12,
    )
)
def test_no_digit_is_lost(parts: list[str]) -> None:
    """Every number of the input leaves a numeral: none falls out without a sound."""
    text = "".join(parts)
    said = normalize(text).text
    if any(map(str.isdigit, text)):
        assert any(char in "零一二三四五六七八九十百两幺整" for char in said)
    for char in text:
        if is_han(char):
            assert said.count(char) >= text.count(char) or char in "百零"


def test_digits_of_a_long_row_are_all_said_in_order() -> None:
    digits = "1234567890" * 100
    assert normalize(f"表{digits}").text == "表" + "一二三四五六七八九零" * 100


def test_latin_words_are_never_dropped() -> None:
    said = normalize("打开Home Assistant的dashboard，看ESP32和Zigbee2MQTT").text
    assert said == "打开 home assistant 的 dashboard，看 e s p 三十二和 zigbee 二 m q t t"


@pytest.mark.slow
def test_a_hundred_thousand_random_strings() -> None:
    draw = random.Random(7)
    for _ in range(100_000):
        size = draw.randint(0, 30)
        if draw.random() < 0.5:
            text = "".join(draw.choices(_ORDINARY, k=size))
        else:
            text = "".join(chr(draw.randrange(0x110000)) for _ in range(size))
        assert _is_speakable(normalize(text).text)


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1-",
        "1:",
        "1.",
        "1,",
        "a",
        "a-",
        "a.",
        "@",
        "/1",
        " ",
        "-",
        "(",
        "电话1",
        "京A",
        "一",
        "点",
        "+1 ",
    ],
)
def test_work_grows_with_the_length_only(piece: str) -> None:
    """Ten thousand characters of anything: what grows with the square would run into the test's limit."""
    assert normalize(piece * (10_000 // len(piece))) is not None
