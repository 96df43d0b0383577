"""Which commands, options, files, keys and topics the page names. Pure, but for looking at the tree."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator

from edged.cli import COMMANDS, command_parser
from tests.readme.page import REPO, blocks, spans

_OPTION = re.compile(r"--[a-z][a-z-]*")
_FOLDERS = ("deploy", "configs", "models", "edged", "tests", "systemd")


def lines() -> Iterator[tuple[str, str]]:
    """Where it stands, and a command as far as it is named: lines of shell blocks, and code in sentences."""
    for block in blocks():
        if block.language == "sh":
            for line in block.text.splitlines():
                yield str(block), line
    for span in spans():
        for line in re.split(r" && ", span.text):
            yield str(span), line.removeprefix("sudo ")


def words_of(line: str) -> list[str]:
    """Of one command, without comments; a pipe or a redirection ends it."""
    return shlex.split(re.split(r"[|<>;&]", line)[0])


def fault_of_edged(words: list[str]) -> str | None:
    """What is wrong with `edged ...`: a command or an option that there is not; None where nothing is."""
    parser = command_parser(*COMMANDS)
    for word in words[1:]:
        inner = _subparsers(parser)
        if word.startswith("-"):
            if word not in parser._option_string_actions:
                return f"{parser.prog} has no option {word}"
        elif inner:
            if word not in inner:
                return f"{parser.prog} has no command {word}"
            parser = inner[word]
    return None


def options_of_edged() -> set[str]:
    """Of every command and every command of a command."""
    found: set[str] = set()
    waiting = [command_parser(*COMMANDS)]
    while waiting:
        parser = waiting.pop()
        found |= parser._option_string_actions.keys()
        waiting += _subparsers(parser).values()
    return found


def fault_of_script(words: list[str]) -> str | None:
    """What is wrong with `deploy/...` or `python3 -m tests...`: no such program, or no such option."""
    if words[0].startswith("python"):
        folder = REPO / words[2].replace(".", "/")
        files = sorted(folder.glob("*.py")) or [folder.with_suffix(".py")]
    else:
        files = [REPO / words[0], *([REPO / "deploy/lib.sh"] if (REPO / words[0]).exists() else [])]
    if not all(file.exists() for file in files):
        return f"there is no {files[0].relative_to(REPO)}"
    known = set(_OPTION.findall("".join(file.read_text() for file in files)))
    unknown = [word for word in words if _OPTION.fullmatch(word) and word not in known]
    return f"no option {unknown[0]}" if unknown else None


def options_of_scripts() -> set[str]:
    """Of everything in deploy/."""
    return set(_OPTION.findall("".join(file.read_text() for file in (REPO / "deploy").iterdir())))


def paths() -> Iterator[tuple[str, str]]:
    """Where it stands, and a path into this tree that the page names, by a link or as code."""
    for number, line in enumerate((REPO / "README.md").read_text().splitlines(), 1):
        for target in re.findall(r"\]\(([^)#][^)#]*)", line):
            yield f"README.md line {number}", target
    for span in spans():
        word = span.text.split(maxsplit=1)[0]
        if re.fullmatch(rf"(?:{'|'.join(_FOLDERS)})/[\w./-]+", word) and not word.startswith("edged/kitchen"):
            yield str(span), word


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    # argparse has no public way to list what was added to it.
    actions = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(actions[0].choices) if actions else {}
