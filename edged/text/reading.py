"""A text as received -> what is said, one stretch of one language after the other.

    clean -> units (`sentences`) -> stretches of one language -> the user's words -> normalized

The language of a sentence is the message's, or else that of its script; where that leaves it open (digits,
signs, single letters), that of the rest of the text, the configuration's or the voice's. Inside it, words of
another script are of theirs. A Chinese sentence is normalized as a whole and cut into units afterwards. Used
by the synth thread, and by `edged say --explain`, which shows all of it.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from edged.config.model import Lexicon, UserWord
from edged.text import en
from edged.text.clean import clean
from edged.text.lexicon import STAND_IN, Spelled, parted, put_in, whole
from edged.text.marks import MARKED, PHONEMES, PINYIN, plain
from edged.text.normalized import Normalized
from edged.text.scripts import HAN, han_as_spaces, has_han, is_han
from edged.text.sentences import units

_HAN_RUN = re.compile(f"[{HAN}][{HAN}，。！？；：、“”《》\\d ]*[{HAN}，。！？；：、”》]|[{HAN}]")
_LATIN_RUN = re.compile("[A-Za-z]+(?:[' ][A-Za-z]+)*")
_LATIN_WORD = re.compile(r"(?<!\d)(?<!\d )(?<![^\W\d_])[^\W\d_]{2,}")  # no unit of a number
_WORD = re.compile(r"(?<!\d)(?<!\d )(?<![^\W\d_])[^\W\d_]*[a-z\u00df-\u00ff]{3,}")
"""Of a language: 'App', 'OK' and 'km' stand in Chinese texts, too."""
_SPELLED = re.compile(r"(?<![A-Za-z])[a-z](?: [a-z])+(?![A-Za-z])")
_HAN_OR_NOT = re.compile(f"{MARKED.pattern}|[{HAN}]+|[^{HAN}{PHONEMES}{PINYIN}]+")
_MARKS = str.maketrans("，。！？；：、", ",.!?;:,")
_READ_SCRIPTS = ("LATIN", "MODIFIER", "MICRO", "OHM", "GREEK")
"""Beginnings of the names of characters that the English rules know."""
_GREEK = re.compile("[Ͱ-Ͽἀ-῿]{2,}|[ͰͲ-ͽΆ-ΐΪ-ΰϊ-Ͽἀ-῿]")
"""Words, and the letters that are no sign of anything: the English rules know single plain ones."""
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
    """The stretches of a text in order, lazily. `lang`: the sender's, if any; `voice_lang` decides where
    neither that nor the script does.

    Gives nothing where there is nothing to speak. Equal arguments give equal readings; never raises.
    """
    unread = _unreadable(text)
    uncut, phrases = whole(clean(text), words)
    asked, usual = base(lang) if lang else None, base(voice_lang)
    usual = _language(uncut, usual)

    def is_chinese(sentence: str) -> bool:
        return (asked or _language(sentence, usual)) == "zh"

    index = -1
    for sentence in units(uncut, first_unit_chars, pause_ms, is_chinese):
        unit = parted(sentence.text, phrases)
        main = asked or _language(unit, usual)
        latin = _latin((asked, usual, base(voice_lang)))
        spelled, found = _runs(unit, main, latin, words, is_first=index < 0)
        runs = [run for run in found if _has_sound(run[1])]
        # What nothing is left of is told with what is said next.
        unread = (*unread, *(line for _, said, _ in found if not _has_sound(said) for line in said.warnings))
        entries = tuple(dict.fromkeys(replaced.word for replaced in spelled.replaced))
        for number, (source, said, run_lang) in enumerate(runs, 1):
            index += number == 1 or main == "zh"
            is_last = number == len(runs)
            warned, unread = (*unread, *said.warnings), ()
            yield Reading(
                *(index, source, said.text, run_lang, sentence.pause_ms if is_last else 0),
                *(is_last and sentence.ends_sentence, said.rules, warned, entries),
            )
            entries = ()


def _has_sound(said: Normalized) -> bool:
    return any(map(str.isalnum, said.text))


def languages(text: str, lang: str | None, voice_lang: str) -> frozenset[str]:
    """Base languages that a text may need, by its scripts alone: more is never needed."""
    found = {base(lang) if lang else base(voice_lang)}
    if has_han(text):
        found.add("zh")
    if _LATIN_WORD.search(han_as_spaces(text)[0]):
        found.add(_latin((*found, base(voice_lang))))
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
    from edged.text.zh.g2p import Reader
    from edged.text.zh.marked import syllables
    from edged.text.zh.normalize import shared_table

    return " ".join(syllable.pinyin for syllable in syllables(Reader(shared_table()), text))


def _runs(
    text: str, main: str, latin: str, words: Lexicon, is_first: bool
) -> tuple[Spelled, list[tuple[str, Normalized, str]]]:
    """A unit with the user's words, and (as written, normalized, language) of each stretch of it."""
    spelled = put_in(text, words, main, latin if main == "zh" else "zh")
    return spelled, [
        (plain(spelled.marked(source)), replace(said, text=spelled.marked(said.text)), run_lang)
        for source, said, run_lang in _stretches(spelled, main, latin, is_first)
    ]


