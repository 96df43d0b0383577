"""The user's words: where they are found, what outlives normalization, and what the front ends say."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import hibari.g2p
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from edged.config.lexicon import _SYLLABLE
from edged.config.model import Config, Lexicon, TextConfig, UserWord
from edged.render import key
from edged.text.english import EnglishFrontEnd
from edged.text.lexicon import GROWN_LIMIT_CHARS, RULE, put_in
from edged.text.marks import MARKED, PHONEMES, PINYIN, plain
from edged.text.normalized import spoken_words
from edged.text.piper import PiperFrontEnd
from edged.text.reading import Reading, adapted, readings, surface_pinyin
from edged.text.tables import compile_tables
from edged.text.zh.baker import BakerFrontEnd
from edged.text.zh.table import Table
from edged.types import Announcement, Voice
from edged.voice.engines._ort import Network
from tests.ramp_voice import RampVoice

HERE = Path(__file__).parent


def lexicon(*entries: tuple[str, str, str] | tuple[str, str, str, str]) -> Lexicon:
    """(language, word, respelling) or (language, word, kind, value)."""
    words = (
        UserWord(*entry) if len(entry) == 4 else UserWord(entry[0], entry[1], "say", entry[2])
        for entry in entries
    )
    return Lexicon.of(words)


WORDS = lexicon(
    ("en", "nginx", "engine x"),
    ("en", "GIF", "phonemes", "dʒˈɪf"),
    ("en", "home", "house"),
    ("en", "home assistant", "house helper"),
    ("en", "iPhone", "eye phone"),
    ("en", "c++", "see plus plus"),
    ("en", "can", "tin"),
    ("en", "小米", "shao mee"),
    ("zh", "重庆", "pinyin", "chong2 qing4"),
    ("zh", "重庆大学", "重大"),
    ("zh", "小米", "大米"),
    ("zh", "wifi", "无线网"),
    ("de", "GIF", "Giff"),
)


def read(text: str, lang: str | None = None, voice: str = "en", words: Lexicon = WORDS) -> list[Reading]:
    return list(readings(text, lang, voice, 60, 100, words))


def shown(text: str) -> str:
    """Marked words as <word=sounds>."""
    return MARKED.sub(r"<\2=\3>", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Restart nginx.", "Restart engine x."),
        ("NGINX and Nginx are up", "engine x and engine x are up"),
        ("nginxd, nginx2, 2nginx, anginx", None),
        ("nginx-proxy, my_nginx, (nginx)", "engine x-proxy, my_engine x, (engine x)"),
        ("the home assistant at home", "the house helper at house"),
        ("home assistants", "house assistants"),
        ("an iPhone, an iphone, an IPHONE", "an eye phone, an iphone, an IPHONE"),
        ("in c++ and C++", "in see plus plus and see plus plus"),
        ("I can't, I can, it's the can's", "I can't, I tin, it's the tin's"),
        ("can’t", None),
        ("重启nginx服务", "重启engine x服务"),
        ("", None),
    ],
)
def test_where_words_are_found_in_english(text: str, expected: str | None) -> None:
    assert put_in(text, WORDS, "en", "zh").text == (text if expected is None else expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我爱小米手机", "我爱大米手机"),
        ("重庆大学", "重大"),
        ("wifi坏了，WiFi坏了", "无线网坏了，无线网坏了"),
        ("重启nginx服务", "重启engine x服务"),
        ("wifis", None),
    ],
)
def test_where_words_are_found_in_chinese(text: str, expected: str | None) -> None:
    assert put_in(text, WORDS, "zh", "en").text == (text if expected is None else expected)


def test_another_language_gives_only_words_of_its_script() -> None:
    assert put_in("the wifi of 小米", WORDS, "en", "zh").text == "the wifi of shao mee"
    assert put_in("the wifi of 小米", WORDS, "de", "zh").text == "the wifi of 大米"


def test_a_unit_grows_no_further_than_its_limit() -> None:
    long = lexicon(("en", "a", "b" * 200))
    text = "a " * 99 + "end"
    grown = put_in(text, long, "en", "zh").text
    assert grown.endswith(" a a end")
    assert GROWN_LIMIT_CHARS - 200 < len(grown) <= GROWN_LIMIT_CHARS


@given(st.text("ab 'AB重庆nginxGIF.", max_size=40), st.data())
def test_the_old_text_is_found_behind_the_new(text: str, data: st.DataObject) -> None:
    spelled = put_in(text, WORDS, "en", "zh")
    assert spelled.source(0, len(spelled.text)) == text
    cut = data.draw(st.integers(0, len(spelled.text)))
    if not any(r.start < cut < r.end for r in spelled.replaced):
        assert spelled.source(0, cut) + spelled.source(cut, len(spelled.text)) == text


# -- through the whole reading -----------------------------------------------------------------------
def test_respellings_are_normalized_and_traced() -> None:
    (only,) = read("Restart nginx in 5 min.")
    assert (only.source, only.text) == ("Restart nginx in 5 min.", "Restart engine x in five minutes.")
    assert only.rules[0] == RULE
    assert [entry.word for entry in only.entries] == ["nginx"]
    (other,) = read("Restart it.")
    assert (other.rules, other.entries) == ((), ())


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("Send me a GIF of 5 kB.", None, ["Send me a <GIF=dʒˈɪf> of five kilobytes."]),
        ("THE GIF IS 5 KB", None, ["the <GIF=dʒˈɪf> is five kilobytes"]),
        ("The GIF's size", None, ["The <GIF's=dʒˈɪfs> size"]),
        ("GIF/nginx", None, ["<GIF=dʒˈɪf> engine x"]),
        ("去重庆2个人，重庆2023年", None, ["去<重庆=chong2 qing4>两个人，<重庆=chong2 qing4>二零二三年"]),
        ("把GIF发给重庆", None, ["把", "<GIF=dʒˈɪf>", "发给<重庆=chong2 qing4>"]),
        ("Go to 重庆 by GIF", "en", ["Go to", "<重庆=chong2 qing4>", "by <GIF=dʒˈɪf>"]),
        ("Das GIF", "de", ["Das Giff"]),
    ],
)
def test_sounds_outlive_normalization(text: str, lang: str | None, expected: list[str]) -> None:
    assert [shown(reading.text) for reading in read(text, lang)] == expected


def rows(name: str, column: int) -> Iterator[str]:
    for line in (HERE / name).read_text().splitlines():
        if line and not line.startswith("#"):
            yield (
                line.split("\t")[column].encode().decode("unicode_escape")
                if "\\" in line
                else line.split("\t")[column]
            )


def marks(text: str, lang: str, words: Lexicon = WORDS) -> list[str]:
    return [mark[2] for reading in read(text, lang, words=words) for mark in MARKED.finditer(reading.text)]


def test_no_rule_of_english_touches_a_word_with_sounds() -> None:
    for case in rows("cases_en.tsv", 1):
        for text in (f"The GIF: {case}", f"{case} GIF is up", f"GIF, {case}, GIF"):
            assert marks(text, "en") == ["GIF"] * text.count("GIF"), text


def test_no_rule_of_chinese_touches_a_word_with_sounds() -> None:
    for case in rows("zh/cases.tsv", 1):
        for text in (f"重庆{case}", f"{case}重庆", f"重庆，{case}，重庆"):
            assert marks(text, "zh") == ["重庆"] * text.count("重庆"), text


def test_the_trace_has_the_word_and_not_its_sounds() -> None:
    (only,) = read("The GIF's size")
    assert spoken_words(only.text) == "the gif's size"
    assert plain(only.text) == "The GIF's size"
    (chinese,) = read("去重庆")
    assert surface_pinyin(chinese.text) == "qu4 chong2 qing4"


@pytest.mark.parametrize(
    "mark", [f"{PHONEMES}a\ue002b\ue003", f"{PINYIN}a\ue002ba1\ue003", "vuzokababa", "龘彝彝"]
)
def test_what_is_received_marks_nothing(mark: str) -> None:
    for lang in ("en", "zh"):
        assert marks(f"say {mark} now", lang) == []


@given(st.text(st.sampled_from("ab G\ue000\ue001\ue002\ue003重庆GIF vuzokaba龘彝's5%.，"), max_size=30))
def test_any_text_reads(text: str) -> None:
    for lang in ("en", "zh", "de", None):
        for reading in read(text, lang):
            assert "\ue002" not in MARKED.sub("", reading.text)
            adapted(reading.text, reading.lang, "en")


def test_a_voice_without_chinese_says_the_given_pinyin() -> None:
    (reading,) = read("去重庆")
    assert adapted(reading.text, "zh", "en") == "qu chong qing"
    assert adapted(reading.text, "zh", "zh") == reading.text


def test_sound_that_is_kept_depends_on_the_lexicon() -> None:
    voice = cast(Voice, RampVoice())
    configs = [Config(text=text) for text in (TextConfig(), TextConfig(words=WORDS), TextConfig())]
    assert len({key(Announcement("", "nginx"), voice, config, "fp32") for config in configs}) == 2


def test_a_phrase_is_never_cut() -> None:
    words = lexicon(
        ("en", "St. Mary. The bell", "saint mary"),
        ("zh", "鹭岛很高", "say", "x"),
        ("zh", "上海", "pinyin", "a1 b1"),
    )
    filler = "and the old house at the end of the road is very quiet at night"
    for count in range(60):
        text = f"{'x' * count} {filler}, St. Mary. The bell {filler} {filler} St. Mary. The bell."
        assert " ".join(r.text for r in read(text, words=words)).count("saint mary") == 2
        chinese = f"{'这个山上有人' * 6}{'好' * count}上海{'这个山上有人' * 9}上海"
        assert marks(chinese, "zh", words) == ["上海"] * 2
    (unit,) = read("Ring St. Mary. The bell now", words=words)
    assert unit.source == "Ring St. Mary. The bell now"


# -- front ends --------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def heart(tmp_path_factory: pytest.TempPathFactory) -> EnglishFrontEnd:
    folder = tmp_path_factory.mktemp("tables")
    compile_tables(folder)
    net = Network(Path(hibari.g2p.ASSETS) / "oov.onnx")

    def spell(chars: NDArray[np.int64]) -> NDArray[np.int64]:
        return net(chars=chars)[0]

    return EnglishFrontEnd(folder, spell, 100_000)


def said_with(front: EnglishFrontEnd | PiperFrontEnd, text: str, phonemes: str) -> str:
    words = lexicon(("en", "GIF", "phonemes", phonemes))
    (reading,) = read(text, words=words)
    return front(reading.text).phonemes


def test_heart_says_the_given_phonemes_among_its_own(heart: EnglishFrontEnd) -> None:
    assert said_with(heart, "Send me a GIF, please.", "ʤˈɪf") == "sˈɛnd mˌi ɐ ʤˈɪf, plˈiz."
    assert said_with(heart, "Send me a GIF, please.", "ˈdʒɪf") == "sˈɛnd mˌi ɐ ʤˈɪf, plˈiz."
    assert said_with(heart, "the GIF", "ˈaɪrən meɪ") == "ði ˈIɹən mA"
    assert said_with(heart, "GIF's", "ʃˈiʃ") == "ʃˈiʃɪz"


def test_heart_leaves_out_what_it_lacks_with_one_warning(
    heart: EnglishFrontEnd, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    assert said_with(heart, "The GIF.", "ʘˈɪf") == "ði ˈɪf."
    assert said_with(heart, "My GIF.", "ʘˈɪʘf") == "mˌI ˈɪf."
    assert len(caplog.records) == 1
    assert "ʘ" in caplog.text


def test_a_word_with_pinyin_is_a_word_for_heart(heart: EnglishFrontEnd) -> None:
    marked = f"the {PINYIN}Long\ue002long2\ue003"
    assert heart(marked).phonemes == heart("the Long").phonemes


@pytest.fixture(scope="module")
def piper(tmp_path_factory: pytest.TempPathFactory) -> PiperFrontEnd:
    return piper_voice(tmp_path_factory.mktemp("piper"), "espeak")


def piper_voice(folder: Path, kind: str) -> PiperFrontEnd:
    sounds = ["_", "^", "$", *" !,.?abcdefghijklmnopqrstuvwxyzæðŋɐəɛɑɔɪʊʌʒʃθɹɡɾᵻˈˌː"]
    content = {
        "type": kind,
        "espeak_voice": "en-us",
        "ids": {sound: [number] for number, sound in enumerate(sounds)},
        "vowel_clusters": [],
    }
    (folder / "phonemes.json").write_text(json.dumps(content))
    return PiperFrontEnd(folder, 100_000)


def test_piper_says_the_given_phonemes_among_its_own(piper: PiperFrontEnd) -> None:
    around = piper("Send me a zuzu, please.").phonemes
    assert said_with(piper, "Send me a GIF, please.", "dʒˈɪf") == around.replace("zˈuːzuː", "dʒˈɪf")
    assert said_with(piper, "Send me a GIF, please.", "ʤˈI") == around.replace("zˈuːzuː", "dʒˈaɪ")
    assert said_with(piper, "GIF, GIF and GIF.", "ɪf").split() == ["ɪf,", "ɪf", "ænd", "ɪf."]


def test_piper_says_them_beside_a_word_like_its_stand_in(piper: PiperFrontEnd) -> None:
    assert said_with(piper, "The zuzu, GIF.", "dʒˈɪf").endswith("zˈuːzuː, dʒˈɪf.")


def test_a_piper_voice_of_letters_takes_the_word(tmp_path: Path) -> None:
    assert piper_voice(tmp_path, "text")(f"a {PHONEMES}gif\ue002ʤˈɪf\ue003").phonemes == "a gif"


def test_baker_says_the_given_pinyin() -> None:
    front = BakerFrontEnd(100_000)
    words = lexicon(("zh", "重", "pinyin", "chong4"), ("zh", "朝", "pinyin", "zhao3"))

    def said(text: str) -> str:
        (reading,) = read(text, "zh", "zh", words)
        return front(reading.text).phonemes

    assert said("重") == "sil ch ong4 sil eos"
    assert said("不重，好") == "sil b u2 #1 ch ong4 #3 h ao3 sil eos"
    assert said("很朝") == "sil h en2 #1 zh ao3 sil eos"
    assert said("很，朝") == "sil h en3 #3 zh ao3 sil eos"
    assert said("两、重") == "sil l iang3 #2 ch ong4 sil eos"


def test_a_word_with_phonemes_is_a_word_for_baker() -> None:
    front = BakerFrontEnd(100_000)
    assert front(f"去{PHONEMES}重庆\ue002abc\ue003").phonemes == front("去重庆").phonemes


def test_baker_leaves_out_what_is_no_syllable_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    front = BakerFrontEnd(100_000)
    assert front(f"{PINYIN}卷\ue002juar3\ue003").phonemes == "sil j er5 sil eos"
    assert front(f"{PINYIN}卷\ue002jua3\ue003").phonemes == "sil j sil eos"
    assert len(caplog.records) == 1
    assert "va3" in caplog.text


def test_baker_has_every_syllable_of_the_table() -> None:
    for syllable in Table().syllables:
        assert _SYLLABLE.fullmatch(syllable), syllable


def test_a_word_whose_small_letter_is_two_characters_is_found() -> None:
    words = lexicon(("en", "İzmir", "is mere"), ("en", "ŉdoki", "en doki"))
    assert put_in("to İzmir and ŉdoki", words, "en", "zh").text == "to is mere and en doki"


@pytest.mark.parametrize("text", ["龘彝彝 or polish off", "vuzokababa or polish off"])
def test_what_looks_like_a_stand_in_is_not_exchanged(text: str) -> None:
    words = lexicon(
        ("en", "polish off", "finish"),
        ("en", "or", "phonemes", "ˈɔɹ"),
        ("zh", "龘彝彝", "pinyin", "da2 yi2 yi2"),
    )
    written = "".join(reading.source for reading in readings(text, None, "en", 60, 180, words))
    assert "".join(filter(str.isalpha, written)) == "".join(filter(str.isalpha, text))
