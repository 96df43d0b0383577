"""What is spelled or read piece by piece: addresses, phone numbers, versions, codes, tags."""

from __future__ import annotations

import re

from edged.text.en.letters import read_caps, spell
from edged.text.en.numbers import cardinal, digits, integer, number, year
from edged.text.en.scan import DIGIT, LETTER, SIGN, Match, Rule, before, word_before
from edged.text.en.tables import (
    ABBREVIATIONS,
    DAYS,
    DOMAINS,
    DOTLESS,
    ENTITY_KINDS,
    FILE_ENDINGS,
    INITIALISMS,
    LOWER_INITIALISMS,
    NUMBERED,
    SPELLED_DOMAINS,
    URL_SIGNS,
    words,
)

_PIECE = re.compile(r"\d+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|.", re.DOTALL)
_TLD = "|".join(sorted(DOMAINS, key=len, reverse=True))
_ENDING = "|".join(sorted(FILE_ENDINGS, key=len, reverse=True))
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})"
_PATH_END = r"(?<![.,;:!?'\")\]])"
_HOST = rf"{_LABEL}(?:\.{_LABEL}){{0,8}}"


def pieces(text: str) -> str:
    """An address piece by piece: words as words, initialisms and consonants as letters, signs by name."""
    said = []
    parts = _PIECE.findall(text)
    for at, part in enumerate(parts):
        if part.isdecimal():
            said.append(_address_number(part))
        elif part.isalpha():
            said.append(_address_word(part, after_dot=at > 0 and parts[at - 1] == "."))
        else:
            said.append(URL_SIGNS.get(part, ""))
    return " ".join(filter(None, said))


def _address_number(text: str) -> str:
    if len(text) == 4 and text[:2] in ("19", "20"):
        return year(int(text))
    return integer(text) if len(text) <= 2 else digits(text)


def _address_word(word: str, after_dot: bool) -> str:
    lower = word.lower()
    if lower in DOTLESS:
        return ABBREVIATIONS[lower]
    if lower in LOWER_INITIALISMS or (after_dot and lower in SPELLED_DOMAINS):
        return spell(word)
    if word.isupper() and len(word) > 1:
        return read_caps(word)
    if len(word) == 1 or (len(word) < 5 and word.isascii() and not re.search("[aeiouy]", lower)):
        return spell(word)
    return lower if word.isascii() else word


def _url(found: Match) -> str:
    text = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]{1,15}://", "", found.group())
    host = re.match(r"\d{1,3}(?:\.\d{1,3}){3}(?=[:/]|$)", text)
    if host is None:
        return pieces(text.rstrip("/"))
    return f"{' dot '.join(map(digits, host.group().split('.')))} {pieces(text[host.end() :].rstrip('/'))}".rstrip()


def _email(found: Match) -> str:
    return pieces(re.sub(r"^mailto:", "", found.group()))


def _domain(found: Match) -> str | None:
    text = found.group()
    if re.fullmatch(r"[A-Z]?[a-z]+\.[A-Z][a-z]+", text):
        return None  # 'done.In': a missing space
    return pieces(text.rstrip("/"))


def _path(found: Match) -> str | None:
    text = found.group()
    if all(part[:3].lower() in DAYS and len(part) < 10 for part in text.split("/")):
        return None
    if text.count("/") + text.count("\\") < 2 and not text.startswith(("/", "~", "\\")) and "." not in text:
        return None
    return pieces(text)


def _file(found: Match) -> str:
    return pieces(found.group())


def _ip(found: Match) -> str | None:
    parts = found["ip"].split(".")
    if any(len(p) > 3 or int(p) > 255 for p in parts):
        return None
    words = " dot ".join(digits(p) for p in parts)
    if found["bits"]:
        words += f" slash {integer(found['bits'])}"
    if found["port"]:
        words += f" colon {digits(found['port'])}"
    return words


