"""The governor in the running daemon: a board that gets hot, and one that gets too slow, both played.

The voice is the scripted one, whose cost is a file; the board's sensors are files, too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edged.text.piper import PiperFrontEnd
from edged.voice.engines import scripted
from edged.voice.store import current
from tests.broker import Listener, until
from tests.daemon.harness import Daemon
from tests.daemon.test_announce import holds, played

MAKE = Path(__file__).parents[2] / "models" / "make_scripted.py"
CALM_S = 3.0


class Board:
    """A store with the scripted voice, and the files that make a board slow or hot."""

    def __init__(self, folder: Path, *measured: str) -> None:
        self.store = folder / "voices"
        self.cost_file = folder / "cost.json"
        self.sysfs = folder / "sys"
        words = [word for each in measured for word in ("--rtf", each)]
        make = [
            sys.executable,
            str(MAKE),
            str(self.store),
            str(self.cost_file),
            "--state",
            str(folder / "state"),
        ]
        subprocess.run([*make, *words], check=True, capture_output=True)
        zone = self.sysfs / "class/thermal/thermal_zone0"
        zone.mkdir(parents=True)
        (zone / "type").write_text("soc-thermal\n")
        self.heat(50)
        self.front_end = PiperFrontEnd(current(self.store, "scripted").folder, 0)

    def config(self, **audio: object) -> dict[str, Any]:
        return {
            "voice": {"store": str(self.store), "name": "scripted"},
            "audio": {"sink": "null", **audio},
            "governor": {"calm_s": CALM_S, "sysfs": str(self.sysfs), "pressure_file": "/dev/null"},
            "cache": {"pcm_kib": 0},
        }

    def cost(self, **rtf: float) -> None:
        aside = self.cost_file.with_suffix(".new")
        aside.write_text(json.dumps(rtf))
        aside.replace(self.cost_file)

    def heat(self, celsius: float) -> None:
        aside = self.sysfs / "new"
        aside.write_text(f"{celsius * 1000:.0f}\n")
        aside.replace(self.sysfs / "class/thermal/thermal_zone0/temp")

    def samples(self, sentence: str) -> np.ndarray:
        return scripted.samples_of(self.front_end(sentence))


def state_of(listen: Listener, base: str) -> dict[str, Any]:
    return json.loads(listen.last(f"{base}/state") or b"{}")


def wait_state(listen: Listener, base: str, limit_s: float, **members: object) -> None:
    until(
        lambda: members.items() <= state_of(listen, base).items(),
        limit_s,
        lambda: f"{members} in {state_of(listen, base)}",
    )


def notices(listen: Listener, base: str) -> list[str]:
    events = listen.events(base)
    return [e["reason"] for e in events if e["event"] == "notice" and e["what"] == "level"]


def test_a_hot_board_gets_a_cheaper_voice_and_a_longer_period_and_both_back(
    start: Callable[..., Daemon], listen: Listener, base: str, tmp_path: Path
) -> None:
    board = Board(tmp_path, "fp32=0.3", "int8=0.1")
    config = board.config()
    config["governor"]["calm_s"] = 1
    daemon = start(**config)
    wait_state(listen, base, 10, level=0, levels=2, precision="fp32", frame_ms=12)
    board.heat(80)
    wait_state(listen, base, 10, level=1, precision="int8", frame_ms=24, temp_c=80.0)
    assert notices(listen, base) == [
        "down to level 1 of 1 (int8, 1 thread, period 24 ms): temperature 80.0 °C, soft limit 75.0 °C"
    ]
    until(lambda: daemon.saw("STATUS=quiet, 0 waiting; level 1 (temperature 80.0 °C"), 5, "the status line")
    listen.publish(f"{base}/say", '{"text": "It is hot.", "id": "hot"}')
    assert listen.wait_event(base, "finished", 10, id="hot")["level"] == "int8"
    board.heat(60)
    wait_state(listen, base, 15, level=0, precision="fp32", frame_ms=12)
    assert notices(listen, base)[1:] == ["up to level 0 of 1 (fp32, 1 thread, period 12 ms): calm for 1 s"]
    listen.publish(f"{base}/say", '{"text": "It is cool.", "id": "cool"}')
    assert listen.wait_event(base, "finished", 10, id="cool")["level"] == "fp32"


@pytest.mark.slow
def test_slower_than_real_time_it_waits_and_then_speaks_without_a_gap(
    start: Callable[..., Daemon], listen: Listener, base: str, tmp_path: Path
) -> None:
    board = Board(tmp_path, "fp32=0.3")
    board.cost(fp32=1.5)
    sentences = ("The first of two sentences.", "The second one is as slow.")
    daemon = start(**board.config(sink="wav"))
    listen.publish(f"{base}/say", json.dumps({"text": " ".join(sentences), "id": "slow"}))
    end = listen.wait_event(base, "finished", 30, id="slow")
    assert end["underfills"] == 0
    assert end["rtf"] > 1.4
    assert end["first_audio_ms"] > 1000
    assert daemon.stop() == 0
    sound = played(daemon.folder / "out.wav")
    pause = np.zeros(180 * scripted.RATE_HZ // 1000, np.int16)
    assert holds(sound, np.concatenate([board.samples(sentences[0]), pause, board.samples(sentences[1])]))


@pytest.mark.slow
def test_c64_ten_messages_a_minute_on_a_board_that_is_too_slow(
    start: Callable[..., Daemon], listen: Listener, base: str, tmp_path: Path
) -> None:
    """Without a cheaper level: what is said has no gap, what is too old is dropped, nothing stalls."""
    board = Board(tmp_path)
    board.cost(fp32=1.5)
    start(**(board.config() | {"queue": {"ttl_s": 20}}))
    for number in range(10):
        listen.publish(
            f"{base}/say", json.dumps({"text": f"Message {number} of ten, all slow.", "id": f"{number}"})
        )

    def ends() -> list[dict[str, Any]]:
        return [e for e in listen.events(base) if e["event"] in ("finished", "expired", "failed", "dropped")]

    until(lambda: len(ends()) == 10, 90, lambda: str(ends()))
    said = [end for end in ends() if end["event"] == "finished"]
    assert len(said) >= 2
    assert [end["underfills"] for end in said] == [0] * len(said)
    assert {end["event"] for end in ends()} == {"finished", "expired"}
    state = state_of(listen, base)
    assert state["rtf_1m"] > 1.4
    assert state["expired"] == 10 - len(said)
    assert {heard.payload for heard in listen.on(f"{base}/availability")} == {b"online"}


@pytest.mark.slow
def test_at_the_hard_limit_only_what_is_kept_is_said_and_later_all_again(
    start: Callable[..., Daemon], listen: Listener, base: str, tmp_path: Path
) -> None:
    board = Board(tmp_path, "fp32=0.3", "int8=0.1")
    start(**(board.config() | {"cache": {"pcm_kib": 1000}}))
    listen.publish(f"{base}/say", '{"text": "Kept.", "id": "before"}')
    listen.wait_event(base, "finished", 10, id="before")
    board.heat(95)
    wait_state(listen, base, 60, level=2)
    listen.publish(f"{base}/say", '{"text": "Kept.", "id": "kept"}')
    listen.wait_event(base, "finished", 10, id="kept")
    listen.publish(f"{base}/say", '{"text": "New.", "id": "new"}')
    end = listen.wait_event(base, "failed", 10, id="new")
    assert end["reason"] == "the board is too hot to synthesize, and this is not kept from earlier"
    board.heat(40)
    wait_state(listen, base, 40, level=0, precision="fp32")
    listen.publish(f"{base}/say", '{"text": "New.", "id": "again"}')
    listen.wait_event(base, "finished", 10, id="again")


@pytest.mark.slow
def test_too_slow_a_level_is_left_without_a_gap_and_taken_back_in_time(
    start: Callable[..., Daemon], listen: Listener, base: str, tmp_path: Path
) -> None:
    """The bar: no underfill after the first step, the top level again within the calm period and 30 s."""
    board = Board(tmp_path, "fp32=0.3", "int8=0.1")
    start(**board.config())
    text = "An announcement of some length, so that there is something to wait for."
    ends: list[dict[str, Any]] = []

    def say() -> None:
        id = f"m{len(ends)}"
        listen.publish(f"{base}/say", json.dumps({"text": text, "id": id}))
        ends.append(listen.wait_event(base, "finished", 30, id=id))

    say()
    assert ends[0]["level"] == "fp32"
    board.cost(fp32=1.4, int8=0.4)
    while not notices(listen, base):
        say()
    at = len(ends)
    for _ in range(4):
        say()
    assert notices(listen, base)[0].startswith("down to level 1 of 1 (int8, 1 thread, period 24 ms): ")
    assert ends[-1]["level"] == "int8"
    board.cost(fp32=0.3, int8=0.1)
    begun_s = time.monotonic()
    while state_of(listen, base)["level"] or state_of(listen, base)["precision"] != "fp32":
        say()
        assert time.monotonic() - begun_s < CALM_S + 30
    say()
    assert ends[-1]["level"] == "fp32"
    assert [end["underfills"] for end in ends[at:]] == [0] * len(ends[at:])
