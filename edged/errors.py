"""Every error edged raises on purpose, as one small tree.

    EdgedError                 anything a user can be told in one line
    ├── ConfigError            the configuration (exit code 78); carries every problem found
    ├── PayloadError           a received message that cannot become an announcement
    ├── VoiceError             a voice that is missing, damaged or does not load
    │   ├── VoiceNotReady      a voice that is being loaded: ask again in a moment
    │   ├── SpeakerError       a message asks for a speaker that the voice does not have
    │   └── BadAudioError      a voice that loaded but gave NaN, Inf, silence or nothing
    ├── SinkError              a sound device that is missing, busy, refused or lost
    └── BrokerError            the broker refused us or cannot be reached

The text of an error is one line that names the file or topic, the key, and the mend. It never
contains a secret or a value of a secret field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class EdgedError(Exception):
    """Base of all errors that are shown to a user as one line."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault in a configuration file: where it is, what is wrong, how to mend it."""

    path: str
    line: int | None
    message: str

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line is not None else ""
        return f"{where}{self.path}: {self.message}" if self.path else f"{where}{self.message}"


class ConfigError(EdgedError):
    """The configuration is not usable; `problems` holds all of it at once.

    `seen` has the files it names that were read with it, each with its identity before it was read:
    a change of one of them may mend it.
    """

    def __init__(
        self, file: str, problems: tuple[Problem, ...], seen: Mapping[Path, tuple[int, ...]] | None = None
    ) -> None:
        super().__init__("; ".join(f"{file}: {problem}" for problem in problems))
        self.file = file
        self.problems = problems
        self.seen = dict(seen or {})


class PayloadError(EdgedError):
    """A message that is refused for good; the text is the reason published in the event.

    `id` is the one its sender gave, where that much could be read.
    """

    def __init__(self, reason: str, id: str | None = None) -> None:
        super().__init__(reason)
        self.id = id


class VoiceError(EdgedError):
    """A voice that cannot be used."""


class VoiceNotReady(VoiceError):
    """A voice that is being loaded."""


class SpeakerError(VoiceError):
    """A speaker that the voice does not have; the text names the valid ones."""


class BadAudioError(VoiceError):
    """A voice gave samples that must not reach the speaker."""


class SinkError(EdgedError):
    """A sound device that cannot be used now."""


class BrokerError(EdgedError):
    """The broker cannot be used now."""
