"""Cleaned text -> sentences of bounded length, lazily, the first one short.

The first unit is cut at a clause when its sentence is long, so that sound starts as soon for a long
text as for a short one. Every scan is linear in the text, and only as far as the next unit needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from edged.text.clean import LINE_BREAK, PAUSE_LIMIT_MS, marked_pause_ms, pause_marker
from edged.types import Sentence

HARD_LIMIT_CHARS = 200
"""No unit is longer: bounds the memory and the time of one run of a voice's front end."""
CUT_LATER_CHARS = 300
FIRST_UNIT_MIN_CHARS = 15
"""A shorter first unit would end before the second one can be ready on a slow board."""
_REST_MIN_CHARS = 15  # a cut leaves no scrap of a sentence behind
_DIGIT_WEIGHT = 3  # a digit is spoken as a word
_LONG_RUN_CHARS = 40  # of digits: where it must be cut, both parts stay too long to be a quantity
_WRAPPED_LINE_CHARS = 60  # a line this long that goes on in lower case was broken by a text editor

_MARKERS = f"{pause_marker(0)}-{pause_marker(PAUSE_LIMIT_MS)}"
_STOP = re.compile(f"{LINE_BREAK}|[{_MARKERS}][{_MARKERS}{LINE_BREAK} ]*")
_CLOSERS = "\"'”’)\\]»"
_END = re.compile(
    rf"(?<![.!?…])[.!?…]+[{_CLOSERS}]*(?= |$)"  # the lookbehind keeps runs like '!!!!' linear
    "|[。！？]+[」』”’）】]*"
)
_NEXT_WORD = re.compile(r"[ \"'“‘(\[«¿¡]{0,8}(?:[$€£¥￥₹₩#№~≈±<>≤≥+−-]{1,2}(?=\d))?(\w{1,12})")

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
    "|Insp|Messrs|Mme"
)
_ABBREVIATIONS = re.compile(
    "vs|approx|cf|viz|fig|vol|incl|excl|esp|avg|max|min|temp|dept|est|attn|ref|qty|deg|(?:[a-z]\\.)+[a-z]|ph\\.d",
    re.IGNORECASE,
)
_BEFORE_NUMBER = re.compile(
    "nos?|nr|v|art|sec|ch|pp?|figs?|vols?|para|apt|ste|rm|ext|tel|fax|ed|rev|ca|jan|feb|mar|apr|may|june?|july?"
    "|aug|sept?|oct|nov|dec|mon|tues?|wed|thur?s?|fri|sat|sun|approx|dist|bldg|hwy|rte|fl|acct|ver|deg"
    "|max|min|avg|temp|est|incl|excl|qty|rs|dept|ref|wt|vs|cf|viz|esp|e\\.g|i\\.e",
    re.IGNORECASE,
)
_BEFORE_NAME = re.compile(  # these may end a sentence, too, but then a usual beginning follows
    "(?:mon|tues?|wed|thur?s?|fri|sat|sun)|jr|sr|inc|ltd|co|corp|ave?|blvd|rd|ln|hwy|apt|bldg|univ|assn|etc"
    "|(?:in|ft|oz|lbs?|yd|mi|min|hrs?|sec|gal|pt|qt|tsp|tbsp)",
    re.IGNORECASE,
)
_NEVER_LAST = re.compile("vs|e\\.g|i\\.e|approx|cf|viz|incl|excl|esp", re.IGNORECASE)
_UNIT = re.compile("in|ft|oz|lbs?|yds?|mi|mins?|hrs?|h|secs?|gal|pt|qt|tsp|tbsp")
_MONTH = re.compile(
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?",
    re.IGNORECASE,
)
_DAY = re.compile("(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?", re.IGNORECASE)
_AFTER_HOUR = re.compile(
    "(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|tue|wed|thu|fri|sat|sun)|january|february|march|april|may"
    "|june|july|august|september|october|november|december|today|tomorrow|tonight|[ECMP][SD]?T|UTC|GMT|CES?T|BST"
    "|eastern|pacific|central|mountain",
    re.IGNORECASE,
)
_STARTS = re.compile(  # of a sentence, hardly of a name
    "The|It|This|That|These|Those|There|An?|He|She|We|They|You|I|Please|If|When|While|But|And|So|Then|Now|Your|My|Our"
    "|His|Her|Its|No|Yes|Do|Did|Is|Are|Was|Were|Will|What|Where|Who|Why|How|All|Some|Any|Each|Both|One|Next|Also"
    "|After|Before|Bring|Turn|Open|Close|Take|Keep|Don|In|On|At|For"
)
_WITH_DOT = (re.compile(r"\w"), _TITLES, _ABBREVIATIONS, _BEFORE_NUMBER, _BEFORE_NAME)
_NUMERIC = re.compile(r"[0-9½¼¾⅐-⅞²³€$£¥₹§№#±≈~=<>×÷]|^[+*/&@]$|^[-−–+][.\d]|^\(?\+?\d")
_ROMAN = re.compile(r"[IVXLCDM]{1,7}[.,;:!?]*|[Ⅰ-ⅿ]+[.,;:!?]*")
_DASHES = frozenset("-–—−")


