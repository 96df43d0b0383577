"""Where long Chinese text is parted."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from edged.text.zh.cut import FIRST_UNIT_CHARS, UNIT_CHARS, cut
from edged.text.zh.g2p import Reader
from edged.text.zh.table import Table

WORDS = ["洗衣机", "已经", "完成", "客厅", "窗户", "打开", "空调", "自动", "关闭", "图书馆", "明天", "停水"]


def _parts(text: str, limit: int) -> list[str]:
    parts = []
    while text:
        end = cut(text, limit)
        parts.append(text[:end])
        text = text[end:]
    return parts


def test_after_the_last_clause_that_fits() -> None:
    assert cut("明天停水，请提前储水，晚上恢复供水", 12) == len("明天停水，请提前储水，")


def test_the_first_part_ends_at_the_first_clause_of_a_fair_length() -> None:
    assert cut("你好，明天停水，请提前储水，今天晚上恢复供水", FIRST_UNIT_CHARS, is_first=True) == len(
        "你好，明天停水，"
    )


def test_between_words_without_a_mark() -> None:
    assert cut("洗衣机已经完成图书馆明天停水", 8) == len("洗衣机已经完成")


def test_a_number_stays_with_its_unit() -> None:
    assert cut("客厅温度已经达到35.5摄氏度请注意", 14) == len("客厅温度已经达到")


def test_a_text_that_fits_is_not_cut() -> None:
    assert cut("你好，明天停水", FIRST_UNIT_CHARS, is_first=True) == len("你好，明天停水")
    assert cut("") == 0


def test_digits_count_as_what_they_become() -> None:
    assert len(_parts("8" * 60, UNIT_CHARS)) == 2


def test_ten_thousand_characters_are_parted_between_words() -> None:
    text = "".join(WORDS[(7 * n + n // 5) % len(WORDS)] for n in range(4200))
    parts = _parts(text, UNIT_CHARS)
    assert "".join(parts) == text
    assert all(UNIT_CHARS // 2 < len(part) <= UNIT_CHARS for part in parts[:-1])
    reader = Reader(Table())
    whole = [word.text for word in reader.words(text)]
    assert [word.text for part in parts for word in reader.words(part)] == whole


@settings(deadline=None)
@given(
    st.text(st.sampled_from("一不客厅的了，。12.5℃%a- 洗衣机") | st.characters(), min_size=2, max_size=80),
    st.integers(1, 60),
)
def test_any_text_is_parted(text: str, limit: int) -> None:
    assert 1 <= cut(text, limit) <= limit
