"""Payloads to announcements and commands, events to payloads. Pure.

What is spoken: plain UTF-8 text, a JSON object with a text, a JSON string, and anything else that
is no JSON (so a bare number is spoken as it is written). What is refused, each with its reason:
null, true, false, NaN, arrays, objects without a text, wrong types, values out of bounds, and text
that begins as a JSON object but is none. Text in square brackets is spoken unless it is, or plainly
was to be, a JSON array: `[Kitchen] ready` is a sentence, `["a", "b"` is not.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from edged.errors import PayloadError
from edged.types import Announcement, Event, EventKind, Priority

_TEXT_KEYS = ("text", "message", "speak")
"""`message` and `speak` are what other announcers use."""
_KEYS = ("id", "voice", "speaker", "lang", "speed", "volume", "priority", "interrupt", "ttl_s", "chime")
_MAX_NAME_CHARS = 200
"""Of an id, a voice, a speaker, a language, a chime: what is longer is none, and would be repeated in
answers and in the log."""
_LARGEST_SPEAKER = 2**31 - 1
_MAX_TTL_S = 86400.0
_HUGE = 1e300
"""JSON has numbers beyond all floats; they are read as infinity, which is no JSON."""
_NOT_TEXT = ("null", "true", "false", "NaN", "Infinity", "-Infinity")
_BROKEN_ARRAY = re.compile(r'\[\s*(["\[{]|[-+\d.eE,\s]*\]?\s*$)')
"""Begins as an array of strings, arrays or objects, or holds nothing but numbers."""
_MAX_DEPTH = 64
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]')
_EVENT_TEXTS = ("id", "reason", "level", "voice", "zone", "topic")
_EVENT_NUMBERS = ("first_audio_ms", "first_sample_ns", "device_latency_ms", "audio_s", "rtf", "underfills")
_PRIORITIES = {priority.name.lower(): priority for priority in Priority}


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop the announcement with this id, or all (None)."""

    id: str | None


@dataclass(frozen=True, slots=True)
class SetVolume:
    """Loudness 0 to 1."""

    volume: float


@dataclass(frozen=True, slots=True)
class SetVoice:
    """Name of the voice that speaks when a message names none."""

    name: str


@dataclass(frozen=True, slots=True)
class Reload:
    """Read the configuration again."""


Control = Stop | SetVolume | SetVoice | Reload


def decode(payload: bytes, zone: str | None, new_id: Callable[[], str], max_chars: int) -> Announcement:
    """One received message as an announcement. `zone` comes from its topic.

    Raises PayloadError with a one-line reason. Blank text is accepted: it ends as finished, with
    nothing to speak.
    """
    text = _utf8(payload)
    value = _value(text)
    if isinstance(value, str):
        return Announcement(new_id(), _short_enough(value, max_chars, None), zone=zone)
    given_id = _given_id(value)
    try:
        return _announcement(value, given_id, zone, new_id, max_chars)
    except PayloadError as error:
        raise PayloadError(str(error), given_id) from None


def decode_control(name: str, payload: bytes) -> Control:
    """A command; `name` as in Topics.control_of. Raises PayloadError with a one-line reason."""
    text = _utf8(payload).strip()
    if name == "reload":
        return Reload()
    if name == "stop":
        return _stop(text)
    if name == "volume":
        return SetVolume(_volume(text))
    if not text:
        raise PayloadError("no voice is named")
    value = _json(text) if text.startswith('"') else text
    return SetVoice(_name(value, "the voice"))


def encode_event(event: Event) -> bytes:
    """An event as JSON in UTF-8; what is unknown is left out."""
    members = {
        "event": event.kind.value,
        "id": event.id,
        "reason": event.reason,
        "first_audio_ms": _rounded(event.first_audio_ms, 2),
        "first_sample_ns": event.first_sample_ns,
        "device_latency_ms": _rounded(event.device_latency_ms, 2),
        "audio_s": _rounded(event.audio_s, 3),
        "rtf": _rounded(event.rtf, 5),
        "level": event.level,
        "voice": event.voice,
        "underfills": event.underfills,
        "zone": event.zone,
        "zones_ms": _rounded_all(event.zones_ms),
        "topic": event.topic,
    }
    return encode_json({key: value for key, value in members.items() if value is not None})


