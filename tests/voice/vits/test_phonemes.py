"""Text to the ids of a Piper voice: the layout of the reference, whatever the text, whatever is missing."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from piper.config import PiperConfig
from piper.phoneme_ids import phonemes_to_ids
from piper.phonemize_espeak import EspeakPhonemizer

from edged.errors import VoiceError
from edged.text import piper as front_end_module
from edged.text.piper import PiperFrontEnd
from tests.voice.vits import tiny


def write(folder: Path, **changes: Any) -> Path:
    """phonemes.json as the importer writes it."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"type": "espeak", "espeak_voice": "en-us", "ids": tiny.MAP, "vowel_clusters": [], **changes}
    (folder / "phonemes.json").write_text(json.dumps(content))
    return folder


@pytest.fixture(scope="session")
def joe_front(joe_network: Path, tmp_path_factory: pytest.TempPathFactory) -> PiperFrontEnd:
    ids = json.loads(joe_network.with_name(f"{joe_network.name}.json").read_text())["phoneme_id_map"]
    return PiperFrontEnd(write(tmp_path_factory.mktemp("joe") / "v", ids=ids), 100_000)


@pytest.fixture(scope="session")
def reference(joe_network: Path) -> Any:
    """The reference implementation: one sentence to its ids."""
    raw = json.loads(joe_network.with_name(f"{joe_network.name}.json").read_text())
    config = PiperConfig.from_dict(raw)
    espeak = EspeakPhonemizer()

    def ids(text: str) -> list[int]:
        (phonemes,) = espeak.phonemize("en-us", text)
        return phonemes_to_ids(phonemes, config.phoneme_id_map)

    return ids


@pytest.mark.parametrize("text", ["No", "About"])
def test_first_phoneme_follows_start_and_pad(joe_front: PiperFrontEnd, reference: Any, text: str) -> None:
    ids = joe_front(text).ids.tolist()
    assert ids == reference(text)
    assert (ids[:2], ids[-2:]) == ([1, 0], [0, 2])
    assert not any(ids[3:-1:2])
    assert all(ids[2:-1:2])


@pytest.mark.parametrize(
    "text",
    [
        "Turn left at the next corner.",
        "Is it 21 degrees, or 22?",
        "Warning: the garage door, open; since 10:45!",
        "The café’s résumé — naïve, isn't it",
        "x",
        "Straße and señor",
    ],
)
def test_ids_are_those_of_the_reference(joe_front: PiperFrontEnd, reference: Any, text: str) -> None:
    assert joe_front(text).ids.tolist() == reference(text)


def test_two_sentences_in_one_are_both_said(joe_front: PiperFrontEnd) -> None:
    ids = joe_front("Hello there. Good bye.")
    one, two = joe_front("Hello there."), joe_front("Good bye.")
    assert ids.phonemes == f"{one.phonemes} {two.phonemes}"
    assert ids.ids.tolist() == [*one.ids[:-1], 3, 0, *two.ids[2:]]


@pytest.mark.parametrize("text", ["", " ", ".", "...", "?!", "\x00", "\u200b", "—", ",,"])
def test_nothing_to_say(joe_front: PiperFrontEnd, text: str) -> None:
    assert not joe_front(text).speakable


@given(st.text(st.characters(), max_size=60))
def test_any_text_gives_ids_in_the_layout(joe_front: PiperFrontEnd, text: str) -> None:
    ids = joe_front(text).ids.tolist()
    assert (ids[0], ids[-1]) == (1, 2)
    if len(ids) > 2:
        assert ids[1] == 0
        assert not any(ids[1:-1:2])


def test_cache(tmp_path: Path) -> None:
    front = PiperFrontEnd(write(tmp_path), 10_000)
    assert front("Hello.") is front("Hello.")
    assert (front.cache.hits, front.cache.misses) == (1, 1)
    for i in range(500):
        front(f"Number {i}.")
    assert front.cache.bytes <= 10_000


def test_a_missing_phoneme_is_replaced_and_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    front = PiperFrontEnd(write(tmp_path / "ann" / "0123"), 0)
    with caplog.at_level(logging.WARNING):
        ids = front("Good thing.").ids.tolist()  # ɡˈʊd θˈɪŋ: the map has g, ʊ, ɪ and n, but no θ
        front("The other voice.")
    letters = [next(p for p, i in tiny.MAP.items() if i == [n]) for n in ids[2:-1:2]]
    assert "".join(letters) == "gˈʊd ˈɪn."
    assert [r.message for r in caplog.records] == ["voice ann has no phoneme 'ɡ': taken as 'g'; others alike"]