def _stretches(
    spelled: Spelled, main: str, latin: str, is_first: bool
) -> Iterator[tuple[str, Normalized, str]]:
    text = spelled.text
    if main == "zh":
        # As a whole: units and signs in Latin letters ('km/h', 'CO2') belong to the Chinese around them.
        said = _normalized(text, "zh")
        rules, warnings = spelled.rules(0, len(text)) + said.rules, said.warnings
        source = spelled.old
        for text, lang in _chinese(said.text, latin, is_first):
            part = _normalized(_SPELLED.sub(_joined, text), lang) if lang != "zh" else Normalized(text)
            yield source, replace(part, rules=rules + part.rules, warnings=warnings + part.warnings), lang
            source, rules, warnings = "", (), ()
        if source:
            yield source, Normalized("", rules, warnings), "zh"
        return
    place = 0
    for run in _HAN_RUN.finditer(text):
        yield from _other(spelled, place, run.start(), main)
        yield _stretch(spelled, run.start(), run.end(), "zh")
        place = run.end()
    yield from _other(spelled, place, len(text), main)


def _language(text: str, usual: str) -> str:
    """That of its script: Chinese where it begins so or has more of it, `usual` where no word says."""
    latin, han = han_as_spaces(text)
    if not han:
        return _latin((usual,)) if _WORD.search(latin) or _LATIN_WORD.search(latin) else usual
    words = len(_WORD.findall(latin))
    first = next((char for char in text if char.isalpha()), "")
    if is_han(first) or han > _HAN_OF_A_WORD * words:
        return "zh"
    return _latin((usual,))


def _latin(wanted: Iterable[str | None]) -> str:
    """The language of Latin words: English, but where message or voice are of another with that script."""
    return next((lang for lang in wanted if lang not in (None, "zh")), "en") or "en"


def _chinese(text: str, latin: str, is_first: bool) -> Iterator[tuple[str, str]]:
    """(units of normalized Chinese and its Latin words, language); what is spelled stays with the Chinese."""
    place = 0
    for run in _LATIN_RUN.finditer(text):
        if all(len(word) == 1 for word in run.group().split()):
            continue
        for part in _units(text[place : run.start()].strip(), is_first):
            yield part, "zh"
            is_first = False
        yield run.group(), latin
        place, is_first = run.end(), False
    for part in _units(text[place:].strip(), is_first):
        yield part, "zh"


def _units(text: str, is_first: bool) -> Iterator[str]:
    from edged.text.zh.cut import FIRST_UNIT_CHARS, UNIT_CHARS, cut

    while text:
        end = _outside(text, cut(text, FIRST_UNIT_CHARS if is_first else UNIT_CHARS, is_first))
        yield text[:end].strip()
        text, is_first = text[end:].strip(), False


def _outside(text: str, end: int) -> int:
    """`end`, or where it lies inside what stands for a word of the user's, that one's beginning."""
    inside = next((m for m in STAND_IN.finditer(text) if m.start() < end < m.end()), None)
    return end if inside is None else inside.start() or inside.end()


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
    """By the rules of its language; one without is left to the phonemizer of its voice, which has its own."""
    if lang == "zh":
        from edged.text.zh import normalize  # a board that speaks no Chinese need not load it

        return normalize(text)
    if lang != "en":
        return Normalized(text)
    named = _named(text)
    said = en.normalize(named)
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
    text = _GREEK.sub(lambda word: " " + "".join(map(_name, filter(str.isalpha, word.group()))), text)
    return "".join(_name(char) if _is_strange(char) else char for char in text)


def _is_strange(char: str) -> bool:
    return char.isalpha() and not is_han(char) and not _script(char).startswith(_READ_SCRIPTS)


@functools.lru_cache(maxsize=512)
def _script(char: str) -> str:
    return unicodedata.name(char, "LATIN")


def _name(char: str) -> str:
    return f"{_script(char).split(' WITH ')[0].rsplit(' ', 1)[-1].lower()} "


def _in_pinyin(text: str) -> str:
    """Chinese for a voice that knows Latin letters alone: syllables without tones, marks of pauses kept."""
    from edged.text.zh.g2p import Reader
    from edged.text.zh.marked import syllables
    from edged.text.zh.normalize import shared_table

    reader = Reader(shared_table())

    def said(part: str) -> str:
        if part[0] == PHONEMES:
            return part
        if part[0] != PINYIN and not has_han(part):
            return _SPELLED.sub(_joined, part.translate(_MARKS))
        toneless = (each.pinyin.rstrip("12345").replace("v", "u") for each in syllables(reader, part))
        return f" {' '.join(toneless)} "

    parts = (part.group() for part in _HAN_OR_NOT.finditer(text))
    return " ".join("".join(map(said, parts)).split())


def _unreadable(text: str) -> tuple[str, ...]:
    """One warning for the characters that mean nothing to anybody: private and unassigned ones."""
    if text.isascii():
        return ()
    strange = sorted({char for char in set(text) if unicodedata.category(char) in ("Co", "Cn")})
    if not strange:
        return ()
    named = ", ".join(f"U+{ord(char):04X}" for char in strange[:_WORDS_WARNED])
    return (f"no reading for {named}{' and others' if len(strange) > _WORDS_WARNED else ''}; left out",)
