"""Runs the shell blocks of README.md as they stand there, in order, on a clean Debian.

Each must succeed and print what the page shows below it. Root only; takes about twenty minutes a release.
In a changed root there is no service manager: what systemd would start is started by hand here, and
`systemctl` by itself ignores what it is asked to start. That systemd does it is seen by `python3 -m
tests.board`; NOT_HERE names the blocks for which there is no more to see here, and why.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.readme.page import REPO, Block, blocks
from tests.readme.shown import difference
from tests.readme.tree import HOME, RELEASES, Tree, TreeError, in_namespaces

CLONE = f"{HOME}/edged"
CHECK, INSTALL, BROKER = "deploy/check", "deploy/install", "apt-get install -y mosquitto"
"""Beginnings of blocks after which something is done that a service manager would have done."""
LIMIT_S = 600.0
CHECK_LIMIT_S = 3600.0
NOT_HERE: dict[str, str] = {}
"""Beginning of a block that is not run: why, and what sees to it instead."""
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
    with Tree(release, args.cache, args.keep) as tree:
        tree.clone(REPO, CLONE)
        for number, block in enumerate(page):
            if block.language != "sh":
                continue
            after = page[number + 1] if number + 1 < len(page) else None
            shown = after.text if after and after.language == "text" else None
            outcome = perform(tree, block, shown, args.without_check)
            found.append(outcome)
            first = block.text.splitlines()[0]
            print(f"{release}: {outcome.result}, {outcome.took_s:.0f} s: {first}", flush=True)
            if outcome.result == "failed":
                print(outcome.detail, flush=True)
            attend(tree, block)
    return found


def perform(tree: Tree, block: Block, shown: str | None, without_check: bool) -> Outcome:
    """One block, as written."""
    reason = next((why for begin, why in NOT_HERE.items() if block.text.startswith(begin)), None)
    if without_check and block.text.startswith(CHECK):
        reason = "left out by --without-check"
    if reason is not None:
        return Outcome(block, "elsewhere", reason, 0.0)
    begun_s = time.monotonic()
    limit_s = CHECK_LIMIT_S if block.text.startswith(CHECK) else LIMIT_S
    code, out, err = tree.run(block.text, CLONE, limit_s)
    fault = None if shown is None else difference(shown, out)
    if code != 0:
        fault = f"exit code {code}; {err.strip()[-1500:]}"
        fault += f"\n{out[-6000:]}"
    if fault is None and "say" in block.text and "mosquitto_pub" in block.text:
        fault = unspoken(tree)
    took_s = time.monotonic() - begun_s
    return Outcome(block, "passed" if fault is None else "failed", fault or "", took_s)


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
    elif block.text.startswith(BROKER):
        tree.start("mosquitto -p 1883", "mosquitto_pub -t ready -n")
        tree.start(
            f"sh -c \"exec mosquitto_sub -t 'edged/+/event' >{EVENTS_FILE}\"", f"test -e {EVENTS_FILE}"
        )
        tree.start(DAEMON, "mosquitto_sub -t edged/kitchen/availability -C 1 -W 5 | grep -x online")


def unspoken(tree: Tree, limit_s: float = 60.0) -> str | None:
    """Waits until all that was accepted has ended; None where all of it was spoken."""
    deadline_s = time.monotonic() + limit_s
    while True:
        lines = (tree.root / EVENTS_FILE.lstrip("/")).read_text().splitlines()
        events = [event for event in map(json.loads, lines) if "id" in event]
        accepted = [event["id"] for event in events if event["event"] == "accepted"]
        ended = {event["id"]: event for event in events if event["event"] not in ("accepted", "started")}
        wrong = [event for event in ended.values() if event["event"] != "finished"]
        if wrong:
            return f"not spoken: {wrong[0]}"
        if accepted and set(accepted) <= set(ended):
            return None
        if time.monotonic() > deadline_s:
            return f"after {limit_s:.0f} s not all was spoken: {lines[-3:]}"
        time.sleep(0.2)


def report(release: str, outcomes: list[Outcome]) -> None:
    """A table, and the line that says how many."""
    print(f"\n| {release}: block | result | s | |\n|---|---|---|---|")
    for outcome in outcomes:
        first = outcome.block.text.splitlines()[0]
        detail = outcome.detail.splitlines()[0] if outcome.detail else ""
        print(f"| {outcome.block.line}: `{first}` | {outcome.result} | {outcome.took_s:.0f} | {detail} |")
    count = {
        name: sum(each.result == name for each in outcomes) for name in ("passed", "failed", "elsewhere")
    }
    print(f"{release}: " + ", ".join(f"{number} {name}" for name, number in count.items()))


if __name__ == "__main__":
    sys.exit(main())
