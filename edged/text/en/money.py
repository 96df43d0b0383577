"""Money: symbols and ISO codes, before or behind the amount, cents and magnitudes."""

from __future__ import annotations

import re

from edged.text.en.measures import NUM, form
from edged.text.en.numbers import cardinal, integer, is_one, number
from edged.text.en.scan import DIGIT, LETTER, SIGN, Match, Rule
from edged.text.en.tables import CURRENCIES, MAGNITUDES, UNITS

_MAGNITUDE = (
    r"(?: ?(?P<big>thousand|million|billion|trillion|lakh|crore|mil|bn|mn|tn)(?![a-z])|"
    r"(?P<letter>[kKMBT]|m|b)(?!\w))?"
)
_SYMBOL = r"(?:[A-Z]{1,2}\$|[$€£¥₹₽₩₺₪₫₴฿₿₱₦₡₵₸₼₾₭₲])"


def _negative(found: Match) -> str | None:
    """'$-5'."""
    entry = CURRENCIES.get(found["s"])
    return None if entry is None else f"minus {_amount(found['n'], entry)}"


def _symbol_alone(found: Match) -> str:
    return f" {form(CURRENCIES[found.group()][0], False)} "


def _one(entry: str) -> str:
    return entry.partition("|")[0]


def _amount(num: str, entry: tuple[str, str | None], big: str | None = None) -> str:
    """'1,249.05' of dollars -> 'one thousand … dollars and five cents'."""
    unit, subunit = entry
    if big:
        return f"{number(num)} {big} {form(unit, False)}"
    whole, _, part = num.partition(".")
    if not part or not part.strip("0"):
        return f"{integer(whole or '0')} {form(unit, is_one(whole))}"
    if len(part) > 2 or subunit is None:
        return f"{number(num)} {form(unit, False)}"
    cents = int(part.ljust(2, "0"))
    small = f"{cardinal(cents)} {form(subunit, cents == 1)}"
    if not whole.strip("0,"):
        return small
    return f"{integer(whole)} {form(unit, is_one(whole))} and {small}"


def _plain_number(text: str) -> str:
    """European grouping to the other one: '1.249,05' and '5,50' -> '1249.05', '5.50'."""
    text = text.replace(" ", "")
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d\d", text) or re.fullmatch(r"\d+,\d\d?", text):
        return text.replace(".", "").replace(",", ".")
    return text


_MONEY = (
    rf"(?P<n>\d{{1,3}}(?: \d{{3}}){{1,4}}(?:,\d\d)?(?= ?[€£₽])|\d{{1,3}}"
    rf"(?:\.\d{{3}}){{1,5}},\d\d(?!\d)|\d{{1,9}},\d\d(?![\d,])|{NUM})"
)


def _money(found: Match) -> str | None:
    symbol = found["s"].strip(" .")
    entry = CURRENCIES.get(symbol)
    if entry is None:
        return None
    big = MAGNITUDES[found["big"] or found["letter"]] if found["big"] or found["letter"] else None
    first, num = found["a"], _plain_number(found["n"])
    words = _amount(num, entry, big)
    if first:
        words = (
            f"{number(_plain_number(first))} to"
            f" {words if not is_one(num) else number(num) + ' ' + form(entry[0], False)}"
        )
    return words + _per(found)


def _per(found: Match) -> str:
    text = found["per"]
    if not text:
        return ""
    known = UNITS.get(text)
    return f" per {_one(known) if known else text}"


def _cents(found: Match) -> str:
    return f"{number(found['n'])} cent{'' if is_one(found['n']) else 's'}"


RULES = (
    Rule("currency", (SIGN, LETTER), rf"(?P<s>{_SYMBOL})[-−](?P<n>{NUM})(?![\w,.]\d)", _negative),
    Rule(
        "currency",
        (SIGN, LETTER),
        rf"(?P<s>{_SYMBOL} ?|[A-Z]{{3}} ?(?=[\d.])|Rs\.? ?(?=\d)|kr ?(?=\d))(?:(?P<a>{NUM}) ?[-–—] ?"
        rf"(?:{_SYMBOL})?)?{_MONEY}{_MAGNITUDE}(?![\d])"
        r"(?:/(?P<per>[A-Za-z]{1,8})(?!\w))?",
        _money,
    ),
    Rule(
        "currency",
        (DIGIT,),
        rf"(?:(?P<a>{NUM}) ?(?:[-–—]|to) ?)?{_MONEY}{_MAGNITUDE} ?(?P<s>[$€£¥₹₽₩₺₪₫₴฿₿]|元|kr"
        rf"|[A-Z]{{3}})(?![\w$])(?:/(?P<per>[A-Za-z]{{1,8}})(?!\w))?",
        _money,
    ),
    Rule("currency", (DIGIT,), rf"(?P<n>{NUM}) ?¢", _cents),
)
LATE_RULES = (Rule("currency", (SIGN,), "[$€£¥₹₽₩₺₪₫₴฿₿₱₦₡₵₸₼₾₭₲]", _symbol_alone),)
