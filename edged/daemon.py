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
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from edged.audio.keeper import Keeper
from edged.audio.sinks import make_sink
from edged.config.identity import Identity, identity
from edged.config.load import load
from edged.config.model import Config
from edged.config.watch import watch
from edged.governing import Governing
from edged.health import lock
from edged.health.counters import Counters
from edged.health.governor import Governor
from edged.health.heartbeat import Heartbeats
from edged.health.notify import Notifier
from edged.health.sensors import Sensors
from edged.mqtt.announcer import Announcer
from edged.mqtt.client import MqttLink
from edged.mqtt.discovery import discovery_of
from edged.mqtt.topics import Topics
from edged.phrases import Phrases
from edged.prompts import prompt_file
from edged.queue.announcements import Announcements
from edged.queue.gather import Gather
from edged.queue.journal import Journal
from edged.queue.mailbox import Mailbox
from edged.render import PcmCache
from edged.state import StateReader
from edged.studio import Studio
from edged.supervisor import CurrentConfig, Parts, Supervisor, Wake
from edged.synth import Player, SynthThread
from edged.types import Event, Utterance
from edged.voice import heap, store
from edged.voices import Voices, state_dir, store_dir

log = logging.getLogger("edged")

SWITCH_INTERVAL_S = 0.0005
"""How long a Python thread may keep the interpreter from the others; the default of 5 ms is most of a
6 ms period, and the synth thread would wait that long for each chunk beside a busy thread."""
HANG_EXIT = 75
"""EX_TEMPFAIL: a sound device call that never returns; the service manager restarts us."""
FIRST_SINK_WAIT_S = 5.0
CUT_LIMIT_S = 2.0
LINK_STOP_LIMIT_S = 3.0


@dataclass(frozen=True, slots=True)
class Daemon:
    """Every part with a thread of its own, built and not yet started; `journal` outlives them."""

    journal: Journal
    keeper: Keeper
    synth: SynthThread
    link: MqttLink
    supervisor: Supervisor


def run(config_file: Path | None) -> int:
    """The whole life of the daemon; the exit code. Raises ConfigError and VoiceError before READY."""
    seen = identity(config_file) if config_file else ()
    config = load(config_file)
    _log_to_stderr(config)
    obtained = _prepare_process(config)
    with ExitStack() as stack:
        wake = stack.enter_context(Wake())
        daemon = _build(config_file, seen, config, wake, obtained)
        stack.callback(daemon.journal.close)
        stack.callback(daemon.keeper.stop)
        daemon.keeper.start()
        stack.callback(daemon.synth.join, CUT_LIMIT_S)
        stack.callback(daemon.synth.cut)
        daemon.synth.start()
        stack.callback(daemon.link.stop, LINK_STOP_LIMIT_S)
        daemon.link.start()
        if config_file:
            stack.enter_context(watch(daemon.supervisor.files, daemon.supervisor.want_reload))
        daemon.keeper.wait_known(FIRST_SINK_WAIT_S)
        gc.collect()
        gc.freeze()  # what is loaded lives as long as the process: collections need not walk it
        daemon.supervisor.run()
    log.info("stopped")
    return 0


