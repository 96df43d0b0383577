"""The user's lexicon: what its file says, every problem in it, and how it goes with the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edged.config import load as load_module
from edged.config.identity import identity
from edged.config.lexicon import PROBLEMS_SHOWN
from edged.config.load import load, read_words
from edged.config.model import Config, Lexicon, UserWord
from edged.config.reload import Change, compare, merge_live
from edged.errors import ConfigError

WORDS = """
en:
  nginx: engine x     # a comment
  GIF: {phonemes: "ʤˈɪf"}
  home  assistant: {say: "house: helper"}
  no: not any
zh:
  重庆: {pinyin: Chong2 qing4}
  吕布: {pinyin: lü3 bu4}
de:
"""


@pytest.fixture
def words(tmp_path: Path) -> Path:
    file = tmp_path / "words.yaml"
    file.write_text(WORDS)
    return file


def problems(file: Path, content: str) -> list[str]:
    file.write_text(content)
    with pytest.raises(ConfigError) as caught:
        read_words(file)
    assert caught.value.file == str(file)
    return [str(problem) for problem in caught.value.problems]


def test_entries_in_the_order_of_the_file(words: Path) -> None:
    assert read_words(words) == (
        UserWord("en", "nginx", "say", "engine x"),
        UserWord("en", "GIF", "phonemes", "ʤˈɪf"),
        UserWord("en", "home assistant", "say", "house: helper"),
        UserWord("en", "no", "say", "not any"),
        UserWord("zh", "重庆", "pinyin", "chong2 qing4"),
        UserWord("zh", "吕布", "pinyin", "lv3 bu4"),
    )


@pytest.mark.parametrize("content", ["", "# nothing\n", "en:\n", "en: ~\nzh: {}\n"])
def test_files_that_say_nothing(words: Path, content: str) -> None:
    words.write_text(content)
    assert read_words(words) == ()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("- a\n", "line 1: must hold languages, each with its words below it, not a list"),
        ("english:\n  a: b\n", "line 1: english: must be a language like en, zh or de"),
        ("en-us:\n  a: b\n", "line 1: en-us: must be a language like en, zh or de"),
        ("[a]: b\n", "line 1: …: must be a language like en, zh or de"),
        (
            "en: {a: b}\nde: {a: b}\nen: {c: d}\n",
            "line 3: en: given twice, first in line 1; put its words together",
        ),
        ("en: nginx\n", "line 1: en: must hold words, each with ': ' and how it is said, not a single value"),
        ("en:\n - a\n", "line 2: en: must hold words, each with ': ' and how it is said, not a list"),
        (
            "en:\n  nginx:\n",
            "line 2: en.nginx: is empty; write how it is said, and a text that begins with # in quotes",
        ),
        ("en:\n  a: b\n  a: c\n", "line 3: en.a: given twice, first in line 2; keep one"),
        (
            "en:\n  '?': b\n",
            "line 2: en.?: has no letter or digit; put a word that YAML takes for a sign in quotes",
        ),
        ("en:\n  a: '!'\n", "line 2: en.a: must be words for it; nothing in this can be said"),
        ("en:\n  a: [b]\n", "line 2: en.a: must be how it is said, not a list; put a text with [ in quotes"),
        ("en:\n  a: {}\n", "line 2: en.a: must have exactly one of say, phonemes and pinyin, not nothing"),
        ("en:\n  a: {sai: b}\n", "line 2: en.a: must have exactly one of say, phonemes and pinyin, not sai"),
        (
            "zh:\n  山: {say: b, pinyin: c}\n",
            "line 2: zh.山: must have exactly one of say, phonemes and pinyin, not say, pinyin",
        ),
        ("en:\n  a: {say: [b]}\n", "line 2: en.a: say must be text, not a list; put it in quotes"),
        (
            "en:\n  a: {phonemes: /a/}\n",
            "line 2: en.a: phonemes must be letters of the IPA alone, with ˈ ˌ ː for stress and length, "
            "not '/'",
        ),
        (
            "en:\n  a: {phonemes: ˈ}\n",
            "line 2: en.a: phonemes must be letters of the IPA alone, with ˈ ˌ ː for stress and length",
        ),
        (
            "en:\n  Xi'an: {pinyin: xi1 an1}\n",
            "line 2: en.Xi'an: pinyin is for words under zh; write phonemes or other words for it",
        ),
        (
            "zh:\n  山: {pinyin: shān}\n",
            "line 2: zh.山: pinyin must be syllables with their tones 1 to 5, like chong2 qing4, not 'shān'",
        ),
        (
            "zh:\n  山: {pinyin: shan1xi1}\n",
            "line 2: zh.山: pinyin must be syllables with their tones 1 to 5, like chong2 qing4, "
            "not 'shan1xi1'",
        ),
        ('en:\n  a: "b\\tc"\n', "line 2: en.a: must be one line without control characters"),
        (f"en:\n  {'a' * 81}: b\n", f"line 2: en.{'a' * 40}…: must be at most 80 characters long, not 81"),
        (f"en:\n  a: {'b' * 201}\n", "line 2: en.a: must be at most 200 characters long, not 201"),
        ("en:\n  a: b: c\n", "line 2: a second ': ' in one line, a ':' missing above, or wrong indentation"),
        ("en:\n\ta: b\n", "line 2: a tab stands where YAML wants spaces; replace it"),
        ("en:\n  a: !x b\n", "line 2: tags are not used here; put a text that begins with ! in quotes"),
    ],
)
def test_every_problem_names_line_key_and_mend(words: Path, content: str, line: str) -> None:
    assert problems(words, content) == [line]


def test_all_problems_at_once_up_to_a_limit(words: Path) -> None:
    many = problems(words, "en:\n" + "".join(f"  a{n}:\n" for n in range(PROBLEMS_SHOWN + 7)))
    assert len(many) == PROBLEMS_SHOWN + 1
    assert many[-1] == "and 7 more problems"


def test_a_file_that_is_too_large(words: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_module, "LEXICON_LIMIT_BYTES", 2048)
    assert problems(words, "#" * 2049) == ["is larger than 2 KiB: not a lexicon of edged"]


@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=20))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_file_gives_entries_or_problems(tmp_path: Path, free: str, word: str, value: str) -> None:
    for content in (free, f"en:\n  {word}: {value}\n", f"zh:\n  {word}: {{pinyin: {value}}}\n"):
        (tmp_path / "any.yaml").write_text(content, "utf-8", "replace")
        try:
            words = read_words(tmp_path / "any.yaml")
        except ConfigError as error:
            assert error.problems  # noqa: PT017 (either is right)
        else:
            assert all(w.word.isprintable() and w.value.isprintable() for w in words)


# -- with the configuration --------------------------------------------------------------------------
def configured(words: Path, more: str = "") -> Path:
    file = words.with_name("edged.yaml")
    file.write_text(f"{more}text:\n  lexicon: {words.name}\n")
    return file


def test_it_is_looked_for_beside_the_configuration(words: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    config = load(configured(words))
    assert config.text.words.words == read_words(words)
    assert config.files == ((words, identity(words)),)
    monkeypatch.chdir(words.parent)
    assert load(Path("edged.yaml")).files == config.files


def test_its_problems_stand_with_those_of_the_configuration(words: Path) -> None:
    words.write_text("en:\n  a:\n  b: [c]\n")
    with pytest.raises(ConfigError) as caught:
        load(configured(words, "node: a/b\n"))
    assert [str(problem) for problem in caught.value.problems] == [
        "line 1: node: must be one topic level, without /, # or +",
        f"line 3: text.lexicon: {words}: line 2: en.a: is empty; write how it is said, and a text that "
        "begins with # in quotes",
        f"line 3: text.lexicon: {words}: line 3: en.b: must be how it is said, not a list; put a text "
        "with [ in quotes",
    ]
    assert caught.value.seen == {words: identity(words)}


def test_a_missing_one_is_a_problem_and_may_come(words: Path) -> None:
    file = configured(words)
    words.unlink()
    with pytest.raises(ConfigError, match=r"text\.lexicon: .*words\.yaml: cannot be read") as caught:
        load(file)
    assert caught.value.seen == {words: ()}


def test_its_entries_are_compared_and_taken_over_with_the_key(words: Path) -> None:
    file = configured(words)
    old = load(file)
    words.write_text(f"# only a comment\n{WORDS}")
    assert compare(old, load(file)) == Change((), ())
    words.write_text(WORDS.replace("engine x", "engine ex"))
    new = load(file)
    assert compare(old, new) == Change(("text.lexicon",), ())
    assert "engine ex" not in str(compare(old, new))
    merged = merge_live(old, new, ("text.lexicon",))
    assert merged.text.words.words[0].value == "engine ex"
    assert merge_live(old, new, ()).text.words.words[0].value == "engine x"
    assert compare(new, Config()) == Change(("text.lexicon",), ())
    assert merge_live(new, Config()).text.words == Lexicon()


def test_a_lexicon_is_cheap_to_hash_and_equal_by_its_entries() -> None:
    one = UserWord("en", "a", "say", "b")
    first, second, other = Lexicon.of([one]), Lexicon.of([one]), Lexicon.of([UserWord("en", "a", "say", "c")])
    assert first == second != other
    assert hash(first) == hash(second)
    assert first != Lexicon.of([]) == Lexicon()
