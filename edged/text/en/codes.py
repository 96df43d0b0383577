"""What is spelled: versions, serial numbers, identifiers, tags, numbers that are no quantities."""

from __future__ import annotations

import re

from edged.text.en.addresses import _PIECE, _address_word, pieces
from edged.text.en.letters import read_caps, spell
from edged.text.en.numbers import cardinal, digits, integer, number, year
from edged.text.en.scan import DIGIT, LETTER, SIGN, Match, Rule, after, around, before, word_before
from edged.text.en.tables import ENTITY_KINDS, INITIALISMS, LOWER_INITIALISMS, NUMBERED, UNITS


def _version(found: Match) -> str | None:
    word = "version " if found["v"] else ""
    if word and word_before(found) == "version":
        word = ""
    parts = found["n"].split(".")
    first = year(int(parts[0])) if len(parts[0]) == 4 and parts[0][:2] in ("19", "20") else integer(parts[0])
    words = word + " point ".join((first, *map(integer, parts[1:])))
    if found["pre"]:
        words += " " + pieces(found["pre"].replace("-", " ").replace("+", " ").replace(".", " "))
    return words


def _hexadecimal(found: Match) -> str:
    return "zero X " + _characters(found["n"])


def _characters(text: str) -> str:
    """Every letter and digit by its name."""
    return " ".join(digits(c) if c.isdecimal() else spell(c) for c in text if c.isalnum())


def _uuid(found: Match) -> str | None:
    text = found.group()
    groups = re.split("[-_]", text)
    if not re.search(r"\d", text) or not re.search(r"[A-Za-z]", text):
        return None
    return ", ".join(_characters(g) for g in groups)


_RUN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+|[₀-₉]+")


def _code(found: Match) -> str | None:
    """'A12', 'B-52', '12B', 'R2-D2', 'ESP32', 'CO2', 'SN-004512', 'MP3s'."""
    text = found.group().replace("−", "-").replace("–", "-")
    runs = _RUN.findall(text)
    if re.match(r"[A-Za-z]*[a-z]{3,}[-–]\d", text):
        return None if re.match(r"[a-z]", text) else f"{runs[0]} {_code_tail(runs[1:])}"
    changes = len(re.findall(r"(?<=\d)[A-Za-z]|(?<=[A-Za-z])\d", text))
    if changes >= 4 and len(text) >= 6:
        return _characters(text)
    return _code_tail(runs)


def _code_tail(runs: list[str]) -> str:
    said: list[str] = []
    for at, run in enumerate(runs):
        if _YEAR_OF.fullmatch("".join(runs[max(0, at - 1) : at + 1])):
            said.append(year(int(run)))
        elif run[0].isdecimal():
            said.append(_code_number(run, len(runs)))
        elif run == "s" and at == len(runs) - 1 and at:
            said[-1] += "'s" if said[-1][-1].isupper() else "s"
        else:
            said.append(_code_letters(run, at < len(runs) - 1 and runs[at + 1][0].isdecimal()))
    return " ".join(said)


_YEAR_OF = re.compile(r"(?:FY|CY|AY|[A-Z][a-z]{2,12})(?:19|20)\d\d")


def _code_number(run: str, runs: int) -> str:
    run = run.translate(_SUBSCRIPTS)
    if "." in run:
        return number(run)
    return digits(run) if len(run) >= 4 and runs > 1 and run[-2:] != "00" else integer(run)


_SUBSCRIPTS = {0x2080 + n: str(n) for n in range(10)}


def _code_letters(run: str, is_before_digits: bool) -> str:
    if len(run) == 1 or (run.upper() in INITIALISMS and (run.isupper() or run in LOWER_INITIALISMS)):
        return spell(run)
    if len(run) <= 3 and not run.islower() and not run.istitle() and not run.isupper():
        return spell(run)
    if run.isupper():
        return spell(run) if len(run) <= 3 else read_caps(run)
    if len(run) <= 4 and not re.search("[aeiouyAEIOUY]", run):
        return spell(run)
    return run


