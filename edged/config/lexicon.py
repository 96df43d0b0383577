"""The tree of a lexicon file to its entries, or every problem in it at once. Pure.

    en:
      nginx: engine x                       # other words for it
      GIF: {phonemes: "ʤˈɪf"}               # IPA
    zh:
      重庆: {pinyin: chong2 qing4}          # with the tones as they are said

The file is read by `edged.config.load`, as the configuration is.
"""

from __future__ import annotations

import re
import unicodedata

from edged.config.model import UserWord
from edged.config.tree import Mapping, Node, Scalar, kind_of, shown_name
from edged.errors import Problem

PROBLEMS_SHOWN = 50
WORD_LIMIT_CHARS = 80
VALUE_LIMIT_CHARS = 200
KINDS = ("say", "phonemes", "pinyin")

_NO_SOUNDS = frozenset("ˈˌːˑ ")
_LANGUAGE = re.compile("[a-z]{2,3}")
_FINALS = (
    "iang|iong|uang|ueng|ang|eng|ing|ong|iao|ian|uai|uan|van|ai|an|ao|ei|en|er|ia|ie|in|iu|ou|ua|ue|ui|un|uo|ve|vn"
    "|a|e|i|o|u|v"
)
_SYLLABLE = re.compile(f"(?:(?:zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw])?(?:{_FINALS})r?|ê|hm|hng|ng|m|n)[1-5]")


class _Wrong(Exception):
    """What is wrong with one entry, as the message for it."""


def words_of(top: Node | None) -> tuple[tuple[UserWord, ...], list[Problem]]:
    """Entries of a tree (None: an empty file) in its order, and the problems."""
    builder = _Builder()
    if top is not None and not _is_nothing(top):
        builder.languages(top)
    problems = sorted(builder.problems, key=lambda problem: problem.line or 0)
    unshown = len(problems) - PROBLEMS_SHOWN
    if unshown > 0:
        problems[PROBLEMS_SHOWN:] = [Problem("", None, f"and {unshown} more problems")]
    return tuple(builder.words), problems


class _Builder:
    def __init__(self) -> None:
        self.words: list[UserWord] = []
        self.problems: list[Problem] = []

    def languages(self, top: Node) -> None:
        if not isinstance(top, Mapping):
            message = f"must hold languages, each with its words below it, not {kind_of(top)}"
            self._report("", top.line, message)
            return
        first_lines: dict[str, int] = {}
        for name, node in top.pairs:
            lang = name.text if isinstance(name, Scalar) else ""
            if not _LANGUAGE.fullmatch(lang):
                self._report(shown_name(lang), name.line, "must be a language like en, zh or de")
            elif lang in first_lines:
                message = f"given twice, first in line {first_lines[lang]}; put its words together"
                self._report(lang, name.line, message)
            elif not _is_nothing(node):
                first_lines[lang] = name.line
                self._entries(lang, node)

    def _entries(self, lang: str, node: Node) -> None:
        if not isinstance(node, Mapping):
            message = f"must hold words, each with ': ' and how it is said, not {kind_of(node)}"
            self._report(lang, node.line, message)
            return
        first_lines: dict[str, int] = {}
        for name, value in node.pairs:
            path = f"{lang}.{_shown(name)}"
            try:
                word = _word(name)
                if word in first_lines:
                    raise _Wrong(f"given twice, first in line {first_lines[word]}; keep one")
                first_lines[word] = name.line
                self.words.append(UserWord(lang, word, *_value(lang, value)))
            except _Wrong as wrong:
                self._report(path, name.line, str(wrong))

    def _report(self, path: str, line: int | None, message: str) -> None:
        self.problems.append(Problem(path, line, message))


def _word(node: Node) -> str:
    if not isinstance(node, Scalar):
        raise _Wrong(f"must be a word or a phrase, not {kind_of(node)}; put it in quotes")
    text = _one_line(node, WORD_LIMIT_CHARS)
    if not any(map(str.isalnum, text)):
        raise _Wrong("has no letter or digit; put a word that YAML takes for a sign in quotes")
    return text


def _value(lang: str, node: Node) -> tuple[str, str]:
    """Kind and value of one entry."""
    if isinstance(node, Scalar):
        return "say", _said(node)
    if not isinstance(node, Mapping):
        raise _Wrong(f"must be how it is said, not {kind_of(node)}; put a text with [ in quotes")
    names = [name.text if isinstance(name, Scalar) else "" for name, _ in node.pairs]
    if len(names) != 1 or names[0] not in KINDS:
        given = ", ".join(map(shown_name, names)) or "nothing"
        raise _Wrong(f"must have exactly one of say, phonemes and pinyin, not {given}")
    kind, inner = names[0], node.pairs[0][1]
    if not isinstance(inner, Scalar):
        raise _Wrong(f"{kind} must be text, not {kind_of(inner)}; put it in quotes")
    if kind == "say":
        return kind, _said(inner)
    return kind, _phonemes(inner) if kind == "phonemes" else _pinyin(lang, inner)


def _said(node: Scalar) -> str:
    text = _one_line(node, VALUE_LIMIT_CHARS)
    if not any(map(str.isalnum, text)):
        raise _Wrong("must be words for it; nothing in this can be said")
    return text


def _phonemes(node: Scalar) -> str:
    text = _one_line(node, VALUE_LIMIT_CHARS)
    strange = [char for char in text if char != " " and unicodedata.category(char)[0] not in "LMN"]
    if strange or all(char in _NO_SOUNDS for char in text):
        about = f", not {strange[0]!r}" if strange else ""
        raise _Wrong(f"phonemes must be letters of the IPA alone, with ˈ ˌ ː for stress and length{about}")
    return text


def _pinyin(lang: str, node: Scalar) -> str:
    if lang != "zh":
        raise _Wrong("pinyin is for words under zh; write phonemes or other words for it")
    text = _one_line(node, VALUE_LIMIT_CHARS).lower().replace("u:", "v").replace("ü", "v")
    for syllable in text.split():
        if not _SYLLABLE.fullmatch(syllable):
            raise _Wrong(
                f"pinyin must be syllables with their tones 1 to 5, like chong2 qing4, not {syllable[:12]!r}"
            )
    return text


def _one_line(node: Scalar, limit_chars: int) -> str:
    """The text in NFC with single spaces."""
    text = re.sub(" {2,}", " ", unicodedata.normalize("NFC", node.text)).strip(" ")
    if node.is_null or not text:
        raise _Wrong("is empty; write how it is said, and a text that begins with # in quotes")
    if not text.isprintable():
        raise _Wrong("must be one line without control characters")
    if len(text) > limit_chars:
        raise _Wrong(f"must be at most {limit_chars} characters long, not {len(text)}")
    return text


def _shown(node: Node) -> str:
    """A word for a message, as it is where it fits on a line."""
    text = node.text if isinstance(node, Scalar) else ""
    kept = "".join(char if char.isprintable() else "…" for char in text[:40])
    return kept if len(text) <= 40 else f"{kept}…"


def _is_nothing(node: Node) -> bool:
    return isinstance(node, Scalar) and node.is_null
