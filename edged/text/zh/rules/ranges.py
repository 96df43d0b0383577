"""Sums and ranges: the signs between two numbers, before the numbers themselves are read."""

from __future__ import annotations

import re

from edged.text.zh.numbers import number
from edged.text.zh.rules.pattern import DASH, NUMERALS, rule
from edged.text.zh.units import UNIT

_NEXT = r"(?=[-+±]?(?:HK|US)?[¥$€£]?\d)"
_AMOUNT_ENDS = (
    "个月|个半|小时|分钟|秒钟|公里|厘米|毫米|公斤|千克|毫升|[%‰元点分日号月年时秒度个岁米楼层室万亿半级]{1,2}"
)
_SIGNLESS = "[日号月年点时楼层室]"
_DEGREES = r"\d+(?:\.\d+)?\s?(?:°|度|摄氏度|%|dB)"
"""What is no day, hour or floor: '3号 -5℃' is a date and a temperature below zero."""


def _to(match: re.Match[str]) -> str:
    return match["left"] + "到"


RULES = (
    rule("sum", r"(?<=\d) ?- ?(?=\d[^=，。]{0,20}=)", "减"),
    rule("sum", r"(?<=\d) ?/ ?(?=\d[^=，。]{0,20}=)", "除以"),
    rule("sum", r"(?<=[\d)]) ?[×xX*✕] ?(?=[\d(])", "乘"),
    rule("sum", r"(?<=\d) ?\+ ?(?=\d)", "加"),
    rule(
        "rate",
        rf"(?P<left>\d\s?(?P<what>{UNIT}|[升元克度个次]))/(?=1000?\s?(?!(?P=what))(?:km|g|ml|mL|kg|h|公里|克|毫升|人|平方))",
        lambda match: match["left"] + "每",
    ),
    rule("sum", r"(?<=[\d)])\^(?P<power>\d+)", lambda match: f"的{number(match['power'])}次方"),
    rule("sum", r"<= ?(?=[-\d])", "小于等于"),
    rule("sum", r">= ?(?=[-\d])", "大于等于"),
    rule("sum", r"!= ?(?=[-\d])", "不等于"),
    rule("sum", r"< ?(?=[-\d])", "小于"),
    rule("sum", r"(?<![-=])> ?(?=[-\d])", "大于"),
    rule("range", rf"(?P<left>\d\s?{UNIT}){DASH}(?=[-+±]?\d)", _to),
    # Only behind a number: '温度-3℃' and '3号楼-2层' have a minus, though 度 and 楼 count as well.
    rule("range", rf"(?P<left>\d\s?(?P<what>[\u4e00-\u9fff]{{1,3}})){DASH}(?=[\d.,]+\s?(?P=what))", _to),
    rule("range", rf"(?P<left>[\d度%]|°[CF]){DASH}(?=零下|负)", _to),
    rule(
        "range",
        rf"(?P<left>\d|[\d{NUMERALS}]\s?(?!号[楼线门院])(?:{_AMOUNT_ENDS}))"
        rf"(?!(?<={_SIGNLESS})\s*-{_DEGREES}){DASH}{_NEXT}",
        _to,
    ),
    # A number of a place is below nothing: '客厅-2号灯'.
    rule("tidy number", r"(?<=[\u4e00-\u9fff])-(?=\d+(?:号|栋|幢|单元|期))", "，"),
    rule("tidy minus", rf"(?<=[A-Za-z)\]])-(?={_DEGREES})", " -"),
    rule("range", r"(?<=[A-Z]\d)\s?[-~—]\s?(?=[A-Z]\d)", "到"),
    rule("range", r"(?<=[周期拜][一二三四五六日天])\s?[-~—]{1,2}\s?(?=周|星期|礼拜)", "到"),
    rule(
        "range",
        rf"(?<=[\d{NUMERALS}][年月日号点分秒楼层])\s?[-~—]{{1,2}}\s?(?=[零一二两三四五六七八九十]|[上中下]午|次日)",
        "到",
    ),
)
