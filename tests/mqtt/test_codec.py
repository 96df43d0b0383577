from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from edged.errors import PayloadError
from edged.mqtt.codec import (
    Reload,
    SetVoice,
    SetVolume,
    Stop,
    decode,
    decode_control,
    decode_event,
    encode_event,
    encode_json,
)
from edged.types import Announcement, Event, EventKind, Priority, Receipt


def ids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"made-{next(numbers)}"


def read(payload: bytes | str, max_chars: int = 20000, zone: str | None = None) -> Announcement:
    raw = payload.encode() if isinstance(payload, str) else payload
    return decode(raw, zone, ids(), max_chars)


def refusal(payload: bytes | str, max_chars: int = 20000) -> str:
    with pytest.raises(PayloadError) as caught:
        read(payload, max_chars)
    reason = str(caught.value)
    assert "\n" not in reason
    return reason


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ("Kettle done", "Kettle done"),
        ("42", "42"),
        ("22.5", "22.5"),
        ("1e400", "1e400"),
        ("9" * 5000, "9" * 5000),
        ('{"text":"Done"}', "Done"),
        ('{"message":"Done"}', "Done"),
        ('{"speak":"Done"}', "Done"),
        ('{"message":"no","text":"yes","extra":[1]}', "yes"),
        ('{"text":"first","text":"last"}', "last"),
        ('  {"text":"Done"}\n', "Done"),
        ('"a \\"quoted\\" text"', 'a "quoted" text'),
        ('"Hello" he said', '"Hello" he said'),
        ('"never ended', '"never ended'),
        ("\ufeffwith a mark", "with a mark"),
        ("", ""),
        ("  \n\t ", "  \n\t "),
        ("……！？。", "……！？。"),
        ('{"text":""}', ""),
        ("[Kitchen] ready", "[Kitchen] ready"),
        ("[1st floor] ready", "[1st floor] ready"),
        ("[2] doors open", "[2] doors open"),
        ("null and void", "null and void"),
        ("Truely", "Truely"),
        ("NaN bread", "NaN bread"),
        ("水开了", "水开了"),
        ("nul \0 inside", "nul \0 inside"),
    ],
)
def test_spoken(payload: str, text: str) -> None:
    announcement = read(payload)
    assert announcement.text == text
    assert announcement.id == "made-1"
    assert not announcement.id_given


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ('["a","b"]', "a JSON array is not a text"),
        ("[]", "a JSON array is not a text"),
        ("[1, 2", "a JSON array is not a text"),
        ('["a","b"', "a JSON array is not a text"),
        ('[{"text":"a"}', "a JSON array is not a text"),
        ("[true, null]", "a JSON array is not a text"),
        ("null", "null is not a text"),
        ("true", "true is not a text"),
        (" false ", "false is not a text"),
        ("NaN", "NaN is not a text"),
        ("-Infinity", "-Infinity is not a text"),
        ('{"text":5}', '"text" must be a string, not a number'),
        ('{"text":null}', '"text" must be a string, not null'),
        ('{"text":["a"]}', '"text" must be a string, not an array'),
        ('{"text":{}}', '"text" must be a string, not an object'),
        ('{"text":true}', '"text" must be a string, not true'),
        ('{"txt":"hi"}', 'unknown key "txt" and no "text"'),
        ('{"a\\nb":"hi"}', 'unknown key "a\\nb" and no "text"'),
        ("{}", 'no "text" in the object'),
        ('{"id":"x","voice":"heart"}', 'no "text" in the object'),
        ('{"text":"hi"', "invalid JSON: Expecting ',' delimiter at character 12"),
        ("{text:hi}", "invalid JSON: Expecting property name"),
        ('{"text":"hi"} and more', "invalid JSON: Extra data"),
        ('{"text":"hi","volume":NaN}', "invalid JSON: NaN is not a JSON number"),
        ('{"text":"hi","x":-Infinity}', "invalid JSON: -Infinity is not a JSON number"),
        ('{"text":"hi","speed":' + "9" * 5000 + "}", "invalid JSON: a number is too long"),
        ('{"a":' * 100000, "invalid JSON: nested too deeply"),
        (b"Kit\xff\xfechen", "invalid utf-8 at byte 3 of 9: \\xff\\xfe\\x63\\x68"),
        (b"\xe4\xb8", "invalid utf-8 at byte 0 of 2: \\xe4\\xb8"),
    ],
)
def test_refused_with_the_reason(payload: bytes | str, reason: str) -> None:
    assert refusal(payload).startswith(reason)


