"""A board's profile: its values stand where the configuration gives none."""

from __future__ import annotations

from pathlib import Path

import pytest

from edged.config.identity import identity
from edged.config.load import load, read
from edged.errors import ConfigError

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "board.yaml").write_text(
        "audio: {period_ms: 24, lead_in_ms: 400}\nvoice:\n  threads: 2\nzones: {attic: {device: HDMI}}\n"
    )
    return tmp_path / "edged.yaml"


def test_the_file_stands_over_the_profile_key_by_key(file: Path) -> None:
    file.write_text(
        "audio:\n  lead_in_ms: 100\nprofile: board.yaml\nzones: {attic: {volume: 0.5}, hall: {}}\n"
    )
    loaded = read(file)
    config = loaded.config
    assert (config.audio.period_ms, config.audio.lead_in_ms, config.voice.threads) == (24, 100, 2)
    assert [(zone.name, zone.device, zone.volume) for zone in config.zones] == [
        ("attic", "HDMI", 0.5),
        ("hall", None, 1.0),
    ]
    assert loaded.lines["audio.lead_in_ms"] == 2
    assert "audio.period_ms" not in loaded.lines
    board = file.parent / "board.yaml"
    assert config.files == ((board, identity(board)),)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("audio: {period_ms: 13}\n", "line 1: profile: {}: line 1: audio.period_ms: must be 6, 12 or 24 ms"),
        ("audio: [1\nvoice: {}\n", "line 1: profile: {}: line 1: a list in [ ] that is not closed"),
        ("profile: other.yaml\n", "line 1: profile: {}: line 1: profile: a profile names no other one"),
        (None, "line 1: profile: {}: cannot be read: No such file"),
    ],
)
def test_what_is_wrong_in_a_profile_is_told_with_its_file_and_line(
    file: Path, content: str | None, problem: str
) -> None:
    board = file.parent / "board.yaml"
    board.unlink()
    if content is not None:
        board.write_text(content)
    file.write_text("profile: board.yaml\n")
    with pytest.raises(ConfigError) as caught:
        load(file)
    (found,) = map(str, caught.value.problems)
    assert found.startswith(problem.format(board))
    assert caught.value.seen == {board: identity(board)}


def test_no_wrong_advice_where_the_profile_fills_a_pair(file: Path) -> None:
    (file.parent / "board.yaml").write_text("mqtt: {tls: {cert_file: a.pem}}\n")
    file.write_text("profile: board.yaml\nmqtt: {tls: {key_file: b.pem}}\n")
    with pytest.raises(ConfigError):
        load(file)
    (file.parent / "board.yaml").write_text("mqtt: {tls: {cert_file: a.pem, key_file: b.pem}}\n")
    file.write_text("profile: board.yaml\n")
    assert load(file).mqtt.tls.key_file == "b.pem"


@pytest.mark.parametrize("name", ["rpi4", "rpi5", "rk3588", "jetson"])
def test_ours_can_be_named(file: Path, name: str) -> None:
    file.write_text(f"profile: {CONFIGS / name}.yaml\naudio: {{volume: 0.5}}\n")
    assert load(file).audio.volume == 0.5
