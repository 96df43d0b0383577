"""How much sound must be ready before it is played, where synthesis is slower than real time. Pure.

With R seconds of sound still to be made, each taking RTF seconds, what is ready when playing begins must
last until the end of that work: at least R x (RTF - 1). Sound comes in chunks, of which the last one counts
only when it is whole, so one more is wanted on top.
"""

from __future__ import annotations

SLOW_RTF = 0.9
"""From here on a chunk may take longer than the one before it sounds."""
SAFETY = 1.15
"""Times the RTF: it is a mean, and the board may be getting hotter."""
CHUNK_S = 1.3
"""Longest chunk of our engines, 108 frames of a Piper voice."""
MEASURED_S = 1.5
"""An RTF of less sound says too little: the front end, which runs first, is most of it."""
CHAR_S = 0.08
"""Sound of a character until it is known better; slow speech has 13 a second."""
UNFORESEEN = 0.15
"""Of a sentence that has already become longer than was expected, at least so much is still to come."""


class Pacing:
    """The estimate for one utterance: told of each sentence and each chunk, it says what must be ready."""

    def __init__(self, chars: int, rtf: float | None, speed: float) -> None:
        """`chars` of the whole text; `rtf`: of this voice as far as known before, None: not at all."""
        self._known_rtf = rtf or 0.0
        self._chars_left = chars
        self._chars = 0
        self._char_s = CHAR_S / speed
        self._past_s = 0.0
        self._sentence_chars = 0
        self._sentence_s = 0.0
        self._spent_s = 0.0

    def begin(self, chars: int) -> None:
        """A sentence of so many characters comes next."""
        self._past_s += self._sentence_s
        self._chars += self._sentence_chars
        if self._past_s >= MEASURED_S:
            self._char_s = self._past_s / self._chars
        self._sentence_chars, self._sentence_s = chars, 0.0
        self._chars_left = max(0, self._chars_left - chars)

    def made(self, spent_s: float, sound_s: float) -> None:
        """So much sound of the sentence was made in so much time."""
        self._spent_s += spent_s
        self._sentence_s += sound_s

    @property
    def effort(self) -> tuple[float, float]:
        """(seconds spent, seconds of sound made) so far."""
        return self._spent_s, self._past_s + self._sentence_s

    @property
    def rtf(self) -> float | None:
        """As measured in this utterance; None as long as that says too little."""
        spent_s, made_s = self.effort
        return spent_s / made_s if made_s >= MEASURED_S else None

    @property
    def is_slow(self) -> bool:
        """Sound must be made ahead of the time when the device can take it."""
        return self._rtf > SLOW_RTF

    def needed_s(self) -> float:
        """Sound that must be ready for playing to begin, or to go on, without a gap; 0 where it is fast."""
        if not self.is_slow:
            return 0.0
        left_s = self._left_s()
        return max(0.0, left_s * (self._rtf * SAFETY - 1)) + min(left_s, CHUNK_S)

    @property
    def _rtf(self) -> float:
        return self._known_rtf if self.rtf is None else self.rtf

    def _left_s(self) -> float:
        expected_s = self._sentence_chars * self._char_s
        here_s = max(expected_s - self._sentence_s, UNFORESEEN * expected_s)
        return here_s + self._chars_left * self._char_s
