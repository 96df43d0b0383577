"""The phonemizer over mapped tables reads normalized text exactly as hibari does over its dictionaries."""

import json
import random
import re
from pathlib import Path

import hibari.g2p
import numpy as np
import pytest
from hibari.g2p import G2P
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from edged.errors import VoiceError
from edged.text.en import normalize
from edged.text.english import EnglishFrontEnd
from edged.text.normalized import LETTER_A
from edged.text.piper import PHONEMES, PiperFrontEnd
from edged.text.tables import compile_tables
from edged.voice.engines._ort import Network

SENTENCES = """
The kitchen window is still open; please close it before you leave at 7:30 p.m.
On the 3rd of March 2024, 1,250 people paid $9.99 each to read it.
Dr. Smith lives at 221B Baker St., doesn't he? They've read the record; I'll record it live.
It used to be 22.5 °C, and now it is -3 °C with 80% humidity. That's 1/2 of it, or 3/4 at most.
King Henry VIII met AT&T's CEO in Chapter IV on 2024-02-29, i.e. a leap day (approx.).
Call 555-1234 or e-mail someone@example.com, see https://example.com/a?b=c for more.
I want to eat an apple, to add to the use of the used car; she used to use the old one.
Wi-Fi is down. The e-bike's 36V battery is at 5%; 3x faster, 10km away, 5 kWh used.
The wind blew; wind the clock. He led them with lead. Close the close door. Present the present.
NASA, the FBI and JPEG files: XMLHttpRequest, iPhone 15 Pro, MacBook's M3, R2-D2 & C-3PO!
""".strip().splitlines()


def spelling_net() -> Network:
    return Network(Path(hibari.g2p.ASSETS) / "oov.onnx")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    compile_tables(folder)
    return folder


@pytest.fixture(scope="module")
def front_end(tables: Path) -> EnglishFrontEnd:
    net = spelling_net()

    def run(chars: NDArray[np.int64]) -> NDArray[np.int64]:
        return net(chars=chars)[0]

    return EnglishFrontEnd(tables, run, 100_000)


@pytest.fixture(scope="module")
def plain() -> G2P:
    return G2P()


def words(plain: G2P) -> list[str]:
    """A few thousand: of both dictionaries, inflected, capitalized, and in no dictionary at all."""
    chance = random.Random(7)
    gold, silver = sorted(plain.lexicon.golds.d), sorted(plain.lexicon.silvers.d)
    by_tag = [word for word in gold if isinstance(plain.lexicon.golds.d[word], dict)]
    known = chance.sample(gold, 900) + chance.sample(silver, 900) + by_tag
    made_up = [
        "".join(chance.choices("aabcdeefghiiklmnoprstuvwyz'", k=chance.randint(2, 12))) for _ in range(120)
    ]
    inflected = [
        word + chance.choice(["s", "'s", "ed", "ing", "es", "d"]) for word in chance.sample(known, 500)
    ]
    shouted = [chance.choice([str.upper, str.capitalize])(word) for word in chance.sample(known, 400)]
    return known + made_up + inflected + shouted


def test_words_are_read_the_same(front_end: EnglishFrontEnd, plain: G2P) -> None:
    for word in words(plain):
        assert front_end(word).phonemes == plain(word, normalize_text=False), word


def test_sentences_are_read_the_same(front_end: EnglishFrontEnd, plain: G2P) -> None:
    chance = random.Random(11)
    vocabulary = words(plain)
    mixed = [" ".join(chance.choices(vocabulary, k=chance.randint(3, 14))) + "." for _ in range(250)]
    common = sorted(plain.tagger.vocab)
    natural = [" ".join(chance.choices(common, k=chance.randint(3, 14))) for _ in range(250)]
    for sentence in SENTENCES + mixed + natural:
        said = normalize(sentence).text
        read = plain(re.sub(rf"\b{LETTER_A}\b", "eh", said), normalize_text=False)
        assert front_end(said).phonemes == read, sentence


def test_ids_are_those_of_the_voice(front_end: EnglishFrontEnd) -> None:
    made = front_end("Open.")
    assert made.phonemes == "ˈOpᵊn."
    assert made.ids.tolist() == [0, 156, 31, 58, 42, 56, 4, 0]
    assert made.ids.dtype == np.int64


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("42", "fˈɔɹTi tˈu"),
        ("22.5", "twˈɛnti tˈu pYnt fˈIv"),
        ("Door\x00 open\x1b", "dˈɔɹ ˈOpᵊn"),
        ("9" * 200, " ".join(["nˈIn"] * 200)),
    ],
)
def test_numbers_and_control_characters(front_end: EnglishFrontEnd, text: str, phonemes: str) -> None:
    assert front_end(text).phonemes == phonemes


