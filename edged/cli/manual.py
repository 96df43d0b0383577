"""configs/reference.md: every topic, every member of what is sent there, every key of the configuration.

Topics come from `edged.mqtt.topics`, keys from the configuration's model. What the members of a
message, an event and the state mean is said here; the tests compare these lists with the decoder,
the encoder, and what a running daemon publishes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from edged.config.fields import Key, Section, root, sections
from edged.mqtt.topics import USES, Use
from edged.types import EventKind

MESSAGE = {
    "text": "what to say; `message` and `speak` mean the same; required",
    "id": "your name for it, 1 to 200 characters; a second message with the same id within "
    "`queue.dedup_window_s` is not spoken",
    "voice": "name of an installed voice; default `voice.name`",
    "speaker": "number or name of a speaker, for voices that have several",
    "lang": "language of numbers, signs and words whose script leaves it open, like `en`, `zh` or `de`",
    "speed": "0.5 (slow) to 2.0 (fast); default `voice.speed`",
    "volume": "0 to 1; default `audio.volume`",
    "priority": "`low`, `normal` (default), `high` or `urgent`; urgent interrupts what is below it",
    "interrupt": "`true`: interrupt what is playing, unless that has a higher priority",
    "ttl_s": "0 to 86400: seconds after which it is too late to say it; default `queue.ttl_s`",
    "chime": "`true`, the name of a chime (`ding`, `dong`, `gong`, `alarm`, or your own), or `false` for "
    "none; default: that of its priority, see `chime`",
}
KINDS = {
    EventKind.ACCEPTED: "it is in the queue",
    EventKind.STARTED: "the device takes its first sound; comes again where it goes on after an "
    "interruption, or is said again on a new device",
    EventKind.FINISHED: "its last sample has left the device, or there was nothing to speak (`reason`)",
    EventKind.FAILED: "refused for good, or not spoken whole",
    EventKind.DROPPED: "stopped, pushed out by others, or one of a flood",
    EventKind.DUPLICATE: "its id was there before",
    EventKind.EXPIRED: "too old to be said",
}
EVENT = {
    "event": "one of the kinds above",
    "id": "the announcement's: the sender's own, or one that edged made",
    "reason": "why, in words",
    "first_audio_ms": "from receipt to the first sample of the text taken by the sound device",
    "first_sample_ns": "when that was, on the board's monotonic clock",
    "device_latency_ms": "from there to the speaker, as the device says",
    "audio_s": "length of the sound",
    "rtf": "synthesis time over length of the sound",
    "level": "precision of the voice, as `fp32` or `mixed`",
    "voice": "name of the voice",
    "underfills": "gaps in it because synthesis was late",
    "zone": "the zone it was for; `all`; absent for the one of `audio`",
    "zones_ms": "of an announcement for all zones: `first_audio_ms` of each that spoke it",
    "topic": "of a message that was refused, or one of a flood: where it came from",
}
NOTICE = {
    "event": "`notice`",
    "what": "`reload`: what a reload changed, or why it was refused; `voice`: what came of another voice; "
    "`level`: a step of the governor; `fallback`: what was played instead of a failed sentence",
    "reason": "in words",
}
STATE = {
    "version": "of edged",
    "speaking": "id of what is being said, or null",
    "queue": "announcements waiting",
    "voice": "name of the voice that speaks by default",
    "precision": "in which it is run",
    "level": "where on the ladder of this board it runs, 0 the best",
    "levels": "how many there are",
    "level_reason": "why it left the level before",
    "frame_ms": "period of the device",
    "fill_ms": "sound ready in the ring",
    "buffer_ms": "how much that may be",
    "volume": "loudness, 0 to 1",
    "sink": "state of the sound device, for people",
    "zones": "the same of each further zone",
    "device_latency_ms": "as the device says",
    "realtime": "true: the audio thread runs under SCHED_FIFO",
    "xruns": "gaps reported by the devices",
    "underfills": "gaps because synthesis was late",
    "broker": "state of the connection, for people",
    "messages": "counts of received messages: `received`, `refused`, `duplicates`, `retained_ignored`, "
    "`machine_ignored`, `over_rate`, and `reconnects`",
    "ids_cache": "texts already turned into phonemes: `hits`, `misses`",
    "pcm_cache": "sound kept of short announcements: `hits`, `misses`",
    "temp_c": "temperature of the processor",
    "throttled": "true: slowed down by the firmware (Raspberry Pi)",
    "pressure_percent": "share of the last ten seconds in which something waited for a processor",
    "rss_mb": "memory in RAM",
    "private_dirty_mb": "of that, what no other process shares and no file holds",
    "accepted": "announcements accepted since start",
    "started": "times that one began, or went on",
    "finished": "announcements spoken since start",
    "failed": "failed since start",
    "dropped": "dropped since start",
    "duplicate": "duplicates since start",
    "expired": "expired since start",
    "retries": "sentences synthesized a second time after a fault, since start",
    "first_audio_ms_p50": "median of the last 200 announcements",
    "first_audio_ms_p95": "19 of 20 of them were faster",
    "rtf_1m": "synthesis time over length of the sound, last minute",
    "thread_stack": "what was obtained from the system at start: stack of a thread",
    "affinity": "the same: processors",
    "memory_lock": "the same: locked memory; absent where it is not asked for",
    "realtime_limit": "the same: priority of the audio thread; absent where it is not asked for",
    "config_error": "why the last reload was refused, or null",
    "restart_needed": "keys that were changed and wait for a restart",
}

_HEAD = """\
# Reference

