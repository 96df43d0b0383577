"""Quantities with a sign of what they count: money, shares, units, fractions."""

from __future__ import annotations

import re

from edged.text.zh.numbers import counted, number
from edged.text.zh.rules.pattern import NUMBER, SIGNED, SIGNS, rule
from edged.text.zh.units import CURRENCIES, UNCOUNTED, UNIT, unit_name

_CURRENCY = "|".join(sorted(map(re.escape, CURRENCIES), key=len, reverse=True))
_AFTER = r"RMB|CNY|USD|EUR|GBP|HKD|JPY|€|\$|£|¥"
_MAGNITUDE = "(?P<magnitude>万亿|百万|千万|亿|万|千)?"
_MINUS = "(?P<sign>(?<![A-Za-z0-9)])-)?"
_ZEROS = re.compile(r"\.0+$")
_SHARES = {"%": "百分之", "‰": "千分之", "‱": "万分之", "ppm": "百万分之", "ppb": "十亿分之"}
_SHARE = r"\s?(?P<share>[%‰‱]|pp[mb](?![A-Za-z]))"
_NAME_BEFORE = re.compile("[A-Za-z][ -]?$")
_NEEDED = {
    "A": re.compile("电流|电压|充电|插座|空开|保险丝|额定|安培|[0-9]V"),
    "M": re.compile("宽带|带宽|网|流量|内存|下载|速"),
}
"""What a sentence has to speak of, where the letter is mostly a name."""
_LONE_UNITS = "km/h|m/s|°[CF]|kWh|mm²|cm²|m²|km²|m³|μg/m³|mg/L|mg/m³"


def _money(match: re.Match[str]) -> str:
    amount, magnitude = match["n"], match["magnitude"] or ""
    if not magnitude:
        amount = _ZEROS.sub("", amount)
    return SIGNS[match["sign"]] + counted(amount) + magnitude + CURRENCIES[match["currency"]]


def _share(match: re.Match[str]) -> str:
    spoken = "百" if match["n"] == "100" and match["share"] == "%" else number(match["n"])
    return SIGNS[match["sign"]] + _SHARES[match["share"]] + spoken


def _share_range(match: re.Match[str]) -> str:
    first, last = number(match["n"]), number(match["last"])
    return f"{SIGNS[match['sign']]}{_SHARES[match['share']]}{first}到{SIGNS[match['last_sign']]}{last}"


def _with_unit(match: re.Match[str]) -> str:
    """As it stands where it is rather a name: 'iPhone 6s', '会议室3A'."""
    if len(match["unit"]) == 1 and not _is_unit(match):
        return match.group()
    spoken = number(match["n"]) if match["unit"] in UNCOUNTED else counted(match["n"])
    return SIGNS[match["sign"]] + spoken + unit_name(match["unit"])


def _is_unit(match: re.Match[str]) -> bool:
    """False for one letter that may as well belong to a name."""
    unit = match["unit"]
    if unit in _NEEDED:
        return _NEEDED[unit].search(match.string) is not None
    return (
        not _NAME_BEFORE.search(match.string, max(0, match.start() - 2), match.start()) or not unit.isalpha()
    )


def _fraction(match: re.Match[str]) -> str:
    whole = f"{number(match['whole'])}又" if match["whole"] else ""
    return f"{SIGNS[match['sign']]}{whole}{number(match['below'])}分之{number(match['above'])}"


def _spaced_fraction(match: re.Match[str]) -> str:
    """'1 / 2'; as it stands where it is no part of one: '5 / 3' may be two things to choose from."""
    return _fraction(match) if int(match["above"]) < int(match["below"]) else match.group()


RULES = (
    rule("money", rf"{_MINUS}(?P<currency>{_CURRENCY})\s?(?P<n>{NUMBER}){_MAGNITUDE}(?:元|美元)?", _money),
    rule(
        "money",
        rf"{_MINUS}(?<![\d.])(?P<n>{NUMBER})\s?{_MAGNITUDE}(?P<currency>{_AFTER})(?![A-Za-z])",
        _money,
    ),
    rule("tidy money", r"(?<=\d)\.00?(?=元)", ""),
    rule("share", rf"{SIGNED}到(?P<last_sign>[-+])?(?P<last>{NUMBER}){_SHARE}", _share_range),
    rule("share", rf"{SIGNED}{_SHARE}", _share),
    rule(
        "unit", rf"{SIGNED}\s?(?P<unit>{UNIT})(?!(?<=[AM])[级座区栋口门班]|(?<=[gG])网|手机|信号)", _with_unit
    ),
    rule(
        "unit",
        rf"(?<![A-Za-z0-9])(?P<unit>{_LONE_UNITS})(?![A-Za-z0-9])",
        lambda match: unit_name(match["unit"]),
    ),
    rule("rate", r"(?<=[元次人件个块台分])/(?=[分秒天日月年周组人次个小台间斤公千克吨平立件晚位户度])", "每"),
    rule("rate", rf"(?<=[元次])/(?P<unit>{UNIT})", lambda match: "每" + unit_name(match["unit"])),
    rule("round the clock", r"(?<![\d/.])24/7(?![\d/.])", "七天二十四小时"),
    rule(
        "blood pressure",
        r"(?P<word>血压(?:为|是|:|\s){0,2})(?P<upper>\d{2,3})/(?P<lower>\d{2,3})",
        lambda match: f"{match['word']}{number(match['upper'])}、{number(match['lower'])}",
    ),
    rule(
        "fraction",
        rf"{_MINUS}(?<![\d./:第])(?<!/ )(?<!第 )(?:(?P<whole>\d+)\s)?"
        r"(?P<above>\d{1,3}) / (?P<below>\d{1,3})(?![\d.,:%]| ?/|\s?[月日号点年级楼层期组班排])",
        _spaced_fraction,
    ),
    rule(
        "fraction",
        rf"{_MINUS}(?<![\d./])(?:(?P<whole>\d+)\s)?(?P<above>\d{{1,9}})/(?P<below>\d{{1,9}})(?![\d/])",
        _fraction,
    ),
)
