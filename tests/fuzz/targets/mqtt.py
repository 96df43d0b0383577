"""What comes over MQTT: announcements, commands, events, and Rhasspy's messages."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import fields
from pathlib import Path

from edged.errors import PayloadError
from edged.mqtt import hermes
from edged.mqtt.codec import (
    Reload,
    SetVoice,
    SetVolume,
    Stop,
    decode,
    decode_control,
    decode_event,
    encode_event,
    is_event,
    parse_object,
)
from edged.types import Announcement, Event, EventKind, Priority
from tests.fuzz.search import Target
from tests.fuzz.targets.promises import bounded_text, feature, outcome, strict_json

MAX_CHARS = 2000
NAME_CHARS = 200
_COMMANDS = ("stop", "volume", "voice", "reload")
_TOKENS = (
    '{"text":"', '"}', '{"', '":', '","', "{}", "[]", '["', "null", "true", "false", '"text"',
    '"message"', '"speak"', '"id":', '"voice":', '"speaker":', '"lang":', '"speed":', '"volume":',
    '"priority":"urgent"', '"interrupt":', '"ttl_s":', '"chime":', '"siteId":', '"sessionId":',
    '"event":"finished"', '"reason":', '"zones_ms":', '"rtf":', '"part":', '"topic":', '"receipt":',
    "\\u0000", "\\ud800", "\\udc00\\ud800", "\\n", "\\", '"' * 3, "[" * 70, '{"a":' * 70, "\xff\xfe",
    "\ufeff",
)  # fmt: skip


def _new_id() -> str:
    return "made"


def payload(data: bytes) -> Iterable[Hashable]:
    """Announcement, command and event: each a bounded value or a refusal with a reason."""
    said = outcome(lambda: decode(data, "kitchen", _new_id, MAX_CHARS), PayloadError)
    again = outcome(lambda: decode(data, "kitchen", _new_id, MAX_CHARS), PayloadError)
    assert said == again, "decoded differently the second time"
    yield feature(said)
    if isinstance(said, Announcement):
        _check(said)
        yield from (f.name for f in fields(said) if getattr(said, f.name) is not None)
    for name in _COMMANDS:
        control = outcome(lambda name=name: decode_control(name, data), PayloadError)  # type: ignore[misc]
        yield name, feature(control)
        if isinstance(control, Stop):
            bounded_text(control.id, NAME_CHARS)
        elif isinstance(control, SetVoice):
            bounded_text(control.name, NAME_CHARS)
        elif isinstance(control, SetVolume):
            assert 0 <= control.volume <= 1
        else:
            assert isinstance(control, (str, Reload))
    yield from _events(data)


def _check(said: Announcement) -> None:
    assert isinstance(said.text, str)
    assert len(said.text) <= MAX_CHARS
    assert isinstance(said.id, str)
    assert 0 < len(said.id) <= NAME_CHARS
    for name in (said.voice, said.lang, *([] if isinstance(said.chime, bool) else [said.chime])):
        bounded_text(name, NAME_CHARS)
    if isinstance(said.speaker, int):
        assert abs(said.speaker) < 1 << 31
    else:
        bounded_text(said.speaker, NAME_CHARS)
    for number, low, high in ((said.speed, 0.5, 2), (said.volume, 0, 1), (said.ttl_s, 0, 86400)):
        assert number is None or (isinstance(number, float) and low <= number <= high)
    assert isinstance(said.priority, Priority)
    assert isinstance(said.interrupt, bool)
    assert said.zone == "kitchen"


def _events(data: bytes) -> Iterable[Hashable]:
    event = outcome(lambda: decode_event(data), PayloadError)
    yield "event", feature(event)
    assert not is_event(data) or isinstance(event, Event)
    if isinstance(event, Event):
        for name in ("id", "reason", "level", "voice", "topic", "zone"):
            bounded_text(getattr(event, name), 1 << 20)
        for name in (
            "first_audio_ms",
            "first_sample_ns",
            "device_latency_ms",
            "audio_s",
            "rtf",
            "underfills",
        ):
            value = getattr(event, name)
            assert value is None or (type(value) in (int, float) and math.isfinite(value)), (
                f"{name}: {value!r}"
            )
        members = strict_json(encode_event(event))
        assert decode_event(encode_event(event)).id == event.id
        assert members["event"] == event.kind.value


def rhasspy(data: bytes) -> Iterable[Hashable]:
    """A `say` message and the answer to it, which repeats some of the question."""
    said = outcome(lambda: hermes.decode_say(data, _new_id, MAX_CHARS), PayloadError)
    yield feature(said)
    whole = outcome(lambda: parse_object(data), PayloadError)
    asked, site = hermes.question(data), hermes.site_of(data)
    assert (asked is None) == isinstance(whole, str)
    assert (site is None) == isinstance(whole, str)
    if isinstance(said, Announcement):
        assert isinstance(said.text, str)
        assert len(said.text) <= MAX_CHARS
    if asked is None:
        return
    assert len(asked) <= 4096, f"{len(asked)} bytes are repeated in the answer"
    for kind, reason in (
        (EventKind.FINISHED, None),
        (EventKind.FAILED, "bad audio"),
        (EventKind.STARTED, None),
    ):
        answer = hermes.answer(Event(kind, "1", reason), asked)
        assert (answer is None) == (kind is EventKind.STARTED)
        if answer is not None:
            members = strict_json(answer[1])
            assert {"siteId", "sessionId"} <= set(members)
            yield answer[0], tuple(sorted(members))


def targets(_scratch: Path) -> list[Target]:
    """`payload` and `hermes`."""
    return [Target("payload", payload, _TOKENS), Target("hermes", rhasspy, _TOKENS)]
