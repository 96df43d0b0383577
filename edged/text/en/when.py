"""Dates, days, months, decades and years."""

from __future__ import annotations

import re

from edged.text.en.numbers import cardinal, ordinal, plural, two_digits, year
from edged.text.en.scan import DIGIT, LETTER, SIGN, Match, Rule, after, around, before, word_before
from edged.text.en.tables import DAYS, MONTH_NAMES, MONTHS, NUMBERED, UNITS, words

_MONTH = (
    r"(?P<month>(?i:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)(?![a-z]))"
)


_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?![\d:]|[.,]\d)"


_YEAR = r"(?P<year>[12]\d{3})(?![\d:]|[.,]\d|-\d)"


_DAY_NAME = (
    r"(?:Mon(?:day)?|Tue(?:s(?:day)?)?|Weds?(?:nesday)?|Wednesday|Thu(?:rs?(?:day)?)?|Fri"
    r"(?:day)?|Sat(?:urday)?|Sun(?:day)?)"
)


_DAY_RANGE = rf"(?P<a>(?i:{_DAY_NAME}))\.?{{}}(?P<b>(?i:{_DAY_NAME}))(?![a-z])\.?(?= ?[^.\s]|$|\s)"


_QUANTITY_BEFORE = words(
    """
    over under about than least most exactly nearly almost times around plus minus
    """
)


_VALUE_BEFORE = words(
    """
    reads read level value total counter meter count is was at equals shows pressure
    """
)


_YEAR_BEFORE = words(
    """
    in since by from until till before after year around circa spring summer autumn fall winter of
    and to during early late mid copyright between ca
    """
)


_PLURAL_NEXT = re.compile(
    r"-?\s?(?!was|is|has|its|as|this|us|his|does|plus|yes|always|sometimes|perhaps)[a-z]{3,}s\b|[ -]"
    r"(?:feet|people|men|women|children)\b"
)


_DAY_NEXT = re.compile(rf",? ?(?:and |& |or )?{_DAY_NAME}\b")


_DAY_BEFORE = re.compile(rf"\b{_DAY_NAME},? ?(?:and |& |or )?$")


def month_name(text: str) -> str:
    """'Sept' -> 'September'; full names pass."""
    return MONTHS[text[:3].lower()]


def day_name(text: str) -> str:
    """'Thurs' -> 'Thursday'; full names pass."""
    return DAYS[text[:3].lower()]


def _date(month: str, day: int, year_text: str | None = None) -> str | None:
    if not 1 <= day <= 31:
        return None
    return f"{month} {ordinal(day)}" + (f", {year(int(year_text))}" if year_text else "")


def _iso(found: Match) -> str | None:
    month, day = int(found["mo"]), int(found["d"])
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return None
    said = _date(MONTH_NAMES[month - 1], day, found["y"]) or ""
    return f"{said}, at" if found["t"] else said


def _slashed(found: Match) -> str | None:
    """Month first, as in the US, unless that cannot be; with dots the day first."""
    first, second, year_text = int(found["a"]), int(found["b"]), found["y"]
    is_day_first = found["sep"] == "." or first > 12
    month, day = (second, first) if is_day_first else (first, second)
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return None
    if len(year_text) == 2:
        year_text = ("19" if int(year_text) > 68 else "20") + year_text
    return _date(MONTH_NAMES[month - 1], day, year_text)


def _month_slash_year(found: Match) -> str | None:
    """'12/2024'; not 'page 5/2000', '5/2000 users' or a quotient."""
    if word_before(found) in _COUNTED or _PLURAL_NEXT.match(after(found)) or "=" in around(found):
        return None
    said = f"{MONTH_NAMES[int(found['mo']) - 1]} {year(int(found['y']))}"
    return (
        f"{said} to {MONTH_NAMES[int(found['mo2']) - 1]} {year(int(found['y2']))}" if found["mo2"] else said
    )


_COUNTED = words("page step part episode track file item test chapter volume score")


def _month_day_cue(found: Match) -> str | None:
    """'due 12/25': a date only behind a word that asks for one."""
    month, day = int(found["a"]), int(found["b"])
    cue = re.search(r"([a-z]+)[,:]? $", before(found).lower())
    if cue is None or cue.group(1) not in _DATE_CUES or not 1 <= month <= 12 or not 1 <= day <= 31:
        return None
    if re.match(r" ?(?:of|cup|cups|tsp|tbsp|inch|full|empty|mile)", after(found)):
        return None
    return _date(MONTH_NAMES[month - 1], day)


_DATE_CUES = words(
    """
    on due until till since monday tuesday wednesday thursday friday saturday sunday mon tue wed thu
    fri date dated arrives arriving delivery expires ends starts begins thurs tues sat sun
    """
)


