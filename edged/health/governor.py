"""The governor: which level of the ladder to run at, by what the board can bear. Pure but for `Governor`.

A level is one way to run (precision, frame stride, chunk schedule, threads); level 0 is the best one and
each further one asks less of the board. Behind the last level nothing is synthesized: only sound that is
kept from earlier is played.

    down   one level every STEP_S while there is a cause: RTF, heat, throttling, dropouts, CPU pressure
    jump   to the last level at the hard limit; after REFUGE_S of it behind the last one
    up     one level at a time, after a whole calm period without a cause or anything near one

Every limit has two edges: what lies between them keeps the board where it is. So after a step down no
step up comes within the calm period.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from edged.config.model import GovernorConfig
from edged.types import Level

NS_PER_S = 1_000_000_000
STEP_S = 10.0
"""Between two steps down: what a step brings is seen when something was said, and heat shows late."""
RISE_S = 15.0
"""Within so long after the calm period the top is reached again, however many levels there are."""
REFUGE_S = 30.0
"""At the hard limit for so long on the last level, synthesis itself must stop."""
GAPS_S = 60.0
RECENT_S = 10
"""The minute's mean is slow to forget; whether a cause still holds is seen in so many seconds."""
EASY_RTF = 0.75
"""Of the RTF limit: below it there is room."""
BUSY_RTF = 0.5
"""Of the RTF limit: where speech has more room than this, other processes may have the processors."""
COOLER_C = 3.0
CALMER_PERCENT = 15.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One look at the board; None where there is nothing to read, or nothing known."""

    now_ns: int
    rtf: float | None = None
    """Mean of the last minute, of what was synthesized at the present level."""
    rtf_recent: float | None = None
    """The same of the last RECENT_S."""
    temp_c: float | None = None
    throttled: bool | None = None
    gaps: int = 0
    """Xruns and underfills since the snapshot before."""
    pressure_percent: float | None = None
    """Share of the last ten seconds in which some process waited for a processor."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What is kept from one decision to the next."""

    level: int = 0
    reason: str = ""
    """Of the last step."""
    stepped_ns: int | None = None
    """Last step, up or down."""
    uneasy_ns: int | None = None
    """When there last was a cause, something near one, or a step down."""
    hot_ns: int | None = None
    """Since when the hard limit has been passed; None: it is not."""
    gaps: tuple[tuple[int, int], ...] = ()
    """(when, how many) of the last GAPS_S at this level."""


def decide(now: Snapshot, memory: Memory, limits: GovernorConfig, costs: Sequence[float | None]) -> Memory:
    """The level from now on. `costs`: RTF of each level as it was once measured, None where it was not.

    `len(costs)` is the level behind the last one. Pure.
    """
    if not limits.enabled:
        return Memory() if memory.level == 0 else Memory(reason="switched off", stepped_ns=now.now_ns)
    behind = len(costs)
    memory = _noted(now, memory, limits, behind)
    if target := _jump(now, memory, limits, behind):
        return _stepped(now, memory, *target)
    cause = _cause(now, memory, limits) if memory.level < behind else None
    if cause and memory.level < behind - 1 and _passed(now, memory.stepped_ns, STEP_S):
        return _stepped(now, memory, memory.level + 1, cause)
    if cause or _is_near(now, memory, limits, behind):
        return replace(memory, uneasy_ns=now.now_ns)
    if memory.level and _may_rise(now, memory, limits, costs):
        return _stepped(now, memory, memory.level - 1, f"calm for {limits.calm_s:.0f} s")
    return memory


def _noted(now: Snapshot, memory: Memory, limits: GovernorConfig, behind: int) -> Memory:
    """What is new, what is too old, and a ladder that may have become shorter."""
    gaps = tuple(gap for gap in memory.gaps if now.now_ns - gap[0] < GAPS_S * NS_PER_S)
    gaps += ((now.now_ns, now.gaps),) if now.gaps else ()
    hot = now.temp_c is not None and now.temp_c >= _hard_c(limits)
    hot_ns = (now.now_ns if memory.hot_ns is None else memory.hot_ns) if hot else None
    return replace(memory, level=min(memory.level, behind), gaps=gaps, hot_ns=hot_ns)


def _jump(now: Snapshot, memory: Memory, limits: GovernorConfig, behind: int) -> tuple[int, str] | None:
    """At the hard limit the last level, later none; None where nothing is to be changed."""
    if memory.hot_ns is None:
        return None
    reason = f"temperature {now.temp_c:.1f} °C, hard limit {_hard_c(limits):.1f} °C"
    if memory.level < behind - 1:
        return behind - 1, reason
    if memory.level < behind and _passed(now, memory.hot_ns, REFUGE_S):
        return behind, f"{reason}, for {REFUGE_S:.0f} s on the last level"
    return None


