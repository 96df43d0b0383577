"""Times of day, and what else is written with a colon: ratios and scores."""

from __future__ import annotations

import re

from edged.text.zh.numbers import cardinal, counted, number
from edged.text.zh.rules.pattern import NUMBER, rule

_SCORES = "比分|战胜|击败|大胜|险胜|完胜|逆转|负于|不敌|惜败|领先|落后|战平|打平|战成|打成|总分"
_RATIOS = f"{_SCORES}|比例|比率|配比|比为|赔率|比赛结果|赛果|终场|半场"
_RESULTS = f"{_SCORES}|取胜|获胜|胜|落败|力克|横扫|告负|的比分|的比例"
_HALF = r"(?P<half>[aApP]\.?[mM](?![A-Za-z])\.?)"
_DAY_PARTS = {"a": "上午", "p": "下午"}


def _time(match: re.Match[str]) -> str:
    minute, second = int(match["minute"]), int(match["second"] or 0)
    spoken = f"{_day_part(match['half'])}{_hour(match['hour'])}点"
    if second:
        return f"{spoken}{_sixtieth(match['minute'])}分{_sixtieth(match['second'])}秒"
    return f"{spoken}{_sixtieth(match['minute'])}分" if minute else spoken


def _hour(text: str) -> str:
    return counted(str(int(text)))


def _sixtieth(text: str) -> str:
    """Minutes or seconds: '05' -> '零五', '00' -> '零'."""
    return cardinal(text) if int(text) else "零"


def _day_part(half: str | None) -> str:
    return _DAY_PARTS[half[0].lower()] if half else ""


def _ratio(match: re.Match[str]) -> str:
    return "比".join(map(number, re.split(r"\s?[:-]\s?", match["terms"])))


RULES = (
    rule(
        "ratio",
        rf"(?P<word>(?:{_RATIOS})[^\d，。,]{{0,8}})(?P<terms>{NUMBER}\s?[:-]\s?{NUMBER})(?![\d:])",
        lambda match: match["word"] + _ratio(match),
    ),
    rule("ratio", rf"(?<![\d:.-])(?P<terms>\d{{1,3}}[:-]\d{{1,3}})(?=\s?(?:{_RESULTS}))", _ratio),
    rule(
        "time",
        r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.\d+)?)?(?![\d:])"
        rf"(?:\s?{_HALF})?[点分]?",
        _time,
    ),
    rule(
        "time",
        rf"(?<![\d:.])(?P<hour>1[0-2]|0?[1-9])\s?{_HALF}",
        lambda match: f"{_day_part(match['half'])}{_hour(match['hour'])}点",
    ),
    rule(
        "duration",
        r"(?<!\d)(?P<minute>\d{1,3})['′](?P<second>[0-5]?\d)(?:[\"″]|'')",
        lambda match: f"{cardinal(match['minute'])}分{_sixtieth(match['second'])}秒",
    ),
    rule("tidy time", r"(?<!\d)0(?=\d\s?点(?!\d*[%元个]))", ""),
    rule("time", r"(?<=\d点)00分?", "整"),
    rule("ratio", rf"(?<![A-Za-z\d:.])(?P<terms>{NUMBER}(?::{NUMBER})+)(?![\d:])", _ratio),
)