def _hex_groups(found: Match) -> str | None:
    text = found.group()
    if not re.search(r"[A-Fa-f]|::", text) and text.count(":") < 5 and text.count("-") < 5:
        return None
    if ":" in text and "::" not in text and text.count(":") not in (5, 7):
        return None
    separator = "-" if "-" in text else ":"
    sign = "colon" if separator == ":" else "dash"
    groups = [" ".join(digits(c) if c.isdecimal() else spell(c) for c in g) for g in text.split(separator)]
    return " ".join(f" {sign} ".join(groups).split())


def _phone(found: Match) -> str | None:
    text = found.group()
    groups = re.findall(r"\d+|[A-Z]{3,}", text)
    plus = "plus " if text.lstrip("(").startswith("+") else ""
    return plus + ", ".join(digits(g) if g.isdecimal() else g.lower() for g in groups)


_PHONE_CUES = words(
    """
    call dial phone tel telephone text fax mobile cell number ring contact hotline helpline at on
    sms whatsapp landline
    """
)
_CALLS = words(
    """
    call dial phone tel telephone ring text fax mobile cell hotline helpline sms whatsapp
    """
)


def _bare_phone(found: Match) -> str | None:
    """A run of digits behind a word for calling: '911', '5550142', '2025550199'."""
    text = found["n"]
    if word_before(found) not in _CALLS and not re.search(
        r"\b(?:call|dial|phone|ring)\b[^.]{0,16}$", before(found), re.I
    ):
        return None
    if len(text) == 10:
        return ", ".join(digits(p) for p in (text[:3], text[3:6], text[6:]))
    if len(text) == 7:
        return f"{digits(text[:3])}, {digits(text[3:])}"
    if len(text) == 11:
        return ", ".join(digits(p) for p in (text[:1], text[1:4], text[4:7], text[7:]))
    return digits(text)


def _spaced_phone(found: Match) -> str | None:
    text = found.group()
    is_called = word_before(found) in _PHONE_CUES
    return _phone(found) if is_called or text[0] in "+0(" else None


def _version(found: Match) -> str | None:
    word = "version " if found["v"] else ""
    if word and word_before(found) == "version":
        word = ""
    parts = found["n"].split(".")
    first = year(int(parts[0])) if len(parts[0]) == 4 and parts[0][:2] in ("19", "20") else integer(parts[0])
    words = word + " point ".join((first, *map(integer, parts[1:])))
    if found["pre"]:
        words += " " + pieces(found["pre"].replace("-", " ").replace("+", " ").replace(".", " "))
    return words


def _hexadecimal(found: Match) -> str:
    return "zero X " + _characters(found["n"])


def _characters(text: str) -> str:
    """Every letter and digit by its name."""
    return " ".join(digits(c) if c.isdecimal() else spell(c) for c in text if c.isalnum())


def _extension(found: Match) -> str:
    return f"extension {digits(found['n'])}"


def _uuid(found: Match) -> str | None:
    text = found.group()
    groups = re.split("[-_]", text)
    if not re.search(r"\d", text) or not re.search(r"[A-Za-z]", text):
        return None
    return ", ".join(_characters(g) for g in groups)


_RUN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+|[₀-₉]+")


def _code(found: Match) -> str | None:
    """'A12', 'B-52', '12B', 'R2-D2', 'ESP32', 'CO2', 'SN-004512', 'MP3s'."""
    text = found.group().replace("−", "-").replace("–", "-")
    runs = _RUN.findall(text)
    if re.match(r"[A-Za-z]*[a-z]{3,}[-–]\d", text):
        return None if re.match(r"[a-z]", text) else f"{runs[0]} {_code_tail(runs[1:])}"
    changes = len(re.findall(r"(?<=\d)[A-Za-z]|(?<=[A-Za-z])\d", text))
    if changes >= 4 and len(text) >= 6:
        return _characters(text)
    return _code_tail(runs)


def _code_tail(runs: list[str]) -> str:
    said: list[str] = []
    for at, run in enumerate(runs):
        if run[0].isdecimal():
            said.append(_code_number(run, len(runs)))
        elif run == "s" and at == len(runs) - 1 and at:
            said[-1] += "'s" if said[-1][-1].isupper() else "s"
        else:
            said.append(_code_letters(run, at < len(runs) - 1 and runs[at + 1][0].isdecimal()))
    return " ".join(said)