def test_every_member_reaches_the_announcement() -> None:
    members = {
        "text": "Hi",
        "id": "bell-1",
        "voice": "heart",
        "speaker": 3,
        "lang": "en",
        "speed": 1.5,
        "volume": 0,
        "priority": "Urgent",
        "interrupt": True,
        "ttl_s": 30,
        "chime": "ding",
        "zone": "not from here",
    }
    assert read(json.dumps(members), zone="attic") == Announcement(
        id="bell-1",
        text="Hi",
        id_given=True,
        voice="heart",
        speaker=3,
        lang="en",
        speed=1.5,
        volume=0.0,
        priority=Priority.URGENT,
        interrupt=True,
        ttl_s=30.0,
        chime="ding",
        zone="attic",
    )


def test_null_members_are_unset() -> None:
    keys = ("id", "voice", "speaker", "lang", "speed", "volume", "priority", "interrupt", "ttl_s", "chime")
    assert read(json.dumps({"text": "Hi", **dict.fromkeys(keys)})) == Announcement("made-1", "Hi")


@pytest.mark.parametrize(
    ("member", "value", "reason"),
    [
        ("speed", 0.49, '"speed" must be from 0.5 to 2, not 0.49'),
        ("speed", 2.01, '"speed" must be from 0.5 to 2, not 2.01'),
        ("speed", True, '"speed" must be a number from 0.5 to 2, not true'),
        ("speed", "1", '"speed" must be a number from 0.5 to 2, not a string'),
        ("volume", 1.01, '"volume" must be from 0 to 1, not 1.01'),
        ("volume", -0.1, '"volume" must be from 0 to 1, not -0.1'),
        ("volume", 10**400, '"volume" must be from 0 to 1, not a huge number'),
        ("ttl_s", -1, '"ttl_s" must be from 0 to 86400, not -1'),
        ("priority", "highest", '"priority" must be one of low, normal, high, urgent'),
        ("priority", 3, '"priority" must be a string, not a number'),
        ("interrupt", 1, '"interrupt" must be true or false, not a number'),
        ("interrupt", "yes", '"interrupt" must be true or false, not a string'),
        ("voice", 7, '"voice" must be a string, not a number'),
        ("speaker", 1.5, '"speaker" must be a whole number or a name, not a number'),
        ("speaker", [], '"speaker" must be a whole number or a name, not an array'),
        ("lang", [], '"lang" must be a string, not an array'),
        ("chime", 1, '"chime" must be a string, not a number'),
        ("id", True, '"id" must be a string, not true'),
        ("id", {}, '"id" must be a string, not an object'),
        ("id", "", '"id" must have 1 to 200 characters, not 0'),
        ("id", "x" * 201, '"id" must have 1 to 200 characters, not 201'),
        ("id", 10**200, '"id" must have 1 to 200 characters, not 201'),
    ],
)
def test_a_bad_member_is_refused(member: str, value: Any, reason: str) -> None:
    assert refusal(json.dumps({"text": "Hi", member: value})) == reason


@pytest.mark.parametrize(
    ("member", "value", "expected"),
    [
        ("speed", 0.5, 0.5),
        ("speed", 2, 2.0),
        ("volume", 1, 1.0),
        ("ttl_s", 86400, 86400.0),
        ("priority", "LOW", Priority.LOW),
        ("chime", False, False),
        ("id", 17, "17"),
    ],
)
def test_the_bounds_belong_to_what_is_taken(member: str, value: Any, expected: Any) -> None:
    assert getattr(read(json.dumps({"text": "Hi", member: value})), member) == expected


def test_a_refusal_carries_the_id_where_there_is_one() -> None:
    for payload in ('{"id":"x","text":5}', '{"id":"x"}', '{"id":"x","text":"%s"}' % ("y" * 200)):
        with pytest.raises(PayloadError) as caught:
            read(payload, max_chars=100)
        assert caught.value.id == "x"


