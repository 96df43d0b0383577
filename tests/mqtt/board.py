"""A board in a process of its own, to be killed: python -m tests.mqtt.board PORT BASE CLIENT_ID JOURNAL.

It begins every announcement; texts that start with `finish` are finished at once, `die` kills the
process as a fault in the voice would, the rest stays in speech. What happens goes to stdout.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from edged.config.model import MqttConfig
from edged.mqtt.announcer import Announcer
from edged.mqtt.client import MqttLink
from edged.mqtt.topics import Topics
from edged.queue.journal import Journal
from edged.types import Event, EventKind, Utterance


def main(port: str, base: str, client_id: str, journal_path: str) -> None:
    config = MqttConfig(host="127.0.0.1", port=int(port), base=base, client_id=client_id)
    journal = Journal(Path(journal_path))
    link: MqttLink

    def speak(utterance: Utterance) -> list[Event]:
        assert utterance.receipt is not None
        attempt = journal.begin(utterance.receipt.key)
        text = utterance.announcement.text
        print(f"begun {text} {attempt}", flush=True)
        if attempt > 2:
            return [Event(EventKind.FAILED, utterance.id, "poisoned", receipt=utterance.receipt)]
        if text.startswith("die"):
            os.kill(os.getpid(), signal.SIGKILL)
        kind = EventKind.FINISHED if text.startswith("finish") else EventKind.ACCEPTED
        return [Event(kind, utterance.id, receipt=utterance.receipt)]

    link = MqttLink(
        config,
        Topics("node", config),
        offer=speak,
        control=lambda control: print(control, flush=True),
        journal=journal,
        ttl_s=lambda: 120,
        max_chars=lambda: 1000,
        rate=lambda: (10.0, 200),
        queue_bound=64,
        announcer=Announcer(None, tuple, Path(f"{journal_path}-discovery")),
        site_id=None,
        beat=lambda: None,
        rest=lambda: None,
    )
    link.start()
    threading.Event().wait(60)


if __name__ == "__main__":
    main(*sys.argv[1:])
