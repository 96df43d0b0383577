"""Numbers: ordinals, fractions, ranges, ratios, powers, arithmetic, plain numbers, and signs."""

from __future__ import annotations

import re
import unicodedata

from edged.text.en.letters import spell
from edged.text.en.measures import _RANGE_SIGN, NUM
from edged.text.en.numbers import cardinal, integer, is_one, nth_part, number, ordinal
from edged.text.en.scan import DIGIT, LETTER, SIGN, Match, Rule, after, around, before, word_before
from edged.text.en.tables import MULTIPLES, SYMBOLS, words

_CALCULATES = re.compile(r"=|\d ?[+×÷*] ?\d")


def _range(found: Match) -> str | None:
    """'9-5', '3 – 7', '-5 - -3'; spaced out it is a difference where the sentence calculates."""
    first, second, sign = found["a"], found["n"], found["to"]
    if sign.startswith(" ") != sign.endswith(" "):
        return None
    if sign.strip() in "-−" and _CALCULATES.search(around(found)):
        return None
    if any(len(n) > 1 and n.isdecimal() and n[0] == "0" for n in (first, second)):
        return None
    if (len(first) > 6 or len(second) > 6) and "." not in first + second and "," not in first + second:
        return None
    words = f"minus {number(second)}" if found["sign"] else number(second)
    return f"{number(first)} to {words}" + (" thousand" if found["k"] else "")


def _thousands(found: Match) -> str | None:
    """'20k steps'; a race is '5 k'."""
    return None if re.match(r" (?:run|race|walk|ride)", after(found)) else f"{number(found['n'])} thousand"


def _ordinal_range(found: Match) -> str:
    return f"{ordinal(int(found['a']))} to {ordinal(int(found['b']))}"


def _ordinal(found: Match) -> str | None:
    plain = found["n"].replace(",", "")
    return ordinal(int(plain)) if len(plain) <= 36 else None


def _fraction_words(top: int, bottom: int) -> str:
    if top == 0 or bottom < 2 or bottom > 1000:
        return f"{cardinal(top)} over {cardinal(bottom)}"
    return f"{cardinal(top)} {nth_part(bottom, top != 1)}"


def _mixed(found: Match) -> str | None:
    """'2 3/4': with denominators that people use, so that '12 5/7' stays two numbers."""
    top, bottom = int(found["a"]), int(found["b"])
    if not 0 < top < bottom or bottom not in _COMMON_DENOMINATORS:
        return None
    return _with_part(found, _fraction_words(top, bottom))


_COMMON_DENOMINATORS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 100)


def _with_part(found: Match, part: str) -> str:
    """'two and three quarters', 'one and a half'; inches where the match has them."""
    inches = " inches" if found["inch"] else ""
    return f"{number(found['w'])} and {'a half' if part == 'one half' else part}{inches}"


_LARGE_DENOMINATORS = (24, 25, 30, 32, 40, 50, 60, 64, 100, 128, 1000)
_SAID_AS_IT_IS = {
    ("24", "7"): "twenty four seven", ("9", "11"): "nine eleven", ("50", "50"): "fifty fifty",
    ("20", "20"): "twenty twenty", ("60", "40"): "sixty forty", ("80", "20"): "eighty twenty",
    ("70", "30"): "seventy thirty", ("24", "24"): "twenty four twenty four",
}  # fmt: skip


_COUNTED = words(
    """
    page step part episode track disc disk slide attempt file item test stage phase volume chapter
    """
)


def _fraction(found: Match) -> str | None:
    words = _fraction_alone(found)
    return f"{words} inch" if found["inch"] else words


def _fraction_alone(found: Match) -> str:
    first, second = found["a"], found["b"]
    if (first, second) in _SAID_AS_IT_IS:
        return _SAID_AS_IT_IS[first, second]
    is_code = max(len(first), len(second)) > 9 or second[0] == "0" or (first[0] == "0" and first != "0")
    if is_code:
        return f"{integer(first)} slash {integer(second)}"
    top, bottom = int(first), int(second)
    is_proper = top < bottom and (bottom <= 20 or bottom in _LARGE_DENOMINATORS)
    is_quotient = top >= bottom and "=" in around(found)
    if (
        not is_quotient
        and word_before(found) not in _COUNTED
        and (is_proper or (top <= 20 and 1 < bottom <= 12))
    ):
        return _fraction_words(top, bottom)
    link = "divided by" if is_quotient else "of" if word_before(found) in _COUNTED else "over"
    return f"{cardinal(top)} {link} {cardinal(bottom)}"


