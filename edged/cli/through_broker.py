"""`edged say` as everyone else publishes: over MQTT, and waits for the daemon's events."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from edged.cli.report import figures
from edged.config.load import find, load
from edged.errors import EdgedError
from edged.mqtt.caller import Caller
from edged.mqtt.topics import Topics
from edged.types import Announcement, EventKind

HEARD = (EventKind.FINISHED, EventKind.DUPLICATE)
"""Ends of an announcement that are no failure: it was said, now or before."""


def say_through_broker(args: argparse.Namespace, announcements: Iterator[Announcement]) -> int:
    """Publish each announcement and wait for its end; 0 when all were spoken."""
    config = load(find(args.config))
    topics = Topics(config.node, config.mqtt)
    failed = 0
    with Caller(config.mqtt, topics) as caller:
        if not args.no_wait and not caller.daemon_online():
            raise EdgedError(
                f"no daemon is online under {topics.base}; start it (systemctl start edged), or use --direct"
            )
        for announcement in announcements:
            sent = caller.say(announcement.text, **members(announcement))
            if not args.no_wait:
                failed += not _ended_well(caller, sent.id, args.timeout)
        if args.no_wait:
            caller.round_trip_ms()  # the broker answers in order: it has what was sent before
    return 1 if failed else 0


def members(announcement: Announcement) -> dict[str, Any]:
    """Members of the message's JSON object beside the text, without those left to the daemon."""
    given = {
        "id": announcement.id or None,
        "voice": announcement.voice,
        "speaker": announcement.speaker,
        "lang": announcement.lang,
        "speed": announcement.speed,
        "volume": announcement.volume,
        "priority": announcement.priority.name.lower(),
        "ttl_s": announcement.ttl_s,
    }
    return {key: value for key, value in given.items() if value is not None}


def _ended_well(caller: Caller, id: str, timeout_s: float) -> bool:
    for event in caller.events_of({id}, timeout_s):
        if event.kind.is_final:
            heard = event.kind in HEARD
            print(figures(event), file=sys.stdout if heard else sys.stderr, flush=True)
            return heard
    print(f"no end within {timeout_s:g} s; it may still be spoken", file=sys.stderr)
    return False
