"""What is written in digits and signs -> characters: rules by name, applied one after another.

Order matters: what looks like several things is taken by the narrowest rule first (an address before a
decimal, a date before a range, a telephone number before a cardinal). No rule's result has digits, but
those of `tidy …` rules, which only bring one way of writing into another.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from edged.text.zh.numbers import cardinal, counted, number, one_by_one, telephone
from edged.text.zh.units import CURRENCIES, MEASURES, UNCOUNTED, UNIT, unit_name

Rule = tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]]

_N = r"(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d+)?"
_SIGNED = rf"(?P<sign>(?<![A-Za-z0-9)%°])[-+±])?(?<!\d)(?<!\d\.)(?P<n>{_N})"
_SIGNS = {"-": "负", "+": "正", "±": "正负", None: "", "": ""}
_PER = {"%": "百分之", "‰": "千分之", "‱": "万分之", "ppm": "百万分之", "ppb": "十亿分之"}
_PER_SIGN = r"(?P<per>[%‰‱]|pp[mb](?![A-Za-z]))"
_CURRENCY = "|".join(sorted(map(re.escape, (c for c in CURRENCIES if c != "元")), key=len, reverse=True))
_MAGNITUDE = "(?P<magnitude>万亿|百万|千万|亿|万|千)?"
_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
_TELEPHONE_WORDS = "电话号码|联系电话|手机号码?|电话|手机|热线|拨打|致电|拨|号码|传真|客服|呼叫|分机|报警|急救|火警|打"
_CODE_WORDS = (
    "密码|验证码|校验码|取件码|提货码|工号|卡号|订单号?|单号|编号|账号|帐号|学号|邮编|尾号|房号|房间号?|代码|序列号|[Ii][Dd]|QQ|qq|微信"
    "|PIN|pin|型号|航班号?|车次|证号|口令|代号|批号|门牌号?|工位|座位号?|票号|流水号|端口号?|频道|车牌号?"
)
_UNIT_AHEAD = rf"(?!\s?(?:{UNIT})|\s?(?:[%‰元万亿个人次吨年月日天岁米公千克度分秒]))"
_DASH = r"\s*(?:[-~]|—{1,2}|--(?=\d))\s*"
_DAY_PARTS = {"a": "上午", "p": "下午"}


def _time(match: re.Match[str]) -> str:
    hour, minute, second = match["h"], match["m"], match["s"]
    spoken = _hour(hour) + "点"
    if second is not None:
        spoken += f"{_minute(minute)}分{_minute(second)}秒"
    elif int(minute):
        spoken += f"{_minute(minute)}分"
    return _half_day(match["half"]) + spoken


def _hour(text: str) -> str:
    return counted(str(int(text)))


def _minute(text: str) -> str:
    return cardinal(text) if int(text) or len(text) == 1 else "零"


def _half_day(text: str | None) -> str:
    return _DAY_PARTS[text[0].lower()] if text else ""


def _date(match: re.Match[str]) -> str:
    year, month, day = match["y"], int(match["mo"]), int(match["d"])
    return f"{one_by_one(year)}年{cardinal(str(month))}月{cardinal(str(day))}日"


def _plain(match: re.Match[str]) -> str:
    return one_by_one(match.group())


def _dotted(match: re.Match[str]) -> str:
    """Digits one by one, the dots said."""
    return one_by_one(match.group()).replace(".", "点").replace("/", "斜杠").replace(":", " ")


def _separate(text: str) -> str:
    """Letters and digits of a code, each by itself."""
    return " ".join(re.findall(r"[A-Za-z]|[^A-Za-z]+", one_by_one(text).replace("-", " ")))


def _address(match: re.Match[str]) -> str:
    """A URL or an e-mail address: scheme left out, signs by name."""
    text = re.sub(r"^https?://|^www\.(?=[^.]+\.)", "", match.group(), flags=re.IGNORECASE)
    tail = ""
    while text and text[-1] in ".,;:!?)'\"":
        tail = text[-1] + tail
        text = text[:-1]
    named = {"@": " at ", ".": " 点 ", "/": " 斜杠 ", "-": " 杠 ", "_": " 下划线 ", ":": " 冒号 ", "?": " 问号 ", "=": " 等于 ", "#": " 井号 ",
             "&": " 和 ", "%": " 百分号 ", "+": " 加 ", "~": " "}  # fmt: skip
    return f" {''.join(named.get(char, char) for char in one_by_one(text.rstrip('/')))} {tail}"


def _signed_number(match: re.Match[str]) -> str:
    return _SIGNS[match["sign"]] + number(match["n"])


def _per(match: re.Match[str]) -> str:
    spoken = "百" if match["n"] == "100" and match["per"] == "%" else number(match["n"])
    return f"{_SIGNS[match['sign']]}{_PER[match['per']]}{spoken}"


def _per_range(match: re.Match[str]) -> str:
    first, last = number(match["a"]), number(match["b"])
    signs = _SIGNS[match["sa"]], _SIGNS[match["sb"]]
    return f"{signs[0]}{_PER[match['per']]}{first}到{signs[1]}{last}"


def _with_unit(match: re.Match[str]) -> str:
    spoken = number(match["n"]) if match["unit"] in UNCOUNTED else counted(match["n"])
    return _SIGNS[match["sign"]] + spoken + unit_name(match["unit"])


def _money(match: re.Match[str]) -> str:
    amount, magnitude = match["n"], match["magnitude"] or ""
    if not magnitude:
        amount = re.sub(r"\.0+$", "", amount)
    sign = "负" if match["sign"] == "-" else ""
    return sign + counted(amount) + magnitude + CURRENCIES[match["currency"]]


def _fraction(match: re.Match[str]) -> str:
    whole = f"{number(match['whole'])}又" if match["whole"] else ""
    return f"{_SIGNS[match['sign']]}{whole}{number(match['below'])}分之{number(match['above'])}"


def _code(match: re.Match[str]) -> str:
    """A letter's number: short ones as cardinals, long ones digit by digit."""
    digits = match["digits"]
    is_short = len(digits.partition(".")[0]) <= 2 and not (digits.startswith("0") and digits[1:2] != ".")
    return match["letters"] + (number(digits) if is_short else one_by_one(digits).replace(".", "点"))


