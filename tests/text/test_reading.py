"""From a text to stretches of one language: which language, and that cuts change no reading."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edged.text.normalized import spoken_words
from edged.text.reading import adapted, languages, readings
from edged.text.zh import normalize


def said(text: str, lang: str | None = None, voice: str = "en-us", limit: int = 60) -> list[tuple[str, str]]:
    return [(each.lang, each.text) for each in readings(text, lang, voice, limit, 180)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Exit 北京.", [("en", "Exit"), ("zh", "北京")]),
        ("请打开App，谢谢", [("zh", "请打开"), ("en", "app"), ("zh", "，谢谢")]),
        ("IP是192.168.1.1", [("zh", "i p 是一九二点一六八点一点一")]),
        ("CO2浓度800ppm", [("zh", "c o 二浓度百万分之八百")]),
        ("5cm长", [("zh", "五厘米长")]),
        ("DOOR OPEN", [("en", "door open")]),
        ("25℃", [("en", "twenty five degrees Celsius")]),
    ],
)
def test_each_stretch_has_the_language_of_its_script(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(lang, spoken.strip(".")) for lang, spoken in said(text)] == expected


def test_numbers_alone_are_of_the_language_around_them() -> None:
    assert said("会议时间。10:00-12:00。")[1] == ("zh", "十点到十二点。")
    assert said("The meeting. 10:00-12:00.")[1][0] == "en"
    assert said("25℃", voice="zh")[0][0] == "zh"
    assert said("25℃", lang="zh") == [("zh", "二十五摄氏度")]
    assert said("25 km", lang="de") == [("de", "25 km")]


def test_words_of_a_sentence_win_over_the_usual_language() -> None:
    assert said("It is 25 degrees.", voice="zh") == [("en", "It is twenty five degrees.")]
    assert said("今天25度。", voice="en") == [("zh", "今天二十五度。")]


def test_a_chinese_voice_is_needed_where_chinese_is() -> None:
    assert languages("Exit 北京", None, "en-us") == {"en", "zh"}
    assert languages("Exit", None, "en-us") == {"en"}
    assert languages("厨房的窗户还开着。", None, "zh") == {"zh"}
    assert languages("打开WiFi", None, "zh") == {"en", "zh"}
    assert languages("25", "zh", "en-us") == {"zh"}
    assert adapted("北京，", "zh", "en-us") == "bei jing ,"
    assert adapted("北京，", "zh", "zh") == "北京，"


NUMBERS = [
    "13812345678",
    "010-62781234",
    "2025-01-08",
    "10:00-12:00",
    "9:30到11:45",
    "2026年11月30日18:05",
    "−0.5℃",
    "￥1,280.00元",
    "1,234,567人",
    "10~20个",
    "第2个",
    "15%",
    "3:2",
]


@given(
    before=st.text("请各位乘客注意开往的高速列车将于明天发", max_size=22),
    number=st.sampled_from(NUMBERS),
    after=st.sampled_from(["", "。", "，谢谢您的合作。", "左右，请稍候"]),
)
@settings(deadline=None, max_examples=150)
def test_where_a_chinese_text_is_cut_changes_no_word_of_it(before: str, number: str, after: str) -> None:
    text = f"请{before}{number}{after}"
    found = list(readings(text, None, "en-us", 60, 180))
    assert {each.lang for each in found} == {"zh"}
    whole = spoken_words(normalize(text).text).replace(" ", "")
    assert "".join(spoken_words(each.text) for each in found).replace(" ", "") == whole


def test_long_chinese_comes_in_short_units_the_first_at_a_clause() -> None:
    text = "请各位乘客注意，开往北京西站的高速列车将于19:05在3号站台发车。" + "天气很好" * 200
    found = list(readings(text, None, "zh", 60, 180))
    assert found[0].text == "请各位乘客注意，"
    assert max(len(each.text) for each in found) <= 60
    assert [each.unit for each in found] == list(range(len(found)))
    assert [each.pause_ms for each in found if each.pause_ms] == [180, 180]
    assert all(each.text.startswith("天") and each.text.endswith("好") for each in found[3:])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ΔΣ and 5 μm", "delta sigma and five micrometers"),
        ("μμ", "mu mu"),
        ("Ώ", "omega"),
        ("say Ωμέγα", "say omega mu epsilon gamma alpha"),
        ("α and β", "alpha and beta"),
    ],
)
def test_greek_words_are_read_by_the_names_of_their_letters(text: str, expected: str) -> None:
    assert said(text) == [("en", expected)]


def test_latin_letters_without_parts_and_greek_ones_are_read_in_chinese() -> None:
    assert said("三。ß", voice="zh")[1:] == [("zh", "s s")]
    assert said("去Ø门", voice="zh") == [("zh", "去 o 门")]
    assert said("温度ώ，Α", voice="zh") == [("zh", "温度欧米伽，阿尔法")]
    assert said("打开ﬁle", voice="zh") == [("zh", "打开"), ("en", "file")]
    assert said("按ǅ键", voice="zh") == [("zh", "按 d z 键")]


def test_what_nothing_is_left_of_is_told_with_what_follows() -> None:
    found = list(readings("かな。请开门。", "zh", "zh", 60, 180))
    assert [(each.text, each.warnings) for each in found] == [
        ("请开门。", ("no reading for U+304B, U+306A: left out",))
    ]
