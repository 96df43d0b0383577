"""`edged discovery show | remove`: what Home Assistant is told of this board, and how it forgets it."""

from __future__ import annotations

import argparse
import json

from edged.config.load import find, load
from edged.mqtt.caller import Caller
from edged.mqtt.discovery import Discovery
from edged.mqtt.topics import Topics
from edged.voice.store import installed
from edged.voices import store_dir


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The two things to do."""
    parser.description = (
        "This board in Home Assistant. `show` prints the topic and the description that the daemon "
        "publishes there; `remove` takes the device out of Home Assistant, by an empty retained message."
    )
    parser.add_argument("action", choices=("show", "remove"))


def run(args: argparse.Namespace) -> int:
    """0 when it is done. Raises ConfigError, and BrokerError where the broker does not take it."""
    config = load(find(args.config))
    topics = Topics.of(config)
    discovery = Discovery(topics, config.home_assistant.prefix)
    if args.action == "show":
        print(discovery.topic)
        print(json.dumps(discovery.members(installed(store_dir(config))), indent=2, ensure_ascii=False))
        return 0
    with Caller(config.mqtt, topics) as caller:
        caller.retain(discovery.topic, b"")
        comes_again = config.home_assistant.enabled and caller.daemon_online()
    print(f"removed: {discovery.topic}")
    if comes_again:
        print(
            "the daemon is online and announces it again at its next connection; to keep it away, write "
            "home_assistant: {enabled: false} and restart it"
        )
    return 0
