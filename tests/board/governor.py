"""The steps with the governor: sensors are files of ours, slowness is that of the scripted voice."""

from __future__ import annotations

from typing import Any

from tests.board.machine import Board
from tests.board.service import COST, TEXT, configure, recorded, rendered, restart, say, state, until
from tests.board.sound import compare, whole

SOFT_C, HARD_C, CALM_S = 60, 70, 20


def _govern(board: Board, cost: str) -> tuple[str, dict[str, Any]]:
    """The governor on, with files of ours for sensors; the file of the temperature, and the state."""
    zone = "/var/lib/edged/sys/class/thermal/thermal_zone0"
    board.run(f"mkdir -p {zone} && echo cpu-thermal >{zone}/type && echo 40000 >{zone}/temp")
    board.run(f"echo '{cost}' >{COST}")
    limits = {"enabled": True, "soft_c": SOFT_C, "hard_c": HARD_C, "calm_s": CALM_S, "gaps": 1000}
    files = {"sysfs": "/var/lib/edged/sys", "pressure_file": "/dev/null"}
    configure(board, governor=limits | files, voice={"name": "scripted"}, cache={"pcm_kib": 0})
    restart(board)
    until(lambda: state(board).get("level") == 0, 30, "the top level")
    return f"{zone}/temp", state(board)


def heat(board: Board) -> str:
    """A hot board gives up a level, a cool one takes it back."""
    temperature, before = _govern(board, "{}")
    board.run(f"echo {(SOFT_C + 5) * 1000} >{temperature}")
    down_s = until(lambda: state(board)["precision"] == "int8", 60, "a step down at the soft limit")
    hot = state(board)
    assert hot["level"] == 1
    assert say(board, "warm", TEXT)["level"] == "int8"
    board.run(f"echo 40000 >{temperature}")
    up_s = until(lambda: state(board)["precision"] == "fp32", CALM_S + 30, "the top level again")
    levels = f"{before['precision']} to {hot['precision']}"
    steps = f"{levels} {down_s:.0f} s after {SOFT_C + 5} °C, back {up_s:.0f} s after cooling"
    return f"{steps}; {hot['level_reason']}"


def slow_voice(board: Board) -> str:
    """A level slower than real time: heard late and without a gap; then the next level, and back."""
    _govern(board, '{"fp32": 1.5}')
    original = rendered(board, TEXT, "scripted")
    played, event = recorded(board, "slow-1", TEXT)
    down_s = until(lambda: state(board)["precision"] == "int8", 30, "a step down for slowness")
    slow = compare(original, played)
    whole(slow, 60.0)
    assert (slow.gaps, event.get("underfills", 0), event["level"]) == (0, 0, "fp32"), f"{slow}, {event}"
    after = say(board, "slow-2", TEXT)
    assert (after["level"], after.get("underfills", 0)) == ("int8", 0), after
    board.run(f"echo '{{}}' >{COST}")
    up_s = until(lambda: state(board)["level"] == 0, CALM_S + 30, "the top level again")
    configure(board)
    restart(board)
    return f"at RTF 1.5 {slow}; a level down {down_s:.0f} s later, back {up_s:.0f} s after it was fast again"
