"""A YAML file to a Config, or every problem in it at once (the only file that imports yaml).

YAML is read as a stream of events, so that nothing in the file is executed, no alias is expanded
more than by reference, and every value keeps its line and its characters. The words of the YAML
library are never shown: they quote the file, and the file holds a password.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from edged.config.build import PROBLEMS_SHOWN, Loaded, build
from edged.config.identity import Identity, identity
from edged.config.lexicon import words_of
from edged.config.model import Config, Lexicon, UserWord
from edged.config.tree import Mapping, Node, Scalar, Sequence, over
from edged.errors import ConfigError, Problem

DEFAULT_PATH = Path("/etc/edged/edged.yaml")
SIZE_LIMIT_BYTES = 128 * 1024
LEXICON_LIMIT_BYTES = 256 * 1024
"""Some eight thousand entries; more would take a slow board longer to read than its watchdog waits."""
DEPTH_LIMIT = 16
_NAME_CHARS = 400

_LINE_SEPARATORS = re.compile("[\x85\u2028\u2029]")
"""YAML ends a line at these, editors do not: what looks like one value would be two."""

_Opening = yaml.AliasEvent | yaml.ScalarEvent | yaml.CollectionStartEvent

_SYNTAX = (
    ("found character '\\t'", "a tab stands where YAML wants spaces; replace it"),
    ("found character", "a value cannot begin with this character; put it in quotes"),
    (
        "mapping values are not allowed",
        "a second ': ' in one line, a ':' missing above, or wrong indentation",
    ),
    ("could not find expected ':'", "a key without ': ' after it, or a quote that is never closed"),
    ("expected <block end>", "the indentation does not fit the lines above, or a quote ends too soon"),
    ("expected chomping", "put a text that begins with | or > in quotes"),
    ("expected alphabetic or numeric", "put a text that begins with & or * in quotes"),
    ("mapping keys are not allowed", "put a text that begins with ? in quotes"),
    ("found unexpected end of stream", "a quote that is never closed"),
    ("found unexpected document separator", "a quote that is never closed"),
    ("found unknown escape character", "an unknown escape in double quotes; use single quotes"),
    ("expected ',' or ']'", "a list in [ ] that is not closed, or a comma missing in it"),
    ("expected ',' or '}'", "a section in { } that is not closed, or a comma missing in it"),
    ("expected '<document start>'", "the document has ended before this line"),
    ("found undefined tag handle", "tags are not used here; put a text that begins with ! in quotes"),
    ("sequence entries are not allowed", "a list must begin on a line of its own, below its key"),
)
"""How the messages of PyYAML's scanner and parser begin, and what we say instead."""


def find(option: str | Path | None = None) -> Path | None:
    """The file to load: the option, else $EDGED_CONFIG, else /etc/edged/edged.yaml if it exists.

    None means: no file, the defaults alone. A file that exists but cannot be reached is returned,
    so that loading it says why, rather than the defaults taking over silently.
    """
    chosen = option or os.environ.get("EDGED_CONFIG")
    if chosen:
        return Path(chosen)
    try:
        os.lstat(DEFAULT_PATH)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return DEFAULT_PATH
    return DEFAULT_PATH


def load(path: Path | None) -> Config:
    """The configuration in `path`, or the defaults for None. Raises ConfigError with all problems."""
    return read(path).config if path is not None else Config()


def read(path: Path) -> Loaded:
    """Like `load`, with the lines of the keys. Raises ConfigError with all problems, the lexicon's too."""
    try:
        tree, unshown = _tree(path, SIZE_LIMIT_BYTES)
    except _Unreadable as error:
        raise ConfigError(printable(path), (error.problem,)) from None
    loaded, problems = build(tree)
    seen: dict[Path, Identity] = {}
    if loaded.config.profile is not None:
        # Under the service manager the working folder is none that a user would think of.
        file = path.absolute().parent / loaded.config.profile
        seen[file] = identity(file)
        under, faults = _profile(file)
        line = loaded.lines.get("profile")
        problems += [Problem("profile", line, f"{printable(file)}: {each}") for each in faults]
        if not problems:
            lines = loaded.lines
            loaded = replace(build(over(under, tree))[0], lines=lines)
    text, line = loaded.config.text, loaded.lines.get("text.lexicon")
    lexicon = text.words
    if text.lexicon is not None:
        file = path.absolute().parent / text.lexicon
        seen[file] = identity(file)
        try:
            lexicon = Lexicon.of(read_words(file))
        except ConfigError as error:
            problems += [Problem("text.lexicon", line, f"{error.file}: {each}") for each in error.problems]
    if unshown or problems:
        raise ConfigError(printable(path), (*unshown, *problems), seen)
    words = replace(text, words=lexicon)
    return replace(loaded, config=replace(loaded.config, text=words, files=tuple(seen.items())))


def _profile(file: Path) -> tuple[Node | None, list[Problem]]:
    """The tree of a board's profile, and what is wrong with it."""
    try:
        tree, problems = _tree(file, SIZE_LIMIT_BYTES)
    except _Unreadable as error:
        return None, [error.problem]
    loaded, faults = build(tree)
    if loaded.config.profile is not None:
        faults.append(Problem("profile", loaded.lines.get("profile"), "a profile names no other one"))
    return tree, problems + faults


def read_words(path: Path) -> tuple[UserWord, ...]:
    """The entries of a lexicon. Raises ConfigError with all problems."""
    try:
        tree, unshown = _tree(path, LEXICON_LIMIT_BYTES)
    except _Unreadable as error:
        raise ConfigError(printable(path), (error.problem,)) from None
    words, problems = words_of(tree)
    if unshown or problems:
        raise ConfigError(printable(path), (*unshown, *problems))
    return words


