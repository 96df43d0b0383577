"""`edged top`: what the daemon says of itself, live, from its state topic."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

from edged.config.load import find, load
from edged.errors import EdgedError
from edged.mqtt.caller import Caller
from edged.mqtt.topics import Topics

FIRST_STATE_S = 3.0
"""The state is retained: a broker that has it sends it at once."""
LOOK_S = 2.0
"""At least so often the picture is drawn anew, so that its age shows."""
OLD_S = 15.0
"""The state comes when it changes: while something is said about once a second, in silence now and then."""

HOME, CLEAR_LINE, CLEAR_BELOW = "\033[H", "\033[K", "\033[J"
HIDE_CURSOR, SHOW_CURSOR = "\033[?25l", "\033[?25h"
OTHER_SCREEN, OWN_SCREEN = "\033[?1049h", "\033[?1049l"
BOLD, DIM, RED, YELLOW, PLAIN = "\033[1m", "\033[2m", "\033[31m", "\033[33m", "\033[0m"
"""ECMA-48 control sequences, and those of xterm (DEC private modes) for cursor and screen."""

BAR_CELLS = 20
NOTHING = "-"
Paint = Callable[[str, str], str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `edged top`."""
    parser.description = (
        "Show level, speed, fill level, temperature, queue and latencies of the running daemon, live; end it "
        "with ctrl-C. Where the output is no terminal it is printed once."
    )
    parser.add_argument("--once", action="store_true", help="print it once and end")


def run(args: argparse.Namespace) -> int:
    """0. Raises EdgedError where no daemon has said anything."""
    config = load(find(args.config))
    topics = Topics(config.node, config.mqtt)
    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    paint: Paint = (lambda code, text: f"{code}{text}{PLAIN}") if colours else (lambda _code, text: text)
    with Caller(config.mqtt, topics) as caller:
        caller.watch_state()
        state = caller.next_state(FIRST_STATE_S)
        if state is None:
            raise EdgedError(f"no daemon has been seen under {topics.base}; start it (systemctl start edged)")
        if args.once or not sys.stdout.isatty():
            caller.daemon_online()
            print("\n".join(picture(state, topics.base, caller.availability, 0.0, paint)))
        else:
            _watch(caller, state, topics.base, paint)
    return 0


def _watch(caller: Caller, state: dict[str, Any], base: str, paint: Paint) -> None:
    """Until ctrl-C; the terminal is left as it was."""
    seen_s = time.monotonic()
    print(OTHER_SCREEN + HIDE_CURSOR, end="")
    try:
        while True:
            age_s = time.monotonic() - seen_s
            size = shutil.get_terminal_size()
            rows = picture(state, base, caller.availability, age_s, paint)[: size.lines - 1]
            print(HOME + "".join(f"{row}{CLEAR_LINE}\n" for row in rows) + CLEAR_BELOW, end="", flush=True)
            newer = caller.next_state(LOOK_S)
            if newer is not None:
                state, seen_s = newer, time.monotonic()
    finally:
        print(SHOW_CURSOR + OWN_SCREEN, end="", flush=True)


def picture(
    state: dict[str, Any], base: str, availability: str | None, age_s: float, paint: Paint
) -> list[str]:
    """The lines to show of a state as published; what a daemon of another version leaves out is '-'."""
    online = availability or "no word"
    age = f", unchanged for {age_s:.0f} s" if age_s > OLD_S else ""
    fill = f"{_bar(state.get('fill_ms'), state.get('buffer_ms'))} {_number(state, 'fill_ms', 0)} ms"
    head = f"edged {_text(state.get('version'))}  {base}  {online}{age}"
    last = state.get("levels", 1) - 1 if isinstance(state.get("levels"), int) else 0
    level = state.get("level")
    way = f"{_text(state.get('precision'))}, period {_number(state, 'frame_ms', 0)} ms"
    lines = [
        paint(BOLD if availability == "online" else RED, head),
        "",
        f"level        {_level(level, last, paint)}  {way}",
        f"             {_text(state.get('level_reason'))}" if state.get("level_reason") else None,
        f"speed        RTF {_number(state, 'rtf_1m', 3)} over a minute",
        f"fill level   {fill}",
        f"temperature  {_number(state, 'temp_c', 1)} °C{_throttled(state, paint)}",
        f"processors   pressure {_number(state, 'pressure_percent', 0)} %",
        f"queue        {_number(state, 'queue', 0)} waiting, speaking {_text(state.get('speaking'))}",
        f"first audio  p50 {_number(state, 'first_audio_ms_p50', 1)} ms, "
        f"p95 {_number(state, 'first_audio_ms_p95', 1)} ms, "
        f"device latency {_number(state, 'device_latency_ms', 1)} ms",
        f"gaps         {_number(state, 'xruns', 0)} xruns, {_number(state, 'underfills', 0)} underfills",
        f"said         {_number(state, 'finished', 0)} finished, {_number(state, 'failed', 0)} failed, "
        f"{_number(state, 'dropped', 0)} dropped, {_number(state, 'expired', 0)} expired",
        f"memory       {_number(state, 'rss_mb', 0)} MB resident",
        f"voice        {_text(state.get('voice'))}, volume {_number(state, 'volume', 2)}",
        f"sound        {_text(state.get('sink'))}",
        *(f"  {_text(zone):<10} {_text(sink)}" for zone, sink in _zones(state)),
        f"broker       {_text(state.get('broker'))}",
    ]
    if state.get("config_error"):
        lines.append(paint(RED, f"refused      {_text(state['config_error'])}"))
    return [line for line in lines if line is not None]


def _zones(state: dict[str, Any]) -> list[tuple[object, object]]:
    zones = state.get("zones")
    return list(zones.items()) if isinstance(zones, dict) else []


def _level(level: object, last: int, paint: Paint) -> str:
    if not isinstance(level, int):
        return NOTHING
    if level > last:
        return paint(RED, f"{level} of {last}: only sound that is kept")
    return paint(YELLOW if level else PLAIN, f"{level} of {last}")


def _throttled(state: dict[str, Any], paint: Paint) -> str:
    return paint(RED, "  slowed down") if state.get("throttled") else ""


def _bar(value: object, whole: object) -> str:
    if not isinstance(value, (int, float)) or not isinstance(whole, (int, float)) or whole <= 0:
        return f"[{' ' * BAR_CELLS}]"
    cells = round(BAR_CELLS * min(max(value / whole, 0.0), 1.0))
    return f"[{'#' * cells}{' ' * (BAR_CELLS - cells)}]"


def _number(state: dict[str, Any], key: str, digits: int) -> str:
    value = state.get(key)
    return f"{value:.{digits}f}" if isinstance(value, (int, float)) else NOTHING


def _text(value: object) -> str:
    """What others wrote must not move the cursor."""
    return NOTHING if value is None else "".join(c if c.isprintable() else " " for c in str(value))