def _hashtag(found: Match) -> str:
    return "hashtag " + tag_words(found["t"])


def _mention(found: Match) -> str:
    return "at " + tag_words(found["t"])


def tag_words(text: str) -> str:
    """'HomeAlone_2' -> 'Home Alone two'."""
    said = []
    for part in _PIECE.findall(text.replace("_", " ")):
        if part.isdecimal():
            said.append(integer(part))
        elif part.isupper() and len(part) > 1:
            said.append(read_caps(part))
        elif part.isalnum():
            said.append(part if part in "aI" else _address_word(part, after_dot=False))
    return " ".join(said)


def _dotted_name(found: Match) -> str:
    """'ASP.NET', 'VB.NET', '.NET'."""
    return f"{read_caps(found['w'])} dot {'net' if found['t'] == 'NET' else spell(found['t'])}"


def _identifier(found: Match) -> str | None:
    """'living_room', 'sensor.kitchen_temp_2': the words of it."""
    text = found.group()
    if "_" not in text and text.partition(".")[0] not in ENTITY_KINDS:
        return None
    return " dot ".join(tag_words(part) for part in text.split("."))


_CUE_END = r"s?(?: (?:number|no\.?|is|code|id))*[ :#]*(?:number )?$"
_SECRET = re.compile(
    r"\b(?:code|pin|otp|zip|passcode|password|serial|account|imei|isbn|sn|s/n|tan|badge|ticket|tracking|confirmation|reference"
    rf"|ref|id){_CUE_END}",
    re.IGNORECASE,
)
_FILED = re.compile(
    r"\b(?:invoice|booking|reservation|order|case|part|item|lot|batch|model|policy|claim"
    rf"|license|permit|member|customer|sku){_CUE_END}",
    re.IGNORECASE,
)
"""Words for what has a number, but may be counted, too."""


def _secret(found: Match) -> str | None:
    """'code 4711', 'ticket 12345-678': what is typed is read digit by digit; 'tickets 10-15' are a range."""
    first, _, second = found.group().partition("-")
    is_range = len(first) < 3 and second.isdecimal() and int(first) < int(second)
    return None if is_range or not _SECRET.search(before(found, 40)) else _groups(found)


def _filed(found: Match) -> str | None:
    """'order 4411-22', 'case 2024-0043': two numbers that are no range, not '2000-1000 W' or '60-40'."""
    first, second = found["a"], found["b"]
    is_round = first[-1] == second[-1] == "0"
    is_range = int(second) > int(first) and second[0] != "0"
    is_filed = _FILED.search(before(found, 40)) is not None and len(first) > 3
    if is_round or (is_range and not is_filed) or "=" in around(found) or _is_measured(found):
        return None
    return _groups(found)


def _is_measured(found: Match) -> bool:
    """A unit follows; 'in' is rather the word."""
    unit = re.match(r" ?([A-Za-zµ°%Ω]{1,6})", after(found))
    return unit is not None and unit[1] in UNITS and unit[1] != "in"


def _spaced_thousands(found: Match) -> str:
    return cardinal(int(re.sub(r"\D", "", found.group())))


def _groups(found: Match) -> str:
    """'1234 5678 9012 3456', '12-34-56': groups digit by digit."""
    return ", ".join(digits(g) for g in re.findall(r"\d+", found.group()))


def _numbered(found: Match) -> str | None:
    """'12B', '5A' behind 'room' and the like; '221B' anywhere."""
    if len(found["l"]) > 1 or (word_before(found) not in NUMBERED and found["l"].islower()):
        return None
    if found["l"] in "KMVWAFCkmg" and word_before(found) not in NUMBERED:
        return None
    return f"{integer(found['n'])} {spell(found['l'])}"


