"""Runs the shell blocks of README.md as they stand there, in order, on a clean Debian.

Each must succeed and print what the page shows below it. Root only; takes about ten minutes a release.
In a changed root there is no service manager: what systemd would start is started by hand here, and
`systemctl` itself starts nothing. ELSEWHERE and IN_PART name the blocks of which there is no more to see
here, and the step of `python3 -m tests.board` that sees it on a booted machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from tests.readme.page import REPO, Block, blocks
from tests.readme.shown import difference
from tests.readme.tree import HOME, RELEASES, Tree, TreeError, in_namespaces

CLONE = f"{HOME}/edged"
CHECK, INSTALL = "deploy/check", "deploy/install"
"""Beginnings of blocks, as the next ones."""
LIMIT_S = 600.0
CHECK_LIMIT_S = 3600.0
BROKER_SERVICE = "systemctl enable --now mosquitto"
ELSEWHERE = {BROKER_SERVICE: "late_network"}
"""Beginning of a block that is not run here: the step of tests.board that does it."""
IN_PART = {INSTALL: "install", "install -d -m 0700 /etc/credstore": "credential"}
"""Run here, but the service is only enabled, or not started again: the step that sees the rest."""
STATE = "mosquitto_sub -t edged/kitchen/state -C 1 -W 5"
SEEN = {
    INSTALL: "edged --version && test -e /var/lib/edged/voices/heart/current && systemctl is-enabled edged",
    "/opt/edged/bin/pip": f'{STATE} | grep \'"voice":"joe"\'',
    "mosquitto_pub -t edged/kitchen/volume/set": f'{STATE} | grep \'"voice":"heart".*"volume":0.4\'',
}
"""Beginning of a block: what must be so shortly after it."""
SEEN_WITHIN_S = 20.0
LIVE_HEADING, CONFIG = "Change a setting while it runs", "/etc/edged/edged.yaml"
SOUND_CONFIG = """\
pcm.!default { type pulse server "unix:/run/pulse/native" hint { show on description "The speaker" } }
ctl.!default { type pulse server "unix:/run/pulse/native" }
"""
SOUND_SERVER = (
    "pulseaudio -n --daemonize=no --exit-idle-time=-1 --use-pid-file=no --disable-shm=yes --realtime=no "
    "--high-priority=no -L 'module-native-protocol-unix auth-anonymous=1 socket=/run/pulse/native' "
    "-L 'module-null-sink sink_name=speaker rate=48000 channels=2 norewinds=1'"
)
DAEMON = (
    "runuser -u edged -- env HOME=/var/lib/edged STATE_DIRECTORY=/var/lib/edged "
    "/opt/edged/bin/edged run --config /etc/edged/edged.yaml"
)
EVENTS_FILE = f"{HOME}/events"
NOT_FINAL = ("accepted", "started", "notice")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one block."""

    block: Block
    result: str
    """passed, failed or elsewhere."""
    detail: str
    took_s: float


