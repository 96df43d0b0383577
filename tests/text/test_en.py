"""English as it is said: a table of inputs with their exact readings."""

import re
from pathlib import Path

import pytest

from edged.text.clean import clean
from edged.text.en import normalize
from edged.text.normalized import LETTER_A, spoken_words
from edged.text.sentences import units

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([trn]))")
_PLAIN = {"t": "\t", "r": "\r", "n": "\n"}


def unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: _PLAIN[m[3]] if m[3] else chr(int(m[1] or m[2], 16)), text)


def rows() -> list[tuple[str, str, str]]:
    lines = Path(__file__).with_name("cases_en.tsv").read_text(encoding="utf-8").splitlines()
    made = [tuple(line.split("\t")) for line in lines if line and not line.startswith("#")]
    return [(name, unescaped(text), reading) for name, text, reading in made]


ROWS = rows()


def sentences(text: str, first: int = 60) -> list[str]:
    return [unit.text for unit in units(clean(text), first, 180)]


def spoken(text: str, first: int = 60) -> str:
    return " ".join(filter(None, (spoken_words(normalize(s).text) for s in sentences(text, first))))


def test_the_table_is_there() -> None:
    assert len(ROWS) > 280
    assert len({name for name, _, _ in ROWS}) > 14


@pytest.mark.parametrize(
    ("text", "reading"), [row[1:] for row in ROWS], ids=[f"{n} {i}" for i, (n, _, _) in enumerate(ROWS)]
)
def test_reading(text: str, reading: str) -> None:
    assert spoken(text) == reading


@pytest.mark.parametrize(("text", "reading"), [row[1:] for row in ROWS if row[0] != "caps"])
def test_the_reading_does_not_depend_on_where_a_unit_ends(text: str, reading: str) -> None:
    for lead in range(18, 64, 5):
        before = ("la " * 24)[:lead].strip() + " "
        if clean(text)[:1].islower() or sentences(text) != sentences(text, 400):
            continue
        assert spoken(before + text, 60) == spoken(before + text, 400)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Gate opens at 08:00. Bus leaves 09:05 AM, last one 17:30.", 2),
        ("pH is 7.25. Chlorine 1.50 ppm.", 2),
        ("Dr. A. Reed moved to 12 St. Mary St. at 9 a.m. today.", 1),
        ("Mail help@example.com or see https://example.com/faq. Thanks.", 2),
        ("Meet at 9 a.m. The show starts.", 2),
        ("It is on Main St. The door is red.", 2),
        ("Call 555-0142 ext. 12 on Mon. 5 May.", 1),
        ("I live in the U.S. He does not.", 2),
        ("DR. SMITH IS HERE", 1),
        ("5 ft. 4 in. tall", 1),
        ("It costs $1.50. Pay now.", 2),
        ("Take plan B. The rest waits.", 2),
    ],
)
def test_sentences_are_not_cut_at_abbreviations(text: str, count: int) -> None:
    assert len(sentences(text)) == count


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("At 08:00 pay $5.", ("time", "currency")),
        ("HELLO THERE", ("capitals",)),
        ("Hello there.", ()),
        ("On the 3rd it is -5 °C.", ("ordinal", "sign", "unit")),
    ],
)
def test_rules_are_named_in_order(text: str, rules: tuple[str, ...]) -> None:
    assert normalize(text).rules == rules


def test_letters_are_given_as_letters() -> None:
    assert normalize("USB at 9 a.m.").text == "U.S.B at nine A.M."
    assert normalize("Gate A is open.").text == f"Gate {LETTER_A} is open."
    assert spoken_words("Gate eigh, U.S.B; o'clock 'x' 六点 don’t") == "gate a u s b o'clock x 六点 don't"


def test_what_has_no_reading_is_named() -> None:
    made = normalize("Hi Привет 5")
    assert made.text == "Hi five"
    assert made.warnings == (
        "no English reading for U+041F, U+0440, U+0438, U+0432, U+0435, U+0442: left out",
    )
    assert normalize("Łódź café").warnings == ()


@pytest.mark.parametrize("text", ["", " ", "...", "---", "()", "?!"])
def test_nothing_to_say(text: str) -> None:
    assert spoken_words(normalize(text).text) == ""
