"""The broker: reachable, lets us in, returns a message, and whether the daemon is there."""

from __future__ import annotations

from collections.abc import Iterator

from edged.cli.checks.finding import Board, Finding, failed, ok, warn
from edged.errors import BrokerError


def broker(board: Board) -> Iterator[Finding]:
    """One connection as the daemon makes it, a message there and back, the retained availability."""
    from edged.mqtt.caller import Caller
    from edged.mqtt.topics import Topics

    mqtt = board.config.mqtt
    topics = Topics(board.config.node, mqtt)
    for line in topics.warnings:
        yield warn("topics", line, "mend mqtt.topics")
    try:
        with Caller(mqtt, topics) as caller:
            round_trip_ms = caller.round_trip_ms()
            yield ok(
                "broker",
                f"{mqtt.host}, MQTT {caller.protocol}, a message is back after {round_trip_ms:.1f} ms",
            )
            if caller.daemon_online():
                yield ok("daemon", f"online, listens to {topics.say}")
            else:
                yield warn("daemon", f"not online under {topics.base}", "systemctl start edged, or edged run")
    except BrokerError as error:
        yield failed("broker", error, "check mqtt.host and mqtt.port")