_BEFORE_DATE = words(
    """
    on by until till since from to before after due through of and for this next
    """
)


def _month_first(found: Match) -> str | None:
    is_bare_word = found["month"] in ("may", "mar", "march", "sep", "dec", "jan") and not found["year"]
    if is_bare_word and word_before(found) not in _BEFORE_DATE:
        return None
    month, day = month_name(found["month"]), int(found["day"])
    if not 1 <= day <= 31:
        return None
    words = f"{month} {ordinal(day)}"
    if found["day2"]:
        words += f" {'and' if '&' in found['to'] else 'to'} {ordinal(int(found['day2']))}"
    return words + (f", {year(int(found['year']))}" if found["year"] else "")


def _day_first(found: Match) -> str | None:
    day = int(found["day"])
    if not 1 <= day <= 31:
        return None
    if found["month"].islower() and found["month"] in ("may", "mar", "dec", "jan") and not found["of"]:
        return None
    article = "" if re.search(r"\bthe $", before(found), re.IGNORECASE) else "the "
    days = ordinal(day) + (f" to {ordinal(int(found['day2']))}" if found["day2"] else "")
    words = f"{article}{days} of {month_name(found['month'])}"
    return words + (f", {year(int(found['year']))}" if found["year"] else "")


def _month_year(found: Match) -> str:
    return f"{month_name(found['month'])} {year(int(found['year']))}"


def _month_range(found: Match) -> str:
    said = f"{month_name(found['month'])} to {month_name(found['m2'])}"
    return said + (f" {year(int(found['year']))}" if found["year"] else "")


def _month_alone(found: Match) -> str | None:
    """'Jan', 'Sept.': not the words 'mar' and 'may', nor 'Dec' and 'Jan' as names in small letters."""
    text = found["month"]
    if len(text) > 4 or text.lower() == "may" or not text[0].isupper():
        return None
    if text.lower() == "mar" and not found["dot"]:
        return None
    return month_name(text) + ("." if found["dot"] and not after(found).strip() else "")


def _day_range(found: Match) -> str:
    return f"{day_name(found['a'])} to {day_name(found['b'])}"


def _day_list(found: Match) -> str:
    return ", ".join(day_name(day) for day in found.group().split("/"))


def _day_alone(found: Match) -> str | None:
    text, rest = found["a"], after(found)
    if text.endswith("day"):
        return None
    if _DAY_NEXT.match(rest) or _DAY_BEFORE.search(before(found)):
        return day_name(text)
    if text in ("Sat", "Sun", "Wed") and not (
        found["dot"] or re.match(r",? ?(?:\d|at\b|[A-Z][a-z]{2}\.? \d|$)", rest)
    ):
        return None
    if (
        text == "Sun"
        and not re.match(r",? ?\d|,? [A-Z][a-z]{2}\.? \d", rest)
        and not (found["dot"] and rest.strip())
    ):
        return None
    return day_name(text) + ("." if found["dot"] and not rest.strip() else "")


def _decade(found: Match) -> str | None:
    text = found["n"]
    if len(text) == 2:
        if found["quote"] or re.search(
            r"\b(?:the|mid|early|late|upper|lower|low|high)[ -]$", before(found), re.I
        ):
            return plural(cardinal(int(text))) if text != "00" else "two thousands"
        return None
    century, rest = divmod(int(text), 100)
    if rest:
        return f"{cardinal(century)} {plural(cardinal(rest))}"
    return plural(cardinal(int(text))) if century % 10 == 0 else f"{cardinal(century)} hundreds"


def _year_range(found: Match) -> str | None:
    first, second = found["a"], found["b"]
    if not 1100 <= int(first) <= 2199 or word_before(found) in NUMBERED:
        return None
    if len(second) == 2:
        return f"{year(int(first))} to {two_digits(second)}" if int(second) > int(first[2:]) else None
    return f"{year(int(first))} to {year(int(second))}" if int(first) < int(second) <= 2199 else None


def _year(found: Match) -> str | None:
    """Four digits are a year between 1900 and 2099, or behind a word that asks for one."""
    value, word = int(found["n"]), word_before(found)
    unit = re.match(r" ?([A-Za-zµ°%]+)", after(found))
    is_measure = unit is not None and unit.group(1) in UNITS and unit.group(1) not in ("in", "a", "s")
    if is_measure or re.match(r" ?[x×*] ?\d", after(found)):
        return None
    if word in NUMBERED or word in _QUANTITY_BEFORE or _PLURAL_NEXT.match(after(found)):
        return None
    is_recent = 1900 <= value <= 2099
    if word in _VALUE_BEFORE and "year" not in before(found, 60).lower():
        return None
    if not is_recent and not (word in _YEAR_BEFORE and 1000 < value < 2200):
        return None
    return year(value)


