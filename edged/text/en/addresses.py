"""URLs, e-mail, files, paths, network addresses: piece by piece."""

from __future__ import annotations

import re

from edged.text.en.letters import read_caps, spell
from edged.text.en.numbers import digits, integer, year
from edged.text.en.scan import DIGIT, LETTER, SIGN, Match, Rule
from edged.text.en.tables import (
    ABBREVIATIONS,
    DAYS,
    DOMAINS,
    DOTLESS,
    FILE_ENDINGS,
    LOWER_INITIALISMS,
    SPELLED_DOMAINS,
    URL_SIGNS,
)

_PIECE = re.compile(r"\d+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|.", re.DOTALL)


_TLD = "|".join(sorted(DOMAINS, key=len, reverse=True))


_ENDING = "|".join(sorted(FILE_ENDINGS, key=len, reverse=True))


_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})"


_PATH_END = r"(?<![.,;:!?'\")\]])"


_HOST = rf"{_LABEL}(?:\.{_LABEL}){{0,8}}"


def pieces(text: str) -> str:
    """An address piece by piece: words as words, initialisms and consonants as letters, signs by name."""
    said = []
    parts = _PIECE.findall(text)
    for at, part in enumerate(parts):
        if part.isdecimal():
            said.append(_address_number(part))
        elif part.isalpha():
            said.append(_address_word(part, after_dot=at > 0 and parts[at - 1] == "."))
        else:
            said.append(URL_SIGNS.get(part, ""))
    return " ".join(filter(None, said))


def _address_number(text: str) -> str:
    if len(text) == 4 and text[:2] in ("19", "20"):
        return year(int(text))
    return integer(text) if len(text) <= 2 else digits(text)


def _address_word(word: str, after_dot: bool) -> str:
    lower = word.lower()
    if lower in DOTLESS:
        return ABBREVIATIONS[lower]
    if lower in LOWER_INITIALISMS or (after_dot and lower in SPELLED_DOMAINS):
        return spell(word)
    if word.isupper() and len(word) > 1:
        return read_caps(word)
    if len(word) == 1 or (len(word) < 5 and word.isascii() and not re.search("[aeiouy]", lower)):
        return spell(word)
    return lower if word.isascii() else word


def _url(found: Match) -> str:
    text = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]{1,15}://", "", found.group())
    host = re.match(r"\d{1,3}(?:\.\d{1,3}){3}(?=[:/]|$)", text)
    if host is None:
        return pieces(text.rstrip("/"))
    return (
        f"{' dot '.join(map(digits, host.group().split('.')))}"
        f" {pieces(text[host.end() :].rstrip('/'))}".rstrip()
    )


def _email(found: Match) -> str:
    return pieces(re.sub(r"^mailto:", "", found.group()))


def _domain(found: Match) -> str | None:
    text = found.group()
    if re.fullmatch(r"[A-Z]?[a-z]+\.[A-Z][a-z]+", text):
        return None  # 'done.In': a missing space
    return pieces(text.rstrip("/"))


def _path(found: Match) -> str | None:
    text = found.group()
    if all(part[:3].lower() in DAYS and len(part) < 10 for part in text.split("/")):
        return None
    if text.count("/") + text.count("\\") < 2 and not text.startswith(("/", "~", "\\")) and "." not in text:
        return None
    return pieces(text)


def _file(found: Match) -> str:
    return pieces(found.group())


def _ip(found: Match) -> str | None:
    parts = found["ip"].split(".")
    if any(len(p) > 3 or int(p) > 255 for p in parts):
        return None
    words = " dot ".join(digits(p) for p in parts)
    if found["bits"]:
        words += f" slash {integer(found['bits'])}"
    if found["port"]:
        words += f" colon {digits(found['port'])}"
    return words


def _hex_groups(found: Match) -> str | None:
    text = found.group()
    if not re.search(r"[A-Fa-f]|::", text) and text.count(":") < 5 and text.count("-") < 5:
        return None
    if ":" in text and "::" not in text and text.count(":") not in (5, 7):
        return None
    separator = "-" if "-" in text else ":"
    sign = "colon" if separator == ":" else "dash"
    groups = [" ".join(digits(c) if c.isdecimal() else spell(c) for c in g) for g in text.split(separator)]
    return " ".join(f" {sign} ".join(groups).split())


RULES = (
    Rule(
        "url",
        (LETTER,),
        r"localhost(?::\d{2,5})?(?:/[\w./-]{0,200}\w)?(?![\w-])",
        lambda found: pieces(found.group()),
    ),
    Rule(
        "url", (LETTER,), rf"(?i:https?|ftp|mqtts?|wss?|ssh|rtsp|file)://[^\s<>\"]{{1,2000}}{_PATH_END}", _url
    ),
    Rule(
        "e-mail",
        (LETTER, DIGIT),
        rf"(?:mailto:)?[A-Za-z0-9][\w.+%-]{{0,63}}@{_LABEL}(?:\.{_LABEL}){{1,6}}(?!\w)",
        _email,
    ),
    Rule("url", (LETTER,), rf"(?i:www)\.{_HOST}(?:[/?#:][^\s<>\"]{{0,500}})?{_PATH_END}", _url),
    Rule(
        "url",
        (LETTER, DIGIT),
        rf"(?:{_LABEL}\.){{1,6}}(?:{_TLD})(?:(?::\d{{2,5}})?(?:[/?#][^\s<>\"]{{1,500}})?(?<![.,;:!?'\")\]])|(?::\d{{2,5}}))?/?(?![\w@-]|\.\w)",
        _domain,
    ),
    Rule("file", (LETTER, DIGIT), rf"(?:[\w-]{{1,60}}[/.]){{1,8}}(?:{_ENDING})(?![\w-]|\.\w)", _file),
    Rule("path", (SIGN,), r"(?<![\w/])(?:~|\.{1,2})?/[A-Za-z0-9_][\w.~/+-]{0,200}(?<![.,;:!?])", _path),
    Rule(
        "path",
        (LETTER,),
        r"[A-Za-z]:\\[\w.\\ -]{0,100}\w|[A-Za-z_][\w-]{0,40}(?:/[\w+#-]{1,40}){2,12}",
        _path,
    ),
    Rule(
        "address",
        (DIGIT,),
        r"(?P<ip>\d{1,3}(?:\.\d{1,3}){3})(?:/(?P<bits>\d{1,2}))?(?::(?P<port>\d{1,5}))?(?![\w]|\.\d)",
        _ip,
    ),
    Rule(
        "address",
        (DIGIT, LETTER),
        r"[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}(?![\w:-])|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])(?<=[\w:])",
        _hex_groups,
    ),
    Rule("address", (SIGN,), r"::[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6}(?![\w:])", _hex_groups),
)
