"""The configuration and the lexicon, as files that a user wrote."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from decimal import Decimal
from pathlib import Path

from edged.config.fields import Section, keys, root, value_at
from edged.config.lexicon import VALUE_LIMIT_CHARS, WORD_LIMIT_CHARS
from edged.config.load import read, read_words
from edged.config.model import Config, Lexicon, UserWord
from edged.errors import ConfigError, Problem
from edged.text.clean import clean
from edged.text.lexicon import STAND_IN
from edged.text.reading import readings
from edged.text.scripts import has_han
from tests.fuzz.search import Target
from tests.fuzz.targets.promises import SECRET, one_line

_PROBLEMS_AT_MOST = 102
_PASSWORD_LINE = re.compile(r"[ {,\"'-]*(?:mqtt *: *\{? *)?[\"']?password[\"']? *:")
_EXTRA = b"\nzzz_unknown: 1\n"
_TOKENS = (
    ": ", "- ", "\n", "\n  ", "\n    ", "  ", "{", "}", "[", "]", "#", " # ", "|", ">", "|\n  ", "&a ",
    "*a", "!!str ", "!", "? ", "---\n", "...\n", "%YAML 1.1\n", "<<: ", "~", "null", "true", "no",
    "0123", "12:30", '"', "'", "\t", '"\\x00"', '"\\uD800"', '"\\U00110000"', '"\\UFFFFFFFF"',
    "password: " + SECRET + "\n", "zones:\n  kitchen:\n", "mqtt:\n", "audio:\n",
    "profile: profile.yaml\n", "text:\n  lexicon: lexicon.yaml\n", "\u2028", "\x85",
    *(f"{key.name}: " for key in keys()),
)  # fmt: skip
_WORD_TOKENS = (
    "en:\n", "zh:\n", "  ", "\n", ": ", "{", "}", "phonemes: ", "pinyin: ", "say: ", "chong2 qing4",
    "ˈʤɪf", "重庆", "nginx", "engine x", '"', "'", "lü4", "dianr3", "u:", "ü", "r5", "'s", " ", "&a ",
    "*a", "~", "[a]", "龘", "vuzoka", "\u3000", "İ", "ß", "🍕", "℃", "Ａ", "０", "½",
)  # fmt: skip


class _Files:
    """The folder of a configuration, with the files that it may name."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.file = folder / "edged.yaml"
        (folder / "profile.yaml").write_text("audio: {period_ms: 24}\nvoice: {threads: 2}\n")
        (folder / "lexicon.yaml").write_text("en:\n  nginx: engine x\n")

    def read(self, data: bytes) -> Config | tuple[Problem, ...]:
        self.file.write_bytes(data)
        try:
            return read(self.file).config
        except ConfigError as error:
            return _told(error)

    def words(self, data: bytes) -> tuple[UserWord, ...] | tuple[Problem, ...]:
        self.file.write_bytes(data)
        try:
            return read_words(self.file)
        except ConfigError as error:
            return _told(error)


def _told(error: ConfigError) -> tuple[Problem, ...]:
    if not error.problems or "\n" in error.file:
        raise AssertionError("a refusal without a reason")
    return error.problems


def configuration(files: _Files, data: bytes) -> Iterable[Hashable]:
    """A Config, or all that is wrong with it, without what the passwords are."""
    found = files.read(data)
    lines = data.decode("utf-8", "replace").splitlines()
    is_secret = all(_PASSWORD_LINE.match(line) for line in lines if SECRET in line)
    if isinstance(found, Config):
        yield "config"
        yield from (key.path for key in keys() if value_at(found, key.path) != key.default)
        assert not (is_secret and SECRET in repr(found)), "repr shows the password"
        again = files.read(dump(found).encode())
        assert again == found, f"written and read again it is another one: {again!r:.300}"
        assert isinstance(again, Config)
        assert again.mqtt.password == found.mqtt.password
    else:
        assert len(found) <= _PROBLEMS_AT_MOST
        for problem in found:
            one_line(str(problem), 1200)
            assert not (is_secret and SECRET in str(problem)), "a password is shown"
            assert problem.line is None or 1 <= problem.line <= 1 + data.count(b"\n") + data.count(b"\r")
            yield re.sub(r"[^a-z ]", "", problem.message)[:50]
    _all_at_once(files, data, () if isinstance(found, Config) else found)


