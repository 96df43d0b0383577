"""Years, months and days: years digit by digit, the rest as cardinals."""

from __future__ import annotations

import re

from edged.text.zh.numbers import cardinal, one_by_one
from edged.text.zh.rules.pattern import digits, rule

_MONTH = "0?[1-9]|1[0-2]"
_DAY = r"0?[1-9]|[12]\d|3[01]"
_OF_A_YEAR = r"\s?(?:年|学年|财年|届|赛季|款|版|春|夏|秋|冬|级新生|级学生)"
_OF_A_DATE = r"年(?:\d|春|夏|秋|冬|初|底|出生|毕业|款)"

_TELLS_A_DAY = (
    r"(?=\s?(?:[(]?(?:周|星期|礼拜)[一二三四五六日天]|(?:(?![的是季])[\u4e00-\u9fff]){1,4}节(?![约省目点奏电水能])"
    r"|元旦|除夕|生日|上午|下午|中午|早上|晚上|凌晨|到期|截止|\d{1,2}:\d\d|\d{1,2}点))"
)
_ASKS_FOR_A_DAY = r"(?:(?<=截至)|(?<=截止)|(?<=日期)|(?<=生日)|(?<=日期[:是为])|(?<=生日[:是为]))\s?"


def _plain(text: str) -> str:
    """'05' -> '五'."""
    return cardinal(str(int(text)))


def _date(match: re.Match[str]) -> str:
    return f"{one_by_one(match['year'])}年{_plain(match['month'])}月{_plain(match['day'])}日"


def _month(match: re.Match[str]) -> str:
    return f"{one_by_one(match['year'])}年{_plain(match['month'])}月"


def _day(match: re.Match[str]) -> str:
    return f"{_plain(match['month'])}月{_plain(match['day'])}日"


def _days(match: re.Match[str]) -> str:
    """'12/25-1/3': from a day to a day, or as it stands where both may be fractions, the smaller first."""
    first, last = (int(match["month"]), int(match["day"])), (int(match["to_month"]), int(match["to_day"]))
    are_proper = all(above < below for above, below in (first, last))
    is_rising = first[0] * last[1] < last[0] * first[1]
    if are_proper and is_rising and match["day_follows"] is None:
        return match.group()
    spoken = (f"{cardinal(str(month))}月{cardinal(str(day))}日" for month, day in (first, last))
    return "到".join(spoken)


def _years(match: re.Match[str]) -> str:
    return f"{one_by_one(match['first'])}{match['named']}到{one_by_one(match['last'])}"


RULES = (
    rule("tidy date and time", r"(?<=\d)T(?=\d\d:\d\d)|(?<=\d:\d\d)Z(?![A-Za-z])", " "),
    rule(
        "date",
        rf"(?<![\d.])(?P<year>\d{{4}})(?P<by>[-/.])(?P<month>{_MONTH})(?P=by)(?P<day>{_DAY})(?!\.?\d)",
        _date,
    ),
    rule("month", r"(?<![\d.-])(?P<year>(?:19|20)\d\d)[-/](?P<month>0[1-9]|1[0-2])(?![\d.%/-])", _month),
    rule("month", r"(?<![\d./-])(?P<month>0[1-9])[-/](?P<year>(?:19|20)\d\d)(?![\d.%/-])", _month),
    rule("month", r"(?<![\d./-])(?P<month>1[0-2])/(?P<year>20(?!00)\d\d)(?![\d.%/-])", _month),
    rule(
        "days",
        rf"(?<![\d./-])(?P<month>{_MONTH})/(?P<day>{_DAY})\s?(?:[-~到至]|—{{1,2}})\s?"
        rf"(?P<to_month>{_MONTH})/(?P<to_day>{_DAY})(?![\d/.%])(?P<day_follows>{_TELLS_A_DAY})?",
        _days,
    ),
    rule("day", rf"(?<![\d./-])(?P<month>{_MONTH})/(?P<day>{_DAY})(?![\d/.%]){_TELLS_A_DAY}", _day),
    rule("day", rf"{_ASKS_FOR_A_DAY}(?P<month>{_MONTH})/(?P<day>{_DAY})(?![\d/.%])", _day),
    # A zero in front makes it a date too: '10/01' and '05-12', but not '10-12' and '1/2'.
    rule("day", rf"(?<![\d./-])(?P<month>{_MONTH})/(?P<day>0[1-9])(?![\d/.%])", _day),
    rule("day", r"(?<![\d./-])(?P<month>0[1-9])[-/](?P<day>0[1-9]|[12]\d|3[01])(?![\d/.%-])", _day),
    rule(
        "years",
        r"(?<!\d)(?P<first>\d{4})(?P<named>年?)\s?[-~—/至到]{1,2}\s?(?P<last>\d{4}|\d\d)(?=年(?!级)|学年|财年|年度|赛季)",
        _years,
    ),
    rule("year", rf"(?<!\d)(?![1-9]000年)(?:1\d|20|21)\d\d(?={_OF_A_YEAR})", digits),
    rule("year", r"(?<=[〔【\[(（])(?:19|20)\d\d(?=[〕】\])）]\d)", digits),
    rule("year", rf"(?<!\d)[1-9]000(?={_OF_A_DATE}|年代|年元)", digits),
    rule("year", rf"(?<!\d)(?:0\d(?=年)|[6-9]\d(?={_OF_A_DATE})|[06-9][05]后)", digits),
    rule(
        "tidy date",
        r"(?<!\d)(?P<month>\d{1,2})月(?P<day>\d{1,2})(?=[日号]|[-~—到至]\d{1,2}[日号])",
        lambda match: f"{int(match['month'])}月{int(match['day'])}",
    ),
    rule("tidy date", r"(?<!\d)0(?=\d月)|(?<=[-~—到至])0(?=\d[日号])", ""),
)