def _telephone(match: re.Match[str]) -> str:
    country = "加" if match.group().lstrip("( ")[:1] == "+" else ""
    return country + telephone(match.group())


def _word_then(say: Callable[[str], str]) -> Callable[[re.Match[str]], str]:
    return lambda match: match["word"] + say(match["digits"])


def _constant(text: str) -> Callable[[re.Match[str]], str]:
    return lambda _match: text


def _rule(name: str, pattern: str, say: Callable[[re.Match[str]], str]) -> Rule:
    return name, re.compile(pattern), say


_ADDRESSES = (
    _rule("e-mail", r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}(?![A-Za-z0-9])", _address),
    _rule("URL", r"(?:https?://|www\.)[A-Za-z0-9][!-~]{1,300}", _address),
    _rule(
        "URL",
        r"(?<![A-Za-z0-9.@-])(?:[A-Za-z0-9-]{1,63}\.){1,4}(?:com|cn|net|org|io|gov|edu|info|dev|top|me|cc|local|lan)"
        r"(?:/[!-.0-~/]{0,200})?(?![A-Za-z0-9])",
        _address,
    ),
    _rule("network address", r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2}|:\d{2,5})?(?![\d.]*\d)", _dotted),
)  # fmt: skip

_DATES = (
    _rule("tidy date and time", r"(?<=\d)T(?=\d\d:\d\d)|(?<=\d:\d\d)Z\b", _constant(" ")),
    _rule("date", r"(?<![\d.])(?P<y>\d{4})(?P<by>[-/.])(?P<mo>0?[1-9]|1[0-2])(?P=by)(?P<d>0?[1-9]|[12]\d|3[01])(?![\d.]*\d)", _date),
    _rule(
        "month",
        r"(?<![\d.-])(?P<y>(?:19|20)\d\d)[-/](?P<m>0[1-9]|1[0-2])(?![\d.%/-])",
        lambda m: f"{one_by_one(m['y'])}年{cardinal(str(int(m['m'])))}月",
    ),
    _rule(
        "day",
        r"(?<![\d./-])(?P<m>0?[1-9]|1[0-2])/(?P<d>0[1-9])(?![\d/.%])|(?<![\d./-])(?P<m0>0[1-9])[-/](?P<d0>0[1-9]|[12]\d|3[01])(?![\d/.%-])",
        lambda m: f"{cardinal(str(int(m['m'] or m['m0'])))}月{cardinal(str(int(m['d'] or m['d0'])))}日",
    ),
    _rule(
        "years",
        r"(?<!\d)(?P<a>\d{4})年?\s*[-~—/至到]{1,2}\s*(?P<b>\d{4}|\d\d)(?=年(?!级)|学年|财年|年度|赛季)",
        lambda m: f"{one_by_one(m['a'])}到{one_by_one(m['b'])}",
    ),
    _rule("year", r"(?<!\d)(?![1-9]000年)(?:1\d|20|21)\d\d(?=\s?(?:年|学年|财年|届|赛季|款|版|春|夏|秋|冬|级新生|级学生))", _plain),
    _rule("year", r"(?<!\d)(?:[1-9]000)(?=年(?![前后间来多的以内]|历史)(?:\d|春|夏|秋|冬|初|底|代|出|毕|新|元))", _plain),
    _rule("year", r"(?<!\d)(?:0\d(?=年)|[6-9]\d(?=年(?:\d|春|夏|秋|冬|初|底|出生|毕业|款))|[06-9][05]后(?=.?))", _plain),
    _rule(
        "tidy month",
        r"(?<!\d)(?P<m>\d{1,2})月(?P<d>\d{1,2})(?=[日号]|[-~—到至]\d{1,2}[日号])",
        lambda m: f"{int(m['m'])}月{int(m['d'])}",
    ),
    _rule("tidy month", r"(?<!\d)0(?=\d月)|(?<=[-~—到至])0(?=\d[日号])", _constant("")),
)  # fmt: skip