def test_too_long_says_how_long_and_what_the_limit_is() -> None:
    assert read("x" * 100, max_chars=100).text == "x" * 100
    assert refusal("x" * 101, max_chars=100) == "too long: 101 characters, the limit is 100"
    assert refusal('{"text":"%s"}' % ("y" * 101), max_chars=100).startswith("too long: 101")


def one_line(error: PayloadError) -> str:
    assert "\n" not in str(error)
    return str(error)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["text", "message", "id", "speed", "volume", "priority", "ttl_s", "chime", "voice"])


@given(
    st.binary(max_size=200)
    | json_values.map(lambda value: json.dumps(value).encode())
    | st.dictionaries(KEYS, json_values, max_size=5).map(lambda value: json.dumps(value).encode())
)
@example(b'{"text":"\\ud800","id":"\\udfff"}')
@example(b"[" * 5000)
def test_whatever_comes_is_an_announcement_or_one_reason(payload: bytes) -> None:
    try:
        announcement = read(payload)
    except PayloadError as error:
        event = Event(EventKind.FAILED, error.id, one_line(error))
    else:
        assert isinstance(announcement.text, str)
        event = Event(EventKind.ACCEPTED, announcement.id)
    json.loads(encode_event(event).decode("utf-8"))


def test_nesting_neither_recurses_nor_refuses_brackets_in_a_text() -> None:
    texts = {"[" * 500 + "{" * 500: None, 'a \\"[" ' * 100: None}
    for text in texts:
        assert read(json.dumps({"text": text})).text == text
    deep = [refusal('{"a":' * depth) for depth in (65, 1000, 40000)]
    deep += [refusal("[" * depth + "]" * depth) for depth in (65, 40000)]
    assert {reason.split(";")[0] for reason in deep} == {
        "invalid JSON: nested too deeply",
        "a JSON array is not a text",
    }


@pytest.mark.parametrize(
    ("name", "payload", "command"),
    [
        ("stop", b"", Stop(None)),
        ("stop", b"all", Stop(None)),
        ("stop", b" bell-1\n", Stop("bell-1")),
        ("stop", b'"bell-1"', Stop("bell-1")),
        ("stop", b'{"id":"bell-1"}', Stop("bell-1")),
        ("stop", b'{"id":17}', Stop("17")),
        ("volume", b"0", SetVolume(0.0)),
        ("volume", b" 0.35 ", SetVolume(0.35)),
        ("volume", b"1.0", SetVolume(1.0)),
        ("voice", b"heart", SetVoice("heart")),
        ("voice", b'"heart"', SetVoice("heart")),
        ("reload", b"", Reload()),
        ("reload", b"anything", Reload()),
    ],
)
def test_commands(name: str, payload: bytes, command: object) -> None:
    assert decode_control(name, payload) == command


@pytest.mark.parametrize(
    ("name", "payload", "reason"),
    [
        ("stop", b'{"id":null}', 'no "id" in the object'),
        ("stop", b'{"id":', "invalid JSON"),
        ("stop", b'{"id":[]}', '"id" must be a string'),
        ("stop", b'"x', "invalid JSON"),
        ("stop", b"\xff", "invalid utf-8"),
        ("volume", b"", "the volume must be a number from 0 to 1, not a string"),
        ("volume", b"loud", "the volume must be a number"),
        ("volume", b"true", "the volume must be a number"),
        ("volume", b"nan", "the volume must be a number"),
        ("volume", b"inf", "the volume must be from 0 to 1, not a huge number"),
        ("volume", b"50", "the volume must be from 0 to 1, not 50"),
        ("volume", b"-0.01", "the volume must be from 0 to 1"),
        ("voice", b"  ", "no voice is named"),
        ("voice", b'"', "invalid JSON"),
    ],
)
def test_bad_commands_are_refused(name: str, payload: bytes, reason: str) -> None:
    with pytest.raises(PayloadError) as caught:
        decode_control(name, payload)
    assert str(caught.value).startswith(reason)


