"""Where long Chinese text is parted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edged.text.zh import normalize
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


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        ("今天室外的最高温度是1234.5℃请大家注意", "一千二百三十四点五摄氏度"),
        ("客厅湿度已经达到了60.5%请打开除湿机", "百分之六十点五"),
        ("开往火车东站的列车将于12:30发车请候车", "十二点三十分"),
        ("会议定于2024年5月6日举行请参加", "二零二四年五月六日"),
        ("室外温度-5～3℃请注意保暖", "负五到三摄氏度"),
        ("室外PM2.5为158μg/m³不宜外出", "一百五十八微克每立方米"),
        ("室外PM2.5为158μg/m³不宜外出", "p m 二点五"),
        ("请把文件送到第12页所列的地址", "第十二页"),
        ("请打印第2/3页并交给老师", "第二、三页"),
        ("营业时间上午9点-下午5点请光临", "上午九点到下午五点"),
        ("大约还剩3个半小时到达终点站", "三个半小时"),
        ("現在電量15.5%請儘快充電", "百分之十五點五"),
        ("油耗是7.5L/100km请注意节油", "七点五升每一百公里"),
    ],
)
def test_no_cut_inside_a_number_that_is_written_out(written: str, whole: str) -> None:
    text = normalize(written).text
    start = text.index(whole)
    for limit in range(start + 1, len(text)):
        end = cut(text, limit)
        assert not start < end < start + len(whole), text[:end]
        assert not start < cut(text, limit, is_first=True) < start + len(whole)


def test_a_text_that_fits_is_not_cut() -> None:
    assert cut("你好，明天停水", FIRST_UNIT_CHARS, is_first=True) == len("你好，明天停水")
    assert cut("") == 0


def test_digits_count_as_what_they_become() -> None:
    assert len(_parts("8" * 60, UNIT_CHARS)) == 2


def test_signs_of_a_text_as_written_count_as_what_they_become() -> None:
    assert [len(part) for part in _parts("℃%" * 15, UNIT_CHARS)] == [20, 10]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("请注意室内温度是25℃湿度正常请大家放心", "25℃"),
        ("请注意室内湿度是60%温度正常请大家放心", "60%"),
        ("请注意开往机场的36路公交车停运请改乘地铁", "36路"),
        ("请注意室内温度的单位是℃请大家注意保暖", "是℃"),
        ("请注意列车将于12:30发车请大家按时到场", "12:30"),
    ],
)
def test_no_cut_inside_a_number_as_it_is_written(text: str, whole: str) -> None:
    start = text.index(whole)
    for limit in range(start, 60):
        end = cut(text, limit)
        assert not start < end < start + len(whole), text[:end]


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