def _all_at_once(files: _Files, data: bytes, before: tuple[Problem, ...]) -> None:
    """One more fault adds one more problem and hides none, unless nothing could be read any more."""
    after = files.read(data + _EXTRA)
    assert not isinstance(after, Config) or not _is_block(data), "an unknown key was taken"
    if isinstance(after, Config) or not all(problem.path for problem in (*before, *after)):
        return
    if len(before) < _PROBLEMS_AT_MOST - 3 and _is_block(data):
        missing = [str(problem) for problem in before if problem not in after]
        assert not missing, f"hidden by another problem: {missing}"
        assert len(after) == len(before) + 1, [str(problem) for problem in after]


def _is_block(data: bytes) -> bool:
    """One section whose keys stand at the left edge, so that a further line is one more key of it."""
    lines = [line for line in data.decode("utf-8", "replace").split("\n") if line.strip()]
    is_plain = all(re.fullmatch(r" *[a-z_]+:(?: [\w.]+)?", line, re.ASCII) for line in lines)
    return is_plain and (not lines or lines[0][0] != " ")


def dump(config: Config) -> str:
    """A configuration as YAML that says every key."""
    return "\n".join(_section(root(), config, "")) + "\n"


def _section(section: Section, values: object, indent: str) -> Iterable[str]:
    for key in section.keys.values():
        value = getattr(values, key.name)
        if value is not None and not (value == () == key.default):
            yield f"{indent}{key.name}: {_value(value)}"
    for name, inner in section.sections.items():
        yield f"{indent}{name}:"
        yield from _section(inner, getattr(values, name), f"{indent}  ")
    for name, named in section.named.items():
        items = getattr(values, name)
        if items:
            yield f"{indent}{name}:"
        for item in items:
            yield f"{indent}  {_value(item.name)}:"
            yield from _section(named.item, item, f"{indent}    ")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return format(Decimal(repr(value)), "f")
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return quoted(str(value))


def quoted(text: str) -> str:
    """In double quotes, all but plain characters as escapes."""
    plain = (
        char if char.isascii() and char.isprintable() and char not in '"\\' else f"\\U{ord(char):08x}"
        for char in text
    )
    return f'"{"".join(plain)}"'


def lexicon(files: _Files, data: bytes) -> Iterable[Hashable]:
    """Entries within their bounds, or all that is wrong with them; a text with the entries is read."""
    found = files.words(data)
    words = tuple(word for word in found if isinstance(word, UserWord))
    for problem in found:
        if isinstance(problem, Problem):
            one_line(str(problem), 1200)
            yield re.sub(r"[^a-z ]", "", problem.message)[:50]
    if not words:
        return
    assert files.words(dump_words(words).encode()) == _by_language(words), (
        "written and read again it is another one"
    )
    for word in words:
        assert 0 < len(word.word) <= WORD_LIMIT_CHARS
        assert 0 < len(word.value) <= VALUE_LIMIT_CHARS
        assert word.word.isprintable()
        assert word.value.isprintable()
        yield word.lang[:2], word.kind
    _read_with(words)


def _read_with(words: tuple[UserWord, ...]) -> None:
    known = Lexicon.of(words)
    text = ". ".join(word.word for word in words[:20])
    said = list(readings(text, None, "en", 60, 180, known))
    # A respelling in Thai has no sound in Chinese, and a text of it alone nothing to speak.
    is_sayable = all(word.value.isascii() or has_han(word.value) for word in words[:20])
    assert said or not is_sayable or not any(map(str.isalnum, clean(text)))
    word = words[0]
    is_plain = word.word.isalnum() and clean(word.word) == word.word and not STAND_IN.search(word.word)
    if len(words) == 1 and is_plain and is_sayable and word.lang in ("en", "zh"):
        read = readings(word.word, word.lang, word.lang, 60, 180, known)
        assert any(word in reading.entries for reading in read), f"{word} is not used"


def dump_words(words: tuple[UserWord, ...]) -> str:
    """A lexicon as YAML."""
    lines: list[str] = []
    lang = ""
    for word in _by_language(words):
        if word.lang != lang:
            lang = word.lang
            lines.append(f"{quoted(lang)}:")
        lines.append(f"  {quoted(word.word)}: {{{word.kind}: {quoted(word.value)}}}")
    return "\n".join(lines) + "\n"


def _by_language(words: tuple[UserWord, ...]) -> tuple[UserWord, ...]:
    langs = list(dict.fromkeys(word.lang for word in words))
    return tuple(sorted(words, key=lambda word: langs.index(word.lang)))


def targets(scratch: Path) -> list[Target]:
    """`config` and `lexicon`."""
    files, words = _Files(scratch / "config"), _Files(scratch / "words")
    return [
        Target("config", lambda data: configuration(files, data), _TOKENS),
        Target("lexicon", lambda data: lexicon(words, data), _WORD_TOKENS),
    ]
