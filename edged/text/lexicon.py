"""The user's words: put into a text before it is normalized, and what the front ends get of them.

A respelling takes the place of its word. Phonemes and pinyin must outlive normalization: a stand-in of
letters that no rule knows goes through it instead of the word, and is then exchanged for the word and its
sounds (`edged.text.marks`). Pure.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from edged.config.model import Lexicon, UserWord
from edged.text.marks import MARKED, PHONEMES, PINYIN, marked
from edged.text.scripts import HAN, has_han, is_han

RULE = "lexicon"
"""Name in the trace."""
GROWN_LIMIT_CHARS = 600
"""A unit grows no longer by respellings: bounds the time of one run of a voice's front end."""

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_LATIN = "vuzoka"  # no word, easy to say: so neither spelled out nor taken for an abbreviation
_HAN = "龘"
_RARE = "彝鼋龠鬻鬯黼黻黹黾鼍鼐鼗鼯鼷鼹齑"  # all have a reading, none is part of a rule or of a usual word
STAND_IN = re.compile(
    rf"(?i:{_LATIN}((?:[bdfgklmnprstvz][aeiou]){{2,4}}))(['’][sS](?!\w))?|{_HAN}([{_RARE}]{{2}})"
)
_WHOLE_HAN = re.compile("[\U00020000-\U00029fff]")
"""Rare characters, one for a Chinese word that must not be cut. A text that has any, or a stand-in, is left
as it is."""
_WHOLE_HAN_CHARS = 12
_NEVER = re.compile("(?!)")
_APOSTROPHES = frozenset("'’")
_VOWELS = "aeiouyæɑɒɔəɛɜɝɚɪʊʌɐᵻᵊøœɨʉɯɤʏAIOWYQ"
_EARLY_STRESS = re.compile(f"([ˈˌ])([^{_VOWELS}ˈˌ ]+)(?=[{_VOWELS}])")
_SIBILANTS, _VOICELESS = "szʃʒʧʤɕʑ", "ptkfθ"


@dataclass(frozen=True, slots=True)
class Replaced:
    """One word of a unit that the lexicon has: its places in the new and in the old text."""

    start: int
    end: int
    old_start: int
    old_end: int
    written: str
    word: UserWord


@dataclass(frozen=True, slots=True)
class Spelled:
    """A unit with the user's words in it: respellings, and stand-ins for words with sounds."""

    text: str
    old: str
    replaced: tuple[Replaced, ...] = ()

    def source(self, start: int, end: int) -> str:
        """What stood in the old text where `text[start:end]` stands now, whole words of the lexicon."""
        return self.old[self._old(start, False) : self._old(end, True)]

    def rules(self, start: int, end: int) -> tuple[str, ...]:
        """RULE where a word of the lexicon is in `text[start:end]`."""
        return (RULE,) if any(r.start < end and r.end > start for r in self.replaced) else ()

    def marked(self, text: str) -> str:
        """Normalized text with marked words in the place of the stand-ins."""
        return _restored(text, [_mark(r) for r in self.replaced]) if self.replaced else text

    def _old(self, at: int, is_end: bool) -> int:
        shift = 0
        for r in self.replaced:
            if r.start < at <= r.end if is_end else r.start <= at < r.end:
                return r.old_end if is_end else r.old_start
            if r.start >= at:
                break
            shift = r.old_end - r.end
        return at + shift


def put_in(text: str, lexicon: Lexicon, main: str, other: str) -> Spelled:
    """A cleaned unit in the language `main` with its words, and those in the script of `other`, put in.

    The longest entry wins, then `main`. Linear in the text, whatever the number of entries.
    """
    if not lexicon.words or STAND_IN.search(text):  # what looks like one of ours would be exchanged
        return Spelled(text, text)
    tables = (_table(lexicon, main, ""), _table(lexicon, other, "han" if other == "zh" else "latin"))
    parts: list[str] = []
    replaced: list[Replaced] = []
    done = size = 0
    for start, end, word in _found(text, tables):
        new = (
            word.value
            if word.kind == "say"
            else _stand_in(len(replaced), word, text[start:end], text.isupper())
        )
        size += start - done
        if size + len(new) + len(text) - end > max(GROWN_LIMIT_CHARS, len(text)):
            break
        parts += (text[done:start], new)
        replaced.append(Replaced(size, size + len(new), start, end, text[start:end], word))
        size, done = size + len(new), end
    return Spelled("".join((*parts, text[done:])), text, tuple(replaced))


def whole(text: str, lexicon: Lexicon) -> tuple[str, list[str]]:
    """A cleaned text in which no phrase of the lexicon can be cut, and what `parted` needs to undo that."""
    table = _table(lexicon, "", "")
    written: list[str] = []
    if not table.lengths or _WHOLE_HAN.search(text) or STAND_IN.search(text):
        return text, written
    parts: list[str] = []
    done = 0
    for start, end, _ in _found(text, (table,)):
        phrase = text[start:end]
        is_chinese = has_han(phrase)
        if (phrase.isalnum() and not is_chinese) or (is_chinese and len(phrase) > _WHOLE_HAN_CHARS):
            continue
        stand_in = chr(0x20000 + len(written)) if is_chinese else _latin(len(written), phrase, False)
        parts += (text[done:start], stand_in)
        written.append(phrase)
        done = end
    return "".join((*parts, text[done:])), written


def parted(text: str, written: list[str]) -> str:
    """A part of what `whole` made, as it was before."""
    if not written:
        return text
    back = _WHOLE_HAN.sub(lambda found: written[ord(found.group()) - 0x20000], text)
    return _restored(back, written)


