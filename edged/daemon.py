"""Builds every part of the daemon, starts them in order and stops them in reverse. Read this first.

The main path, from a message to the speaker:

    mqtt.client    bytes -> codec -> Announcement -> Utterance       (mqtt thread)
    queue          Announcements behind a Mailbox                    (locked hand-off)
    synth          render: sentences -> ids -> chunks -> samples     (synth thread)
    audio.ring     the ring of the C core                            (one writer, one reader)
    audio._rt      ring -> device, a period at a time                (audio thread, no Python)
    speech         marks that the device has taken -> Events         (synth thread)
    mqtt.client    Event -> topic, PUBACK in order of receipt        (mqtt thread)

The keeper thread opens and reopens the sound device, the main thread (supervisor) watches over all.
"""

from __future__ import annotations

import gc
import logging
import os
import socket
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from edged import __version__
from edged.audio.keeper import Keeper
from edged.audio.sinks import make_sink
from edged.config.load import load
from edged.config.model import Config
from edged.config.watch import watch
from edged.errors import VoiceError
from edged.health import lock
from edged.health.counters import Counters
from edged.health.heartbeat import Heartbeats
from edged.health.notify import Notifier
from edged.health.sensors import Sensors
from edged.mqtt.client import MqttLink
from edged.mqtt.topics import Topics
from edged.queue.announcements import Announcements
from edged.queue.journal import Journal
from edged.queue.mailbox import Mailbox
from edged.render import PcmCache
from edged.supervisor import CurrentConfig, Parts, Supervisor, Wake
from edged.synth import Player, SynthThread
from edged.types import Event, EventKind, Voice
from edged.voice.load import ensure_installed, load_voice

log = logging.getLogger("edged")

ZONE = "default"
"""The one zone that is configured now; every part is built for several."""
SWITCH_INTERVAL_S = 0.0005
"""How long a Python thread may keep the interpreter from the others; the default of 5 ms is most of a
6 ms period, and the synth thread would wait that long for each chunk beside a busy thread."""
HANG_EXIT = 75
"""EX_TEMPFAIL: a sound device call that never returns; the service manager restarts us."""
FIRST_SINK_WAIT_S = 5.0


def run(config_file: Path | None) -> int:
    """The whole life of the daemon; the exit code. Raises ConfigError and VoiceError before READY."""
    config = load(config_file)
    _log_to_stderr(config.process.log_level)
    notify = Notifier()
    current = CurrentConfig(config)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    obtained = _take_place(config)
    folder = state_dir(config)
    with ExitStack() as stack:
        wake = stack.enter_context(Wake())
        beats = Heartbeats()
        counters = Counters()
        notify.status("loading the voice")
        voices = Voices(config, folder, notify.status)
        journal = stack.enter_context(Journal(folder / "journal"))
        mailbox = Mailbox(Announcements(config.queue.bound, (ZONE,)))

        keeper = Keeper(
            {ZONE: make_sink(config.audio, config.process)},
            on_change=lambda: (mailbox.wake(), wake.wake()),
            on_hang=_exit_hung,
            beat=lambda: beats.beat("keeper"),
        )
        stack.callback(keeper.stop)
        keeper.start()

        players = [Player(ZONE, lambda: keeper.current(ZONE), lambda: keeper.need(ZONE))]
        cache = PcmCache(config.cache.pcm_kib * 1024, lambda _key, samples: samples.nbytes)
        topics = Topics(config.node or socket.gethostname(), config.mqtt)
        link: MqttLink

        def emit_synth(event: Event) -> None:
            counters.synth.count(event)
            link.emit(event)
            wake.wake()

        synth = SynthThread(
            players,
            mailbox,
            journal,
            voices.get,
            cache,
            current,
            counters.synth,
            emit_synth,
            lambda: beats.beat("synth"),
        )
        supervisor = Supervisor(
            config_file,
            current,
            beats,
            notify,
            wake,
            Parts(
                drain=synth.drain,
                cut=synth.cut,
                joined=synth.join,
                stop_speaking=synth.stop,
                apply=mailbox.wake,
                state=StateReader(current, synth, mailbox, keeper, counters, voices, cache, obtained, lambda: link),
                publish_state=lambda state: link.publish_state(state),
                notice=lambda what, reason: link.notice(what, reason),
                stale=keeper.stale,
                voices=voices.names,
            ),
        )
        link = MqttLink(
            config.mqtt,
            topics,
            offer=lambda utterance: mailbox.offer(
                utterance, time.monotonic_ns(), current().queue.dedup_window_s
            ),
            control=supervisor.control,
            journal=journal,
            ttl_s=lambda: current().queue.ttl_s,
            max_chars=lambda: current().text.max_chars,
            queue_bound=config.queue.bound,
            beat=lambda: beats.beat("mqtt"),
        )
        stack.callback(lambda: synth.cut() or synth.join(2.0))
        synth.start()
        stack.callback(link.stop, 3.0)
        link.start()
        if config_file:
            stack.enter_context(watch(config_file, supervisor.want_reload))

        keeper.wait_known(FIRST_SINK_WAIT_S)
        gc.collect()
        gc.freeze()  # what is loaded lives as long as the process: collections need not walk it
        log.info("ready: voice %s, sound %s, topic %s", config.voice.name, keeper.state(ZONE), topics.say)
        notify.ready(f"voice {config.voice.name}; sound {keeper.state(ZONE)}")
        supervisor.run()
    log.info("stopped")
    return 0
