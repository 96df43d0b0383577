"""Numbers to English words, US style: no "and" inside a cardinal. Pure functions over digit strings."""

from __future__ import annotations

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = [".", ".", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SCALES = [
    "thousand",
    "million",
    "billion",
    "trillion",
    "quadrillion",
    "quintillion",
    "sextillion",
    "septillion",
    "octillion",
    "nonillion",
    "decillion",
]
_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip
LONGEST_PLAIN = 15
"""Digits; a longer number without separators is an identifier and read digit by digit."""
LONGEST_GROUPED = 36
"""Digits of the largest number that has a name here; a longer one is read digit by digit."""


def digits(text: str) -> str:
    """'0142' -> 'zero one four two'; all but ASCII digits is left out."""
    return " ".join(_ONES[ord(c) - 48] for c in text if "0" <= c <= "9")


def integer(text: str) -> str:
    """A run of digits, with or without commas: a cardinal, or digit by digit where it is no quantity.

    '007' and what is longer than a quantity is written are read digit by digit.
    """
    plain = text.replace(",", "")
    longest = LONGEST_PLAIN if plain is text or plain == text else LONGEST_GROUPED
    if len(plain) > longest or (len(plain) > 1 and plain[0] == "0"):
        return digits(plain)
    return cardinal(int(plain))


def cardinal(value: int) -> str:
    """0 <= value < 10**36."""
    if value < 1000:
        return _below_1000(value)
    groups = []
    for scale in ("", *_SCALES):
        value, group = divmod(value, 1000)
        if group:
            groups.append(f"{_below_1000(group)} {scale}".rstrip())
        if not value:
            break
    return " ".join(reversed(groups))


def _below_1000(value: int) -> str:
    hundreds, rest = divmod(value, 100)
    words = [_ONES[hundreds], "hundred"] if hundreds else []
    if rest >= 20:
        words.append(_TENS[rest // 10])
        rest %= 10
        if rest:
            words.append(_ONES[rest])
    elif rest or not words:
        words.append(_ONES[rest])
    return " ".join(words)


def ordinal(value: int) -> str:
    """'twenty fourth', 'one hundred first'; 0 <= value < 10**36."""
    head, _, last = cardinal(value).rpartition(" ")
    return f"{head} {_ordinal_word(last)}".lstrip()


def _ordinal_word(word: str) -> str:
    if word in _ORDINALS:
        return _ORDINALS[word]
    return word[:-1] + "ieth" if word.endswith("y") else word + "th"


def year(value: int) -> str:
    """'nineteen eighty four', 'two thousand five', 'twenty ten', 'nineteen oh five'; 1 to 9999."""
    century, rest = divmod(value, 100)
    if not 10 <= century <= 99 or (century % 10 == 0 and rest < 10):
        return cardinal(value)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {two_digits(f'{rest:02}')}"


def two_digits(text: str) -> str:
    """The second half of a year or the minutes of an hour: '05' -> 'oh five', '30' -> 'thirty'."""
    return f"oh {_ONES[int(text)]}" if text[0] == "0" else cardinal(int(text))


def number(text: str) -> str:
    """'1,234.50', '.5', '-0.5', '+7': sign, integer and decimals as words."""
    sign = ""
    if text[0] in "-−+":
        sign, text = ("plus " if text[0] == "+" else "minus "), text[1:]
    whole, point, decimals = text.partition(".")
    words = integer(whole) if whole else ""
    if point:
        words = f"{words} point {digits(decimals)}".lstrip()
    return sign + words


def is_one(text: str) -> bool:
    """True where a noun after the number is singular: '1', '-1'."""
    return text.lstrip("-−+±") == "1"


def plural(noun: str) -> str:
    """Plural of a regular noun; 'foot', 'inch' and the like stand in the tables with both forms."""
    if noun.endswith(("s", "x", "ch", "sh", "z")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def nth_part(denominator: int, is_plural: bool) -> str:
    """The denominator of a fraction: 'half', 'quarters', 'sixteenths'."""
    if denominator == 2:
        return "halves" if is_plural else "half"
    word = "quarter" if denominator == 4 else ordinal(denominator)
    return word + "s" if is_plural else word
