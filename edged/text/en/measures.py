"""Numbers with units: measures, ranges of them, dimensions."""

from __future__ import annotations

import re

from edged.text.en.numbers import is_one, number, plural
from edged.text.en.scan import DIGIT, LETTER, SIGN, Match, Rule, after, around, before, word_before
from edged.text.en.tables import LENGTHS, NUMBERED, SQUARES, UNITS, words

NUM = r"(?:(?:\d{1,3}(?:,\d{3}){1,12}(?![\d]|,\d)|\d+)(?:\.\d+)?|\.\d+)"


_UNIT = (
    r"(?:fl\.? ?oz|(?:sq|cu)\.? ?(?:ft|mi|km|cm|mm|m|yd|in)\b|[°º] ?(?:[CFKcf](?![^\W_]))?|[%‰″′Ω]"
    r"|\"|deg\.? ?[CF](?!\w)|deg(?!\w)"
    r"|[A-Za-zµμΩ]{1,6}(?:[²³]|[23](?![\w.]))?(?![^\W_]))"
    r"(?:/(?:100 ?)?[A-Za-zµμ]{1,6}(?:[²³]|[23](?!\w))?(?![^\W_]))?"
)


_RANGE_SIGN = r"(?: ?(?:[-–—−~]|\.\.\.?|…) ?| to |-to-)"


_ATTACHED_ONLY = words("d us au cu pc cd ly st gr")


_DETACHED_ONLY = words("B T N J K ac")


_LAST_ONLY = words("in t a")


_BEHIND_INCHES = re.compile(
    r" (?:of|wide|deep|tall|long|high|thick|across|apart|above|below|from|away|square"
    r"|(?:high|low|wid|deep|tall|long|thick|short)er|diameter|depth"
    r"|screws?|pipes?|bolts?|nuts?|nails?|drill|sockets?|wrench|hoses?|bit|plywood|boards?|gaps?|holes?|rods?"
    r"|displays?|screens?|monitors?|tvs?|photos?|prints?|frames?"
    r"|expected|so far|overnight|per|or more|or less)\b"
    r"| (?:and|or|to|by|x|×) \d[\d./]{0,6}(?: ?[½¼¾])? ?in\b",
    re.IGNORECASE,
)
"""What follows 'in' where it is an inch; 'turn on 5 in the kitchen' has none of these."""


_ABBREVIATED = words(
    """
    in ft yd mi oz lb lbs min mins hr hrs sec secs h gal qt pt tsp tbsp wk wks mo mos yr yrs approx
    """
)


def unit_words(symbol: str, singular: bool) -> str | None:
    """'km/h' -> 'kilometers per hour'; None for what is no unit."""
    symbol = re.sub(r"^deg\.? ?(?=[CF]$)", "°", symbol.replace("μ", "µ").replace(". ", " "))
    if symbol[0] in "°º" and len(symbol) > 1:
        symbol = "°" + symbol.lstrip("°º ").upper()
    known = _known_unit(symbol)
    if known is None:
        top, slash, bottom = symbol.partition("/")
        head = _known_unit(top)
        if not slash or head is None:
            return None
        per = re.sub(r"^100 ?", "", bottom)
        below = _known_unit(per)
        name = form(below, per == bottom) if below is not None else per.lower()
        if len(name) < 3:
            return None
        return f"{form(head, singular)} per {'' if per == bottom else 'one hundred '}{name}"
    return form(known, singular)


def _known_unit(symbol: str) -> str | None:
    """The entry of a unit without '/': of the table, or a square or a cube of one."""
    if symbol in ("s²", "s2"):
        return "second squared|second squared"
    found = UNITS.get(symbol)
    if found is not None or len(symbol) < 2:
        return found
    power, base = SQUARES.get(symbol[-1]), symbol[:-1]
    worded = re.fullmatch(r"(sq|cu)\.? ?(\w+)", symbol)
    if worded is not None:
        power, base = ("square" if worded.group(1) == "sq" else "cubic"), worded.group(2)
    if power is not None and base in LENGTHS:
        return "|".join(f"{power} {form(UNITS[base], singular)}" for singular in (True, False))
    if re.fullmatch(r"fl\.? ?oz", symbol):
        return UNITS["fl oz"]
    return UNITS.get(symbol.lower()) if symbol.isupper() else None


def form(entry: str, singular: bool) -> str:
    """Singular or plural of an entry of the tables: 'foot|feet', 'kilometer', 'mile per hour'."""
    one, _, many = entry.partition("|")
    if singular:
        return one
    if many:
        return many
    head, per, rest = one.partition(" per ")
    return plural(head) + per + rest


