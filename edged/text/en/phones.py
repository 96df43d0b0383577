"""Phone numbers and keys: digit by digit, with a short pause after each group."""

from __future__ import annotations

import re

from edged.text.en.numbers import digits
from edged.text.en.scan import DIGIT, LETTER, SIGN, Match, Rule, after, before, word_before
from edged.text.en.tables import words


def _phone(found: Match) -> str | None:
    text = found.group()
    groups = re.findall(r"\d+|[A-Z]{3,}", text)
    plus = "plus " if text.lstrip("(").startswith("+") else ""
    return plus + ", ".join(digits(g) if g.isdecimal() else g.lower() for g in groups)


_PHONE_CUES = words(
    """
    call dial phone tel telephone text fax mobile cell number ring contact hotline helpline at on
    sms whatsapp landline
    """
)


_CALLS = words(
    """
    call dial phone tel telephone ring text fax mobile cell hotline helpline sms whatsapp
    """
)


def _bare_phone(found: Match) -> str | None:
    """A run of digits behind a word for calling: '911', '5550142', '2025550199'."""
    text = found["n"]
    if word_before(found) not in _CALLS and not re.search(
        r"\b(?:call|dial|phone|ring)\b[^.]{0,16}$", before(found), re.I
    ):
        return None
    if len(text) == 10:
        return ", ".join(digits(p) for p in (text[:3], text[3:6], text[6:]))
    if len(text) == 7:
        return f"{digits(text[:3])}, {digits(text[3:])}"
    if len(text) == 11:
        return ", ".join(digits(p) for p in (text[:1], text[1:4], text[4:7], text[7:]))
    return digits(text)


def _spaced_phone(found: Match) -> str | None:
    text = found.group()
    is_called = word_before(found) in _PHONE_CUES
    return _phone(found) if is_called or text[0] in "+0(" else None


def _seven_digits(found: Match) -> str | None:
    """'555 0100': a phone number, for no number is grouped so; where nothing shows it, '555 2000' is none."""
    text_before = before(found, 40)
    is_alone = not text_before.strip(" \"'(") and not after(found).strip(" \"').!?")
    if not (found["b"][0] == "0" or is_alone or _CALLED.search(text_before)):
        return None
    return f"{digits(found['a'])}, {digits(found['b'])}"


_CALLED = re.compile(r"\b(?:call|dial|phone|ring|tel|fax|hotline|helpline)\b[^.]{0,30}$", re.IGNORECASE)


def _extension(found: Match) -> str:
    return f"extension {digits(found['n'])}"


def _bare_american(found: Match) -> str | None:
    """Ten digits of the shape of a phone number: better digits than billions."""
    text = found.group()
    return None if text.endswith("000") else ", ".join(map(digits, (text[:3], text[3:6], text[6:])))


def _keys(found: Match) -> str | None:
    """'dial *67#': keys of a phone."""
    if word_before(found) not in _CALLS and word_before(found) not in ("press", "enter", "send", "code"):
        return None
    names = {"*": "star", "#": "pound"}
    return " ".join(names.get(c) or digits(c) for c in found.group())


RULES = (
    Rule("phone", (DIGIT,), r"(?:1 )?[2-9]\d{2} [2-9]\d{2} \d{4}(?![\w:/]|[.,]\d| ?[%°]| \d)", _phone),
    Rule(
        "phone",
        (SIGN,),
        r"\+\d{1,3}[- .]?(?:\(\d{1,5}\)[- .]?)?\d{1,8}(?:[- .]\d{2,8}){0,5}(?![\w°%]|[.:,]\d| ?[°%])"
        r"(?<=\d\d)|\+\d{6,15}(?!\d)",
        lambda f: _phone(f) if sum(map(str.isdecimal, f.group())) >= 7 else None,
    ),
    Rule("phone", (SIGN,), r"\(\d{2,5}\)[- .]?\d{2,5}(?:[- .]\d{2,5}){0,3}(?![\d]|[.:,]\d)", _phone),
    Rule("phone", (DIGIT,), r"(?:1[- .])?(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4}(?![\w-]|\.\d)", _phone),
    Rule(
        "phone",
        (DIGIT,),
        r"1?-?8(?:00|88|77|66|55|44|33)-[A-Z0-9]{3}-?[A-Z0-9]{4}(?!\w)|1-8(?:00|88|77|66|55|44|33)-[A-Z]{4,8}(?!\w)",
        _phone,
    ),
    Rule("phone", (DIGIT,), r"\d{3}[-.]\d{4}(?![\w-]|\.\d)", _phone),
    Rule("phone", (DIGIT,), r"0\d{1,5}(?:[ -]\d{2,8}){1,5}(?![\w:/]|[.,]\d| ?[%°])", _spaced_phone),
    Rule(
        "phone",
        (DIGIT,),
        r"\d{2,4}(?:[ -]\d{2,4}){1,4}(?![\w:/]|[.,]\d| ?[%°])",
        lambda f: _phone(f) if word_before(f) in _CALLS else None,
    ),
    Rule("phone", (DIGIT,), r"(?P<a>[2-9]\d\d) (?P<b>\d{4})(?![\w:/-]|[.,]\d| ?[%°]| \d)", _seven_digits),
    Rule("phone", (DIGIT,), r"(?P<n>\d{3,12})(?![\w:/%°-]|[.,]\d)", _bare_phone),
    Rule("extension", (LETTER,), r"(?i:ext)(?:\.|(?=\d))? ?(?P<n>\d{1,6})(?!\w)", _extension),
    Rule("keys", (SIGN,), r"[*#](?:\d{1,12}[*#]?){0,4}(?![\w])", _keys),
    Rule("phone", (DIGIT,), r"[2-9]\d{2}[2-9]\d{6}(?![\w:/%°,.-]\w|\w| ?[%°])", _bare_american),
)