def _code_number(run: str, runs: int) -> str:
    run = run.translate(_SUBSCRIPTS)
    if "." in run:
        return number(run)
    return digits(run) if len(run) >= 4 and runs > 1 and run[-2:] != "00" else integer(run)


_SUBSCRIPTS = {0x2080 + n: str(n) for n in range(10)}


def _code_letters(run: str, is_before_digits: bool) -> str:
    if len(run) == 1 or (run.upper() in INITIALISMS and (run.isupper() or run in LOWER_INITIALISMS)):
        return spell(run)
    if run.isupper():
        return spell(run) if len(run) <= 3 else read_caps(run)
    if len(run) <= 4 and not re.search("[aeiouyAEIOUY]", run):
        return spell(run)
    return run


def _hashtag(found: Match) -> str:
    return "hashtag " + tag_words(found["t"])


def _mention(found: Match) -> str:
    return "at " + tag_words(found["t"])


def tag_words(text: str) -> str:
    """'HomeAlone_2' -> 'Home Alone two'."""
    said = []
    for part in _PIECE.findall(text.replace("_", " ")):
        if part.isdecimal():
            said.append(integer(part))
        elif part.isupper() and len(part) > 1:
            said.append(read_caps(part))
        elif part.isalnum():
            said.append(part if part in "aI" else _address_word(part, after_dot=False))
    return " ".join(said)


def _identifier(found: Match) -> str | None:
    """'living_room', 'sensor.kitchen_temp_2': the words of it."""
    text = found.group()
    if "_" not in text and text.partition(".")[0] not in ENTITY_KINDS:
        return None
    return " dot ".join(tag_words(part) for part in text.split("."))


_SECRET = re.compile(
    r"\b(?:code|pin|otp|zip|passcode|password|serial|account|imei|isbn|sn|s/n|tan|badge|ticket|tracking|confirmation|reference"
    r"|ref)s?(?: (?:number|no\.?|is|code))*[ :#]*$",
    re.IGNORECASE,
)


def _secret(found: Match) -> str | None:
    """'code 4711', 'PIN is 0815': what is typed is read digit by digit."""
    return digits(found["n"]) if _SECRET.search(before(found, 40)) else None


def _bare_american(found: Match) -> str | None:
    """Ten digits of the shape of a phone number: better digits than billions."""
    text = found.group()
    return None if text.endswith("000") else ", ".join(map(digits, (text[:3], text[3:6], text[6:])))


def _keys(found: Match) -> str | None:
    """'dial *67#': keys of a phone."""
    if word_before(found) not in _CALLS and word_before(found) not in ("press", "enter", "send", "code"):
        return None
    names = {"*": "star", "#": "pound"}
    return " ".join(names.get(c) or digits(c) for c in found.group())


def _spaced_thousands(found: Match) -> str:
    return cardinal(int(re.sub(r"\D", "", found.group())))


def _groups(found: Match) -> str:
    """'1234 5678 9012 3456', '12-34-56': groups digit by digit."""
    return ", ".join(digits(g) for g in re.findall(r"\d+", found.group()))


def _numbered(found: Match) -> str | None:
    """'12B', '5A' behind 'room' and the like; '221B' anywhere."""
    if len(found["l"]) > 1 or (word_before(found) not in NUMBERED and found["l"].islower()):
        return None
    if found["l"] in "KMVWAFCkmg" and word_before(found) not in NUMBERED:
        return None
    return f"{integer(found['n'])} {spell(found['l'])}"


