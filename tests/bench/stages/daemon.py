"""`edged`, with the time noted at which an announcement reaches each stage on its way to the first sample.

Run by `python3 -m tests.bench.stages` in place of `edged`: one line of JSON on standard error, which is the
daemon's log, for each announcement that began. What it wraps is named in `_watch`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from edged import render, speech, synth
from edged.cli import main
from edged.mqtt.receive import Receiver
from edged.types import Event, EventKind, Mark
from edged.voice.engines import hibari

STAGES = (
    *("received", "taken", "begun", "read", "phonemes", "front end", "decoder", "samples", "written"),
    "first sample",
)
"""In order; each is the moment at which what its name says is done."""
PREFIX = "stages "

_reached: dict[str, int] = {}
"""Of the announcement under way; one at a time is said."""


def _receive() -> None:
    _reached.clear()
    _reach("received")


def _reach(stage: str) -> None:
    _reached.setdefault(stage, time.monotonic_ns())


def _before(owner: Any, name: str, note: Callable[[], None]) -> None:
    """Note the moment at which a function is called."""
    function = getattr(owner, name)

    def noted(*given: Any, **named: Any) -> Any:
        note()
        return function(*given, **named)

    setattr(owner, name, noted)


def _after(owner: Any, name: str, stage: str, when: Callable[[Any], bool] = lambda _self: True) -> None:
    """Note the moment at which a function of an object has returned."""
    function = getattr(owner, name)

    def noted(self: Any, *given: Any) -> Any:
        result = function(self, *given)
        if when(self):
            _reach(stage)
        return result

    setattr(owner, name, noted)


def _yielded(owner: Any, name: str, stage: str) -> None:
    """Note the moment at which a generator gives its first item."""
    function = getattr(owner, name)

    def noted(*given: Any) -> Iterator[Any]:
        for item in function(*given):
            _reach(stage)
            yield item

    setattr(owner, name, noted)


def _watch() -> None:
    _before(Receiver, "_speak", _receive)
    _before(synth.SynthThread, "_is_poisoned", lambda: _reach("taken"))
    _after(synth.SynthThread, "_start_next", "begun", lambda _self: "taken" in _reached)
    _yielded(render, "read", "read")
    _before(hibari.HibariEngine, "_stream", lambda: _reach("phonemes"))
    _before(hibari, "speech_span", lambda: _reach("front end"))
    _yielded(hibari.FrameDecoder, "chunks", "decoder")
    _yielded(hibari.HibariEngine, "_stream", "samples")
    _after(speech.Speech, "pump", "written", lambda self: bool(self.first_written))
    take = speech.Speech.take

    def taken(self: speech.Speech, mark: Mark) -> Event | None:
        event = take(self, mark)
        if event is not None and event.kind is EventKind.STARTED:
            said = {**_reached, "first sample": mark.taken_ns, "id": event.id}
            print(PREFIX + json.dumps(said), file=sys.stderr, flush=True)
        return event

    speech.Speech.take = taken  # type: ignore[method-assign]


if __name__ == "__main__":
    _watch()
    sys.exit(main())
