"""Home Assistant and Rhasspy against the whole daemon: a command, its effect, and what is told of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from edged.config.model import Config, VoiceConfig
from edged.voices import Voices
from tests.broker import Broker, Listener, until
from tests.daemon.harness import STORE, Daemon


def test_a_command_shows_in_the_state_and_a_hermes_message_is_answered_at_its_end(
    broker: Broker, base: str, tmp_path: Path
) -> None:
    Voices(Config(voice=VoiceConfig(store=str(STORE))), print)
    prefix, site = f"{base}-hub", base.replace("/", "-")
    sections = {"home_assistant": {"prefix": prefix}, "hermes": {"enabled": True, "site_id": site}}
    with (
        Listener(broker.port, f"{prefix}/#", f"{base}/#", "hermes/#") as hub,
        Daemon(tmp_path, broker.port, base, **sections) as daemon,
    ):
        config = until(lambda: next((each for each in hub.heard if each.topic.startswith(prefix)), None))
        components = config.json["cmps"]
        assert "heart" in components["voice"]["options"]
        hub.publish(components["volume"]["command_topic"], "0.35")
        state = until(
            lambda: next((e.json for e in hub.on(f"{base}/state") if e.json["volume"] == 0.35), None)
        )
        templates = [each["value_template"] for each in components.values() if "value_template" in each]
        read = [name for template in templates for name in re.findall(r"value_json\.(\w+)", template)]
        assert len(read) == 8
        assert set(read) <= state.keys()
        say = {"text": "Dinner is ready", "siteId": site, "id": "7", "sessionId": "s"}
        hub.publish("hermes/tts/say", json.dumps(say), qos=0)
        until(lambda: hub.on("hermes/tts/sayFinished"), 30)
        assert hub.on("hermes/tts/sayFinished")[0].json == {"siteId": site, "id": "7", "sessionId": "s"}
        order = [
            each.topic
            for each in hub.heard
            if each.topic.startswith("hermes") or b'"event":"finished"' in each.payload
        ]
        assert order == ["hermes/tts/say", f"{base}/event", "hermes/tts/sayFinished"]
        assert daemon.stop() == 0
        until(lambda: hub.last(f"{base}/availability") == b"offline")
