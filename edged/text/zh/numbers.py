"""Digits -> the characters that are said for them."""

from __future__ import annotations

DIGITS = "零一二三四五六七八九"
LONGEST_CARDINAL = 16
"""More digits than these (up to 千万亿) are said one by one."""

_PLACES = ("", "十", "百", "千")
_GROUPS = ("", "万", "亿", "万亿")
_ONE_BY_ONE = str.maketrans("0123456789", DIGITS)
_TELEPHONE = str.maketrans("0123456789", DIGITS.replace("一", "幺"))


def one_by_one(text: str) -> str:
    """'1920' -> '一九二零'; other characters stay."""
    return text.translate(_ONE_BY_ONE)


def telephone(text: str) -> str:
    """'110' -> '幺幺零': digits as they are said in telephone numbers; all else is dropped."""
    return "".join(filter(str.isdigit, text)).translate(_TELEPHONE)


def cardinal(digits: str) -> str:
    """'12030' -> '一万二千零三十'. A leading zero or too many digits: one by one."""
    if len(digits) > LONGEST_CARDINAL or (len(digits) > 1 and digits[0] == "0"):
        return one_by_one(digits)
    if not digits.strip("0"):
        return "零"
    padded = digits.zfill(-(-len(digits) // 4) * 4)
    groups = [padded[at : at + 4] for at in range(0, len(padded), 4)]
    spoken = ""
    is_gap = False
    for at, group in enumerate(groups):
        if group == "0000":
            is_gap = True
            continue
        if spoken and (is_gap or group[0] == "0"):
            spoken += "零"
        spoken += _group(group, is_first=not spoken) + _GROUPS[len(groups) - 1 - at]
        is_gap = False
    if spoken.count("万亿") and "亿" in spoken.split("万亿", 1)[1]:
        spoken = spoken.replace("万亿", "万", 1)  # '一万二千亿', not '一万亿二千亿'
    return "十" + spoken[2:] if spoken.startswith("一十") else spoken


def _group(group: str, is_first: bool) -> str:
    """Four digits, without zeros in front; 两千 only at the head of a number."""
    spoken = ""
    is_gap = False
    for at, digit in enumerate(group):
        if digit == "0":
            is_gap = bool(spoken)
            continue
        place = _PLACES[3 - at]
        word = "两" if digit == "2" and place == "千" and is_first and not spoken else DIGITS[int(digit)]
        spoken += ("零" if is_gap else "") + word + place
        is_gap = False
    return spoken


def number(text: str) -> str:
    """A cardinal or a decimal, with or without commas: '1,234.50' -> '一千二百三十四点五零'."""
    whole, point, decimals = text.replace(",", "").partition(".")
    spoken = headed(cardinal(whole or "0"))
    return f"{spoken}点{one_by_one(decimals)}" if point and decimals else spoken


def headed(spoken: str) -> str:
    """'二万…' -> '两万…', '二亿…' -> '两亿…'."""
    return "两" + spoken[1:] if spoken[:1] == "二" and spoken[1:2] in ("万", "亿") else spoken


def counted(text: str) -> str:
    """A number before a measure word: a lone 2 is 两."""
    return "两" if text == "2" else number(text)
