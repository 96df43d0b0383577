"""Times of day, ranges of them, durations."""

from __future__ import annotations

import re

from edged.text.en.numbers import cardinal, digits, plural, two_digits
from edged.text.en.scan import DIGIT, LETTER, SIGN, Match, Rule, after, before

_HALF = r"(?P<half>[AaPp])(?:\.[Mm]\.?|[Mm]\b)"


_TIME = r"(?P<h>\d{1,2}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d)(?:[.,]\d{1,6})?)?(?![\d:])"


_ZONE = r"(?P<zone> ?(?:Z|[+-]\d\d:?\d\d)(?![\w:]))?"


def _full_stop(found: Match) -> str:
    """The dot of 'p.m.' at the end of a sentence is its full stop, too."""
    return "." if found.group().endswith(".") and not after(found).strip(" \"'”’)") else ""


def _duration(found: Match) -> str:
    """'1h 30m', '2 h 5 min 10 s', '5m 30s'."""
    names = ("hour", "minute", "second")
    parts = [(found[k], name) for k, name in zip("hms", names, strict=True) if found[k]]
    return " ".join(f"{cardinal(int(n))} {name if int(n) == 1 else plural(name)}" for n, name in parts)


def _half(letter: str) -> str:
    return f"{letter.upper()}.M"


def clock(hour: int, minute: int, half: str = "") -> str:
    """A time of day: 'eight o'clock', 'nine oh five', 'seventeen thirty', 'five P.M' for 17:00."""
    if half:
        minutes = f" {two_digits(f'{minute:02}')}" if minute else ""
        hour = hour - 12 if hour > 12 else hour or 12
        return f"{cardinal(hour)}{minutes} {_half(half)}"
    if minute:
        # 'zero thirty' is no time of day in English.
        return clock(12, minute, "a") if hour in (0, 24) else f"{cardinal(hour)} {two_digits(f'{minute:02}')}"
    if hour in (0, 24):
        return "midnight"
    return f"{cardinal(hour)} o'clock" if hour <= 12 else clock(hour - 12, 0, "p")


def _with_seconds(words: str, seconds: str | None) -> str:
    if not seconds or seconds == "00":
        return words
    return f"{words} and {cardinal(int(seconds))} second{'s' if int(seconds) != 1 else ''}"


_RATIO_BEFORE = re.compile(
    r"\b(?:ratio|scale|odds|aspect|proportions?|dilut(?:ed?|ion))(?: (?:ratio|of|is|to|by|was))*:? ?$",
    re.IGNORECASE,
)
_RATIO_AFTER = re.compile(
    r"[ -]?(?:scale|odds|aspect|mixture|dilution|proportion|(?:gear |mix )?ratio)\b", re.IGNORECASE
)


def _is_ratio(found: Match) -> bool:
    """'1:10 scale', 'a ratio of 1:20'."""
    return _RATIO_AFTER.match(after(found)) is not None or _RATIO_BEFORE.search(before(found, 32)) is not None


def _time(found: Match) -> str | None:
    if not found["half"] and not found["s"] and _is_ratio(found):
        return None
    hour, minute, half = int(found["h"]), int(found["m"]), found["half"] or ""
    if found["h"] == "0" and not half and minute:
        return f"zero {two_digits(found['m'])}"  # a countdown
    if hour > 24 or (hour == 24 and minute):
        return None
    words = clock(hour, minute, half)
    if not half and found["s"] and found["s"] != "00" and not minute and hour > 0:
        words = f"{cardinal(hour)} o'clock" if hour <= 12 else f"{cardinal(hour)} hundred"
    words = _with_seconds(words, found["s"])
    zone = (found["zone"] or "").strip()
    if zone == "Z":
        return f"{words} U.T.C"
    if zone:
        sign, hours = zone[0], int(zone[1:3])
        shift = f"{'plus' if sign == '+' else 'minus'} {cardinal(hours)}"
        return f"{words} U.T.C {shift}" if hours else f"{words} U.T.C"
    return words + _full_stop(found)


def _time_range(found: Match) -> str | None:
    """'8:00-17:30', '9-11:30 am', '9am-5pm'."""
    parts = []
    is_halved = _is_halved(found)
    for n in "12":
        hour, minute, half = int(found[f"h{n}"]), int(found[f"m{n}"] or 0), found[f"half{n}"] or ""
        if hour > 24:
            return None
        if is_halved and hour % 12:
            half = "a" if hour < 12 else "p"
        has_no_clock = not found[f"m{n}"] and not half
        is_noon = is_halved and hour == 12 and not minute
        parts.append("noon" if is_noon else cardinal(hour) if has_no_clock else clock(hour, minute, half[:1]))
    if not found["m1"] and not found["half1"] and not (found["m2"] or found["half2"]):
        return None
    return " to ".join(parts) + _full_stop(found)


