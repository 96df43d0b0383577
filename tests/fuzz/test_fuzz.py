"""Every input of the corpus keeps every promise, and so do some hundred near them, each time the same."""

import random
import time
from collections.abc import Hashable, Iterable
from pathlib import Path

import pytest

from edged.text.clean import clean
from tests.fuzz import CORPUS
from tests.fuzz.coverage import Coverage
from tests.fuzz.growth import growth
from tests.fuzz.mutate import mutate
from tests.fuzz.search import Search, Target, attempt, distilled, inputs_of
from tests.fuzz.targets import targets

EXAMPLES = {
    "payload": 800, "hermes": 800, "config": 60, "lexicon": 150, "voice_name": 100, "manifest": 150,
    "phonemes": 150, "voice_config": 200, "network": 8, "english": 40, "piper": 60, "chinese": 60,
}  # fmt: skip


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Target]:
    return targets(tmp_path_factory.mktemp("fuzz"))


def test_every_target_is_tried(known: dict[str, Target]) -> None:
    assert set(known) == set(EXAMPLES) == {folder.name for folder in CORPUS.iterdir()}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_corpus_and_what_is_near_it(known: dict[str, Target], name: str) -> None:
    files = sorted((CORPUS / name).iterdir())
    assert len(files) > 5
    search = Search(known[name], random.Random(name))
    tried = ((file, attempt(known[name], file.read_bytes(), search.coverage)[0]) for file in files)
    assert not [(file.name, found.what) for file, found in tried if found]
    search.corpus = list(inputs_of(CORPUS / name))
    for _ in range(EXAMPLES[name]):
        search.step()
    assert not search.findings, [(found.data, found.what, found.where) for found in search.findings.values()]


def test_the_corpus_is_small_and_has_nothing_twice() -> None:
    for folder in CORPUS.iterdir():
        contents = list(inputs_of(folder))
        assert len(set(contents)) == len(contents), folder
    sizes = [file.stat().st_size for file in CORPUS.glob("*/*")]
    assert max(sizes) <= 48 << 10
    assert sum(sizes) <= 1 << 20


# The search itself.


def _planted(data: bytes) -> Iterable[Hashable]:
    """Two steps away from the corpus: the first is only found when what reaches something new is kept."""
    text = data.decode("utf-8", "replace")
    clean(text)
    yield "one" in text
    if "one" in text:
        yield "six" in text
        assert "six" not in text, "planted"


def test_a_planted_fault_is_found_and_made_small() -> None:
    search = Search(Target("planted", _planted, ("one", "six")), random.Random(1))
    search.replay([b"plain text, rather long, with nothing in it"])
    while not search.findings and search.runs < 5000:
        search.step()
    (found,) = search.findings.values()
    assert found.data in (b"onesix", b"sixone")
    assert found.what.startswith("AssertionError: planted")


def test_what_leads_nowhere_new_is_not_kept() -> None:
    coverage = Coverage()
    assert coverage.run(lambda: [clean("plain")]) > 0
    assert coverage.run(lambda: [clean("plain")]) == 0
    assert coverage.run(lambda: [clean("<b>\x1b[31mé&amp;")]) > 10
    assert any(name.endswith("text/clean.py") for name in coverage.files())
    target = Target("planted", lambda data: [clean(data.decode()) != ""], ())
    assert distilled(target, [b"plain", b"other", b"plain and long"]) == [b"other"]


def test_equal_states_give_equal_inputs() -> None:
    made = [
        [mutate("gate 5 opens", ("<p>",), ("other",), chance, 100) for _ in range(50)]
        for chance in (random.Random(3), random.Random(3))
    ]
    assert made[0] == made[1]
    assert len(set(made[0])) > 40
    assert all(len(text) <= 100 for text in made[0])


def test_a_corpus_without_files_is_empty(tmp_path: Path) -> None:
    assert list(inputs_of(tmp_path / "none")) == []


def test_a_hang_is_found_where_exceptions_mean_bad_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.fuzz.search.HANG_S", 0.05)

    def hanging(_data: bytes) -> Iterable[Hashable]:
        try:
            time.sleep(5)
        except Exception:
            yield "bad input"

    found, _ = attempt(Target("planted", hanging, ()), b"")
    assert found is not None
    assert found.what.startswith("Hang: took longer")


def test_what_grows_faster_than_the_text_is_found() -> None:
    def quadratic(data: bytes) -> Iterable[Hashable]:
        time.sleep(len(data) ** 2 / 1e10)  # 1.6 ms and 40 ms
        yield True

    _, found = growth(Target("planted", quadratic, ()), [b"ab"])
    assert [each.where for each in found] == ["growth of planted"]
    assert growth(Target("planted", lambda data: [len(data) < 5], ()), [b"a"])[1] == []
