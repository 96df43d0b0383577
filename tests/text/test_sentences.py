"""Units: bounded, lazily made, the first one short, with every word of the text once and in order."""

import re
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.text.clean import clean
from edged.text.sentences import HARD_LIMIT_CHARS, units

FIRST = 60
PAUSE = 180
LONG = (
    "When the train finally reached the station after a long delay in the mountains, the passengers stepped"
    " out into the cold evening air, gathered their bags and coats, and walked slowly toward the small cafe"
    " by the river, where the owner had kept the lights on and prepared hot soup for everyone who arrived."
)


def split(text: str, first: int = FIRST) -> list[str]:
    return [unit.text for unit in units(clean(text), first, PAUSE)]


def pauses(text: str) -> list[tuple[str, int]]:
    return [(unit.text, unit.pause_ms) for unit in units(clean(text), FIRST, PAUSE)]


@pytest.mark.parametrize(
    "text", ["", "  \n\t ", "……！？。", "---", "\U0001f600\U0001f44d", "<break/>", '"..."']
)
def test_nothing_to_speak(text: str) -> None:
    assert split(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "It is 7.25 or 1,250.5 now.",
        "Dr. Smith met Mrs. Jones and St. Nicholas.",
        "Bring fruit, e.g. Apples, i.e. Something sweet.",
        "J. K. Rowling and J.R.R. Tolkien wrote.",
        "It starts at 5 p.m. Monday at the U.S. Embassy.",
        "See No. 5 and pp. 3 to 7.",
        "2. Open the door",
        '"Stop!" he said.',
        "Wait... what",
        "Version 3.11.2 of example.com is out",
        "It costs approx. $5 or approx. ~€6, max. -5 °C",
        "vs. 5 others, e.g. 3 of them",
        "Apt. #5 is free",
        "Open Mon.-Fri. 9-5 only",
        "Open Jan.–Mar. 10 to 4",
    ],
)
def test_one_sentence(text: str) -> None:
    assert split(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello. How are you? Fine! Good", ["Hello.", "How are you?", "Fine!", "Good"]),
        ('He said "Go." Then he went.', ['He said "Go."', "Then he went."]),
        ("It is 3 a.m. The end.", ["It is 3 a.m.", "The end."]),
        ("I said no. Then I left.", ["I said no.", "Then I left."]),
        ("So do I. We go.", ["So do I.", "We go."]),
        ("你好。世界很大！再见", ["你好。", "世界很大！", "再见"]),
        ("Shopping:\nmilk\neggs", ["Shopping:", "milk", "eggs"]),
        ("1. Milk\n2. Eggs", ["1. Milk", "2. Eggs"]),
        ("Really?! Yes... No", ["Really?!", "Yes...", "No"]),
        ("We paid. $5 is left.", ["We paid.", "$5 is left."]),
        ("It is cold. -5 outside", ["It is cold.", "-5 outside"]),
        ("Open Monday-Friday. 9 people came", ["Open Monday-Friday.", "9 people came"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_wrapped_lines_are_one_sentence() -> None:
    wrapped = "This line was broken by an editor at about seventy columns because\nit was full."
    assert " ".join(split(wrapped, 400)) == wrapped.replace("\n", " ")
    assert len(split(wrapped, 400)) == 1


def test_breaks_are_pauses() -> None:
    assert pauses('Wait <break time="500ms"/> now <prosody rate="slow">go</prosody>') == [
        ("Wait,", 500),
        ("now go", PAUSE),
    ]
    assert pauses('Done.<break time="50ms"/>Next.<break time="900ms"/><break time="100ms"/>Last') == [
        ("Done.", PAUSE),
        ("Next.", 1000),
        ("Last", PAUSE),
    ]
    assert pauses("<break/>Hello<break/>") == [("Hello", PAUSE)]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (LONG, "When the train finally reached the station after a long"),
        (LONG.replace(" after a", ", after a"), "When the train finally reached the station,"),
        (
            "Please close the kitchen window before you leave the house for work this morning",
            "Please close the kitchen window",
        ),
        (
            "The weather today will be mostly sunny and dry with a light breeze from the west",
            "The weather today will be mostly sunny",
        ),
        (
            "Hi, the weather today will be mostly sunny: light breeze from the north west and rain",
            "Hi, the weather today will be mostly sunny:",
        ),
    ],
)
def test_first_unit_is_cut_where_it_makes_sense(text: str, first: str) -> None:
    made = pauses(text)
    assert first.startswith(made[0][0]) or made[0][0].startswith(first)
    assert 15 <= len(made[0][0]) <= FIRST
    assert made[0][1] == 0
    assert made[-1][1] == PAUSE
    assert " ".join(t for t, _ in made).split() == text.split()


def test_text_without_capitals_is_cut_at_its_full_stops() -> None:
    text = (
        "the washing machine is done. the dryer still runs for a while. the front door is open. all is well"
    )
    assert split(text)[0] == "the washing machine is done."


def test_first_unit_limit_can_be_chosen() -> None:
    assert len(split(LONG, 400)[0]) > 60
    assert len(split(LONG, 20)[0]) <= 20
    assert len(split(LONG, 20)) <= 4
    assert split("Exactly sixty characters are in this sentence, counted twice", 60) == [
        "Exactly sixty characters are in this sentence, counted twice"
    ]


@pytest.mark.parametrize(
    "text",
    [
        ("alpha beta gamma delta " * 500)[:10_000].strip(),
        "a" * 10_000,
        "这" * 10_000,
        ("word, " * 2000)[:10_000].strip(),
        "Short. " + "b" * 10_000 + " end.",
    ],
    ids=["words", "one word", "chinese", "commas", "mixed"],
)
def test_ten_thousand_characters(text: str) -> None:
    made = split(text)
    assert max(map(len, made)) <= HARD_LIMIT_CHARS
    assert len(made) < 600
    assert "".join(made).replace(" ", "") == text.replace(" ", "")
    if " " in text:
        assert " ".join(made).replace(" ", "") == text.replace(" ", "")


def test_units_are_made_lazily() -> None:
    text = clean("Start now. " + "Alpha beta " * 100_000)
    first = next(units(text, FIRST, PAUSE))
    assert (first.index, first.text) == (0, "Start now.")


def test_indices_count_up_and_splitting_repeats() -> None:
    made = list(islice(units(clean(LONG * 5), FIRST, PAUSE), 50))
    assert [unit.index for unit in made] == list(range(len(made)))
    assert made == list(islice(units(clean(LONG * 5), FIRST, PAUSE), 50))


WORDS = st.lists(
    st.one_of(
        st.sampled_from(
            ["and", "a", "e.g.", "Dr.", "3.5", "...", "--", "(x)", '"y"', "No.", "J.", "?!", "because,"]
        ),
        st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=30),
    ),
    max_size=120,
)


@given(WORDS, st.integers(20, 400), st.sampled_from([" ", ", ", ". ", "\n", " - "]))
def test_every_word_once_and_in_order(words: list[str], first: int, join: str) -> None:
    text = clean(join.join(words))
    made = list(units(text, first, PAUSE))

    def letters(value: str) -> str:
        return re.sub(r"[\W_]", "", value)

    assert letters("".join(unit.text for unit in made)) == letters(text)
    for unit in made:
        assert 0 < len(unit.text) <= HARD_LIMIT_CHARS
        assert unit.text == unit.text.strip()
        assert "\n" not in unit.text
        assert any(map(str.isalnum, unit.text))


@pytest.mark.parametrize(
    "unit", ["!", ". ", "a. ", "A. ", '."', "(.)", ", ", "a, ", "<break/>", "1. ", "。", "x\n", "- ", "…"]
)
def test_long_hostile_text_ends(unit: str) -> None:
    for _ in units(clean(unit * 200_000 + "x"), FIRST, PAUSE):
        pass
