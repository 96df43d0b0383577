"""Cleaned text -> sentences of bounded length, lazily, the first one short.

The first unit is cut at a clause when its sentence is long, so that sound starts as soon for a long
text as for a short one. Every scan is linear in the text, and only as far as the next unit needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from edged.text.clean import LINE_BREAK, PAUSE_LIMIT_MS, marked_pause_ms, pause_marker
from edged.types import Sentence

HARD_LIMIT_CHARS = 200
"""No unit is longer: bounds the memory and the time of one run of a voice's front end."""
FIRST_UNIT_MIN_CHARS = 15
"""A shorter first unit would end before the second one can be ready on a slow board."""
_REST_MIN_CHARS = 15  # a cut leaves no scrap of a sentence behind
_WRAPPED_LINE_CHARS = 60  # a line this long that goes on in lower case was broken by a text editor

_MARKERS = f"{pause_marker(0)}-{pause_marker(PAUSE_LIMIT_MS)}"
_STOP = re.compile(f"{LINE_BREAK}|[{_MARKERS}][{_MARKERS}{LINE_BREAK} ]*")
_CLOSERS = "\"'”’)\\]»"
_END = re.compile(
    rf"(?<![.!?…])[.!?…]+[{_CLOSERS}]*(?= |$)"  # the lookbehind keeps runs like '!!!!' linear
    "|[。！？]+[」』”’）】]*"
)
_NEXT_WORD = re.compile(r"[ \"'“‘(\[«¿¡]{0,8}(\w{1,12})")

_CLAUSE = re.compile(
    rf"[,;:—–][{_CLOSERS}]*(?= )|[，；：、—]| [-–](?= )"
    rf"|(?<=\w\w\w)[.!?…]+[{_CLOSERS}]*(?= [a-zà-ÿ])"  # 'door open. all is well'
)
_CONJUNCTION = re.compile(
    " (?=(?:and|but|or|because|so|when|while|which|who|where|if|then|until|unless|although|though"
    "|before|after|since) )"
)
_PREPOSITION = re.compile(" (?=(?:that|with|without|from|for|to|in|on|at|by|as|into|through|towards?) )")
_SPACE = re.compile(" ")

_TITLES = re.compile(
    "Mrs?|Ms|Dr|Prof|St|Mt|Ft|Gen|Gov|Sen|Rep|Capt|Lt|Col|Sgt|Cmdr|Rev|Hon|Pres|Supt|Cpl|Maj|Adm|Fr|Msgr"
)
_ABBREVIATIONS = re.compile(r"vs|approx|cf|viz|fig|vol|(?:[a-z]\.)+[a-z]", re.IGNORECASE)
_BEFORE_NUMBER = re.compile("nos?|nr|art|sec|ch|pp?", re.IGNORECASE)
_AFTER_HOUR = re.compile(
    "(?:mon|tues|wednes|thurs|fri|satur|sun|to)day|january|february|march|april|may|june|july|august"
    "|september|october|november|december|tomorrow|tonight",
    re.IGNORECASE,
)


def units(text: str, first_unit_chars: int, pause_ms: int) -> Iterator[Sentence]:
    """Split the result of `edged.text.clean.clean` into units to be synthesized one after another.

    Yields only what has a letter or a digit in it, each at most HARD_LIMIT_CHARS long, in order and
    with every word of the text. `pause_ms` follows a sentence, 0 a unit that was cut inside one, and
    a marked pause its own time. A first sentence longer than `first_unit_chars` gives a first unit of
    at most that length, where it can be cut between words. Equal arguments give equal units.
    """
    index = 0
    for sentence, after_ms in _sentences_with_pauses(text, pause_ms):
        limit = min(first_unit_chars, HARD_LIMIT_CHARS) if index == 0 else HARD_LIMIT_CHARS
        for part, is_last in _bounded(sentence, limit):
            if any(map(str.isalnum, part)):
                yield Sentence(index, part, after_ms if is_last else 0)
                index += 1