def encode_json(members: Mapping[str, Any]) -> bytes:
    """Compact JSON; a lone surrogate becomes its JSON escape, so that encoding cannot fail."""
    text = json.dumps(members, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "backslashreplace")


def parse_object(payload: bytes) -> Mapping[str, Any]:
    """A payload that must be a JSON object. Raises PayloadError with a one-line reason."""
    value = _json(_utf8(payload))
    if not isinstance(value, dict):
        raise PayloadError(f"a JSON object is needed, not {_kind(value)}")
    return value


def decode_event(payload: bytes) -> Event:
    """What encode_event made, for whoever waits for it. Raises PayloadError."""
    value = _json(_utf8(payload))
    try:
        kind = EventKind(value["event"])
    except (KeyError, TypeError, ValueError):
        raise PayloadError("not an event of edged") from None
    known = {key: value[key] for key in (*_EVENT_TEXTS, *_EVENT_NUMBERS) if value.get(key) is not None}
    zones_ms = value.get("zones_ms")
    texts = [known[key] for key in _EVENT_TEXTS if key in known]
    numbers = [known[key] for key in _EVENT_NUMBERS if key in known]
    if isinstance(zones_ms, dict):
        numbers += zones_ms.values()
    are_texts = all(isinstance(text, str) for text in texts)
    if not (isinstance(zones_ms, dict | None) and are_texts and all(map(_is_finite, numbers))):
        raise PayloadError("not an event of edged")
    return Event(kind, known.pop("id", None), zones_ms=zones_ms, **known)


def is_event(payload: bytes) -> bool:
    """What a board publishes about its announcements; an object that has a text is none."""
    try:
        decode_event(payload)
        return not any(key in _json(_utf8(payload)) for key in _TEXT_KEYS)
    except PayloadError:
        return False


def _utf8(payload: bytes) -> str:
    try:
        return payload.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        bad = "".join(f"\\x{byte:02x}" for byte in payload[error.start : error.start + 4])
        raise PayloadError(f"invalid utf-8 at byte {error.start} of {len(payload)}: {bad}") from None


def _value(text: str) -> str | Mapping[str, Any]:
    """The text to be spoken, or the JSON object that holds it."""
    body = text.strip()
    if body in _NOT_TEXT:
        raise PayloadError(f"{body} is not a text")
    if body.startswith("{"):
        value = _json(body)
        if isinstance(value, dict):
            return value
        raise PayloadError("invalid JSON")
    if body.startswith("[") and (_parses(body) or _BROKEN_ARRAY.match(body)):
        raise PayloadError("a JSON array is not a text; send a string or an object with a text")
    if body.startswith('"') and _parses(body):
        return _string(_json(body), "the text")
    return text


def _announcement(
    value: Mapping[str, Any],
    given_id: str | None,
    zone: str | None,
    new_id: Callable[[], str],
    max_chars: int,
) -> Announcement:
    key = next((key for key in _TEXT_KEYS if key in value), None)
    if key is None:
        raise PayloadError(_no_text(value))
    text = _short_enough(_string(value[key], f'"{key}"'), max_chars, given_id)
    chime = value.get("chime")
    return Announcement(
        id=new_id() if given_id is None else given_id,
        text=text,
        id_given=given_id is not None,
        voice=_optional(value, "voice", _name),
        speaker=_optional(value, "speaker", _speaker),
        lang=_optional(value, "lang", _name),
        speed=_number(value, "speed", 0.5, 2.0),
        volume=_number(value, "volume", 0.0, 1.0),
        priority=_priority(value.get("priority")),
        interrupt=bool(_optional(value, "interrupt", _flag)),
        ttl_s=_number(value, "ttl_s", 0.0, _MAX_TTL_S),
        chime=chime if isinstance(chime, bool) else _optional(value, "chime", _name),
        zone=zone,
    )


def _given_id(value: Mapping[str, Any]) -> str | None:
    """The sender's id; a whole number counts as its digits."""
    given = value.get("id")
    if given is None:
        return None
    whole = isinstance(given, int) and not isinstance(given, bool)
    name = str(given) if whole else _string(given, '"id"')
    if not 0 < len(name) <= _MAX_NAME_CHARS:
        raise PayloadError(f'"id" must have 1 to {_MAX_NAME_CHARS} characters, not {len(name)}')
    return name


def _no_text(value: Mapping[str, Any]) -> str:
    unknown = next((key for key in value if key not in _KEYS), None)
    if unknown is None:
        return 'no "text" in the object'
    return f'unknown key {json.dumps(unknown[:40])} and no "text"'