def _tree(path: Path, limit_bytes: int) -> tuple[Node | None, list[Problem]]:
    """What the file says, and what of it the tree cannot show. Raises _Unreadable."""
    reader = _Reader(_decode(_bytes_of(path, limit_bytes)))
    tree, problems = reader.tree(), reader.problems
    unshown = len(problems) - PROBLEMS_SHOWN
    if unshown > 0:
        problems[PROBLEMS_SHOWN:] = [Problem("", None, f"and {unshown} more problems")]
    return tree, problems


class _Unreadable(Exception):
    """Reading ends here; one problem says why."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.problem = Problem("", line, message)


def printable(path: Path) -> str:
    """A file name fit for one line on any terminal."""
    name = "".join(char if char.isprintable() else repr(char)[1:-1] for char in os.fspath(path))
    return name if len(name) <= _NAME_CHARS else f"{name[: _NAME_CHARS // 2]}…{name[-_NAME_CHARS // 2 :]}"


def _bytes_of(path: Path, limit_bytes: int) -> bytes:
    try:
        # O_NONBLOCK: a named pipe in the file's place must not hold the daemon.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode) and not os.path.samefile(path, os.devnull):
                what = "is a folder" if stat.S_ISDIR(mode) else "is not a regular file"
                raise _Unreadable(f"{what}; name the YAML file itself")
            data = file.read(limit_bytes + 1)
    except IsADirectoryError:
        raise _Unreadable("is a folder; name the YAML file itself") from None
    except OSError as error:
        raise _Unreadable(f"cannot be read: {error.strerror}") from None
    if len(data) > limit_bytes:
        what = "lexicon" if limit_bytes == LEXICON_LIMIT_BYTES else "configuration"
        raise _Unreadable(f"is larger than {limit_bytes // 1024} KiB: not a {what} of edged")
    return data


def _decode(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _Unreadable("is UTF-16; save it as UTF-8")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _Unreadable("is not UTF-8; save it as UTF-8", data.count(b"\n", 0, error.start) + 1) from None


class _Reader:
    """Events of one YAML document to a tree; `problems` holds what the tree cannot show."""

    def __init__(self, text: str) -> None:
        if (found := _LINE_SEPARATORS.search(text)) is not None:
            raise _Unreadable("an invisible line separator; remove it", _line_at(text, found.start()))
        self._text = text
        self._anchors: dict[str, Node] = {}
        self.problems: list[Problem] = []
        try:
            self._events = yaml.SafeLoader(text)
        except yaml.reader.ReaderError as error:
            raise _Unreadable("a control character; remove it", _line_at(text, error.position)) from None

    def tree(self) -> Node | None:
        """The document, or None where the file holds nothing. Raises _Unreadable on bad syntax."""
        try:
            return self._document()
        except yaml.MarkedYAMLError as error:
            raise _syntax_error(error) from None
        except (yaml.YAMLError, ValueError, OverflowError, IndexError):
            # PyYAML lets these out for escapes and directives with numbers beyond all bounds.
            raise _Unreadable("is not valid YAML", self._events.line + 1) from None
        finally:
            self._events.dispose()

    def _document(self) -> Node | None:
        tree: Node | None = None
        documents = 0
        while not isinstance(event := self._next(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _Unreadable("a second document begins here (---); keep one", _line(event))
            elif isinstance(event, _Opening):
                tree = self._node(event, 0)
        return tree

    def _node(self, event: _Opening, depth: int) -> Node:
        line = _line(event)
        if depth > DEPTH_LIMIT:
            raise _Unreadable("is nested too deep", line)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                self._report(line, "refers to nothing; put a text that begins with * in quotes")
                return Scalar("", line, plain=True)
            return self._anchors[event.anchor]
        node = self._scalar(event) if isinstance(event, yaml.ScalarEvent) else self._collection(event, depth)
        if event.tag is not None:
            self._report(line, "tags are not used here; put a text that begins with ! in quotes")
        if event.anchor is not None:
            if isinstance(node, Scalar) and node.is_null:
                self._report(line, "a name (&) for nothing; put a text that begins with & in quotes")
            self._anchors[event.anchor] = node
        return node

    def _collection(self, event: yaml.CollectionStartEvent, depth: int) -> Node:
        items: list[Node] = []
        while not isinstance(inner := self._next(), yaml.CollectionEndEvent):
            items.append(self._node(inner, depth + 1))
        if isinstance(event, yaml.SequenceStartEvent):
            return Sequence(items, _line(event))
        pairs = list(zip(items[::2], items[1::2], strict=True))
        return Mapping(pairs, _line(event), flow=bool(event.flow_style))

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        start: Any = event.start_mark
        end: Any = event.end_mark
        rest = self._text[end.index :].partition("\n")[0]
        return Scalar(
            text=event.value,
            line=_line(event),
            plain=event.style in (None, ""),
            one_line=start.line == end.line,
            anchored=event.anchor is not None,
            commented=rest.lstrip().startswith("#"),
        )

    def _next(self) -> Any:
        return self._events.get_event()  # type: ignore[no-untyped-call]

    def _report(self, line: int, message: str) -> None:
        self.problems.append(Problem("", line, message))


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _line(event: yaml.Event) -> int:
    mark: Any = event.start_mark
    line: int = mark.line + 1
    return line


def _syntax_error(error: yaml.MarkedYAMLError) -> _Unreadable:
    said = error.problem or ""
    message = next((ours for theirs, ours in _SYNTAX if said.startswith(theirs)), "is not valid YAML")
    # The context is where an unclosed quote, list or key began; the problem is where it was missed.
    mark = error.problem_mark if said.startswith(("expected <block", "found ch")) else None
    mark = mark or error.context_mark or error.problem_mark
    return _Unreadable(message, mark.line + 1 if mark else None)
