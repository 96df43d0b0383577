"""Rhasspy's Hermes protocol, as far as a speaking satellite needs it. Pure.

`hermes/tts/say` is an announcement for the site that it names; its end is told on
`hermes/tts/sayFinished`, any other end on `hermes/error/tts` (Rhasspy reference, "MQTT API", Text to
Speech). What the answer repeats of the question travels in the receipt, as correlation data does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from edged.errors import PayloadError
from edged.mqtt.codec import decode, encode_json, parse_object
from edged.types import Announcement, Event, EventKind

SAY = "hermes/tts/say"
FINISHED = "hermes/tts/sayFinished"
_ERROR = "hermes/error/tts"
_MAX_ID_CHARS, _LARGEST_ID = 200, 2**63 - 1
_DEFAULT_SITE = "default"
"""The site of a message that names none."""


def site_of(payload: bytes) -> object:
    """The site that a message is for; None where it cannot be read."""
    try:
        return _site(parse_object(payload))
    except PayloadError:
        return None


def question(payload: bytes) -> bytes | None:
    """What an answer repeats, as JSON: siteId, id, sessionId, each null where it is none; None where the
    message cannot be read."""
    try:
        value = parse_object(payload)
    except PayloadError:
        return None
    asked = {"siteId": _site(value), "id": value.get("id"), "sessionId": value.get("sessionId")}
    return encode_json({name: _repeatable(member) for name, member in asked.items()})


def decode_say(payload: bytes, new_id: Callable[[], str], max_chars: int) -> Announcement:
    """A `say` message as an announcement. Raises PayloadError with a one-line reason."""
    value = parse_object(payload)
    members = {key: value[key] for key in ("text", "id", "lang", "volume") if value.get(key) is not None}
    return decode(encode_json(members), None, new_id, max_chars)


def answer(event: Event, asked: bytes) -> tuple[str, bytes] | None:
    """Topic and payload of the answer to a final event; `asked` is what `question` gave."""
    if not event.kind.is_final:
        return None
    site: Mapping[str, Any] = json.loads(asked)
    if event.kind is EventKind.FINISHED:
        return FINISHED, encode_json(site)
    error = f"{event.kind.value}: {event.reason}" if event.reason else event.kind.value
    context = {"siteId": site["siteId"], "context": site["id"], "sessionId": site["sessionId"]}
    return _ERROR, encode_json({"error": error, **context})


def _repeatable(member: object) -> str | int | None:
    """An id as it was sent; None for what is none, and might be of any size and no JSON (`1e999`)."""
    if isinstance(member, str):
        return member if len(member) <= _MAX_ID_CHARS else None
    return member if isinstance(member, int) and abs(member) <= _LARGEST_ID else None


def _site(value: Mapping[str, Any]) -> object:
    site = value.get("siteId")
    return _DEFAULT_SITE if site is None else site
