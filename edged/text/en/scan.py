"""The scanner: goes over a sentence once, from left to right, and lets the first rule that fits read on.

A rule is a pattern, matched at one place only, and a function that turns the match into words or
declines with None. Patterns are bounded, so the whole is linear in the length of the sentence. What
no rule reads is copied: words as they are, signs as their names or as pauses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Match = re.Match[str]

DIGIT, LETTER, SIGN = range(3)
"""What a place begins with; a rule says at which of them it can match."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`say` gives words for what `pattern` matched, '' for nothing, None to decline."""

    name: str
    starts: tuple[int, ...]
    pattern: str
    say: Callable[[Match], str | None]


class Scanner:
    """Compiled rules, in order of preference."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules: tuple[
            list[tuple[str, Callable[[str, int], Match | None], Callable[[Match], str | None]]], ...
        ]
        self._rules = ([], [], [])
        for rule in rules:
            match = re.compile(rule.pattern).match
            for start in rule.starts:
                self._rules[start].append((rule.name, match, rule.say))

    def read(self, text: str) -> tuple[str, list[str]]:
        """Words of a sentence, and the names of the rules that fired, in order."""
        out: list[str] = []
        fired: list[str] = []
        position = 0
        while position < len(text):
            char = text[position]
            if char == " ":
                out.append(char)
                position += 1
                continue
            start = DIGIT if "0" <= char <= "9" else LETTER if char.isalpha() else SIGN
            for name, match, say in self._rules[start]:
                found = match(text, position)
                if found is not None and (said := say(found)) is not None:
                    fired.append(name)
                    _append(out, said)
                    position = found.end()
                    break
            else:
                position = self._copy(text, position, start, out)
        return "".join(out), fired

    @staticmethod
    def _copy(text: str, position: int, start: int, out: list[str]) -> int:
        """One word or one sign that no rule reads; returns where it ends."""
        if start != LETTER:
            _append(out, text[position])
            return position + 1
        word = _WORD.match(text, position)
        end = word.end() if word is not None else position + 1
        _append(out, text[position:end])
        return end


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def _append(out: list[str], said: str) -> None:
    """Append with a space between two words."""
    if said and out and out[-1] and _ends_word(out[-1]) and said[0].isalnum():
        out.append(" ")
    if said:
        out.append(said)


def _ends_word(piece: str) -> bool:
    return piece[-1].isalnum()


def before(found: Match, chars: int = 24) -> str:
    """The text that stands just before the match."""
    start = found.start()
    return found.string[max(0, start - chars) : start]


def around(found: Match) -> str:
    """The match with what stands near it; of a sentence of usual length all."""
    return found.string[max(0, found.start() - 100) : found.end() + 100]


def after(found: Match, chars: int = 24) -> str:
    """The text that follows the match."""
    return found.string[found.end() : found.end() + chars]


_LAST_WORD = re.compile(r"([^\W\d_]+)[.:#]?[ ]?$")


def word_before(found: Match) -> str:
    """The word just before the match in lower case, '' where something else stands there."""
    last = _LAST_WORD.search(before(found))
    return last.group(1).lower() if last else ""
