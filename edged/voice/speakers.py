"""Which speaker of a voice is meant by what a message asks for."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from edged.errors import SpeakerError

_log = logging.getLogger(__name__)

_NAMES_SHOWN = 8


class Speakers:
    """The speakers of one voice, numbered as its network numbers them."""

    def __init__(self, voice: str, names: Sequence[str], default: int = 0) -> None:
        """`names` is empty for a voice with one speaker."""
        self._voice = voice
        self._names = tuple(names)
        self._default = default
        self._said = False

    def choose(self, asked: int | str | None) -> int | None:
        """A number or name as received -> the number; None where the network takes no speaker.

        Nothing asked for is the default speaker, noted once; a voice with one speaker speaks whatever
        is asked, with one warning. Raises SpeakerError, naming the valid ones, for another speaker.
        """
        if not self._names:
            if asked is not None:
                self._say_once(logging.WARNING, f"voice {self._voice} has one speaker; {asked!r} is ignored")
            return None
        if asked is None:
            self._say_once(logging.INFO, f"voice {self._voice}: no speaker asked for, using {self._default}")
            return self._default
        if isinstance(asked, str):
            if asked in self._names:
                return self._names.index(asked)
            if asked.isdecimal():
                asked = int(asked)
        if isinstance(asked, int) and not isinstance(asked, bool) and 0 <= asked < len(self._names):
            return asked
        raise SpeakerError(f"voice {self._voice}: there is no speaker {asked!r}; {self._valid()}")

    def _valid(self) -> str:
        last = len(self._names) - 1
        named = [name for number, name in enumerate(self._names) if name != str(number)]
        shown = ", ".join(named[:_NAMES_SHOWN]) + (", …" if len(named) > _NAMES_SHOWN else "")
        return f"valid is 0 to {last}" + (f", or a name: {shown}" if shown else "")

    def _say_once(self, severity: int, line: str) -> None:
        if not self._said:
            self._said = True
            _log.log(severity, "%s", line)