def _is_halved(found: Match) -> bool:
    """'22:00-06:00': where one end of 24 hours is read with p.m., the morning at the other has its a.m."""
    if found["half1"] or found["half2"] or not found["m1"] or not found["m2"]:
        return False
    ends = ((int(found["h1"]), found["m1"]), (int(found["h2"]), found["m2"]))
    return any(12 < h < 24 and m == "00" for h, m in ends) and any(h <= 12 for h, _ in ends)


def _from_noon(found: Match) -> str:
    return f"{found['name']} to"


def _until_noon(found: Match) -> str | None:
    """'10am-noon', '9:30 – noon'; spaced out only behind what is surely a time."""
    ends_time = _ENDS_TIME if found["gap"] else _ENDS_HOUR
    return " to " if ends_time.search(before(found).rstrip(" ")) else None


_ENDS_TIME = re.compile(r"\d:?\d\d$|\d ?[AaPp]\.?[Mm]\.?$")
_ENDS_HOUR = re.compile(r"\d$|\d ?[AaPp]\.?[Mm]\.?$")
_NOON = "(?i:noon|midnight|sunrise|sunset|dawn|dusk)"


def _zone(found: Match) -> str:
    sign = "plus" if found["sign"] == "+" else "minus"
    minutes = f" {cardinal(int(found['m']))}" if int(found["m"] or 0) else ""
    return f"{'.'.join(found['z'])} {sign} {cardinal(int(found['h']))}{minutes}"


def _hour(found: Match) -> str | None:
    hour = int(found["h"])
    if not 0 < hour <= 12:
        return None
    minute = int(found["m"] or 0)
    return clock(hour, minute, found["half"]) + _full_stop(found)


def _military(found: Match) -> str:
    text = found["t"]
    hour = f"zero {digits(text[1])}" if text[0] == "0" else cardinal(int(text[:2]))
    rest = " hundred" if text[2:] == "00" else " " + two_digits(text[2:])
    return f"{hour}{rest} hours"


RULES = (
    Rule(
        "duration",
        (DIGIT,),
        r"(?P<h>\d{1,4}) ?h(?:rs?|ours?)?,? ?(?P<m>\d{1,2}) ?m(?:ins?|inutes?)?(?:,? ?"
        r"(?P<s>\d{1,2}) ?s(?:ecs?|econds?)?)?(?!\w)",
        _duration,
    ),
    Rule(
        "duration",
        (DIGIT,),
        r"(?P<h>)(?P<m>\d{1,3}) ?m(?:ins?)? ?(?P<s>\d{1,2}) ?s(?:ecs?)?(?!\w)",
        _duration,
    ),
    Rule(
        "time range",
        (DIGIT,),
        r"(?P<h1>\d{1,2})(?::(?P<m1>[0-5]\d))?(?: ?(?P<half1>[AaPp])\.?[Mm]\b\.?)?(?: ?[-–—] ?| to )"
        r"(?P<h2>\d{1,2})(?::(?P<m2>[0-5]\d))?"
        r"(?: ?(?P<half2>[AaPp])\.?[Mm]\b\.?(?!\w))?(?![\d:/-]|[.,]\d| ?[ap]\.?m)",
        _time_range,
    ),
    Rule(
        "time",
        (DIGIT,),
        rf"{_TIME}(?: ?{_HALF}(?![\w])| ?(?:h|hrs|Uhr|o'clock|o’clock)(?!\w))?{_ZONE}",
        _time,
    ),
    Rule(
        "time range",
        (LETTER,),
        rf"(?P<name>{_NOON}) ?[-–—] ?"
        rf"(?=\d{{1,2}}(?::[0-5]\d| ?[AaPp]\.?[Mm]\b)|(?<! )\d{{1,2}}(?![\w:])|{_NOON}\b)",
        _from_noon,
    ),
    Rule("time range", (SIGN,), rf"[-–—](?P<gap> ?)(?={_NOON}\b)", _until_noon),
    Rule("time", (DIGIT,), rf"(?P<h>\d{{1,2}})(?:[.:h](?P<m>[0-5]\d))? ?{_HALF}(?!\w)", _hour),
    Rule(
        "time",
        (DIGIT,),
        r"(?P<h>[01]?\d|2[0-3])h(?P<m>[0-5]\d)(?!\w)",
        lambda f: clock(int(f["h"]), int(f["m"])),
    ),
    Rule("time", (DIGIT,), r"(?P<t>[0-2]\d[0-5]\d) ?(?:hours|hrs|hr|h)\b(?!-)", _military),
    Rule(
        "time zone", (LETTER,), r"(?P<z>UTC|GMT)(?P<sign>[+\-−])(?P<h>\d{1,2})(?::?(?P<m>\d\d))?(?!\w)", _zone
    ),
)