def _sentences_with_pauses(text: str, pause_ms: int) -> Iterator[tuple[str, int]]:
    for line, marked_ms in _lines(text):
        for sentence, is_last in _sentences(line):
            if not (is_last and marked_ms):
                yield sentence, pause_ms
            elif sentence[-1].isalnum():
                yield sentence + ",", marked_ms  # the sentence goes on after the break
            else:
                yield sentence, max(pause_ms, marked_ms)


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Stretches of text between line ends and pause markers, with the marked ms after each (0: none)."""
    start = 0
    line_start = 0
    for stop in _STOP.finditer(text):
        is_line_end = stop.group() == LINE_BREAK
        if is_line_end and _is_wrapped(text, line_start, stop.start()):
            line_start = stop.end()
            continue
        marked_ms = marked_pause_ms(stop.group()) if stop.end() < len(text) else 0
        yield text[start : stop.start()].replace(LINE_BREAK, " ").strip(), marked_ms
        start = line_start = stop.end()
    yield text[start:].replace(LINE_BREAK, " ").strip(), 0


def _is_wrapped(text: str, line_start: int, line_end: int) -> bool:
    """True where a line ends because it was full, not because something ended."""
    return (
        line_end - line_start >= _WRAPPED_LINE_CHARS
        and text[line_end - 1] not in ".!?…:;"
        and text[line_end + 1 : line_end + 2].islower()
    )


def _sentences(line: str) -> Iterator[tuple[str, bool]]:
    """Sentences of one line, and whether each is its last one."""
    start = 0
    for end in _END.finditer(line):
        if _ends_sentence(line, start, end):
            yield line[start : end.end()].strip(), end.end() == len(line)
            start = end.end()
    if start < len(line):
        yield line[start:].strip(), True


def _ends_sentence(line: str, start: int, end: re.Match[str]) -> bool:
    """False before a small letter, and for a dot that belongs to its word."""
    following = _NEXT_WORD.match(line, end.end())
    if following is None or end.group()[0] in "。！？":
        return True
    next_word = following.group(1)
    if next_word[0].islower():
        return False
    if end.group() != ".":
        return True
    word = line[line.rfind(" ", start, end.start()) + 1 : end.start()].lstrip("\"'“‘([«")
    if word.isdigit() and len(word) <= 3 and line[start : end.start()].strip() == word:
        return False  # '2. Open the door' is one item
    return not _owns_dot(word, next_word)


def _owns_dot(word: str, next_word: str) -> bool:
    """True for an abbreviation or an initial, after which the sentence goes on."""
    if word.lower() in ("a.m", "p.m"):
        return _AFTER_HOUR.fullmatch(next_word) is not None
    if _BEFORE_NUMBER.fullmatch(word):
        return next_word[0].isdigit()
    is_initial = len(word) == 1 and word.isupper() and word != "I"
    return bool(is_initial or _TITLES.fullmatch(word) or _ABBREVIATIONS.fullmatch(word))


def _bounded(sentence: str, limit: int) -> Iterator[tuple[str, bool]]:
    """Parts of a sentence, the first at most `limit` long, and whether each is its last one."""
    start = 0
    while len(sentence) - start > limit:
        cut = _boundary(sentence, start, limit)
        if cut is None and limit < HARD_LIMIT_CHARS:
            limit = HARD_LIMIT_CHARS
            continue
        cut = cut or start + limit
        yield sentence[start:cut].strip(), False
        start = cut
        limit = HARD_LIMIT_CHARS
    yield sentence[start:].strip(), True


def _boundary(sentence: str, start: int, limit: int) -> int | None:
    """Where to end a part that starts at `start`: after a clause, else before a conjunction or a
    preposition, else at a space; None where there is none of these."""
    is_first = limit < HARD_LIMIT_CHARS
    earliest = start + (FIRST_UNIT_MIN_CHARS if is_first else limit // 2)
    latest = min(start + limit, len(sentence) - _REST_MIN_CHARS)
    for pattern in (_CLAUSE, _CONJUNCTION, _PREPOSITION, _SPACE):
        begin = start + 1 if pattern is _SPACE else earliest
        ends = [m.end() for m in pattern.finditer(sentence, begin, latest + 1) if m.end() <= latest]
        if ends:
            as_early_as_possible = is_first and pattern in (_CLAUSE, _CONJUNCTION)
            return ends[0] if as_early_as_possible else ends[-1]
    return None
