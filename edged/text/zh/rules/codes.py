"""Digits that are no quantity: versions, plates, telephone numbers, rooms, passwords, addresses of flats."""

from __future__ import annotations

import re

from edged.text.zh.numbers import cardinal, one_by_one, telephone
from edged.text.zh.rules.pattern import digits, rule
from edged.text.zh.units import UNIT

_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
_TELEPHONE_WORDS = (
    "电话号码|联系电话|手机号码?|电话|手机|热线|拨打|致电|拨|号码|传真|客服|呼叫|分机|报警|急救|火警|打"
)
_HOTLINES = (
    "110|119|120|122|114|12345|12306|12315|12319|12320|12333|12348|12366|12369|12388"
    "|10000|10010|10086|95\\d{3}"
)
_CODE_WORDS = (
    "密码|验证码|校验码|取件码|提货码|工号|卡号|订单号?|单号|编号|账号|帐号|学号|邮编|尾号|房号|房间号?|代码|序列号"
    "|[Ii][Dd]|QQ|qq|微信|PIN|pin|型号|航班号?|车次|证号|口令|代号|批号|门牌号?|工位|座位号?|票号|流水号|端口号?"
    "|频道|车牌号?|车号|身份证|证件|合同号|会员号|病历号|就诊号|取货码|付款码|兑换码|邀请码|激活码|提取码|识别码|条形?码|税号"
    "|保单号|受理号|设备号|编码"
)
_NUMBERED = (
    "室|房|病房|号房|号病房|宿舍|教室|医院|会议室|包厢|包间|号会议室|号教室|路(?!程|人|口)|次列车|次航班|号线|航班"
    "|国道|省道|高地|班列"
)
_NO_QUANTITY = rf"(?!\s?(?:{UNIT})|\s?[%‰元万亿个人次吨年月日天岁米公千克度分秒])"
_ENDS = r"(?!\.?\d)"
_EXTENSION = r"\s?转(?:分机)?\s?\d{1,6}"


def _telephone(match: re.Match[str]) -> str:
    country = "加" if match.group().lstrip("(").startswith("+") else ""
    return country + _with_extension(match.group())


def _with_extension(text: str) -> str:
    """'62781234转801': the extension behind a pause."""
    return "，转".join(map(telephone, text.split("转")))


def _named_telephone(match: re.Match[str]) -> str:
    return match["word"] + _with_extension(match["digits"])


def _separate(text: str) -> str:
    """Letters and digits of a code, each by itself."""
    return " ".join(re.findall(r"[A-Za-z]|[^A-Za-z]+", one_by_one(text)))


def _named_code(match: re.Match[str]) -> str:
    return f"{match['word']} {'，'.join(map(_separate, match['digits'].split('-')))} "


def _plate(match: re.Match[str]) -> str:
    return f"{match['province']} {_separate(re.sub('[^A-Z0-9]', '', match['code']))} "


def _version(match: re.Match[str]) -> str:
    return one_by_one(match.group()).replace(".", "点")


def _flat(match: re.Match[str]) -> str:
    """'5-1-302': short parts as cardinals, long ones digit by digit, a pause between."""
    parts = match.group().split("-")
    return "，".join(cardinal(part) if len(part) <= 2 else one_by_one(part) for part in parts)


RULES = (
    rule(
        "version",
        rf"(?<![A-Za-z0-9.])[vV]\s?(?P<digits>\d+(?:\.\d+)*){_ENDS}",
        lambda match: "v " + one_by_one(match["digits"]).replace(".", "点"),
    ),
    rule("version", rf"(?<![\d.])\d+(?:\.\d+){{2,}}{_ENDS}", _version),
    rule(
        "licence plate",
        rf"(?P<province>[{_PROVINCES}])"
        r"(?P<code>[A-Z][·•\s]?(?=[A-Z]{0,5}\d)[A-Z0-9]{5,6})(?![A-Za-z0-9])",
        _plate,
    ),
    rule(
        "telephone",
        r"(?<![\dA-Za-z.])(?:\(?\+?86\)?[- ]?)?1[3-9]\d[- ]?\d{4}[- ]?\d{4}" + _ENDS + _NO_QUANTITY,
        _telephone,
    ),
    rule(
        "telephone",
        r"(?<![\d.])(?:\(0\d{2,3}\)|0\d{2,3}[- ])[- ]?\d{3,4}[- ]?\d{4}"
        rf"(?:-\d{{1,6}}|{_EXTENSION})?(?!\d)",
        _telephone,
    ),
    rule(
        "telephone",
        r"(?<![\d.])[48]00(?:[- ]?\d{3,4}[- ]\d{3,4}|\d{7})" + rf"(?:{_EXTENSION})?(?!\d)",
        _telephone,
    ),
    rule("telephone", r"(?<![\dA-Za-z])\+\d{1,3}[ -]?\(?\d{1,4}\)?(?:[ -]?\d{2,4}){2,4}(?!\d)", _telephone),
    rule(
        "telephone",
        rf"(?P<word>(?:{_TELEPHONE_WORDS})(?:是|为|了|:|\s|请|一下|号){{0,3}})"
        rf"(?P<digits>\d{{3,13}}(?:[- ]\d{{2,8}}){{0,3}}(?:{_EXTENSION})?){_ENDS}{_NO_QUANTITY}",
        _named_telephone,
    ),
    rule(
        "telephone",
        rf"(?<![\d.])(?:{_HOTLINES})(?=热线|电话|客服|专线|报警|急救|火警|消防|求助|报修|平台|服务热线)",
        _telephone,
    ),
    rule(
        "code",
        rf"(?P<word>(?:{_CODE_WORDS})(?:是|为|:|\s|号码|号){{0,3}})"
        r"(?P<digits>(?=[A-Za-z-]{0,40}\d)(?:[A-Za-z0-9]{3,40}|0\d)(?:-[A-Za-z0-9]{1,20}){0,6}"
        rf"|\d{{1,20}}(?:-\d{{1,20}}){{1,6}}|[A-Za-z]\d)(?![A-Za-z0-9])(?![.:/]\d){_NO_QUANTITY}",
        _named_code,
    ),
    rule("code", rf"(?<=[号码])\s?[:是为]?\s?\d{{9,}}(?![\d.,]){_NO_QUANTITY}", digits),
    rule("name", r"(?<![\d-])7-11(?=便利|超市|连锁|门店|店)", "七十一"),
    rule(
        "ordinal",
        r"(?<=第)\d{1,4}(?:/\d{1,4}){1,5}(?![\d/])",
        lambda match: "、".join(map(cardinal, match.group().split("/"))),
    ),
    rule(
        "day",
        r"(?<![\d.])(?P<m>[35678])\.(?P<d>[18])(?=\w{0,3}节)",
        lambda match: one_by_one(match["m"] + match["d"]),
    ),
    rule("day", r"(?<!\d)(?:618|315|520|1024)(?=大促|晚会|购物节|年中|活动|表白|程序员节)", digits),
    rule("room", rf"(?<![\d.,:-])\d{{3,4}}(?=\s?(?:{_NUMBERED}))", digits),
    rule("room", r"(?<=[单元栋座幢楼门])\d{3,4}(?![\d.,]|[元个人次米岁分秒天年度平多])", digits),
    rule("flat", r"(?<![\d.A-Za-z-])\d{1,3}(?:-\d{1,4}){2,4}(?!\.?\d|-)", _flat),
    rule("flat", r"(?<![\d.A-Za-z-])\d{1,2}-\d{3,4}(?=室|房|号房|户)", _flat),
)