Made by `edged check --manual`; do not edit. [edged.yaml](edged.yaml) holds the same keys, ready to be edited.

## Topics

`<base>` is `edged/<node>` unless `mqtt.base` says otherwise; `<node>` is the host name unless `node` says
otherwise; `<prefix>` is `home_assistant.prefix`. QoS: at which edged subscribes or publishes. Publish what
is to be spoken at QoS 1, so that the broker keeps it. A retained message to edged is ignored.
"""


def manual() -> str:
    """configs/reference.md as it is committed."""
    return "\n".join(line for part in _parts() for line in part) + "\n"


def _parts() -> Iterator[Iterable[str]]:
    yield (*_HEAD.splitlines(), "")
    yield _table(("topic", "direction", "QoS", "retained", "content"), map(_use, USES))
    yield "", "## What to say", ""
    yield [
        "Plain UTF-8 text is spoken as it is, a JSON string or a bare number too. A JSON object may hold:",
        "",
    ]
    yield _members(MESSAGE)
    yield "", "## Events", "", "On `<base>/event`, and on the response topic of a message (MQTT 5).", ""
    yield _table(("event", "final", "meaning"), map(_kind, EventKind))
    yield "", "What is unknown is left out.", ""
    yield _members(EVENT)
    yield "", "A notice belongs to no announcement:", ""
    yield _members(NOTICE)
    yield "", "## State", "", "On `<base>/state`. What is unknown is null.", ""
    yield _members(STATE)
    yield "", "## Configuration", ""
    yield [
        "live: applies at the next announcement, as soon as the file is saved. restart: when edged starts",
        "again.",
    ]
    for section in sections():
        if section.keys:
            yield _section(section, section.path or "At the top", section.doc)
    for name, named in root().named.items():
        yield _section(named.item, f"{name}.NAME", named.doc)


def _section(section: Section, title: str, doc: str) -> Iterator[str]:
    yield from ("", f"### {title}", "", _text(doc), "")
    keys = section.keys.values()
    yield from _table(("key", "default", "values", "applies", "meaning"), map(_key, keys))


def _key(key: Key) -> tuple[str, ...]:
    default = "" if key.default is None else f"`{_plain(key.default)}`"
    kinds = {bool: "true or false", str: "text", tuple: "list of texts", int: "whole number", float: "number"}
    values = key.bounds() or kinds[key.kind]
    return f"`{key.name}`", default, values, "live" if key.live else "restart", _text(key.doc)


def _text(doc: str) -> str:
    """Of the model; `<base>` is no tag of HTML there."""
    return doc.replace("<", r"\<")


def _plain(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return "[]" if default == () else str(default) or '""'


def _use(use: Use) -> tuple[str, ...]:
    topic = f"`{use.topic}`" if "/" in use.topic else use.topic
    return topic, use.direction, str(use.qos), "yes" if use.retained else "", use.content


def _kind(kind: EventKind) -> tuple[str, ...]:
    return f"`{kind.value}`", "yes" if kind.is_final else "", KINDS[kind]


def _members(members: dict[str, str]) -> Iterator[str]:
    return _table(("key", "meaning"), ((f"`{name}`", meaning) for name, meaning in members.items()))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