_CODES = (
    _rule("version", r"(?<![A-Za-z0-9.])[vV]\s?\d+(?:\.\d+)*(?![.]?\d)", lambda m: f"v {_dotted(m).lstrip('vV ')}"),
    _rule("version", r"(?<![\d.])\d+(?:\.\d+){2,}(?![\d.]*\d)", _dotted),
    _rule(
        "licence plate",
        rf"(?P<p>[{_PROVINCES}])(?P<code>[A-Z][·•\s]?(?=[A-Z]{{0,5}}\d)[A-Z0-9]{{5,6}})(?![A-Za-z0-9])",
        lambda m: f"{m['p']} {_separate(re.sub('[^A-Z0-9]', '', m['code']))} ",
    ),
    _rule("telephone", rf"(?<![\dA-Za-z.])(?:\(?\+?86\)?[- ]?)?1[3-9]\d[- ]?\d{{4}}[- ]?\d{{4}}(?![\d.]*\d){_UNIT_AHEAD}", _telephone),
    _rule("telephone", r"(?<![\d.])(?:\(0\d{2,3}\)|0\d{2,3}[- ])[- ]?\d{3,4}[- ]?\d{4}(?:(?:-|转)\d{1,6})?(?!\d)", _telephone),
    _rule("telephone", r"(?<![\d.])[48]00[- ]?\d{3,4}[- ]\d{3,4}(?!\d)|(?<![\d.])[48]00\d{7}(?!\d)", _telephone),
    _rule("telephone", r"(?<![\dA-Za-z])\+\d{1,3}[ -]?\(?\d{1,4}\)?(?:[ -]?\d{2,4}){2,4}(?!\d)", _telephone),
    _rule(
        "telephone",
        rf"(?P<word>(?:{_TELEPHONE_WORDS})(?:是|为|了|:|\s|请|一下|号){{0,3}})(?P<digits>\d{{3,13}}(?:[- ]\d{{2,8}}){{0,3}})(?![\d.]*\d){_UNIT_AHEAD}",
        _word_then(telephone),
    ),
    _rule(
        "telephone",
        r"(?<![\d.])(?P<digits>110|119|120|122|114|12345|12306|12315|12319|12320|12333|12348|12366|12369|12388|10000|10010|10086|95\d{3})(?=热线|电话|客服|专线|报警|急救|服务热线)",
        lambda m: telephone(m["digits"]),
    ),
    _rule(
        "code",
        rf"(?P<word>(?:{_CODE_WORDS})(?:是|为|:|\s|号码){{0,3}})(?P<digits>(?=[A-Za-z-]*\d)(?:[A-Za-z0-9]{{3,40}}|0\d)(?:-[A-Za-z0-9]{{1,20}}){{0,6}}|[A-Za-z]\d)(?![A-Za-z0-9])(?![.:/]\d){_UNIT_AHEAD}",
        _word_then(lambda digits: f" {_separate(digits)} "),
    ),
    _rule("room", r"(?<![\d.,:-])\d{3,4}(?=\s?(?:室|房|病房|号房|号病房|宿舍|教室|医院|会议室|包厢|包间|号会议室|号教室|路(?!程|人|口)|次列车|次航班|号线|航班|国道|省道|高地|班列))", _plain),
    _rule("room", r"(?<=[单元栋座幢楼门])\s?\d{3,4}(?![\d.,]|[元个人次米岁分秒天年度平多])", lambda m: one_by_one(m.group().strip())),
    _rule("code", r"(?<![\d.A-Za-z-])\d{1,3}(?:-\d{1,4}){2,4}(?![\d.]*\d|-)", lambda m: "杠".join(map(_code_part, m.group().split("-"))).replace("杠", "，")),
    _rule(
        "code",
        r"(?<![\d.A-Za-z-])(?P<a>\d{1,2})-(?P<b>\d{3,4})(?=室|房|号房|户)",
        lambda m: f"{cardinal(m['a'])}，{one_by_one(m['b'])}",
    ),
)  # fmt: skip