RULES = (
    Rule("phone", (DIGIT,), r"911(?![\w:/%°-]|[.,]\d| ?[%°])", lambda found: digits("911")),
    Rule("code", (DIGIT,), r"\d{4}(?:[ -]\d{4}){2,5}(?![\w-])", _groups),
    Rule("code", (DIGIT,), r"\d{1,7}(?:-\d{1,7}){2,6}(?![\w-])", _groups),
    Rule(
        "number",
        (DIGIT,),
        r"[1-9]\d{0,2}(?:(?:_\d{3}){1,5}|(?:\.\d{3}){2,5})(?!\w|[.,]\d)",
        _spaced_thousands,
    ),
    Rule(
        "version",
        (LETTER,),
        r"(?P<v>[vV])\.? ?(?P<n>\d{1,6}(?:\.\d{1,6}){0,4})(?P<pre>[-+][A-Za-z][\w.]{0,20}(?<!\.)|"
        r"(?:rc|a|b|beta|alpha)\d{0,3})?(?!\w)",
        _version,
    ),
    Rule(
        "version",
        (DIGIT,),
        r"(?P<v>)(?P<n>\d{1,8}(?:\.\d{1,8}){2,5})(?P<pre>[-+][A-Za-z][\w.]{0,20}(?<!\.)|(?:rc|a|b|beta|alpha|post|dev)\d{0,3})?(?![\w]|\.\d)",
        _version,
    ),
    Rule(
        "code", (DIGIT,), r"(?:\d{1,20}(?:-\d{1,20}){1,6}(?![\w-])|\d{3,20}(?!\w))(?![:/%°]|[.,]\d)", _secret
    ),
    Rule("code", (DIGIT,), r"(?P<a>\d{4,12})-(?P<b>\d{2,12})(?![\w:/%°-]|[.,]\d)", _filed),
    Rule(
        "number",
        (DIGIT,),
        r"[1-9]\d{0,2}(?:(?: \d{3}){2,4}|(?:'\d{3}){1,4}| 000)(?![\d]|[.,]\d| \d)",
        _spaced_thousands,
    ),
    Rule("code", (DIGIT,), r"0[xX](?P<n>[0-9A-Fa-f]{1,16})(?!\w)", _hexadecimal),
    Rule("code", (DIGIT, LETTER), r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?!\w)", _uuid),
    Rule("name", (LETTER,), r"(?P<w>[A-Z]{2,6})\.(?P<t>NET|JS|IO)(?!\w)", _dotted_name),
    Rule("tag", (SIGN,), r"#(?P<t>[A-Za-z]\w{0,60})(?![-\w])", _hashtag),
    Rule("tag", (SIGN,), r"(?<!\w)@(?P<t>[A-Za-z][\w]{0,60})", _mention),
    Rule(
        "identifier",
        (LETTER,),
        r"[A-Za-z][A-Za-z0-9]{0,40}(?:[_.][A-Za-z0-9]{1,40}){1,10}(?![\w])",
        _identifier,
    ),
    Rule(
        "code",
        (LETTER,),
        r"[A-Za-z]{1,12}(?:[-–][A-Za-z]{1,4}(?=[-–]?\d)){0,2}[-–]?(?:\d{1,12}|[₀-₉]{1,3})(?:\.\d{1,2}(?![\d.]))?(?:[-–]?[A-Za-z]{1,4}[-–]?\d{1,12}|-\d{1,12}){0,6}(?:[-–]?[A-Z]{1,3}|[a-z]{1,2})?(?![^\W_])",
        _code,
    ),
)


LATE_RULES = (
    Rule("code", (DIGIT,), r"(?P<n>\d{1,5})(?P<l>[A-Za-z])(?![\w])", _numbered),
    Rule("code", (DIGIT,), r"\d{1,12}[A-Za-z]{1,6}(?:[-–]?\d{1,12}[A-Za-z]{0,6}){0,6}(?![\w])", _code),
    Rule("code", (DIGIT,), r"\d{1,12}(?:-[A-Z]{1,4}\d{0,12}){1,4}(?![\w-])", _code),
)