def test_vowel_clusters_are_one_phoneme(tmp_path: Path) -> None:
    ids = {**tiny.MAP, "aɪ": [38], "aɪə": [39]}
    clusters = ["aɪ", "aɪə"]
    front = PiperFrontEnd(write(tmp_path, ids=ids, vowel_clusters=clusters), 0)
    assert 38 in front("My.").ids
    assert 39 in front("Fire.").ids or 38 in front("Fire.").ids
    assert 38 not in PiperFrontEnd(write(tmp_path / "b"), 0)("My.").ids


def test_characters_are_the_phonemes_of_a_text_voice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_espeak() -> None:
        raise AssertionError("a voice of characters needs no espeak")

    monkeypatch.setattr(front_end_module, "_espeak", no_espeak)
    front = PiperFrontEnd(write(tmp_path, type="text", espeak_voice=""), 0)
    a, b, space = tiny.MAP["a"][0], tiny.MAP["b"][0], tiny.MAP[" "][0]
    assert front("a b").ids.tolist() == [1, 0, a, 0, space, 0, b, 0, 2]
    assert front("AÄb").ids.tolist() == [1, 0, a, 0, a, 0, b, 0, 2]


def test_a_voice_that_espeak_does_not_have(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="espeak has no voice 'xx-yy'"):
        PiperFrontEnd(write(tmp_path, espeak_voice="xx-yy"), 0)


def test_without_the_wheel_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    code = (
        "import importlib.util, sys; found = importlib.util.find_spec;"
        "importlib.util.find_spec = lambda n, *a: None if n == 'piper' else found(n, *a);"
        "from edged.text import piper; sys.exit(piper.main(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(write(tmp_path))],
        input='["Hello."]',
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "the phonemizer of Piper's voices is not installed; pip install 'edged[piper]'\n"


def test_phonemes_need_no_espeak(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "edged.text.piper", str(write(tmp_path, espeak_voice="xx"))]
    done = subprocess.run(command, input='[{"phonemes": "ab."}]', capture_output=True, text=True, check=True)
    a, b, stop = (tiny.MAP[p][0] for p in "ab.")
    assert json.loads(done.stdout) == [[1, 0, a, 0, b, 0, stop, 0, 2]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        ("", "cannot be read"),
        ("[]", "not the phonemes of a voice"),
        ("{}", "'type' is missing"),
        ('{"type": "espeak", "espeak_voice": "", "ids": {}, "vowel_clusters": []}', "'\\^' is missing"),
    ],
)
def test_damaged_phonemes_are_one_line(tmp_path: Path, content: str | None, said: str) -> None:
    if content is not None:
        (tmp_path / "phonemes.json").write_text(content)
    with pytest.raises(VoiceError, match=said) as raised:
        PiperFrontEnd(tmp_path, 0)
    assert "\n" not in str(raised.value)
    assert "install the voice again" in str(raised.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"vowel_clusters": [""]},
        {"vowel_clusters": [1]},
        {"ids": {**tiny.MAP, "a": ["x"]}},
        {"ids": {**tiny.MAP, "a": [-1]}},
        {"ids": {**tiny.MAP, "a": [2**31]}},
        {"ids": {**tiny.MAP, "^": []}},
    ],
)
def test_phonemes_that_would_fail_later_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(VoiceError, match="is damaged"):
        PiperFrontEnd(write(tmp_path, **changes), 0)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"type": ' * 100_000])
def test_nesting_is_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "phonemes.json").write_text(content)
    with pytest.raises(VoiceError, match="cannot be read"):
        PiperFrontEnd(tmp_path, 0)


@pytest.mark.parametrize("voice", ["\0", "\ud800", "no-such-voice" * 500])
def test_what_is_no_name_is_no_voice_of_espeak(tmp_path: Path, voice: str) -> None:
    with pytest.raises(VoiceError, match="espeak has no voice") as raised:
        PiperFrontEnd(write(tmp_path, espeak_voice=voice), 0)
    assert len(str(raised.value)) < 300