def _code_part(digits: str) -> str:
    return cardinal(digits) if len(digits) <= 2 else one_by_one(digits)


_SCORES = "比分|战胜|击败|大胜|险胜|完胜|逆转|负于|不敌|惜败|领先|落后|战平|打平|战成|打成|总分"
_TIMES = (
    _rule(
        "ratio",
        rf"(?P<word>(?:{_SCORES}|比例|比率|配比|比为|赔率|胜率比)[^\d，。,]{{0,8}})(?P<a>{_N})\s?[:-]\s?(?P<b>{_N})(?![\d:])",
        lambda m: f"{m['word']}{number(m['a'])}比{number(m['b'])}",
    ),
    _rule(
        "ratio",
        rf"(?<![\d:.-])(?P<a>\d{{1,3}})[:-](?P<b>\d{{1,3}})(?=\s?(?:{_SCORES}|取胜|获胜|胜出|胜|落败|力克|横扫|告负|的比分|的比例))",
        lambda m: f"{number(m['a'])}比{number(m['b'])}",
    ),
    _rule(
        "time",
        r"(?<![\d:.])(?P<h>[01]?\d|2[0-4]):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d)(?:\.\d+)?)?(?![\d:])(?:\s?(?P<half>[aApP]\.?[mM](?![A-Za-z])\.?))?[点分]?",
        _time,
    ),
    _rule(
        "time",
        r"(?<![\d:.])(?P<h>1[0-2]|0?[1-9])\s?(?P<half>[aApP]\.?[mM](?![A-Za-z])\.?)",
        lambda m: f"{_half_day(m['half'])}{_hour(m['h'])}点",
    ),
    _rule("tidy time", r"(?<!\d)0(?=\d\s?点(?!\d*[%元个]))", _constant("")),
    _rule("time", r"(?<=\d点)00分?", _constant("整")),
    _rule("ratio", rf"(?<![\d:.])(?P<a>{_N})(?P<rest>(?::{_N})+)(?![\d:])", lambda m: "比".join(map(number, m.group().split(":")))),
)

_RANGES = (
    _rule("sum", r"(?<=\d)\s*-\s*(?=\d[^=，。]{0,20}=)", _constant("减")),
    _rule("sum", r"(?<=\d)\s*/\s*(?=\d[^=，。]{0,20}=)", _constant("除以")),
    _rule("sum", r"(?<=[\d)])\s*[×xX*✕]\s*(?=[\d(])", _constant("乘")),
    _rule("sum", r"(?<=\d)\s*\+\s*(?=\d)", _constant("加")),
    _rule("sum", r"(?<=[\d)])\s*\^\s*(?P<p>\d+)", lambda m: f"的{number(m['p'])}次方"),
    _rule("sum", r"<=\s?(?=[-\d])", _constant("小于等于")),
    _rule("sum", r">=\s?(?=[-\d])", _constant("大于等于")),
    _rule("sum", r"<\s?(?=[-\d])", _constant("小于")),
    _rule("sum", r"(?<![-=])>\s?(?=[-\d])", _constant("大于")),
    _rule("sum", r"(?<=\d)\s*(?:<|>)\s*(?=\d)", lambda m: "小于" if "<" in m.group() else "大于"),
    _rule("sum", r"!=\s?(?=[-\d])", _constant("不等于")),
    _rule("range", rf"(?P<left>\d\s?{UNIT}){_DASH}(?=[-+±]?\d)", lambda m: m["left"] + "到"),
    _rule("range", rf"(?<=[\d%‰元点分日号月年时秒度个岁米楼层室万亿]){_DASH}(?=[-+±]?(?:HK|US)?[¥$€£]?\d)", _constant("到")),
    _rule("range", r"(?<=[A-Z]\d)\s*[-~—]\s*(?=[A-Z]\d)", _constant("到")),
    _rule("range", r"(?<=[周期拜][一二三四五六日天])\s*[-~—]{1,2}\s*(?=周|星期|礼拜)", _constant("到")),
    _rule("range", r"(?<=[年月日号点分秒])\s*[-~—]{1,2}\s*(?=[零一二两三四五六七八九十上下])", _constant("到")),
)  # fmt: skip