_GRADED_BEFORE = re.compile(
    r"\b(?:rat(?:ed|es?|ings?)|scor(?:ed|es?|ing)|reviews?|graded?|stars?)"
    r"(?: (?:is|of|at|was|it|a|an|now))*:? $",
    re.IGNORECASE,
)


def _graded(found: Match) -> str | None:
    """'rated 4/5', '4.5/5 stars'."""
    is_graded = _GRADED_BEFORE.search(before(found, 32)) or re.match(r"[ -](?:stars?|rating)\b", after(found))
    return f"{number(found['n'])} out of {number(found['of'])}" if is_graded else None


def _vulgar(found: Match) -> str | None:
    """'½', '2½', '2 ½'."""
    top, slash, bottom = unicodedata.normalize("NFKD", found["f"]).partition("⁄")
    if not slash or not bottom:
        return None
    part = _fraction_words(int(top), int(bottom))
    if found["w"]:
        return _with_part(found, part)
    return part + (" inch" if found["inch"] else "")


def _times(found: Match) -> str | None:
    """'2x faster', '3×'."""
    if found["x"] in "xX" and re.match(r"\w", after(found, 1)):
        return None
    return f"{number(found['n'])} time{'' if is_one(found['n']) else 's'}"


def _ratio(found: Match) -> str:
    return " to ".join(number(p) for p in found.group().split(":"))


def _power(found: Match) -> str:
    exponent = unicodedata.normalize("NFKC", found["e"]).replace("−", "-")
    value = int(exponent)
    if value in MULTIPLES:
        return f"{number(found['n'])} {MULTIPLES[value]}"
    sign = "minus " if value < 0 else ""
    return f"{number(found['n'])} to the power of {sign}{cardinal(abs(value))}"


def _raised(found: Match) -> str:
    return integer(unicodedata.normalize("NFKC", found.group()))


def _sections(found: Match) -> str:
    return "sections "


def _letter_power(found: Match) -> str:
    """'x²' -> 'X squared'."""
    base = spell(found["w"]) if len(found["w"]) <= 2 else found["w"]
    value = int(unicodedata.normalize("NFKC", found["e"].lstrip("^")).replace("−", "-"))
    power = MULTIPLES.get(value) or f"to the power of {'minus ' if value < 0 else ''}{cardinal(abs(value))}"
    return f"{base} {power}"


def _scientific(found: Match) -> str:
    sign = "minus " if found["e"][0] in "-−" else ""
    return f"{number(found['n'])} times ten to the power of {sign}{integer(found['e'].lstrip('+-−'))}"


def _scientific_super(found: Match) -> str:
    exponent = unicodedata.normalize("NFKC", found["e"].lstrip("^")).replace("−", "-")
    sign = "minus " if exponent[0] == "-" else ""
    return f"{number(found['n'])} times ten to the power of {sign}{integer(exponent.lstrip('+-'))}"


def _approximate(found: Match) -> str:
    return {"+": "plus", "±": "plus or minus", "~": "about", "≈": "about"}.get(found.group()[0], "minus")


def _is_sign_of_number(found: Match) -> bool:
    """A minus or a plus belongs to the number after it unless a word or a number stands before."""
    previous = found.string[found.start() - 1 : found.start()]
    return not previous or not (previous.isalnum() or previous in ")]%°")


def _sign(found: Match) -> str | None:
    return _approximate(found) if _is_sign_of_number(found) else None


def _number_sign(found: Match) -> str:
    """'#12', 'No. #12'."""
    return "" if word_before(found) in ("no", "nos", "number", "numbers") else "number"


def _plus_after(found: Match) -> str:
    return f"{number(found['n'])} plus"


def _number(found: Match) -> str:
    return number(found["n"])


def _operator(found: Match) -> str | None:
    """Between two numbers: '2 + 2', '10 - 3 =', '6 / 2 ='."""
    sign = found["op"] or found["spaced"]
    if sign in "-−–":
        return " minus " if _CALCULATES.search(around(found)) else None
    if sign in "/:":
        return " divided by " if "=" in around(found) else None
    if sign == "^":
        return " to the power of "
    return " plus " if sign == "+" else " times "


def _symbol(found: Match) -> str:
    words = SYMBOLS[found.group()]
    return f" {words} " if words else " "


