"""How long to wait before the next connection, and whether another client uses our id. Pure."""

from __future__ import annotations

from collections.abc import Callable

_FIRST_S = 0.5
_LONGEST_S = 60.0
_SETTLED_S = 30.0
"""A connection that lasted this long was good: the next wait is short again."""
_SETTLED_AFTER_CLASH_S = 300.0
"""Two clients with one id throw each other out for ever: each must stay away long, not come back fast."""
_DROPS_OF_A_CLASH = 3
_SOON_S = 5.0
"""Lost so soon after it began, a connection was perhaps taken over: mosquitto 2.0 does not tell even
where MQTT 5 lets it. Whoever comes back fast then throws the other one out."""


class Backoff:
    """Waits that double from 0.5 s to 60 s, shortened at random by up to a half.

    `random` gives numbers from 0 to 1. Failures of every kind count alike: refused, unreachable,
    unknown name, TLS, lost soon after the start.
    """

    def __init__(self, random: Callable[[], float]) -> None:
        self._random = random
        self._failures = 0
        self._soon_lost = 0
        self._clash = False

    @property
    def clash(self) -> bool:
        """Another client seems to connect with our client id."""
        return self._clash

    def failed(self) -> float:
        """A connection did not come about; seconds to wait."""
        self._failures += 1
        longest_s = min(_LONGEST_S, _FIRST_S * 2.0 ** min(self._failures - 1, 16))
        return longest_s * (1.0 - 0.5 * self._random())

    def lost(self, lasted_s: float, taken_over: bool) -> float:
        """A connection ended `lasted_s` after the broker's answer; seconds to wait.

        `taken_over`: the broker said that another client came with our id. Where it does not say so,
        several short connections in a row are the sign. What looks like it counts as two failures.
        """
        if lasted_s >= (_SETTLED_AFTER_CLASH_S if self._clash else _SETTLED_S):
            self._failures = self._soon_lost = 0
            self._clash = False
        else:
            self._soon_lost += 1
        self._failures += taken_over or lasted_s < _SOON_S
        self._clash = self._clash or taken_over or self._soon_lost >= _DROPS_OF_A_CLASH
        return self.failed()
