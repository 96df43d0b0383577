"""Words that are not read as they stand: abbreviations, titles, initialisms, slashes."""

from __future__ import annotations

import re

from edged.text.en.letters import read_caps, spell, spell_plural
from edged.text.en.measures import form, multiplies
from edged.text.en.numbers import year
from edged.text.en.scan import LETTER, SIGN, Match, Rule, after, around, before, word_before
from edged.text.en.tables import (
    ABBREVIATIONS,
    BEFORE_NUMBER,
    DAYS,
    DOTLESS,
    DOTTED,
    GREEK,
    INITIALISMS,
    LOWER_INITIALISMS,
    SLASHED,
    SPOKEN_TITLES,
    STREETS,
    TITLES,
    UNITS,
    words,
)

_TITLE_ALTERNATIVES = "|".join(sorted(TITLES, key=len, reverse=True))


_STREET_ALTERNATIVES = "|".join(sorted(STREETS, key=len, reverse=True))


def _ends_here(found: Match) -> bool:
    """Nothing follows in the sentence, so that the dot of an abbreviation is its full stop, too."""
    return not after(found).strip(" \"'”’)")


def _title(found: Match) -> str | None:
    """'Dr. Reed', 'St. Mary', 'Mr Smith'; not 'Main St. Tuesday' and not 'Maple Dr.'."""
    name, dot = found["t"], found["dot"]
    if not dot and name not in SPOKEN_TITLES:
        return None
    if name in STREETS and _follows_street_name(found) and not _starts_name(found["next"], before(found)):
        return None
    return TITLES[name] + " "


def _title_alone(found: Match) -> str:
    """'Mr. and', 'Yes, Mrs.'."""
    return TITLES[found["t"]] + ("." if _ends_here(found) else "")


_NUMBERED_STREET = re.compile(r"(?:^|\s)\d{1,5}[A-Z]? $")


def _follows_street_name(found: Match) -> bool:
    return re.search(r"[A-Z0-9][\w'’]* $", before(found)) is not None and not _NUMBERED_STREET.search(
        before(found)
    )


def _starts_name(following: str, text_before: str) -> bool:
    """In 'from St. Mary' the title stands first; after a street's name it does not."""
    return (
        following.lower() not in DAYS
        and re.search(r"(?:^|[.,;:] )[A-Z][\w'’]* $", text_before) is not None
        and (
            text_before.strip()
            in (
                "The",
                "At",
                "In",
                "On",
                "From",
                "To",
                "Is",
                "Call",
                "Ask",
                "Visit",
                "And",
                "Old",
                "Mr",
                "By",
                "For",
            )
        )
    )


def _street(found: Match) -> str | None:
    """'St. Mary St. at', '5 Elm Ave': behind a name or a number, in an address."""
    text_before, dot = before(found), found["dot"]
    if not re.search(r"(?:[A-Z][\w'’]*|\d(?:st|nd|rd|th)) $", text_before):
        return None
    if not dot and not re.search(r"\d\w* (?:[NSEW]\.? )?(?:[A-Z][\w'’]* ){0,3}$", text_before):
        return None
    if not dot and found["t"] in ("St", "Dr") and re.match(r" [A-Z]", after(found, 2)):
        return None
    return STREETS[found["t"]] + ("." if dot and _ends_here(found) else "")


_WITH_CAPITAL = words("co inc ltd corp jr sr")
_ALSO_WORDS = words(
    "no nos art p rev dist para ed wk mo hum v ca resp hosp fig figs ch sec fl hwy rte ave blvd ver"
)
"""Before a number, or at least not last in the sentence: then they are abbreviations."""


def _abbreviation(found: Match) -> str | None:
    text, dot = found["w"], found["dot"]
    key = text.lower()
    is_initialism = text in INITIALISMS  # 'EST' is no 'est.'
    if key not in ABBREVIATIONS or is_initialism or (not dot and (key not in DOTLESS or text.isupper())):
        return None
    is_numbered = re.match(r" ?#?\d", after(found)) is not None
    is_last = _ends_here(found)
    if (
        key in BEFORE_NUMBER
        and not is_numbered
        and (is_last or key not in ("rm", "tel", "apt", "ext", "ste", "vol"))
    ):
        return None
    if (key in _WITH_CAPITAL and text.islower()) or (key in _ALSO_WORDS and is_last):
        return None
    return ABBREVIATIONS[key] + ("." if dot and is_last else "")


def _established(found: Match) -> str | None:
    """'est. 1977'; 'est. 2000 people' and 'completion est. 2025' are estimates."""
    is_estimate = word_before(found) in _ESTIMATED or re.match(" ?[a-z€$£]", after(found))
    return None if is_estimate else f"established {year(int(found['y']))}"


_ESTIMATED = words("completion arrival delivery cost price finish end ready due value total time")


