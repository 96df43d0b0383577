"""`edged voice use | say`: another voice for the daemon, or for this once."""

from __future__ import annotations

import argparse

from edged.cli import say as saying
from edged.cli.direct import say_directly
from edged.config.load import find, load
from edged.errors import EdgedError
from edged.mqtt.caller import Caller
from edged.mqtt.topics import Topics
from edged.types import Announcement
from edged.voice import store
from edged.voice.manifest import check_sizes
from edged.voices import store_dir

EXCHANGE_LIMIT_S = 30.0


def use(args: argparse.Namespace) -> int:
    """Ask the running daemon for the voice, and say what makes it last; 0 when it speaks with it.

    Raises VoiceError where this machine's store does not have it, and BrokerError.
    """
    file = find(args.config)
    config = load(file)
    check_sizes(store.current(store_dir(config), args.name))
    lasting = f"voice: {{name: {args.name}}} in {file or 'the configuration'}"
    with Caller(config.mqtt, Topics(config.node, config.mqtt)) as caller:
        if not caller.daemon_online():
            raise EdgedError(f"no daemon is online; for its next start write {lasting}")
        answer = caller.use_voice(args.name, EXCHANGE_LIMIT_S)
    if answer is None:
        raise EdgedError(f"the daemon did not answer within {EXCHANGE_LIMIT_S:g} s; look into its log")
    print(answer)
    if not answer.endswith("speaks from now on"):
        return 1
    print(f"until it is restarted; to keep it, write {lasting}")
    return 0


def say(args: argparse.Namespace) -> int:
    """Through the configured sound device or into a file; 0 when all was spoken."""
    args.voice = args.name
    args.stdout = False
    announcements = (
        Announcement(id="", text=text, voice=args.name, speaker=args.speaker, speed=args.speed)
        for text in saying.texts(args.text)
    )
    return say_directly(args, announcements)
