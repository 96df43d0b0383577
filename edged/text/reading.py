"""A text as received -> what is said, one stretch of one language after the other.

    clean -> units (`sentences`) -> stretches of one language -> the user's words -> normalized

The language of a stretch is that of its script; where the script leaves it open (digits, signs, Latin
letters in general), the message's, the configuration's or the voice's. Used by the synth thread, and by
`edged say --explain`, which shows all of it.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from edged.config.model import Lexicon, UserWord
from edged.text import en, zh
from edged.text.clean import clean
from edged.text.lexicon import Spelled, parted, put_in, whole
from edged.text.marks import MARKED, PHONEMES, PINYIN, plain
from edged.text.normalized import Normalized
from edged.text.sentences import units
from edged.text.zh.g2p import Reader
from edged.text.zh.marked import syllables
from edged.text.zh.normalize import shared_table
from edged.text.zh.text import is_han

NORMALIZERS: dict[str, Callable[[str], Normalized]] = {"en": en.normalize, "zh": zh.normalize}
"""Languages without one are left to the phonemizer of their voice, which knows numbers of its own."""

_HAN = "〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HAN_RUN = re.compile(f"[{_HAN}][{_HAN}，。！？；：、“”《》\\d ]*[{_HAN}，。！？；：、”》]|[{_HAN}]")
_LATIN_RUN = re.compile("[A-Za-z]+(?:[' ][A-Za-z]+)*")
_LATIN_WORD = re.compile(r"[^\W\d_]{2,}")
_SPELLED = re.compile(r"(?<![A-Za-z])[a-z](?: [a-z])+(?![A-Za-z])")
_HAN_OR_NOT = re.compile(f"{MARKED.pattern}|[{_HAN}]+|[^{_HAN}{PHONEMES}{PINYIN}]+")
_MARKS = str.maketrans("，。！？；：、", ",.!?;:,")
_READ_SCRIPTS = ("LATIN", "MODIFIER", "MICRO", "OHM", "GREEK")
"""Beginnings of the names of characters that the English rules know."""
_HAN_OF_A_WORD = 2
"""Characters of a Chinese word, mostly: what a sentence that begins in Latin letters is, is counted."""
_WORDS_WARNED = 3
NO_WORDS = Lexicon()


@dataclass(frozen=True, slots=True)
class Reading:
    """One stretch of a unit, ready for the voice of its language."""

    unit: int
    """Number of the unit it belongs to, from 0."""
    source: str
    """As it stood in the cleaned text."""
    text: str
    """Normalized, for the front end; words of the user's with their sounds, see `edged.text.marks`."""
    lang: str
    """Base language: 'en', 'zh', 'de', …"""
    pause_ms: int
    """Exact zeros after it."""
    ends_sentence: bool
    """False where its unit was cut inside a sentence, or another language follows in it."""
    rules: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    entries: tuple[UserWord, ...] = ()
    """Of the user's lexicon, those that its unit was read with; at the first stretch of a unit."""


def base(language: str) -> str:
    """'en' of 'en-us' and of 'EN_US'."""
    return re.split("[-_]", language.strip().lower(), maxsplit=1)[0]


def readings(
    text: str,
    lang: str | None,
    voice_lang: str,
    first_unit_chars: int,
    pause_ms: int,
    words: Lexicon = NO_WORDS,
) -> Iterator[Reading]:
    """The stretches of a text in order, lazily. `lang`: the sender's or the configuration's, if any.

    Gives nothing where there is nothing to speak. Equal arguments give equal readings; never raises.
    """
    unread = _unreadable(text)
    uncut, phrases = whole(clean(text), words)
    for sentence in units(uncut, first_unit_chars, pause_ms):
        unit = parted(sentence.text, phrases)
        spelled, found = _runs(unit, base(lang) if lang else None, base(voice_lang), words)
        runs = [run for run in found if any(map(str.isalnum, run[1].text))]
        entries = tuple(dict.fromkeys(replaced.word for replaced in spelled.replaced))
        for number, (source, said, run_lang) in enumerate(runs, 1):
            pause = sentence.pause_ms if number == len(runs) else 0
            warned, unread = (*unread, *said.warnings), ()
            ends = number == len(runs) and sentence.ends_sentence
            yield Reading(
                *(sentence.index, source, said.text, run_lang, pause, ends, said.rules, warned, entries)
            )
            entries = ()


def languages(text: str, lang: str | None, voice_lang: str) -> frozenset[str]:
    """Base languages that a text may need, by its scripts alone: more is never needed."""
    found = {base(lang) if lang else base(voice_lang)}
    if any(map(is_han, text)):
        found.add("zh")
    if _LATIN_WORD.search(text):
        found.add(_latin(found, base(voice_lang)))
    return frozenset(found)


def adapted(text: str, lang: str, voice_lang: str) -> str:
    """Text of one language for a voice of another: Chinese in pinyin, other scripts by their letters' names.

    A Chinese voice spells Latin letters by itself.
    """
    if base(voice_lang) == lang or base(voice_lang) == "zh":
        return text
    if lang == "zh":
        return _in_pinyin(text)
    return text


def surface_pinyin(text: str) -> str:
    """Normalized Chinese as syllables with the tones that are said: 'yi2 gong4 yi2 ge4'."""
    return " ".join(syllable.pinyin for syllable in syllables(Reader(shared_table()), text))