def _cause(now: Snapshot, memory: Memory, limits: GovernorConfig) -> str | None:
    """Why less should be asked of the board, in words; None where nothing is wrong."""
    recent = now.rtf_recent or 0.0
    if now.temp_c is not None and now.temp_c >= limits.soft_c:
        return f"temperature {now.temp_c:.1f} °C, soft limit {limits.soft_c:.1f} °C"
    if now.throttled:
        return "the processor is slowed down (heat or power supply)"
    if now.rtf is not None and now.rtf > limits.rtf_limit and recent > EASY_RTF * limits.rtf_limit:
        return f"RTF {now.rtf:.2f} over a minute, limit {limits.rtf_limit:.2f}"
    gaps = sum(count for _, count in memory.gaps)
    if gaps >= limits.gaps and not _passed(now, memory.gaps[-1][0], RECENT_S):
        return f"{gaps} gaps in the sound within a minute"
    pressure = now.pressure_percent or 0.0
    if pressure > limits.pressure_percent and _is_busy(recent, limits):
        return f"CPU pressure {pressure:.0f} %, RTF {recent:.2f}"
    return None


def _is_near(now: Snapshot, memory: Memory, limits: GovernorConfig, behind: int) -> bool:
    """No cause, and not far enough from one to be calm. Mute is left as soon as the hard limit allows."""
    temp_c = -273.15 if now.temp_c is None else now.temp_c
    if memory.level == behind:
        return temp_c > _hard_c(limits) - COOLER_C
    recent = now.rtf_recent or 0.0
    pressure = now.pressure_percent or 0.0
    return (
        bool(now.gaps)
        or temp_c > limits.soft_c - COOLER_C
        or recent > EASY_RTF * limits.rtf_limit
        or (pressure > limits.pressure_percent - CALMER_PERCENT and _is_busy(recent, limits))
    )


def _is_busy(recent: float, limits: GovernorConfig) -> bool:
    return recent > BUSY_RTF * limits.rtf_limit


def _may_rise(now: Snapshot, memory: Memory, limits: GovernorConfig, costs: Sequence[float | None]) -> bool:
    """Calm for long enough, and the level above would have room, as far as that can be foreseen."""
    spacing_s = min(STEP_S, RISE_S / len(costs))
    if not _passed(now, memory.uneasy_ns, limits.calm_s) or not _passed(now, memory.stepped_ns, spacing_s):
        return False
    above = costs[memory.level - 1]
    here = costs[memory.level] if memory.level < len(costs) else None
    if now.rtf_recent is None or not above or not here:
        return True
    return now.rtf_recent * above / here <= EASY_RTF * limits.rtf_limit


def _stepped(now: Snapshot, memory: Memory, level: int, reason: str) -> Memory:
    went_down = level > memory.level
    return Memory(
        level=level,
        reason=reason,
        stepped_ns=now.now_ns,
        uneasy_ns=now.now_ns if went_down else memory.uneasy_ns,
        hot_ns=memory.hot_ns,
    )


def _passed(now: Snapshot, since_ns: int | None, seconds: float) -> bool:
    return since_ns is None or now.now_ns - since_ns >= seconds * NS_PER_S


def _hard_c(limits: GovernorConfig) -> float:
    """A hard limit below the soft one is taken as the soft one."""
    return max(limits.hard_c, limits.soft_c)


class Governor:
    """Looks, decides and has it done, once a second. Used by the main thread only."""

    def __init__(
        self,
        look: Callable[[int], Snapshot],
        ladder: Callable[[], tuple[Level, ...]],
        apply: Callable[[int, Level | None], None],
        report: Callable[[str], None],
    ) -> None:
        """`look(now_ns)`; `ladder`: the levels of the voice that speaks, never empty, the best one first.

        `apply(number, level)` is called every second and does what is still to be done; None: nothing is
        to be synthesized. `report` gets one line a step.
        """
        self._look = look
        self._ladder = ladder
        self._apply = apply
        self._report = report
        self._memory = Memory()
        self._looked_ns: int | None = None

    @property
    def level(self) -> int:
        """0 is the best one."""
        return self._memory.level

    def state(self) -> dict[str, object]:
        """For the state topic."""
        return {
            "level": self._memory.level,
            "levels": len(self._ladder()),
            "level_reason": self._memory.reason or None,
        }

    def tick(self, limits: GovernorConfig, now_ns: int) -> None:
        """Called as often as one likes; acts once a second."""
        if self._looked_ns is not None and now_ns - self._looked_ns < NS_PER_S:
            return
        self._looked_ns = now_ns
        levels = self._ladder()
        before = self._memory.level
        self._memory = decide(self._look(now_ns), self._memory, limits, [level.rtf for level in levels])
        number = self._memory.level
        level = levels[number] if number < len(levels) else None
        if number != before:
            way = "down" if number > before else "up"
            told_level = "only sound kept from earlier" if level is None else str(level)
            self._report(
                f"{way} to level {number} of {len(levels) - 1} ({told_level}): {self._memory.reason}"
            )
        self._apply(number, level)