ADDRESSES = (
    Rule(
        "url",
        (LETTER,),
        r"localhost(?::\d{2,5})?(?:/[\w./-]{0,200}\w)?(?![\w-])",
        lambda found: pieces(found.group()),
    ),
    Rule(
        "url", (LETTER,), rf"(?i:https?|ftp|mqtts?|wss?|ssh|rtsp|file)://[^\s<>\"]{{1,2000}}{_PATH_END}", _url
    ),
    Rule(
        "e-mail",
        (LETTER, DIGIT),
        rf"(?:mailto:)?[A-Za-z0-9][\w.+%-]{{0,63}}@{_LABEL}(?:\.{_LABEL}){{1,6}}(?!\w)",
        _email,
    ),
    Rule("url", (LETTER,), rf"(?i:www)\.{_HOST}(?:[/?#:][^\s<>\"]{{0,500}})?{_PATH_END}", _url),
    Rule(
        "url",
        (LETTER, DIGIT),
        rf"(?:{_LABEL}\.){{1,6}}(?:{_TLD})(?:(?::\d{{2,5}})?(?:[/?#][^\s<>\"]{{1,500}})?(?<![.,;:!?'\")\]])|(?::\d{{2,5}}))?/?(?![\w@-]|\.\w)",
        _domain,
    ),
    Rule("file", (LETTER, DIGIT), rf"(?:[\w-]{{1,60}}[/.]){{1,8}}(?:{_ENDING})(?![\w-]|\.\w)", _file),
    Rule("path", (SIGN,), r"(?<![\w/])(?:~|\.{1,2})?/[A-Za-z0-9_][\w.~/+-]{0,200}(?<![.,;:!?])", _path),
    Rule(
        "path",
        (LETTER,),
        r"[A-Za-z]:\\[\w.\\ -]{0,100}\w|[A-Za-z_][\w-]{0,40}(?:/[\w+#-]{1,40}){2,12}",
        _path,
    ),
    Rule(
        "address",
        (DIGIT,),
        r"(?P<ip>\d{1,3}(?:\.\d{1,3}){3})(?:/(?P<bits>\d{1,2}))?(?::(?P<port>\d{1,5}))?(?![\w]|\.\d)",
        _ip,
    ),
    Rule(
        "address",
        (DIGIT, LETTER),
        r"[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}(?![\w:-])|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])(?<=[\w:])",
        _hex_groups,
    ),
    Rule("address", (SIGN,), r"::[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6}(?![\w:])", _hex_groups),
)
RULES = (
    Rule(
        "phone",
        (SIGN,),
        r"\+\d{1,3}[- .]?(?:\(\d{1,5}\)[- .]?)?\d{1,8}(?:[- .]\d{2,8}){0,5}(?![\w°%]|[.:,]\d| ?[°%])(?<=\d\d)|\+\d{6,15}(?!\d)",
        lambda f: _phone(f) if sum(map(str.isdecimal, f.group())) >= 7 else None,
    ),
    Rule("phone", (SIGN,), r"\(\d{2,5}\)[- .]?\d{2,5}(?:[- .]\d{2,5}){0,3}(?![\d]|[.:,]\d)", _phone),
    Rule("phone", (DIGIT,), r"(?:1[- .])?(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4}(?![\w-]|\.\d)", _phone),
    Rule(
        "phone",
        (DIGIT,),
        r"1?-?8(?:00|88|77|66|55|44|33)-[A-Z0-9]{3}-?[A-Z0-9]{4}(?!\w)|1-8(?:00|88|77|66|55|44|33)-[A-Z]{4,8}(?!\w)",
        _phone,
    ),
    Rule("phone", (DIGIT,), r"\d{3}[-.]\d{4}(?![\w-]|\.\d)", _phone),
    Rule("phone", (DIGIT,), r"0\d{1,5}(?:[ -]\d{2,8}){1,5}(?![\w:/]|[.,]\d| ?[%°])", _spaced_phone),
    Rule(
        "phone",
        (DIGIT,),
        r"\d{2,4}(?:[ -]\d{2,4}){1,4}(?![\w:/]|[.,]\d| ?[%°])",
        lambda f: _phone(f) if word_before(f) in _CALLS else None,
    ),
    Rule("phone", (DIGIT,), r"911(?![\w:/%°-]|[.,]\d| ?[%°])", lambda found: digits("911")),
    Rule("phone", (DIGIT,), r"(?P<n>\d{3,12})(?![\w:/%°-]|[.,]\d)", _bare_phone),
    Rule("code", (DIGIT,), r"\d{4}(?:[ -]\d{4}){2,5}(?![\w-])", _groups),
    Rule("code", (DIGIT,), r"\d{1,5}(?:-\d{1,5}){2,6}(?![\w-])", _groups),
    Rule(
        "number",
        (DIGIT,),
        r"[1-9]\d{0,2}(?:(?:_\d{3}){1,5}|(?:\.\d{3}){2,5})(?!\w|[.,]\d)",
        _spaced_thousands,
    ),
    Rule("extension", (LETTER,), r"(?i:ext)(?:\.|(?=\d))? ?(?P<n>\d{1,6})(?!\w)", _extension),
    Rule(
        "version",
        (LETTER,),
        r"(?P<v>[vV])\.? ?(?P<n>\d{1,6}(?:\.\d{1,6}){0,4})(?P<pre>[-+][A-Za-z][\w.]{0,20}(?<!\.)|(?:rc|a|b|beta|alpha)\d{0,3})?(?!\w)",
        _version,
    ),
    Rule(
        "version",
        (DIGIT,),
        r"(?P<v>)(?P<n>\d{1,8}(?:\.\d{1,8}){2,5})(?P<pre>[-+][A-Za-z][\w.]{0,20}(?<!\.)|(?:rc|a|b|beta|alpha|post|dev)\d{0,3})?(?![\w]|\.\d)",
        _version,
    ),
    Rule("code", (DIGIT,), r"(?P<n>\d{3,20})(?![\w:/%°]|[.,]\d)", _secret),
    Rule("keys", (SIGN,), r"[*#](?:\d{1,12}[*#]?){0,4}(?![\w])", _keys),
    Rule(
        "number",
        (DIGIT,),
        r"[1-9]\d{0,2}(?:(?: \d{3}){2,4}|(?:'\d{3}){1,4}| 000)(?![\d]|[.,]\d| \d)",
        _spaced_thousands,
    ),
    Rule("phone", (DIGIT,), r"[2-9]\d{2}[2-9]\d{6}(?![\w:/%°,.-]\w|\w| ?[%°])", _bare_american),
    Rule("code", (DIGIT,), r"0[xX](?P<n>[0-9A-Fa-f]{1,16})(?!\w)", _hexadecimal),
    Rule("code", (DIGIT, LETTER), r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?!\w)", _uuid),
    Rule("tag", (SIGN,), r"#(?P<t>[A-Za-z]\w{0,60})(?![-\w])", _hashtag),
    Rule("tag", (SIGN,), r"(?<!\w)@(?P<t>[A-Za-z][\w]{0,60})", _mention),
    Rule(
        "identifier",
        (LETTER,),
        r"[A-Za-z][A-Za-z0-9]{0,40}(?:[_.][A-Za-z0-9]{1,40}){1,10}(?![\w])",
        _identifier,
    ),
    Rule(
        "code",
        (LETTER,),
        r"[A-Za-z]{1,12}(?:[-–][A-Za-z]{1,4}(?=[-–]?\d)){0,2}[-–]?(?:\d{1,12}|[₀-₉]{1,3})(?:\.\d{1,2}(?![\d.]))?(?:[-–]?[A-Za-z]{1,4}[-–]?\d{1,12}|-\d{1,12}){0,6}(?:[-–]?[A-Z]{1,3}|[a-z]{1,2})?(?![^\W_])",
        _code,
    ),
)
LATE_RULES = (
    Rule("code", (DIGIT,), r"(?P<n>\d{1,5})(?P<l>[A-Za-z])(?![\w])", _numbered),
    Rule("code", (DIGIT,), r"\d{1,12}[A-Za-z]{1,6}(?:[-–]?\d{1,12}[A-Za-z]{0,6}){0,6}(?![\w])", _code),
    Rule("code", (DIGIT,), r"\d{1,12}(?:-[A-Z]{1,4}\d{0,12}){1,4}(?![\w-])", _code),
)
