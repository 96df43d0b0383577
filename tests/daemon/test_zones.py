"""Several speakers on one board: each its own queue, ring and volume, one voice for all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edged.voices import Voices
from tests.broker import Listener
from tests.daemon.harness import Daemon
from tests.daemon.test_announce import holds, played, rendered


def test_one_zone_another_and_all_of_them(
    start: Callable[..., Daemon], listen: Listener, base: str, voices: Voices
) -> None:
    daemon = start(zones={"attic": {"volume": 0.5}, "hall": {}})
    for zone, text, name in (
        ("/attic", "In the attic.", "a"),
        ("/all", "Everywhere at once.", "b"),
        ("", "Down here.", "c"),
        ("/cellar", "Nowhere.", "d"),
    ):
        listen.publish(f"{base}/say{zone}", f'{{"text": "{text}", "id": "{name}"}}')
    for name in "abc":
        final = listen.wait_event(base, "finished", 30, id=name)
        assert final["underfills"] == 0
    refused = listen.wait_event(base, "failed", 30, id="d")
    assert refused["reason"] == "no zone 'cellar' here; zones: default, attic, hall, all"
    kinds = [(event["event"], event["id"]) for event in listen.events(base) if event.get("id") == "b"]
    assert kinds == [("accepted", "b"), ("started", "b"), ("finished", "b")]
    assert daemon.stop() == 0
    sounds = {
        "default": played(daemon.folder / "out.wav"),
        "attic": played(daemon.folder / "attic.wav"),
        "hall": played(daemon.folder / "hall.wav"),
    }
    said = {
        "In the attic.": {"attic"},
        "Everywhere at once.": {"default", "attic", "hall"},
        "Down here.": {"default"},
    }
    for text, zones in said.items():
        expected = rendered(voices, text)
        halved = np.rint(expected * np.float32(0.5)).astype(np.int16)
        heard = {
            zone for zone, sound in sounds.items() if holds(sound, halved if zone == "attic" else expected)
        }
        assert heard == zones