def _short_enough(text: str, max_chars: int, given_id: str | None) -> str:
    if len(text) > max_chars:
        raise PayloadError(f"too long: {len(text)} characters, the limit is {max_chars}", given_id)
    return text


def _optional(value: Mapping[str, Any], key: str, check: Callable[[Any, str], Any]) -> Any:
    """The checked member, or None where it is absent or null (templates send null for unset)."""
    member = value.get(key)
    return None if member is None else check(member, f'"{key}"')


def _string(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise PayloadError(f"{name} must be a string, not {_kind(value)}")
    return value


def _name(value: object, name: str) -> str:
    text = _string(value, name)
    if len(text) > _MAX_NAME_CHARS:
        raise PayloadError(f"{name} must have at most {_MAX_NAME_CHARS} characters, not {len(text)}")
    return text


def _speaker(value: object, name: str) -> int | str:
    """Which ones there are the voice knows: true and false pass, and it refuses them, naming its own."""
    if isinstance(value, str):
        return _name(value, name)
    if not isinstance(value, int):
        raise PayloadError(f"{name} must be a whole number or a name, not {_kind(value)}")
    if abs(value) > _LARGEST_SPEAKER:
        raise PayloadError(f"{name} must be a whole number or a name, not a huge number")
    return value


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise PayloadError(f"{name} must be true or false, not {_kind(value)}")
    return value


def _priority(value: object) -> Priority:
    if value is None:
        return Priority.NORMAL
    priority = _PRIORITIES.get(_string(value, '"priority"').lower())
    if priority is None:
        raise PayloadError(f'"priority" must be one of {", ".join(_PRIORITIES)}')
    return priority


def _number(value: Mapping[str, Any], key: str, low: float, high: float) -> float | None:
    member = value.get(key)
    return None if member is None else _within(member, f'"{key}"', low, high)


def _within(value: object, name: str, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PayloadError(f"{name} must be a number from {low:g} to {high:g}, not {_kind(value)}")
    if not low <= value <= high:
        shown = f"{float(value):g}" if abs(value) < _HUGE else "a huge number"
        raise PayloadError(f"{name} must be from {low:g} to {high:g}, not {shown}")
    return float(value)


def _volume(text: str) -> float:
    try:
        value: object = float(text)
    except ValueError:
        value = text
    if isinstance(value, float) and math.isnan(value):
        value = text
    return _within(value, "the volume", 0.0, 1.0)


def _stop(text: str) -> Stop:
    if text in ("", "all"):
        return Stop(None)
    if text.startswith("{"):
        given_id = _given_id(_json(text))
        if given_id is None:
            raise PayloadError('no "id" in the object; an empty payload stops all')
        return Stop(given_id)
    return Stop(_name(_json(text) if text.startswith('"') else text, "the id"))


def _kind(value: object) -> str:
    """How JSON calls the type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    names = {str: "a string", int: "a number", float: "a number", list: "an array", dict: "an object"}
    return names[type(value)]


def _json(text: str) -> Any:
    """Parses JSON as the standard has it. Raises PayloadError where it is broken."""
    if _depth(text) > _MAX_DEPTH:
        raise PayloadError("invalid JSON: nested too deeply")
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise PayloadError(f"invalid JSON: {error.msg} at character {error.pos}") from None
    except ValueError:  # a whole number of more digits than Python converts
        raise PayloadError("invalid JSON: a number is too long") from None


def _depth(text: str) -> int:
    """Deepest nesting; the parser recurses in C and must not meet the end of a thread's small stack."""
    if text.count("[") + text.count("{") <= _MAX_DEPTH:
        return 0
    deepest = depth = 0
    for each in _STRING_OR_BRACKET.findall(text):
        depth += (each in "[{") - (each in "]}")
        deepest = max(deepest, depth)
    return deepest


def _refuse_constant(name: str) -> None:
    raise PayloadError(f"invalid JSON: {name} is not a JSON number")


def _parses(text: str) -> bool:
    try:
        _json(text)
    except PayloadError:
        return False
    return True


def _is_finite(value: object) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) < _HUGE  # type: ignore[arg-type]


def _rounded_all(values: Mapping[str, float] | None) -> dict[str, float] | None:
    return {name: round(value, 2) for name, value in values.items()} if values else None


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