def keeping(text: str, change: Callable[[str], str]) -> str:
    """`change` of a Chinese text, its marked words going through it as stand-ins."""
    marks = [mark.group() for mark in MARKED.finditer(text)]
    if not marks:
        return change(text)
    numbers = iter(range(len(marks)))
    return _restored(change(MARKED.sub(lambda _: _han(next(numbers)), text)), marks)


class _Table:
    """Entries of one language by their characters; `lengths` of those that begin with a character."""

    def __init__(self, words: list[UserWord]) -> None:
        self.exact = {word.word: word for word in words}
        self.any_case = {word.word: word for word in words if word.word == word.word.lower()}
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for word in self.exact:
            lengths[word[0].lower()].add(len(word))
        self.lengths = {first: sorted(found, reverse=True) for first, found in lengths.items()}
        # Some small and capital letters are two characters ('İ', 'ß'): those stand for no first one.
        forms = {form for word in self.exact for form in (word[0], word[0].lower(), word[0].upper())}
        firsts = {re.escape(form) for form in forms if len(form) == 1}
        # The lookbehind only spares time: most letters are inside of a word.
        self.start = re.compile(f"(?<![A-Za-z0-9])[{''.join(firsts)}]|[{HAN}]") if firsts else _NEVER


@functools.lru_cache(maxsize=8)
def _table(lexicon: Lexicon, lang: str, script: str) -> _Table:
    """Of one language, or of all for ''; with `script` only the words that are written in it."""
    words = [word for word in lexicon.words if lang in ("", word.lang)]
    if script:
        words = [word for word in words if has_han(word.word) == (script == "han")]
    return _Table(words)


def _found(text: str, tables: tuple[_Table, ...]) -> Iterator[tuple[int, int, UserWord]]:
    at = 0
    places = [table.start.search(text) for table in tables]
    while starts := [place.start() for place in places if place]:
        at = min(starts)
        words = [] if _is_inside(text, at) else [_longest(text, at, table) for table in tables]
        best = max(filter(None, words), key=lambda word: len(word.word), default=None)
        if best is None:
            at += 1
        else:
            yield at, at + len(best.word), best
            at += len(best.word)
        # One place a table is kept, so that each is looked for once.
        places = [
            place if place is None or place.start() >= at else table.start.search(text, at)
            for place, table in zip(places, tables, strict=True)
        ]


def _longest(text: str, at: int, table: _Table) -> UserWord | None:
    for length in table.lengths.get(text[at].lower(), ()):
        written = text[at : at + length]
        word = table.exact.get(written) or table.any_case.get(written.lower())
        if word is not None and len(written) == length and not _goes_on(text, at + length):
            return word
    return None


def _is_inside(text: str, at: int) -> bool:
    """True where a word begun at `at` would be the rest of a longer one; Chinese has no such words."""
    return at > 0 and _is_wordly(text[at - 1]) and not is_han(text[at])


def _goes_on(text: str, end: int) -> bool:
    """True where a word that ends at `end` is the beginning of a longer one; "'s" makes none."""
    if end >= len(text) or is_han(text[end - 1]):
        return False
    if text[end] in _APOSTROPHES:
        following = text[end + 1 : end + 3]
        return following[:1].isalpha() and not (following[0] in "sS" and not following[1:].isalnum())
    return _is_wordly(text[end])


def _is_wordly(char: str) -> bool:
    return char.isalnum() and not is_han(char)


def _stand_in(number: int, word: UserWord, written: str, is_shouted: bool) -> str:
    return _han(number) if word.lang == "zh" else _latin(number, written, is_shouted)


def _latin(number: int, written: str, is_shouted: bool) -> str:
    """In the case of what it stands for, which rules look at."""
    letters = ""
    while number or len(letters) < 4:
        number, low = divmod(number, len(_SYLLABLES))
        letters = _SYLLABLES[low] + letters
    if is_shouted:
        return f"{_LATIN}{letters}".upper()
    return f"{_LATIN.capitalize() if written[:1].isupper() else _LATIN}{letters}"


def _han(number: int) -> str:
    high, low = divmod(number, len(_RARE))
    return f"{_HAN}{_RARE[high]}{_RARE[low]}"


def _restored(text: str, marks: Sequence[str | None]) -> str:
    def mark(found: re.Match[str]) -> str:
        if found[3]:
            digits, radix = [_RARE.index(char) for char in found[3]], len(_RARE)
        else:
            pairs = (found[1][at : at + 2].lower() for at in range(0, len(found[1]), 2))
            digits, radix = [_SYLLABLES.index(pair) for pair in pairs], len(_SYLLABLES)
        number = functools.reduce(lambda high, low: high * radix + low, digits)
        # A text that has such a word of its own keeps it.
        known = marks[number] if number < len(marks) else None
        return found.group() if known is None else _with_ending(known, found[2])

    return STAND_IN.sub(mark, text)


def _mark(replaced: Replaced) -> str | None:
    """The marked word; None for a respelling, which has no stand-in."""
    word = replaced.word
    if word.kind == "say":
        return None
    sounds = word.value if word.kind == "pinyin" else _EARLY_STRESS.sub(r"\2\1", word.value)
    return marked(PINYIN if word.kind == "pinyin" else PHONEMES, replaced.written, sounds)


def _with_ending(mark: str, ending: str | None) -> str:
    """A marked word with its "'s", which no front end could say by itself."""
    found = MARKED.fullmatch(mark) if ending else None
    if found is None or found[1] == PINYIN:
        return mark + (ending or "")
    last = found[3][-1]
    sound = "ɪz" if last in _SIBILANTS else "s" if last in _VOICELESS else "z"
    return marked(PHONEMES, f"{found[2]}{ending}", found[3] + sound)