def _unit_of(found: Match, singular: bool) -> str | None:
    """Words of the unit in a match with groups `gap`, `unit` and `dot`, if it is one here."""
    symbol = found["unit"]
    base = symbol.split("/")[0]
    is_name = len(base) == 1 and base.isupper() and word_before(found) in NUMBERED  # 'room 5 A'
    is_closing = base == '"' and before(found, 200).count('"') % 2
    if is_name or is_closing or not _fits_gap(found, base):
        return None
    return unit_words(symbol, singular)


def _fits_gap(found: Match, base: str) -> bool:
    """Units that are also words or letters need more than to follow a number."""
    gap, is_compound = found["gap"], "/" in found["unit"]
    if gap == "-":
        return base in UNITS and (len(base) > 1 or base in "VWg")
    if not gap:
        return is_compound or base not in _DETACHED_ONLY
    if base in _ATTACHED_ONLY:
        return False
    rest = after(found, 16)
    if base in _LAST_ONLY and not is_compound and not found["dot"]:
        return _is_last_or_inches(base, rest) or (
            base == "in" and _FEET_BEFORE.search(before(found)) is not None
        )
    if base == "K":
        return re.match(" [a-z]", rest) is None
    return is_compound or base not in ("B", "T", "N", "J")


_FEET_BEFORE = re.compile(r"\d ?(?:ft\.?|feet|foot|')(?:,| and)? $")


def _is_last_or_inches(base: str, rest: str) -> bool:
    """True where 'in' and 't' behind a number are units because of what follows."""
    is_last = re.match(r"[.,;:!?)]|$| ?[x×]", rest) is not None
    return is_last or (_BEHIND_INCHES if base == "in" else _BEHIND_TONS).match(rest) is not None


_BEHIND_TONS = re.compile(r" (?:of|trucks?|loads?|per|or more)\b")


def _feet(found: Match) -> str | None:
    """'6\'', unless a quotation ends there."""
    if before(found, 200).count("'") % 2:
        return None
    return f"{number(found['n'])} {'foot' if is_one(found['n']) else 'feet'}"


def _is_adjective(found: Match) -> bool:
    """'a 5 kg bag': the unit is singular."""
    return word_before(found) in ("a", "an") and re.match(r" [a-z]", after(found, 2)) is not None


def _measure(found: Match) -> str | None:
    """'5 km', '0.5 °C', '10-km'."""
    num = found["n"].replace(" ", "")
    plus = " plus" if found["plus"] else ""
    words = _unit_of(found, (is_one(num) and not plus) or found["gap"] == "-" or _is_adjective(found))
    return None if words is None else f"{number(num)}{plus} {words}{_full_stop(found)}"


def _grouped_measure(found: Match) -> str | None:
    """'1 200 W'; in 'room 1 200 W' and 'lamp 2 150 W' the first number is a name."""
    return None if word_before(found) in NUMBERED | _DEVICES else _measure(found)


_DEVICES = words("sensor light lamp heater phase input output relay circuit string inverter panel fan pump")


def _full_stop(found: Match) -> str:
    """The dot after a unit, unless it belongs to an abbreviation in mid-sentence: '5 in. long'."""
    goes_on = found["unit"] in _ABBREVIATED and re.match(" ?$| [A-Z]", after(found, 2)) is None
    return "." if found["dot"] and not goes_on else ""


def _measure_range(found: Match) -> str | None:
    """'20-25 °C', '5 to 10%', '-5~3 °C'."""
    words = _unit_of(found, False)
    if words is None or found["to"].startswith(" ") != found["to"].endswith(" "):
        return None
    second = f"minus {number(found['n'])}" if found["sign"] else number(found["n"])
    if found["first_unit"] and not found["unit"].startswith(found["first_unit"].strip()):
        return None
    plus = " plus" if found["plus"] else ""
    return f"{number(found['a'])} to {second}{plus} {words}{_full_stop(found)}"


def _dimensions(found: Match) -> str:
    """'10x15 cm', '1920 × 1080', '2 x 4 x 8'."""
    words = " by ".join(map(number, re.findall(NUM, found["dims"])))
    if found["unit"]:
        unit = unit_words(found["unit"], _is_adjective(found))
        if unit is not None and (found["unit"] != "in" or _is_last_or_inches("in", after(found))):
            return f"{words} {unit}"
        return f"{words} {found['unit']}"
    return words


def _dimensions_or_product(found: Match) -> str | None:
    is_product = "*" in found["dims"] or "=" in around(found) or multiplies(found, found.end("dims"))
    return None if is_product else _dimensions(found)


_ASKS_FOR_PRODUCT = re.compile(
    r"\b(?:what(?:'s| is| are)|calculate|compute|multiply|solve) (?:\d+ ?)?$", re.IGNORECASE
)


_PRODUCT_ALONE = re.compile(r"\d{1,3} ?× ?\d{1,3}[.?! ]*")