def units(
    text: str,
    first_unit_chars: int,
    pause_ms: int,
    cut_later: Callable[[str], bool] = lambda _sentence: False,
) -> Iterator[Sentence]:
    """Split the result of `edged.text.clean.clean` into units to be synthesized one after another.

    Yields only what has a letter or a digit in it, each at most HARD_LIMIT_CHARS long, in order and
    with every word of the text. `pause_ms` follows a sentence, 0 a unit that was cut inside one, and
    a marked pause its own time. A first sentence longer than `first_unit_chars` gives a first unit of
    at most that length, where it can be cut between words. A sentence that is `cut_later` comes whole,
    but for parts of CUT_LATER_CHARS: it is normalized before it is cut, for in Chinese the reading of a
    number depends on what stands before it. Equal arguments give equal units.
    """
    index = 0
    for sentence, after_ms in _sentences_with_pauses(text, pause_ms):
        limit = min(first_unit_chars, HARD_LIMIT_CHARS) if index == 0 else HARD_LIMIT_CHARS
        for part, is_last in _pieces(sentence) if cut_later(sentence) else _bounded(sentence, limit):
            if any(map(str.isalnum, part)):
                yield Sentence(index, part, after_ms if is_last else 0, is_last)
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
    if line[end.end() : end.end() + 2] in (" &", " +", " =", " /"):
        return False
    following = _NEXT_WORD.match(line, end.end())
    if following is None or end.group()[0] in "。！？":
        return True
    next_word = following.group(1)
    if next_word[0].islower() or (end.group() == "." and next_word in ("AND", "OR", "TO")):
        return False
    if end.group() != ".":
        return True
    word_start = line.rfind(" ", start, end.start()) + 1
    word = line[word_start : end.start()].lstrip("\"'“‘([«")
    if word.isdigit() and len(word) <= 3 and line[start : end.start()].strip() == word:
        return False  # '2. Open the door' is one item
    previous = line[max(start, word_start - 24) : word_start].rstrip()
    return not _owns_dot(word, next_word, previous)


def _owns_dot(word: str, next_word: str, previous: str) -> bool:
    """True for an abbreviation or an initial, after which the sentence goes on."""
    if word.lower().lstrip("0123456789:") in ("a.m", "p.m"):
        return _AFTER_HOUR.fullmatch(next_word) is not None
    if next_word[0].isdigit():
        is_unit = previous[-1:].isdigit() and _UNIT.fullmatch(word)  # '5 ft. 4 in.'
        last_part = re.split("[-–/]", word)[-1]  # 'Mon.-Fri. 9-5'
        is_date = _DAY.fullmatch(last_part) or _MONTH.fullmatch(last_part)
        return bool(is_unit or _BEFORE_NUMBER.fullmatch(last_part if is_date else word))
    if word.isupper() and len(word) > 1:
        word = word.capitalize()  # a line of capitals
    is_start = len(next_word) > 1 and _STARTS.fullmatch(next_word) is not None
    last = previous.rpartition(" ")[2]
    if _TITLES.fullmatch(word):
        return not (is_start and last[-1:].isalpha())  # 'on Main St. The door' ends, 'at St. Mary' does not
    if len(word) == 1 and word.isupper() and word != "I":
        return not (is_start and last.islower())  # 'plan B. The door' ends, 'J. K. Rowling' does not
    is_short = _BEFORE_NAME.fullmatch(word) is not None and (len(word) > 2 or word[0].isupper())
    is_known = is_short or _ABBREVIATIONS.fullmatch(word) is not None
    return _NEVER_LAST.fullmatch(word) is not None or (is_known and not is_start)


def _bounded(sentence: str, limit: int) -> Iterator[tuple[str, bool]]:
    """Parts of a sentence, the first at most `limit` long, and whether each is its last one."""
    start = 0
    while len(sentence) - start > limit or _weight(sentence, start) > HARD_LIMIT_CHARS:
        cut = _boundary(sentence, start, limit)
        if cut is None and limit < HARD_LIMIT_CHARS:
            limit = HARD_LIMIT_CHARS
            continue
        cut = cut or _hard_cut(sentence, start)
        yield sentence[start:cut].strip(), False
        start = cut
        limit = HARD_LIMIT_CHARS
    yield sentence[start:].strip(), True