def main() -> int:
    """Exit code 0 when nothing failed."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.readme", description=__doc__)
    parser.add_argument("--release", choices=RELEASES, action="append", help="default: all of them")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/edged/readme", metavar="DIR")
    parser.add_argument("--keep", action="store_true", help="leave the tree in the cache, to be looked at")
    parser.add_argument(
        "--without-check", action="store_true", help=f"leave {CHECK} out, which takes longest"
    )
    args = parser.parse_args()
    try:
        in_namespaces()
        outcomes = {each: walk(each, args) for each in args.release or RELEASES}
    except TreeError as error:
        print(f"tests.readme: {error}", file=sys.stderr)
        return 1
    for release, found in outcomes.items():
        report(release, found)
    return int(any(outcome.result == "failed" for found in outcomes.values() for outcome in found))


def walk(release: str, args: argparse.Namespace) -> list[Outcome]:
    """All shell blocks on a new tree. Raises TreeError."""
    found: list[Outcome] = []
    page = blocks()
    print(f"{release}: a clean tree", flush=True)
    with Tree(release, args.cache, args.keep) as tree, (args.cache / f"{release}.log").open("w") as log:
        tree.clone(REPO, CLONE)
        for number, block in enumerate(page):
            after = page[number + 1] if number + 1 < len(page) else None
            shown = after.text if after and after.language == "text" else None
            begun_s = time.monotonic()
            if block.language == "sh":
                result, detail = perform(tree, block, shown, args.without_check, log)
            elif block.language == "yaml" and block.heading == LIVE_HEADING:
                result, detail = save(tree, block)
            else:
                continue
            found.append(Outcome(block, result, detail, time.monotonic() - begun_s))
            print(f"{release}: {result}, {found[-1].took_s:.0f} s: {first_line(block)}", flush=True)
            if result == "failed":
                print(detail, flush=True)
            attend(tree, block)
    return found


def perform(tree: Tree, block: Block, shown: str | None, without_check: bool, log: TextIO) -> tuple[str, str]:
    """One block, as written: result and detail. All that it prints goes to the log."""
    if without_check and block.text.startswith(CHECK):
        return "elsewhere", "left out by --without-check"
    step = _by_beginning(ELSEWHERE, block)
    if step is not None:
        return "elsewhere", f"tests.board: {step}"
    before = len(events(tree))
    code, out, err = tree.run(block.text, CLONE, CHECK_LIMIT_S if block.text.startswith(CHECK) else LIMIT_S)
    log.write(f"$ {block.text}{out}{err}\n")
    log.flush()
    fault = None if shown is None else difference(shown, out)
    if code != 0:
        fault = f"exit code {code}; {err.strip()[-1500:]}\n{out[-1500:]}\nsee {log.name}"
    if fault is None and "/say" in block.text:
        fault = unspoken(tree, block, before)
    seen = _by_beginning(SEEN, block)
    if fault is None and seen is not None:
        fault = await_seen(tree, seen)
    if fault is not None:
        return "failed", fault
    step = _by_beginning(IN_PART, block)
    return "passed", "" if step is None else f"without systemd; with it, tests.board: {step}"


def save(tree: Tree, block: Block) -> tuple[str, str]:
    """Put a block into the configuration of the running daemon, as an editor does: it must apply."""
    file = tree.root / CONFIG.lstrip("/")
    kept = next(line for line in file.read_text().splitlines() if line.startswith("state_dir:"))
    file.write_text(f"{kept}\n{block.text}")
    fault = await_seen(tree, f'{STATE} | grep \'"volume":0.6.*"config_error":null,"restart_needed":\\[\\]\'')
    return ("passed", "applied while it ran") if fault is None else ("failed", fault)


def await_seen(tree: Tree, command: str) -> str | None:
    """None as soon as the command succeeds, else what it said at last."""
    deadline_s = time.monotonic() + SEEN_WITHIN_S
    while True:
        code, out, err = tree.run(command, CLONE, LIMIT_S)
        if code == 0:
            return None
        if time.monotonic() > deadline_s:
            return f"not so within {SEEN_WITHIN_S:.0f} s: {command}: {out}{err}"
        time.sleep(0.5)


def attend(tree: Tree, block: Block) -> None:
    """What the machine itself would do after a block: a speaker that is plugged in, services that start.

    The speaker comes after deploy/check, which installs a sound server; the page shows deploy/try
    without one.
    """
    if block.text.startswith(CHECK):
        (tree.root / "etc/asound.conf").write_text(SOUND_CONFIG)
        tree.run(
            "command -v pulseaudio || apt-get install -y -q pulseaudio libasound2-plugins", CLONE, LIMIT_S
        )
        tree.start(f'sh -c "mkdir -p /run/pulse; exec {SOUND_SERVER}"', "test -S /run/pulse/native")
    elif block.text.startswith(BROKER_SERVICE):
        tree.start("mosquitto -p 1883", "mosquitto_pub -t ready -n")
        tree.start(
            f"sh -c \"exec mosquitto_sub -t 'edged/+/event' >{EVENTS_FILE}\"", f"test -e {EVENTS_FILE}"
        )
        tree.start(DAEMON, "mosquitto_sub -t edged/kitchen/availability -C 1 -W 5 | grep -x online")


def unspoken(tree: Tree, block: Block, before: int, limit_s: float = 60.0) -> str | None:
    """Waits until what the block published has ended; None where all of it was spoken. `before`: events
    that came before it."""
    count = sum("/say" in line for line in block.text.splitlines())
    deadline_s = time.monotonic() + limit_s
    while True:
        ended = [event for event in events(tree)[before:] if event["event"] not in NOT_FINAL]
        wrong = [event for event in ended if event["event"] != "finished"]
        if wrong:
            return f"not spoken: {wrong[0]}"
        if len(ended) >= count:
            return None
        if time.monotonic() > deadline_s:
            return f"after {limit_s:.0f} s {len(ended)} of {count} were spoken"
        time.sleep(0.2)


def events(tree: Tree) -> list[dict[str, Any]]:
    """All that came so far; none before the broker runs."""
    file = tree.root / EVENTS_FILE.lstrip("/")
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def first_line(block: Block) -> str:
    """By which people know it."""
    return block.text.splitlines()[0]


def _by_beginning(table: dict[str, str], block: Block) -> str | None:
    return next((value for begin, value in table.items() if block.text.startswith(begin)), None)


def report(release: str, outcomes: list[Outcome]) -> None:
    """A table, and the line that says how many."""
    print(f"\n| {release}: block | result | s | |\n|---|---|---|---|")
    for outcome in outcomes:
        first = first_line(outcome.block)
        detail = outcome.detail.splitlines()[0] if outcome.detail else ""
        print(f"| {outcome.block.line}: `{first}` | {outcome.result} | {outcome.took_s:.0f} | {detail} |")
    count = {
        name: sum(each.result == name for each in outcomes) for name in ("passed", "failed", "elsewhere")
    }
    print(f"{release}: " + ", ".join(f"{number} {name}" for name, number in count.items()))


if __name__ == "__main__":
    sys.exit(main())
