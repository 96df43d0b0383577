"""Sums and ranges: the signs between two numbers, before the numbers themselves are read."""

from __future__ import annotations

from edged.text.zh.numbers import number
from edged.text.zh.rules.pattern import DASH, rule
from edged.text.zh.units import UNIT

_NEXT = r"(?=[-+±]?(?:HK|US)?[¥$€£]?\d)"
_ENDS_OF_AMOUNTS = "%‰元点分日号月年时秒度个岁米楼层室万亿"

RULES = (
    rule("sum", r"(?<=\d) ?- ?(?=\d[^=，。]{0,20}=)", "减"),
    rule("sum", r"(?<=\d) ?/ ?(?=\d[^=，。]{0,20}=)", "除以"),
    rule("sum", r"(?<=[\d)]) ?[×xX*✕] ?(?=[\d(])", "乘"),
    rule("sum", r"(?<=\d) ?\+ ?(?=\d)", "加"),
    rule("sum", r"(?<=[\d)])\^(?P<power>\d+)", lambda match: f"的{number(match['power'])}次方"),
    rule("sum", r"<= ?(?=[-\d])", "小于等于"),
    rule("sum", r">= ?(?=[-\d])", "大于等于"),
    rule("sum", r"!= ?(?=[-\d])", "不等于"),
    rule("sum", r"< ?(?=[-\d])", "小于"),
    rule("sum", r"(?<![-=])> ?(?=[-\d])", "大于"),
    rule("range", rf"(?P<left>\d\s?{UNIT}){DASH}(?=[-+±]?\d)", lambda match: match["left"] + "到"),
    rule("range", rf"(?<=[\d{_ENDS_OF_AMOUNTS}]){DASH}{_NEXT}", "到"),
    rule("range", r"(?<=[A-Z]\d)\s?[-~—]\s?(?=[A-Z]\d)", "到"),
    rule("range", r"(?<=[周期拜][一二三四五六日天])\s?[-~—]{1,2}\s?(?=周|星期|礼拜)", "到"),
    rule("range", r"(?<=[年月日号点分秒])\s?[-~—]{1,2}\s?(?=[零一二两三四五六七八九十上下])", "到"),
)