def _short_year(found: Match) -> str:
    return two_digits(found["n"])


def _era(found: Match) -> str | None:
    value = int(found["n"])
    words = year(value) if 1000 < value < 2200 else cardinal(value)
    return f"{words} {'.'.join(found['era'].replace('.', '').upper())}"


RULES = (
    Rule("date", (DIGIT,), r"(?P<y>\d{4})-(?P<mo>\d\d)-(?P<d>\d\d)(?![\d-])(?P<t>[T ](?=\d\d:\d\d))?", _iso),
    Rule(
        "date",
        (DIGIT,),
        r"(?P<y>[12]\d{3})/(?P<mo>\d\d?)/(?P<d>\d\d?)(?![\d/])(?P<t>[T ](?=\d\d:\d\d))?",
        _iso,
    ),
    Rule(
        "date",
        (DIGIT,),
        r"(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})(?P=sep)(?P<y>[12]\d{3})(?![\w/-])",
        _slashed,
    ),
    Rule("date", (DIGIT,), r"(?P<a>\d{1,2})(?P<sep>/)(?P<b>\d{1,2})/(?P<y>\d\d)(?![\w/-])", _slashed),
    Rule(
        "date",
        (DIGIT,),
        rf"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?:(?P<to> ?[-–] ?| to )(?P<day2>[0-3]?\d)(?:st|nd|rd"
        rf"|th)?)? (?P<of>of )?{_MONTH}\.?(?:,? {_YEAR})?",
        _day_first,
    ),
    Rule("date", (DIGIT,), r"(?P<a>\d{1,2})/(?P<b>\d{1,2})(?![\w/-]|\.\d)", _month_day_cue),
    Rule(
        "date",
        (DIGIT,),
        r"(?P<mo>0?[1-9]|1[0-2])/(?P<y>(?:19|20)\d\d)"
        r"(?: ?[-–] ?(?P<mo2>0?[1-9]|1[0-2])/(?P<y2>(?:19|20)\d\d))?(?![\w/%°]|[.,-]\d)",
        _month_slash_year,
    ),
    Rule("decade", (DIGIT,), r"(?P<quote>)(?P<n>[12]\d\d0|[1-9]0)['’]?s\b", _decade),
    Rule("decade", (SIGN,), r"(?P<quote>['’])(?P<n>[0-9]0)['’]?s\b", _decade),
    Rule("year", (SIGN,), r"(?<![\w'’])['’](?P<n>\d\d)(?![\w'’\"])", _short_year),
    Rule("year", (DIGIT,), r"(?P<n>\d{1,4}) ?(?P<era>BCE?|CE|AD|B\.C\.(?:E\.)?|A\.D\.)(?!\w)", _era),
    Rule(
        "year range",
        (DIGIT,),
        r"(?P<a>[12]\d{3}) ?[-–/] ?(?P<b>[12]\d{3}|\d\d)(?![\w:/-]|[.,]\d)",
        _year_range,
    ),
    Rule("year", (DIGIT,), r"(?P<n>[12]\d{3})(?![\w%°$€£/]|[.,-]\d|:\w| ?%| ?°|'s? ?\d)", _year),
    Rule(
        "date",
        (LETTER,),
        rf"{_MONTH}\.? {_DAY}(?:(?P<to> ?[-–] ?| to | ?& ?)(?P<day2>[0-3]?\d)(?:st|nd|rd|th)?"
        rf"(?![\d:]|[.,]\d))?(?:,? {_YEAR})?",
        _month_first,
    ),
    Rule("date", (LETTER,), rf"{_MONTH}\.?,? {_YEAR}", _month_year),
    Rule(
        "month range",
        (LETTER,),
        rf"{_MONTH}\.? ?[-–] ?(?P<m2>(?i:{'|'.join(MONTHS)}|{'|'.join(MONTH_NAMES)})(?![a-z]))\.?"
        rf"(?: {_YEAR})?",
        _month_range,
    ),
    Rule("month", (LETTER,), rf"{_MONTH}(?P<dot>\.)?", _month_alone),
    Rule("day range", (LETTER,), _DAY_RANGE.format(r" ?(?:-|–|—|to|thru) ?"), _day_range),
    Rule(
        "days",
        (LETTER,),
        rf"(?i:{_DAY_NAME})\.?(?:/(?i:{_DAY_NAME})(?:\.(?=[/ ]))?){{1,6}}(?![\w/])",
        _day_list,
    ),
    Rule("time", (LETTER,), r"T[-−](?=\d{1,2}(?!\d))", lambda found: "T minus "),
    Rule("day", (LETTER,), rf"(?P<a>{_DAY_NAME})(?![a-z'’-])(?P<dot>\.)?", _day_alone),
)