RULES = (
    Rule(
        "scientific",
        (DIGIT,),
        r"(?P<n>\d{1,15}(?:\.\d{1,15})?)[eE](?P<e>[+\-−]?\d{1,3})(?![\w.])",
        _scientific,
    ),
    Rule(
        "scientific",
        (DIGIT,),
        r"(?P<n>\d{1,15}(?:\.\d{1,15})?) ?[×x*·] ?10(?P<e>\^[+\-−]?\d{1,3}(?!\d)|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})",
        _scientific_super,
    ),
    Rule(
        "power",
        (DIGIT,),
        rf"(?P<n>{NUM})\^?(?P<e>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,4}}|(?<=\^)[-−]?\d{{1,4}})",
        _power,
    ),
    Rule(
        "ordinal range",
        (DIGIT,),
        r"(?P<a>\d{1,3})(?:st|nd|rd|th)?[-–](?P<b>\d{1,3})(?:st|nd|rd|th)(?!\w)",
        _ordinal_range,
    ),
    Rule(
        "ordinal",
        (DIGIT,),
        r"(?P<n>\d{1,3}(?:,\d{3}){1,11}|\d{1,36})(?:st|nd|rd|th|ST|ND|RD|TH)(?!\w)",
        _ordinal,
    ),
    Rule(
        "power", (LETTER,), "(?P<w>[A-Za-z]{1,12})(?P<e>⁻?[⁰¹²³⁴-⁹]{1,3}|\\^[-−]?[0-9]{1,4})", _letter_power
    ),
    Rule("times", (DIGIT,), rf"(?P<n>{NUM})(?P<x>[x×])(?!\w)", _times),
    Rule(
        "fraction",
        (DIGIT,),
        r"(?P<w>\d{1,6})(?: |-)(?P<a>\d{1,3})[/⁄](?P<b>\d{1,3})(?![\w/]|\.\d)(?P<inch> ?[\"″])?",
        _mixed,
    ),
    Rule("fraction", (DIGIT,), r"(?P<w>\d{1,6}) ?(?P<f>[¼-¾⅐-⅞])(?P<inch> ?[\"″])?", _vulgar),
    Rule("fraction", (SIGN,), r"(?P<w>)(?P<f>[¼-¾⅐-⅞])(?P<inch> ?[\"″])?", _vulgar),
    Rule("rating", (DIGIT,), r"(?P<n>\d{1,3}(?:\.\d{1,2})?) ?/ ?(?P<of>\d{1,3})(?![\w/]|\.\d)", _graded),
    Rule(
        "fraction",
        (DIGIT,),
        r"(?P<a>\d{1,9})[/⁄](?P<b>\d{1,9})(?:rds?|ths?|nds?)?(?![\w/]|\.\d)(?P<inch> ?[\"″])?",
        _fraction,
    ),
    Rule(
        "range",
        (DIGIT,),
        rf"(?P<a>{NUM})(?P<to>{_RANGE_SIGN})(?P<sign>[-−])?(?P<n>{NUM})(?:(?P<k>k)(?!\w))?(?![\w/:]|[-–]\d)",
        _range,
    ),
    Rule("number", (DIGIT,), rf"(?P<n>{NUM})k(?!\w)", _thousands),
    Rule("ratio", (DIGIT,), r"\d{1,6}(?:\.\d{1,3})?(?::\d{1,6}(?:\.\d{1,3}(?!\d))?){1,3}(?![\w:])", _ratio),
    Rule("sign", (SIGN,), rf"(?:[-−+~≈]|±|\+/-) ?(?=[$€£¥]?{NUM})", _sign),
    Rule("number sign", (SIGN,), r"(?:#|№) ?(?=\d|[A-Za-z]{1,4}-?\d)", _number_sign),
    Rule(
        "operator",
        (SIGN,),
        r"(?<=[\d)])(?P<op>[+\-−–*×·/:^])(?=[\d(])|(?<=[\d)] )(?P<spaced>[*/:·])(?= [\d(])",
        _operator,
    ),
    Rule("number", (SIGN,), "[⁰¹²³⁴-⁹]{1,12}", _raised),
    Rule("section", (SIGN,), "§§ ?", _sections),
    Rule("symbol", (SIGN,), f"[{re.escape(''.join(SYMBOLS))}]", _symbol),
)


PLAIN_RULES = (
    Rule("symbol", (SIGN,), r"(?<=[A-G])#(?!\w)", lambda _: " sharp"),
    Rule("symbol", (SIGN,), r"(?<![\w.])\.(?=[A-Z]{2})", lambda _: "dot "),
    Rule("number", (DIGIT,), rf"(?P<n>{NUM})\+(?![\w+])", _plus_after),
    Rule("number", (DIGIT,), rf"(?P<n>{NUM})", _number),
    Rule("number", (SIGN,), r"(?<![\w.])(?P<n>\.\d+)(?!\.)", _number),
)