_AMOUNTS = (
    _rule("money", rf"(?P<sign>(?<![A-Za-z0-9])-)?(?P<currency>{_CURRENCY})\s?(?P<n>{_N}){_MAGNITUDE}(?:元|美元)?", _money),
    _rule("money", rf"(?P<sign>(?<![A-Za-z0-9)])-)?(?<![\d.])(?P<n>{_N})\s?{_MAGNITUDE}(?P<currency>RMB|CNY|USD|EUR|GBP|HKD|JPY|€|\$|£|¥)(?![A-Za-z])", _money),
    _rule("money", rf"(?P<sign>)(?<![\d.])(?P<n>\d+\.00?)(?P<magnitude>)(?P<currency>元)", _money),
    _rule("per", rf"(?P<sa>(?<![A-Za-z0-9)%°])[-+])?(?<!\d)(?<!\d\.)(?P<a>{_N})到(?P<sb>[-+])?(?P<b>{_N})\s?{_PER_SIGN}", _per_range),
    _rule("per", rf"{_SIGNED}\s?{_PER_SIGN}", _per),
    _rule("unit", rf"{_SIGNED}\s?(?P<unit>{UNIT})(?!(?<=A)[级座区栋口门班]|网|手机|信号)", _with_unit),
    _rule("unit", rf"(?<![A-Za-z0-9])(?P<unit>km/h|m/s|°[CF]|kWh|mm²|cm²|m²|km²|m³|μg/m³|mg/L|mg/m³)(?![A-Za-z0-9])", lambda m: unit_name(m["unit"])),
    _rule("round the clock", r"(?<![\d/.])24/7(?![\d/.])", _constant("七天二十四小时")),
    _rule("blood pressure", r"(?P<word>血压(?:为|是|:|\s){0,2})(?P<a>\d{2,3})/(?P<b>\d{2,3})", lambda m: f"{m['word']}{number(m['a'])}，{number(m['b'])}"),
    _rule("fraction", rf"(?P<sign>(?<![A-Za-z0-9)])-)?(?<![\d./])(?:(?P<whole>\d+)\s)?(?P<above>\d{{1,9}})/(?P<below>\d{{1,9}})(?![\d/])", _fraction),
)  # fmt: skip

_NUMBERS = (
    _rule("number sign", r"(?:No\.|NO\.|#)\s?(?P<n>\d+)(?:号)?", lambda m: f"{cardinal(m['n'])}号"),
    _rule("count", rf"(?<![\d.,第到])(?<!第\d)2(?=到\d+(?:\.\d+)?\s?(?:{MEASURES}))", _constant("两")),
    _rule("count", rf"(?<![\d.,第到A-Za-z:-])2\s?(?=(?:{MEASURES})(?!级|度[假]|季度))(?!年级|季度|点\d)", _constant("两")),
    _rule("time", r"(?<![\d.,第到A-Za-z])2(?=点)", _constant("两")),
    _rule("code", r"(?P<letters>[A-Za-z])[-_ ]?(?<![A-Za-z]{9} )(?P<digits>\d+(?:\.\d+)*)", _code),
    _rule("code", r"(?<![\d.,])\d{3,}(?=[A-Za-z])", _plain),
    _rule("number", r"(?<![\d])\.(?=\d)", _constant("0.")),
    _rule("number", _SIGNED, _signed_number),
    _rule("number", r"\d+", _plain),
)

RULES: tuple[Rule, ...] = (*_ADDRESSES, *_DATES, *_CODES, *_TIMES, *_RANGES, *_AMOUNTS, *_NUMBERS)