def _runs(
    text: str, lang: str | None, voice_lang: str, words: Lexicon
) -> tuple[Spelled, list[tuple[str, Normalized, str]]]:
    """A unit with the user's words, and (as written, normalized, language) of each stretch of it."""
    main = _main_language(text, lang, voice_lang)
    latin = _latin({lang} if lang else set(), voice_lang)
    spelled = put_in(text, words, main, latin if main == "zh" else "zh")
    return spelled, [
        (plain(spelled.marked(source)), replace(said, text=spelled.marked(said.text)), run_lang)
        for source, said, run_lang in _stretches(spelled, main, latin)
    ]


def _stretches(spelled: Spelled, main: str, latin: str) -> Iterator[tuple[str, Normalized, str]]:
    text = spelled.text
    if main == "zh":
        # As a whole: units and signs in Latin letters ('km/h', 'CO2') belong to the Chinese around them.
        said = zh.normalize(text)
        rules = spelled.rules(0, len(text)) + said.rules
        yield from _chinese(spelled.old, replace(said, rules=rules), latin)
        return
    place = 0
    for run in _HAN_RUN.finditer(text):
        yield from _other(spelled, place, run.start(), main)
        yield _stretch(spelled, run.start(), run.end(), "zh")
        place = run.end()
    yield from _other(spelled, place, len(text), main)


def _main_language(text: str, lang: str | None, voice_lang: str) -> str:
    if lang is not None:
        return lang
    han = sum(map(is_han, text))
    words = len(_LATIN_WORD.findall("".join(" " if is_han(char) else char for char in text)))
    first = next((char for char in text if char.isalpha()), "")
    if han and (is_han(first) or han > _HAN_OF_A_WORD * words):
        return "zh"
    return _latin(set(), voice_lang) if words else voice_lang


def _latin(asked: set[str], voice_lang: str) -> str:
    """The language of Latin words: English, but where message or voice are of another with that script."""
    return next((lang for lang in (*asked, voice_lang) if lang != "zh"), "en")


def _chinese(source: str, said: Normalized, latin: str) -> Iterator[tuple[str, Normalized, str]]:
    """Normalized Chinese, its Latin words apart; single letters and what is spelled stay with it."""
    place = 0
    rules, warnings = said.rules, said.warnings
    for run in _LATIN_RUN.finditer(said.text):
        if all(len(word) == 1 for word in run.group().split()):
            continue
        if before := said.text[place : run.start()].strip():
            yield before, Normalized(before, rules, warnings), "zh"
            rules, warnings = (), ()
        yield run.group(), _normalized(_SPELLED.sub(_joined, run.group()), latin), latin
        place = run.end()
    rest = said.text[place:].strip() if place else said.text
    if rest or not place:
        yield rest if place else source, Normalized(rest, rules, warnings), "zh"


def _joined(run: re.Match[str]) -> str:
    """'u s b' as it was written."""
    return run.group().replace(" ", "").upper()


def _other(spelled: Spelled, start: int, end: int, lang: str) -> Iterator[tuple[str, Normalized, str]]:
    if any(map(str.isalnum, spelled.text[start:end])):
        yield _stretch(spelled, start, end, lang)


def _stretch(spelled: Spelled, start: int, end: int, lang: str) -> tuple[str, Normalized, str]:
    said = _normalized(spelled.text[start:end].strip(), lang)
    rules = spelled.rules(start, end) + said.rules
    return spelled.source(start, end).strip(), replace(said, rules=rules), lang


def _normalized(text: str, lang: str) -> Normalized:
    normalize = NORMALIZERS.get(lang)
    if normalize is None:
        return Normalized(text)
    named = _named(text) if lang == "en" else text
    said = normalize(named)
    if named == text:
        return said
    strange = " ".join(word for word in text.split() if _named(word) != word)[:40]
    return Normalized(
        said.text, (*said.rules, "letter names"), (*said.warnings, f"{strange}: read by the letters' names")
    )


def _named(text: str) -> str:
    """Letters of scripts that no voice here reads, by their names in Unicode: 'かさ' becomes 'ka sa'."""
    if text.isascii():
        return text
    return "".join(_name(char) if _is_strange(char) else char for char in text)


def _is_strange(char: str) -> bool:
    return (
        char.isalpha()
        and not is_han(char)
        and not _script(char).startswith(("LATIN", "MODIFIER", "MICRO", "OHM", "GREEK"))
    )


@functools.lru_cache(maxsize=512)
def _script(char: str) -> str:
    return unicodedata.name(char, "LATIN")


def _name(char: str) -> str:
    return f"{_script(char).split(' WITH ')[0].rsplit(' ', 1)[-1].lower()} "


def _in_pinyin(text: str) -> str:
    """Chinese for a voice that knows Latin letters alone: syllables without tones, marks of pauses kept."""
    reader = Reader(shared_table())

    def said(part: str) -> str:
        if part[0] == PHONEMES:
            return part
        if part[0] != PINYIN and not any(map(is_han, part)):
            return _SPELLED.sub(_joined, part.translate(_MARKS))
        toneless = (each.pinyin.rstrip("12345").replace("v", "u") for each in syllables(reader, part))
        return f" {' '.join(toneless)} "

    parts = (part.group() for part in _HAN_OR_NOT.finditer(text))
    return " ".join("".join(map(said, parts)).split())


def _unreadable(text: str) -> tuple[str, ...]:
    """One warning for the characters that mean nothing to anybody: private and unassigned ones."""
    strange = sorted(
        {char for char in text if not char.isascii() and unicodedata.category(char) in ("Co", "Cn")}
    )
    if not strange:
        return ()
    named = ", ".join(f"U+{ord(char):04X}" for char in strange[:_WORDS_WARNED])
    return (f"no reading for {named}{' and others' if len(strange) > _WORDS_WARNED else ''}; left out",)
