"""What holds for every text: speakable characters only, no digit lost, stable, bounded in time."""

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.text.clean import clean
from edged.text.en import normalize
from edged.text.en.numbers import cardinal, integer, ordinal, year
from edged.text.normalized import spoken_words
from edged.text.sentences import units

SPEAKABLE = re.compile("[A-Za-zÀ-ÖØ-öø-ÿŒœ ',.?!;:-]*")
PIECES = [
    "5 km/h", "Mon-Fri", "9 a.m.", "Dr.", "St.", "II", "IV", "USB", "http://x.com/a", "a@b.co", "v1.2",
    "1/2", "-", "−3", "5x3", "$5", "12:30", "2024-01-02", "'90s", "#a", "::1", "1,000", "th", "o'clock",
    "AT&T", "I", "A", "...", "°C", "½", "10^3", "²", "+1", "(202)", "555-0142", "café", "你", "я", "ß",
    "α", "3-5", "%", "=", "am", "24th", "x", "€", "*", "1 000", "5 ft.", "No.", "w/", "IT",
]  # fmt: skip
DIGIT_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def check(text: str) -> None:
    made = normalize(text)
    assert SPEAKABLE.fullmatch(made.text), (text, made.text)
    assert "  " not in made.text
    again = normalize(made.text)
    assert again.text == made.text, text


@given(st.text(st.characters(), max_size=120))
def test_any_text(text: str) -> None:
    check(text)


@given(st.lists(st.sampled_from(PIECES), max_size=16), st.sampled_from([" ", "", ", "]))
def test_anything_put_together(pieces: list[str], join: str) -> None:
    check(join.join(pieces))


@given(st.text(st.sampled_from("0123456789.,:/-+ $%°xAaIV()'"), max_size=60))
def test_signs_and_digits(text: str) -> None:
    check(text)
    # No number vanishes: where there is a digit there is a word for a number.
    if re.search(r"\d", text):
        assert re.search(NUMBER_WORD, spoken_words(normalize(text).text)), text


NUMBER_WORD = (
    r"zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|teen|ty\b|ties|hundred|thousand"
    r"|million|first|second|third|half|halves|quarter|oh|fifth|tieth|midnight|twelfth|illion|sixt|eighth|nint"
)


NUMBERISH = st.from_regex(
    r"[-−+$€#~±(]?[0-9]{1,7}([.,:/x–-][0-9]{1,4}){0,4}"
    r"(%|°C|°| ?km| kg|th|st|s|am| pm|A|x|k|\"|'|\)|!|[⅓½]|²)?",
    fullmatch=True,
)


@given(st.lists(NUMBERISH, min_size=1, max_size=4))
def test_no_number_is_lost_between_two_words(numbers: list[str]) -> None:
    text = "alpha " + " alpha ".join(numbers) + " alpha"
    parts = spoken_words(normalize(text).text).split("alpha")
    assert len(parts) == len(numbers) + 2, text
    for number, part in zip(numbers, parts[1:], strict=False):
        assert re.search(NUMBER_WORD, part), (number, part)


@given(st.integers(16, 60).flatmap(lambda n: st.text(st.sampled_from("0123456789"), min_size=n, max_size=n)))
def test_a_long_number_is_read_digit_by_digit(number: str) -> None:
    expected = " ".join(DIGIT_WORDS[int(d)] for d in number)
    assert spoken_words(normalize(f"Meter {number} ok").text) == f"meter {expected} ok"
    whole = " ".join(spoken_words(normalize(u.text).text) for u in units(f"Meter {number * 5} ok", 60, 0))
    assert whole == f"meter {' '.join([expected] * 5)} ok"


UNITS = {word: n for n, word in enumerate(cardinal(n) for n in range(20))}
TENS = {cardinal(n): n for n in range(20, 100, 10)}
SCALES = {cardinal(10 ** (3 * n)).split()[1]: 10 ** (3 * n) for n in range(1, 12)}


def value(words: str) -> int:
    """The other way round, written independently of the table it checks."""
    total = group = 0
    for word in words.split():
        if word == "hundred":
            group *= 100
        elif word in SCALES:
            total, group = total + group * SCALES[word], 0
        else:
            group += UNITS[word] if word in UNITS else TENS[word]
    return total + group


@given(st.integers(0, 10**36 - 1))
def test_cardinals_can_be_read_back(number: int) -> None:
    assert value(cardinal(number)) == number
    assert "and" not in cardinal(number).replace("thousand", "")
    assert integer(f"{number:,}") == cardinal(number)


def test_ordinals_and_years() -> None:
    assert [ordinal(n) for n in (1, 2, 3, 5, 8, 9, 12, 20, 21, 100, 101, 1000)] == [
        "first", "second", "third", "fifth", "eighth", "ninth", "twelfth", "twentieth", "twenty first",
        "one hundredth", "one hundred first", "one thousandth",
    ]  # fmt: skip
    assert [year(n) for n in (1066, 1900, 1905, 1984, 2000, 2005, 2010, 2024)] == [
        "ten sixty six", "nineteen hundred", "nineteen oh five", "nineteen eighty four", "two thousand",
        "two thousand five", "twenty ten", "twenty twenty four",
    ]  # fmt: skip


HOSTILE = [
    "1-", "1 ", "1.", "1,", "1:", "1/", "a.", "A.", "A-", "a-b", "a_", "a/", "$1", "1x", "I ", "(",
    "http://a", "a@", "5 km ", "'", "1 000 ", "1,000", "½", "+1 ", "Dr. ", "::", "0f:", "é", "x²", "w/",
    "AT&", "5'", "I", "9", "A ", "a", "-", "&", "#1", "1e1", "Mon-", "Jan ", "1°",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_long_hostile_text_ends(unit: str) -> None:
    normalize(unit * 5_000)


@pytest.mark.slow
def test_a_hundred_thousand_random_texts() -> None:
    chance = random.Random(5)
    longest_s = 0.0
    for _ in range(100_000):
        size = chance.randint(1, 60)
        if chance.random() < 0.4:
            text = chance.choice(["", " "]).join(chance.choices(PIECES, k=size // 4 + 1))
        else:
            text = "".join(
                chr(chance.randrange(chance.choice([0x80, 0x300, 0x3000, 0x110000]))) for _ in range(size)
            )
        started_s = time.perf_counter()
        for unit in units(clean(text), 60, 180):
            assert SPEAKABLE.fullmatch(normalize(unit.text).text), text
        longest_s = max(longest_s, time.perf_counter() - started_s)
    assert longest_s < 1.0