def _pieces(sentence: str) -> Iterator[tuple[str, bool]]:
    """Parts of a long Chinese sentence, each as much as is normalized at once."""
    from edged.text.zh.cut import cut  # only where there is Chinese

    start = 0
    while start < len(sentence):
        end = start + cut(sentence[start : start + 2 * CUT_LATER_CHARS], CUT_LATER_CHARS)
        yield sentence[start:end].strip(), end == len(sentence)
        start = end


def _weight(sentence: str, start: int) -> int:
    """Length of the rest as it will be spoken, roughly; of no more than a unit can hold."""
    rest = sentence[start : start + HARD_LIMIT_CHARS + 1]
    return len(rest) + (_DIGIT_WEIGHT - 1) * sum(map(str.isdigit, rest))


def _longest(sentence: str, start: int) -> int:
    """Where a part that starts at `start` has to end at the latest."""
    weight, end = 0, start
    while end < len(sentence) and weight <= HARD_LIMIT_CHARS - _DIGIT_WEIGHT:
        weight += _DIGIT_WEIGHT if sentence[end].isdigit() else 1
        end += 1
    return end


def _hard_cut(sentence: str, start: int) -> int:
    """An end inside a word or a number; what is left of a run of digits stays a long one."""
    cut = _longest(sentence, start)
    run = cut
    while run < len(sentence) and run - cut < _LONG_RUN_CHARS and sentence[run].isdigit():
        run += 1
    is_inside = run > cut and sentence[cut - 1].isdigit()
    return (
        max(cut - (_LONG_RUN_CHARS - (run - cut)), start + 1)
        if is_inside and run - cut < _LONG_RUN_CHARS
        else cut
    )


def _boundary(sentence: str, start: int, limit: int) -> int | None:
    """Where to end a part that starts at `start`: after a clause, else before a conjunction or a
    preposition, else at a space; None where there is none of these. What is read together stays so."""
    is_first = limit < HARD_LIMIT_CHARS
    end = min(start + limit, _longest(sentence, start))
    earliest = start + (FIRST_UNIT_MIN_CHARS if is_first else (end - start) // 2)
    latest = min(end, len(sentence) - _REST_MIN_CHARS)
    spaces: list[int] = []
    for pattern in (_CLAUSE, _CONJUNCTION, _PREPOSITION, _SPACE):
        begin = start + 1 if pattern is _SPACE else earliest
        found = pattern.finditer(sentence, begin, latest + 1)
        ends = [m.end() for m in found if m.end() <= latest]
        as_early_as_possible = is_first and pattern in (_CLAUSE, _CONJUNCTION)
        spaces = ends
        for cut in ends if as_early_as_possible else reversed(ends):
            if not _is_glued(sentence, start, cut):
                return cut
    # Nothing but numbers: a cut between two of them, and not in one. A first unit may be longer.
    return spaces[-1] if spaces and not is_first else None


def _is_glued(sentence: str, start: int, cut: int) -> bool:
    """True where a cut would part what is read as a whole: numbers from their units and from the words
    that say what they are, dates, phone numbers, names from titles and from Roman numerals."""
    lefts = sentence[max(start, cut - 40) : cut].split()
    rights = sentence[cut : cut + 40].split(None, 2)
    if not lefts or not rights:
        return False
    left, right = lefts[-1], rights[0]
    if left in _DASHES or right in _DASHES:
        around = (*(lefts[-2:-1] if left in _DASHES else lefts[-1:]), *rights[right in _DASHES :][:1])
        return any(map(_is_part_of_date, around))
    if left[-1] in ",;:—–，；：、":
        goes_on = _NUMERIC.search(right) or _MONTH.match(right)
        return left[-1] in ",:" and _is_part_of_date(left[:-1]) and goes_on is not None
    word = left.rstrip(".")
    is_short = left != word and any(p.fullmatch(word) for p in _WITH_DOT)
    is_name = left[0].isupper() and _ROMAN.fullmatch(right) is not None
    is_long_unit = (
        len(lefts) > 1 and min(len(left), len(right)) <= 3 and _NUMERIC.search(lefts[-2]) is not None
    )  # '5 fl oz'
    return is_short or is_name or is_long_unit or any(map(_NUMERIC.search, (left, right)))


def _is_part_of_date(word: str) -> bool:
    return any((_NUMERIC.search(word), _MONTH.fullmatch(word.rstrip(".")), _DAY.fullmatch(word)))