def _distance(found: Match) -> str:
    return "distance" + (found["colon"] or "") + " "


def _dotted(found: Match) -> str | None:
    """'a.m.', 'U.S.', 'e.g.', 'J.R.R.'."""
    text, dot = found["w"], found["dot"]
    key = text.lower()
    tail = "." if dot and _ends_here(found) else ""
    if key in DOTTED:
        return DOTTED[key] + tail
    return spell(text.replace(".", "")) + tail


def _initial(found: Match) -> str | None:
    """'A. Reed', 'J. K. Rowling'; 'plan A.' keeps its full stop."""
    is_pronoun = found["l"] == "I" and not re.match(r" [A-Z]\.", after(found, 3))
    return None if is_pronoun or _ends_here(found) else spell(found["l"])


def _letter(found: Match) -> str | None:
    """A capital A that is no article: in mid-sentence, and not in a title."""
    if not before(found).strip() and not after(found).strip(".!?"):
        return spell("A")
    if not before(found).strip() or re.search(r"[.!?:;(\"“] ?$", before(found)):
        return None
    rest = after(found)
    if re.match(r" [A-Z][a-z]", rest) and not re.match(r" (?:and|or|to)\b", rest):
        return None
    return spell("A")


_CAPS_NEIGHBORS = words("the our your an in my their of")


def _caps(found: Match) -> str | None:
    word, ending = found["w"], found["end"]
    if ending:
        if ending == "s" and word in ("A", "I"):
            return None
        said = read_caps(word)
        if "." not in said:
            return said + ending.replace("’", "'")
        if ending == "s":
            return spell_plural(word)
        return spell_plural(word)
    if word == "IT":
        is_noun = word_before(found) in _CAPS_NEIGHBORS or re.match(
            r" (?:dep|support|team|guy|staff|admin|room)", after(found)
        )
        return spell(word) if is_noun else "it"
    return read_caps(word)


def _mixed_case(found: Match) -> str:
    text = found.group()
    known = UNITS.get(text)
    if known is None:
        return _MIXED[text]
    return form(
        known,
        re.search(
            r"/ ?$|\b(?:per|an?|each) $|(?<![\d ])\d/\d{1,3} ?$|^\d/\d{1,3} ?$|[^\d] \d/\d{1,3} ?$",
            before(found),
        )
        is not None,
    )


_UNITS_ALONE = (
    "kWh",
    "MWh",
    "GHz",
    "MHz",
    "kHz",
    "Hz",
    "kW",
    "MW",
    "mAh",
    "dB",
    "ppm",
    "mph",
    "km",
    "hPa",
    "lx",
    "kg",
)


_MIXED = {
    "pH": "P.H", "IoT": "I.O.T", "WiFi": "WiFi", "PoE": "P.O.E", "DoS": "D.O.S", "SoC": "S.O.C",
    "QoS": "Q.O.S", "eV": "E.V",
    "VoIP": "voip", "mDNS": "M.D.N.S", "PhD": "P.H.D", "iOS": "I.O.S", "macOS": "mac O.S", "eSIM": "e SIM",
    "TVs": "T V's", "BSc": "B.S.C", "MSc": "M.S.C", "IPv": "I.P V", "dBm": "D.B.M",
    "rpm": "R.P.M", "NVMe": "N.V.M.E", "WWI": "World War one", "WWII": "World War two",
    "WW1": "World War one", "WW2": "World War two", "OAuth": "O auth", "WLED": "W.L.E.D",
    "MQTTS": "M.Q.T.T.S",
}  # fmt: skip


def _lower_initialism(found: Match) -> str | None:
    word = found["w"]
    return spell(word) if word in LOWER_INITIALISMS else None


def _slashed(found: Match) -> str | None:
    words = SLASHED.get(found.group().lower())
    return f"{words} " if words else None


def _slash(found: Match) -> str:
    """'/' between words: 'per' behind a quantity, a short break else."""
    following = after(found)
    if found.group() == "/ " and before(found).endswith(" "):
        return ", "
    if before(found)[-1:].isdecimal() and following[:1].isdecimal():
        return " over "
    if re.search(r"\d ?[^\W\d_]*$", before(found)) and (unit := re.match(r" ?([A-Za-z]+)", following)):
        known = UNITS.get(unit.group(1))
        if known is not None or unit.group(1) in (
            "person",
            "day",
            "week",
            "month",
            "year",
            "hour",
            "night",
            "minute",
            "second",
        ):
            return " per "
    return " "


def _single_unit(found: Match) -> str | None:
    known = UNITS.get(found["u"])
    if known is None or not re.search(r"\d ?(?:[^\W\d_]{1,12} ?)?/ ?$", before(found, 30)):
        return None
    return known.partition("|")[0]


def _greek(found: Match) -> str | None:
    text = found.group().lower()
    return GREEK.get(text)