@given(st.sampled_from(["stop", "volume", "voice", "reload"]), st.binary(max_size=60))
def test_no_command_payload_raises_anything_else(name: str, payload: bytes) -> None:
    try:
        decode_control(name, payload)
    except PayloadError as error:
        one_line(error)


def test_an_event_leaves_out_what_is_unknown() -> None:
    assert json.loads(encode_event(Event(EventKind.ACCEPTED, None))) == {"event": "accepted"}


def test_an_event_has_every_figure_and_no_receipt() -> None:
    event = Event(
        EventKind.FINISHED,
        "bell-1",
        reason="nothing to speak",
        first_audio_ms=16.12345,
        first_sample_ns=123456789,
        device_latency_ms=11.0,
        audio_s=1.23456,
        rtf=0.0071239,
        level="int8",
        voice="heart",
        underfills=0,
        receipt=Receipt(1, 2, 1, "2:h"),
        topic="edged/x/say",
    )
    assert json.loads(encode_event(event)) == {
        "event": "finished",
        "id": "bell-1",
        "reason": "nothing to speak",
        "first_audio_ms": 16.12,
        "first_sample_ns": 123456789,
        "device_latency_ms": 11.0,
        "audio_s": 1.235,
        "rtf": 0.00712,
        "level": "int8",
        "voice": "heart",
        "underfills": 0,
        "topic": "edged/x/say",
    }


@given(
    kind=st.sampled_from(EventKind),
    given_id=st.none() | st.text(max_size=20),
    reason=st.none() | st.text(max_size=20),
    first_sample_ns=st.none() | st.integers(0, 2**62),
    underfills=st.none() | st.integers(0, 9),
)
def test_an_event_read_back_is_the_same(
    kind: EventKind,
    given_id: str | None,
    reason: str | None,
    first_sample_ns: int | None,
    underfills: int | None,
) -> None:
    event = Event(kind, given_id, reason, first_sample_ns=first_sample_ns, underfills=underfills)
    assert decode_event(encode_event(event)) == event


@pytest.mark.parametrize("payload", [b"", b"[]", b"5", b'{"event":"sung"}', b'{"id":"x"}', b"\xff", b"nope"])
def test_what_is_no_event_is_refused(payload: bytes) -> None:
    with pytest.raises(PayloadError):
        decode_event(payload)


def test_json_of_a_lone_surrogate_is_valid_utf8() -> None:
    assert json.loads(encode_json({"id": "a\ud800b"}).decode("utf-8")) == {"id": "a\ud800b"}


@pytest.mark.parametrize("member", ["voice", "speaker", "lang", "chime", "id"])
def test_a_name_has_a_length(member: str) -> None:
    read(json.dumps({"text": "a", member: "x" * 200}))
    assert f'"{member}" must have' in refusal(json.dumps({"text": "a", member: "x" * 201}))


@pytest.mark.parametrize("number", [2**31, -(2**31), 10**300])
def test_no_speaker_has_a_huge_number(number: int) -> None:
    assert "not a huge number" in refusal(f'{{"text":"a","speaker":{number}}}')


@pytest.mark.parametrize(
    ("name", "payload"), [("stop", "x" * 201), ("stop", '{"id":"%s"}' % ("x" * 201)), ("voice", "x" * 201)]
)
def test_a_command_names_nothing_longer_than_a_name(name: str, payload: str) -> None:
    with pytest.raises(PayloadError, match="200 characters, not 201"):
        decode_control(name, payload.encode())


@pytest.mark.parametrize(
    "members",
    [
        {"id": 5},
        {"reason": ["x"]},
        {"rtf": "fast"},
        {"audio_s": True},
        {"zones_ms": [1]},
        {"zones_ms": {"a": "b"}},
    ],
)
def test_an_event_with_other_types_is_none(members: dict[str, Any]) -> None:
    with pytest.raises(PayloadError, match="not an event"):
        decode_event(json.dumps({"event": "finished", **members}).encode())


def test_an_event_with_a_number_beyond_all_is_none() -> None:
    with pytest.raises(PayloadError, match="not an event"):
        decode_event(b'{"event":"finished","rtf":1e999}')