def _build(
    config_file: Path | None,
    seen: Identity,
    config: Config,
    wake: Wake,
    obtained: dict[str, lock.Obtained],
) -> Daemon:
    """Load the voice and put the parts together along the main path, from the speaker to the broker."""
    current = CurrentConfig(config)
    notify, beats, counters = Notifier(), Heartbeats(), Counters()
    speakers = config.speakers()
    mailbox = Mailbox(Announcements(config.queue.bound, tuple(speakers)))
    gather = Gather()

    def wake_all() -> None:
        mailbox.wake()
        wake.wake()

    def apply() -> None:
        voices.follow(current())
        wake_all()

    def voice_changed(line: str) -> None:
        link.notice("voice", line)
        wake_all()

    def level_changed(line: str) -> None:
        log.warning("%s", line)
        link.notice("level", line)

    def emit(part: Event) -> None:
        if (event := gather(part)) is not None:
            counters.synth.count(event)
            link.emit(event)
        wake.wake()

    def offer(utterance: Utterance) -> list[Event]:
        parts = mailbox.offer(utterance, time.monotonic_ns(), current().queue.dedup_window_s)
        events = [event for event in map(gather, parts) if event is not None]
        for event in events:
            counters.mqtt.count(event)
        return events

    voices = Voices(config, _progress(notify), voice_changed)
    cache = PcmCache(config.caches().pcm_kib * 1024, lambda _key, samples: samples.nbytes)
    journal = Journal(state_dir(config) / "journal")
    keeper = Keeper(
        {zone: make_sink(audio, config.process) for zone, audio in speakers.items()},
        on_change=wake_all,
        on_hang=partial(_exit_hung, journal),
        beat=partial(beats.beat, "keeper"),
        idle_close_s=config.audio.idle_close_s,
    )
    players = [
        Player(
            zone,
            output=partial(keeper.current, zone),
            need=partial(keeper.need, zone),
            trouble=lambda zone=zone: str(keeper.state(zone)),  # type: ignore[misc]
        )
        for zone in speakers
    ]
    studio = Studio(
        voices.get,
        voices.for_language,
        voices.substitute,
        prompts=lambda language: prompt_file(language, state_dir(config)),
        cache=cache,
        phrases=Phrases(state_dir(config) / "phrases", config.cache.disk_mib << 20),
        report=lambda what, line: link.notice(what, line),  # noqa: PLW0108 (made below)
    )
    synth = SynthThread(
        players,
        mailbox,
        journal,
        studio,
        current,
        counters.synth,
        emit,
        beat=partial(beats.beat, "synth"),
        trim=heap.trim,
        rest=voices.tidy,
    )
    supervisor = Supervisor(config_file, current, beats, notify, wake, seen)
    topics = Topics.of(config)
    installed = partial(store.installed, store_dir(config))
    link = MqttLink(
        config.mqtt,
        topics,
        offer=offer,
        control=supervisor.control,
        journal=journal,
        ttl_s=lambda: current().queue.ttl_s,
        max_chars=lambda: current().text.max_chars,
        rate=lambda: (current().mqtt.rate_limit, current().mqtt.rate_burst),
        queue_bound=config.queue.bound,
        announcer=Announcer(discovery_of(config, topics), installed, state_dir(config) / "discovery"),
        site_id=config.hermes.site_id if config.hermes.enabled else None,
        beat=partial(beats.beat, "mqtt"),
        rest=partial(beats.forget, "mqtt"),
    )
    sensors = Sensors(Path(config.governor.sysfs))
    governing = Governing(config, speakers, voices, studio, synth, keeper, counters.synth, sensors)
    governor = Governor(governing.look, governing.ladder, governing.apply, level_changed)
    state = StateReader(
        *(tuple(speakers), current, synth, mailbox, keeper, counters, voices, cache, obtained, link),
        governor=governor,
        sensors=sensors,
    )
    supervisor.attach(
        Parts(
            drain=synth.drain,
            cut=synth.cut,
            joined=synth.join,
            stop_speaking=synth.stop,
            apply=apply,
            state=state.read,
            publish_state=link.publish_state,
            notice=link.notice,
            stale=keeper.stale,
            speak_with=voices.speak_with,
            voice_files=voices.files,
            govern=governor.tick,
        )
    )
    return Daemon(journal, keeper, synth, link, supervisor)


def _prepare_process(config: Config) -> dict[str, lock.Obtained]:
    """Before any thread starts: they inherit it. What was obtained goes to the log and the state."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    heap.keep_freed_memory()
    if config.privacy.wipe and not heap.wipe_freed_memory():
        log.warning("privacy.wipe: this C library cannot overwrite freed memory; only the ring is wiped")
    process = config.process
    obtained = {"thread_stack": lock.set_thread_stack(), "affinity": lock.set_affinity(process.affinity)}
    if process.memory_lock:
        obtained["memory_lock"] = lock.lock_memory()
    if process.realtime:
        obtained["realtime_limit"] = lock.realtime_allowed(process.realtime_priority)
    for name, what in obtained.items():
        log.log(logging.INFO if what.ok else logging.WARNING, "%s: %s", name, what.text)
    return obtained


def _progress(notify: Notifier) -> Callable[[str], None]:
    def tell(line: str) -> None:
        log.info("%s", line)
        notify.status(line)

    return tell


def _log_to_stderr(config: Config) -> None:
    """One line a record; the journal adds the time itself."""
    by_journal = "JOURNAL_STREAM" in os.environ
    form = "%(levelname)s %(message)s" if by_journal else "%(asctime)s %(levelname)s %(message)s"
    logging.basicConfig(level=config.process.log_level.upper(), format=form, stream=sys.stderr)


def _exit_hung(journal: Journal) -> None:
    """A sound device call that does not return cannot be undone inside this process."""
    log.error("the sound system hangs; ending, so that the service manager starts anew")
    journal.close()  # what was being said has not brought the daemon down
    logging.shutdown()
    os._exit(HANG_EXIT)
