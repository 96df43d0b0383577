"""E-mail addresses, URLs and network addresses."""

from __future__ import annotations

import re

from edged.text.zh.numbers import one_by_one
from edged.text.zh.rules.pattern import rule

_SIGNS = {
    "@": "at",
    ".": "点",
    "/": "斜杠",
    "-": "杠",
    "_": "下划线",
    ":": "冒号",
    "?": "问号",
    "=": "等于",
    "#": "井号",
    "&": "和",
    "%": "百分号",
    "+": "加",
    "~": "",
}
_SCHEME = re.compile(r"^https?://|^www\.(?=[^.]+\.)", re.IGNORECASE)
_NAME = "[A-Za-z0-9-]{1,63}"
_DOMAINS = "com|cn|net|org|io|gov|edu|info|dev|top|me|cc|local|lan"


def _address(match: re.Match[str]) -> str:
    """Scheme left out, signs by name; marks of the sentence behind it stay."""
    whole = _SCHEME.sub("", match.group())
    text = whole.rstrip(".,;:!?)'\"")
    said = "".join(f" {_SIGNS[char]} " if char in _SIGNS else char for char in one_by_one(text.rstrip("/")))
    return f" {said} {whole[len(text) :]}"


def _network(match: re.Match[str]) -> str:
    return one_by_one(match.group()).replace(".", "点").replace("/", "斜杠").replace(":", " 端口 ")


RULES = (
    rule(
        "e-mail",
        rf"(?<![A-Za-z0-9_.+-])[A-Za-z0-9][A-Za-z0-9_.+-]{{0,63}}@{_NAME}(?:\.{_NAME}){{1,5}}(?![A-Za-z0-9])",
        _address,
    ),
    rule("URL", r"(?:https?://|www\.)[A-Za-z0-9][!-~]{1,300}", _address),
    rule(
        "URL",
        rf"(?<![A-Za-z0-9.@-])(?:{_NAME}\.){{1,4}}(?:{_DOMAINS})(?:/[!-.0-~/]{{0,200}})?(?![A-Za-z0-9])",
        _address,
    ),
    rule(
        "network address",
        r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2}|:\d{2,5})?(?!\.?\d)",
        _network,
    ),
)