@pytest.fixture(scope="module")
def espeak(tmp_path_factory: pytest.TempPathFactory) -> PiperFrontEnd:
    folder = tmp_path_factory.mktemp("joe") / "1"
    folder.mkdir()
    table = {
        "type": "espeak",
        "espeak_voice": "en-us",
        "ids": {"^": [1], "_": [0], "$": [2]},
        "vowel_clusters": [],
    }
    (folder / PHONEMES).write_text(json.dumps(table), encoding="utf-8")
    return PiperFrontEnd(folder, 0)


@pytest.mark.parametrize(
    ("text", "heart", "joe"),
    [
        ("USB", "jˌuˌɛsbˈi", "jˌuːˌɛsbˈiː"),
        ("9 a.m. today", "nˈIn ˌAˈɛm tədˈA", "nˈaɪn ˌeɪˈɛm tədˈeɪ"),
        ("pH", "pˌiˈAʧ", "pˌiːʲˈeɪtʃ"),
        ("Dr. A. Reed", "dˈɑktəɹ ˈA ɹˈid", "dˈɑːktɚɹ ˈeɪ ɹˈiːd"),
        ("the FAQ is", "ði ˌɛfˌAkjˈu ɪz", "ðɪʲ ˌɛfˌeɪkjˈuː ɪz"),
        ("gate A12", "ɡˈAt ˈA twˈɛlv", "ɡˈeɪt ˈeɪ twˈɛlv"),
        ("a reed", "ɐ ɹˈid", "ɐ ɹˈiːd"),
        ("He said no.", "hˌi sˈɛd nˈO.", "hiː sˈɛd nˈoʊ."),
    ],
)
def test_letters_are_named_and_words_are_words(
    front_end: EnglishFrontEnd, espeak: PiperFrontEnd, text: str, heart: str, joe: str
) -> None:
    said = normalize(text).text
    assert front_end(said).phonemes == heart
    assert espeak(said).phonemes == joe


@pytest.mark.parametrize("text", ["", "...", "你好！", "☃", "$", "- - -", "\ud800", "،؟"])
def test_nothing_to_speak(front_end: EnglishFrontEnd, text: str) -> None:
    assert not front_end(text).speakable


@pytest.mark.parametrize(
    ("joined", "apart"), [("a/", "a/ "), ("1a", "1 a "), ("aB", "a Ba B"), ("w-", "w- "), ("x@", "x@ ")]
)
def test_the_parts_of_a_very_long_word_are_read_one_by_one(
    front_end: EnglishFrontEnd, joined: str, apart: str
) -> None:
    made = front_end(joined * 100).phonemes
    assert made.startswith(front_end(apart).phonemes[:6])
    assert made.count(" ") >= 90


@given(text=st.text(max_size=200))
def test_never_raises(front_end: EnglishFrontEnd, text: str) -> None:
    front_end(text)


@given(text=st.text(st.sampled_from("0123456789.,-$€/:°%'stnd VXI()&+#@"), max_size=60))
def test_numbers_never_raise(front_end: EnglishFrontEnd, text: str) -> None:
    front_end(text)


def test_a_word_that_cannot_be_read_leaves_the_others(front_end: EnglishFrontEnd, plain: G2P) -> None:
    number = "1" + "0" * 60 + ".5kg"
    with pytest.raises(IndexError):
        plain(f"Take {number} of flour")
    made = front_end(f"Take {number} of flour").phonemes
    assert made.startswith("tˈAk wˈʌn zˈɪɹO")
    assert made.endswith("flˈWəɹ")


def test_the_cache_gives_the_same_and_counts(tables: Path) -> None:
    calls = []

    def net(chars: NDArray[np.int64]) -> NDArray[np.int64]:
        calls.append(chars.shape)
        return np.ones((1, 3), np.int64)

    front_end = EnglishFrontEnd(tables, net, 2000)
    first = front_end("zzyzx")
    assert front_end("zzyzx") is first
    assert (front_end.cache.hits, front_end.cache.misses, len(calls)) == (1, 1, 1)
    for i in range(100):
        front_end(f"word {i}")
    assert 0 < front_end.cache.bytes <= 2000


def test_a_damaged_table_is_named(tables: Path, tmp_path: Path) -> None:
    for file in tables.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "gold.marisa").write_bytes(b"no trie")
    with pytest.raises(
        VoiceError, match=r"gold\.marisa: cannot be mapped .*install the voice again"
    ) as raised:
        EnglishFrontEnd(tmp_path, lambda chars: chars, 0)
    assert "\n" not in str(raised.value)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "gold.marisa").write_bytes((tables / "gold.marisa").read_bytes())
    with pytest.raises(VoiceError, match=r"tokenizer\.json: cannot be read"):
        EnglishFrontEnd(tmp_path, lambda chars: chars, 0)