def _letter_range(found: Match) -> str:
    return f"{spell(found['a'])} to {spell(found['b'])}"


def _hyphens(found: Match) -> str | None:
    """'step-by-step': no break inside; a single hyphen stays, dictionaries have such words."""
    word = found.group()
    return word.replace("-", " ").replace("‐", " ").replace("‑", " ")


def _times_sign(found: Match) -> str | None:
    if not re.search(r"\d ?$", before(found)):
        return None
    return "times" if "=" in around(found) or multiplies(found, found.end()) else "by"


def _ampersand(found: Match) -> str | None:
    """'AT&T', 'R&D', 'Q & A'."""

    def side(text: str) -> str:
        return spell(text) if len(text) <= 2 else read_caps(text)

    return f"{side(found['a'])} and {side(found['b'])}"


RULES = (
    Rule(
        "slash",
        (LETTER,),
        r"(?i:w/o|w/|n/a|c/o|b/c|and/or|he/she|she/he|his/her|b/w|a/c)(?![\w/])|(?i:w/)(?=[\w])",
        _slashed,
    ),
    Rule(
        "initialism",
        (LETTER,),
        rf"(?:{'|'.join(sorted((*_MIXED, *_UNITS_ALONE), key=len, reverse=True))})(?![\w/-])",
        _mixed_case,
    ),
    Rule(
        "title",
        (LETTER,),
        rf"(?P<t>{_TITLE_ALTERNATIVES})(?P<dot>\.)? (?=(?P<next>[A-Z][^\W\d_]*|(?:and|&) "
        rf"(?:{_TITLE_ALTERNATIVES})\b))",
        _title,
    ),
    Rule("title", (LETTER,), r"(?P<t>Mrs?|Ms)\.(?!\w)", _title_alone),
    Rule("abbreviation", (LETTER,), rf"(?P<t>{_STREET_ALTERNATIVES})(?![\w])(?P<dot>\.)?", _street),
    Rule(
        "abbreviation",
        (LETTER,),
        r"(?P<w>[Aa]\.? ?[Kk]\.[Aa]|[A-Za-z]\.(?:[A-Za-z]\.){0,6}[A-Za-z]|[Pp]h\.D|[MB]\.Sc)"
        r"(?![A-Za-z])(?P<dot>\.)?(?!\w)",
        _dotted,
    ),
    Rule(
        "abbreviation",
        (LETTER,),
        r"(?i:est)\. (?P<y>1[5-9]\d\d|20[0-4]\d)(?!\w|[,.:/-]\d| ?[%°])",
        _established,
    ),
    Rule(
        "abbreviation",
        (LETTER,),
        r"[Dd]ist(?:\.|(?=:))(?P<colon>:)? (?=[~≈<>]? ?\d[\d.,]{0,12}"
        r"(?:(?<=\.\d)| ?(?:km|m|cm|mm|mi|miles?|ft|feet|in|yds?|nmi|meters?)\b))",
        _distance,
    ),
    Rule(
        "abbreviation",
        (LETTER,),
        r"(?P<w>[A-Za-z]{1,8})(?![\w'’-])(?P<dot>\.)?(?![^\W\d])(?!(?<![.])\d)",
        _abbreviation,
    ),
    Rule("initial", (LETTER,), r"(?P<l>[A-Z])\.(?!\w)", _initial),
    Rule("ampersand", (LETTER,), r"(?P<a>[A-Z]{1,3}) ?& ?(?P<b>[A-Z]{1,3})(?![\w])", _ampersand),
    Rule("letter", (LETTER,), r"A(?![\w'’.&/–-]|\. ?[A-Z])", _letter),
    Rule("initialism", (LETTER,), r"(?P<w>[A-Z]{2,12})(?P<end>s|['’]s|['’]S)?(?![^\W_]|['’]\w)", _caps),
    Rule("initialism", (LETTER,), r"(?P<w>[a-z]{2,5})(?![\w'’-])", _lower_initialism),
    Rule("unit", (LETTER,), r"(?P<u>[A-Za-zµ]{1,5})(?!\w)", _single_unit),
    Rule("range", (LETTER,), r"(?P<a>[A-Z])[-–](?P<b>[A-Z])(?![\w'’-])", _letter_range),
    Rule("hyphen", (LETTER,), r"[^\W\d_]{1,30}(?:[-‐‑][^\W\d_]{1,30}){2,10}(?![\w])", _hyphens),
    Rule("greek", (LETTER, SIGN), r"[α-ωΑ-Ω](?![α-ωΑ-Ωά-ώ])", _greek),
    Rule("times", (LETTER,), r"[xX](?= ?\d)", _times_sign),
)


LATE_RULES = (Rule("slash", (SIGN,), r" ?[/⁄] ?", _slash),)