def multiplies(found: Match, end: int) -> bool:
    """True where two numbers are to be multiplied: '6×7', 'what is 6×7'; '4×4 truck' has two sides.

    `end` is where the second number or what stands before it ends.
    """
    is_given = re.match(r"(?: ?\d+)? is \d", found.string[end : end + 12]) is not None
    is_alone = _PRODUCT_ALONE.fullmatch(found.string) is not None
    return is_alone or is_given or _ASKS_FOR_PRODUCT.search(before(found)) is not None


def _feet_inches(found: Match) -> str:
    feet = f"{number(found['f'])} {'foot' if is_one(found['f']) else 'feet'}"
    return f"{feet} {number(found['i'])} inch{'' if is_one(found['i']) else 'es'}"


def _bearing(found: Match) -> str:
    name = {"N": "north", "S": "south", "E": "east", "W": "west"}[found["d"]]
    return f"{number(found['n'])} degrees {name}"


def _unit_alone(found: Match) -> str | None:
    """'km/h', and 'mi' behind a fraction."""
    symbol = found.group()
    if "/" in symbol:
        return None if len(symbol.split("/")[0]) == 1 and symbol[0].isupper() else unit_words(symbol, False)
    behind = re.search(
        r"(?P<w>\d[ -])?(?:(?P<a>\d{1,3})[/⁄](?P<b>\d{1,3})|(?P<v>\d ?)?[¼-¾⅐-⅞]) ?$", before(found)
    )
    is_word = symbol in _LAST_ONLY and not _is_last_or_inches(symbol, after(found))
    if behind is None or is_word or symbol in _ATTACHED_ONLY:
        return None
    is_part = behind["a"] is None or int(behind["a"]) < int(behind["b"])
    return unit_words(symbol, is_part and not (behind["w"] or behind["v"]))


def _decimal_comma(found: Match) -> str | None:
    unit = unit_words(found["unit"], False)
    if unit is None:
        return None
    return f"{number(found['n'].replace(',', '.'))} {unit}"


_PLUS = r"(?P<plus>\+(?=[ %°]|[a-z]{2}))?"
"""'10+ min', '50+%'; not '3+a'."""


_SIDE = rf"{NUM}(?: ?(?:cm|mm|m|in|ft|\")(?= ?[xX×*]))?"


EARLY_RULES = (
    Rule(
        "unit",
        (DIGIT,),
        rf"(?P<n>[1-9]\d{{0,2}}(?: \d{{3}}){{1,4}}(?!\d)(?:\.\d{{1,6}})?){_PLUS}"
        rf"(?P<gap> ?)(?P<unit>{_UNIT})(?P<dot>\.(?!\w))?",
        _grouped_measure,
    ),
)
"""Before numbers in groups are read as such."""
RULES = (
    Rule(
        "length",
        (DIGIT,),
        r"(?P<f>\d{1,4})['’′] ?(?P<i>\d{1,2}(?:\.\d{1,3})?)(?:\"|″|'')?(?![\w\"])",
        _feet_inches,
    ),
    Rule("unit", (DIGIT,), rf"(?P<n>{NUM}) ?° ?(?P<d>[NSEW])(?!\w)", _bearing),
    Rule("unit", (LETTER,), r"[A-Za-zµ]{1,5}(?:/[A-Za-zµ]{1,3}[²³23]?)?(?![\w/²³])", _unit_alone),
    Rule("length", (DIGIT,), r"(?P<n>\d{1,4})['′](?![\w'])", _feet),
    Rule(
        "dimensions",
        (DIGIT,),
        rf"(?P<dims>{_SIDE}(?: ?[xX×*] ?{_SIDE}){{1,4}})(?![\d.]\d)(?: ?(?P<unit>{_UNIT}))?(?!\w)",
        _dimensions_or_product,
    ),
    Rule(
        "decimal comma", (DIGIT,), rf"(?P<n>\d{{1,9}},\d{{1,2}})(?![\d,]) ?(?P<unit>{_UNIT})", _decimal_comma
    ),
    Rule(
        "range",
        (DIGIT,),
        rf"(?P<a>{NUM})(?P<first_unit> ?[°%][CF]?)?(?P<to>{_RANGE_SIGN})(?P<sign>[-−])?(?P<n>{NUM})"
        rf"{_PLUS}(?P<gap> ?)(?P<unit>{_UNIT})(?P<dot>\.(?!\w))?",
        _measure_range,
    ),
    Rule(
        "unit",
        (DIGIT, SIGN),
        rf"(?P<n>{NUM}){_PLUS}(?P<gap>[ -]?)(?P<unit>{_UNIT})(?P<dot>\.(?!\w))?",
        _measure,
    ),
)
