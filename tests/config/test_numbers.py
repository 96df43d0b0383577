"""Numbers are plain decimal, booleans are true or false, and a message says how to write them."""

import pytest

from tests.config.helpers import File


@pytest.mark.parametrize(
    ("written", "value"), [("5", 5), ("30", 30), ("+30", 30), ("3600", 3600), ("~", 30), ("", 30)]
)
def test_whole_numbers(file: File, written: str, value: int) -> None:
    found = file.read(f"mqtt:\n  keepalive_s: {written}\n").config.mqtt.keepalive_s
    assert (found, type(found)) == (value, int)


@pytest.mark.parametrize(
    ("written", "rest"),
    [
        ("2", "must be 5 to 3600 s, not 2"),
        ("3601", "must be 5 to 3600 s, not 3601"),
        ("-30", "must be 5 to 3600 s, not -30"),
        ("30.0", "must be a whole number, 5 to 3600 s, not 30.0; write 30"),
        ("030", "must be a whole number, 5 to 3600 s, not 030; write it without leading zeros"),
        ("0o36", "must be a whole number, 5 to 3600 s, not 0o36; write it in plain decimal digits"),
        ("0x1E", "must be a whole number, 5 to 3600 s, not 0x1E; write it in plain decimal digits"),
        ("0b11110", "must be a whole number, 5 to 3600 s, not 0b11110; write it in plain decimal digits"),
        ("1_000", "must be a whole number, 5 to 3600 s, not 1_000; write it in plain decimal digits"),
        ("1:30", "must be a whole number, 5 to 3600 s, not 1:30; write it in plain decimal digits"),
        ("3e1", "must be a whole number, 5 to 3600 s, not 3e1; write it in plain decimal digits"),
        ("30s", "must be a whole number, 5 to 3600 s, not 30s; write the number alone"),
        ("30 s", "must be a whole number, 5 to 3600 s; write the number alone"),
        ("'30'", "must be a whole number, 5 to 3600 s, without quotes"),
        ("''", "must be a whole number, 5 to 3600 s"),
        ("yes", "must be a whole number, 5 to 3600 s, not yes"),
        (".inf", "must be a whole number, 5 to 3600 s, not .inf; write it in plain decimal digits"),
        ("[30]", "must be a whole number, 5 to 3600 s, not a list"),
        ("{a: 30}", "must be a whole number, 5 to 3600 s, not a section"),
        ("٣٠", "must be a whole number, 5 to 3600 s"),
        ("9" * 5000, "must be a whole number, 5 to 3600 s"),
        ("1" + "0" * 17, "must be 5 to 3600 s, not 100000000000000000"),
    ],
)
def test_wrong_whole_numbers(file: File, written: str, rest: str) -> None:
    (line,) = file.problems(f"mqtt:\n  keepalive_s: {written}\n")
    assert line.startswith(f"line 2: mqtt.keepalive_s: {rest}")
    assert len(line) < 200


@pytest.mark.parametrize(
    ("written", "value"), [("0", 0.0), ("1", 1.0), ("0.5", 0.5), (".5", 0.5), ("1.", 1.0), ("-0.0", 0.0)]
)
def test_decimal_numbers(file: File, written: str, value: float) -> None:
    found = file.read(f"audio: {{volume: {written}}}").config.audio.volume
    assert (repr(found), type(found)) == (repr(value), float)


@pytest.mark.parametrize(
    ("written", "rest"),
    [
        ("1.5", "must be 0 to 1, not 1.5"),
        ("-0.5", "must be 0 to 1, not -0.5"),
        ("'0.5'", "must be a decimal number, 0 to 1, without quotes"),
        ("5e-1", "must be a decimal number, 0 to 1, not 5e-1; write it in plain decimal digits"),
        ("0,5", "must be a decimal number, 0 to 1, not 0,5; write 0.5"),
        ("50%", "must be a decimal number, 0 to 1; write the number alone"),
        (".nan", "must be a decimal number, 0 to 1, not .nan"),
        ("-.inf", "must be a decimal number, 0 to 1, not -.inf"),
        ("0:30.5", "must be a decimal number, 0 to 1, not 0:30.5; write it in plain decimal digits"),
        ("00.5", "must be a decimal number, 0 to 1, not 00.5; write it without leading zeros"),
    ],
)
def test_wrong_decimal_numbers(file: File, written: str, rest: str) -> None:
    (line,) = file.problems(f"audio:\n  volume: {written}\n")
    assert line.startswith(f"line 2: audio.volume: {rest}")


@pytest.mark.parametrize(
    ("written", "value"), [("true", True), ("False", False), ("TRUE", True), ("~", True)]
)
def test_booleans(file: File, written: str, value: bool) -> None:
    assert file.read(f"process: {{realtime: {written}}}").config.process.realtime is value


@pytest.mark.parametrize("written", ["yes", "no", "on", "off", "y", "1", "0", "tRue", "enabled"])
def test_other_words_are_no_booleans(file: File, written: str) -> None:
    assert file.problems(f"process: {{realtime: {written}}}") == [
        f"line 1: process.realtime: must be true or false, not {written}"
    ]


def test_a_boolean_in_quotes(file: File) -> None:
    assert file.problems("process: {realtime: 'true'}") == [
        "line 1: process.realtime: must be true or false without quotes"
    ]


@pytest.mark.parametrize(
    ("content", "rest"),
    [
        ("audio: {period_ms: 10}", "audio.period_ms: must be 6, 12 or 24 ms, not 10; the nearest is 12"),
        ("audio: {sink: als}", "must be alsa, null, wav or stdout, not als; did you mean alsa?"),
        ("mqtt: {protocol: 5.0}", "mqtt.protocol: must be auto, 5 or 3.1.1, not 5.0; did you mean 5?"),
        ("process: {log_level: WARN}", "not WARN; did you mean warning?"),
    ],
)
def test_choices(file: File, content: str, rest: str) -> None:
    (line,) = file.problems(content)
    assert line.endswith(rest)


def test_a_choice_that_looks_like_a_number_is_taken_as_text(file: File) -> None:
    assert file.read("mqtt: {protocol: 5}").config.mqtt.protocol == "5"
    assert file.read("mqtt: {protocol: 3.1.1}").config.mqtt.protocol == "3.1.1"
