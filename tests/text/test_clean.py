"""What is received becomes plain text: nothing of markup, control or emoji is left to be spoken."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.text.clean import clean, marked_pause_ms, pause_marker


def spoken(text: str) -> str:
    """Cleaned text with each pause marker shown as its milliseconds."""
    return "".join(f"[{marked_pause_ms(c)}]" if ord(c) >= 0xF0000 else c for c in clean(text))


@pytest.mark.parametrize(
    ("received", "expected"),
    [
        ("Door\u0000 open\u001b[31m now\u200b", "Door open now"),
        ("\x1b]0;title\x07Ready\x1b(B", "Ready"),
        ("\x9b1mBold\x9bm", "Bold"),
        ("so\u00adft hy\u200bphen \u202eabc\u202c \ufeffx", "soft hyphen abc x"),
        ("lone \ud83d surrogate", "lone surrogate"),
        ("tab\tand\u00a0space\u3000wide", "tab and space wide"),
        ("one\r\ntwo\u2028three\x85four", "one\ntwo\nthree\nfour"),
        ("Hi\U0001f600there \U0001f44d\U0001f3fd \u2764\ufe0f 1\ufe0f\u20e3", "Hi there"),
        ("21 \u00b0C \u00a9 \u2122", "21 \u00b0C \u00a9 \u2122"),
        ("cafe\u0301", "caf\u00e9"),
        ("private \ue000\U000f01f4 use", "private use"),
    ],
)
def test_characters(received: str, expected: str) -> None:
    assert spoken(received) == expected


@pytest.mark.parametrize(
    ("received", "expected"),
    [
        ('Wait <break time="500ms"/> now <prosody rate="slow">go</prosody>', "Wait [500] now go"),
        ("<speak version='1.0'><p>One</p><p>Two</p></speak>", "One\nTwo"),
        ("<b>H</b>ello<br/>you", "Hello\nyou"),
        (
            'a<break time="1.5s"/>b<break/>c<break strength="none"/>d<break time="99s"></break>e',
            "a[1500]b[400]c[0]d[10000]e",
        ),
        ("<unknown:tag some-thing='x > y'>kept</unknown:tag>", "kept"),
        ("a <!-- hidden <b> --> b <!-- open", "a b <!-- open"),
        ("<?xml version='1.0'?><!DOCTYPE x><![CDATA[in]]>", "in"),
        ("a < b and c > d, x<y, <3", "a < b and c > d, x<y, <3"),
        ("fish & chips, AT&T, R&D;", "fish & chips, AT&T, R&D;"),
        ("1 &lt; 2 &amp;&amp; &quot;x&quot; &#65;&#x42; &nbsp;y", '1 < 2 && "x" AB y'),
        ("&lt;b&gt; &amp;lt;", "<b> &lt;"),
        ("&#0;&#27;[31m&#x1F600;&#983540;z", "[31m z"),
    ],
)
def test_markup(received: str, expected: str) -> None:
    assert spoken(received) == expected


@pytest.mark.parametrize("blank", ["", "  \n\t ", "\u200b\ufeff", "\U0001f600", "<speak></speak>", "\x00"])
def test_nothing_left(blank: str) -> None:
    assert clean(blank) == ""


@given(st.text(st.characters(), max_size=200))
def test_any_text_comes_out_speakable(text: str) -> None:
    for char in clean(text):
        category = unicodedata.category(char)
        assert char == "\n" or category == "Co" or category[0] != "C"
        is_unit = "㍱" <= char <= "㏟"  # ㎡, ㎞
        assert not (category == "So" and char not in "°©®™№℃℉℗℠" and not is_unit)
    assert clean(text) == clean(text).strip(" \n")
    assert "  " not in clean(text)


@given(st.text(st.sampled_from("<>/!-&;#=\"' abx\x1b[]\n"), max_size=300))
def test_broken_markup_never_raises(text: str) -> None:
    clean(text)


@pytest.mark.parametrize(
    "unit",
    [
        "<",
        '<a b="',
        "<!--",
        "\x1b]",
        " \n",
        "&",
        "e\u0301\u0327",
        "<break/>",
        "\x1b[",
        "<a b='x' ",
        "\u0301\u0327",
    ],
)
def test_long_hostile_text_ends(unit: str) -> None:
    clean(unit * 200_000)


def test_pause_marker_is_bounded() -> None:
    assert marked_pause_ms(pause_marker(-5) + pause_marker(123.4)) == 123
    assert marked_pause_ms(pause_marker(1e9) * 3) == 10_000
