"""What the contract tests play through a sink; each runs in a process of its own (`player.py`).

A scenario gets an unopened sink and returns what the sink reported; what was heard is looked at by the
test, from the capture, the file, the pipe or the null sink's memory.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from edged.audio.keeper import Keeper, Phase
from edged.audio.ring import Ring
from edged.audio.sinks import Output, Sink
from edged.types import Int16
from tests.audio.signals import level, noise

FIRST, LAST, NEVER = 1, 2, 3
PAUSE_MS = 180
PLAIN_FRAMES = 12000
IDLE_S = 1.0
LIMIT_S = 20.0


def feed(ring: Ring, samples: Int16) -> None:
    """Write all of it, in pieces like those of a voice, waiting for room."""
    deadline_s = time.monotonic() + LIMIT_S
    at = 0
    while at < samples.size and time.monotonic() < deadline_s:
        at += ring.write(samples[at : at + 1000])
        if not (ring.capacity_frames - ring.fill_frames):
            time.sleep(0.005)


def say(ring: Ring, samples: Int16) -> None:
    """One utterance with its marks."""
    ring.mark(FIRST)
    ring.feeding(True)
    feed(ring, samples)
    ring.mark(LAST)
    ring.feeding(False)


def wait(condition: Callable[[], bool], limit_s: float = LIMIT_S) -> bool:
    deadline_s = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.005)
    return True


def report(output: Output) -> dict[str, Any]:
    """What the output says of itself, for JSON."""
    return {
        "marks": [[mark.tag, mark.taken_ns, mark.device_latency_ms] for mark in output.ring.taken()],
        "counters": asdict(output.ring.counters()),
        "info": asdict(output.info),
        "opened_ns": output.opened_ns,
        "tap": output.ring.read_tap().tolist(),
    }


def plain(sink: Sink) -> dict[str, Any]:
    """One utterance of half a second straight to a device just opened, then close with drain."""
    output = sink.open()
    say(output.ring, noise(PLAIN_FRAMES, 1))
    sink.close(output, drain=True)
    return report(output)


def long(sink: Sink) -> dict[str, Any]:
    """Ten seconds, for a test that does not wait for the end."""
    output = sink.open()
    say(output.ring, noise(240000, 1))
    return report(output)


def until_fault(sink: Sink) -> dict[str, Any]:
    """Speaks until the place the sound goes to fails."""
    output = sink.open()
    output.ring.write(noise(12000, 1))
    wait(lambda: sink.fault(output) is not None)
    fault = sink.fault(output)
    before_s = time.monotonic()
    sink.close(output, drain=True)
    return {"fault": fault, "close_s": time.monotonic() - before_s}


def lead_in(sink: Sink) -> dict[str, Any]:
    """Lead-in silence on the cold device, two utterances in a row: the second has none."""
    output = sink.open()
    output.ring.write(np.zeros(output.info.sample_rate_hz // 5, np.int16))
    say(output.ring, noise(4000, 1))
    say(output.ring, noise(4000, 2))
    sink.close(output, drain=True)
    return report(output)


def sentences(sink: Sink) -> dict[str, Any]:
    """Three sentences with pauses of exact zeros."""
    output = sink.open()
    pause = np.zeros(PAUSE_MS * output.info.sample_rate_hz // 1000, np.int16)
    say(output.ring, np.concatenate([noise(5000, 1), pause, noise(5000, 2), pause, noise(5000, 3)]))
    sink.close(output, drain=True)
    return report(output)


def skip(sink: Sink) -> dict[str, Any]:
    """A long level is cut after a while, with a fade of 20 ms; another utterance follows."""
    output = sink.open()
    ring = output.ring
    ring.mark(FIRST)
    ring.feeding(True)
    feed(ring, level(4000, 12000))
    wait(lambda: ring.counters().frames_played > 0)
    feed(ring, level(8000, 12000))
    ring.mark(NEVER)
    ring.skip(20.0)
    wait(lambda: ring.fill_frames == 0)
    say(ring, noise(5000, 2))
    sink.close(output, drain=True)
    return report(output)


def idle(sink: Sink) -> dict[str, Any]:
    """An open device with nothing to say for a while."""
    output = sink.open()
    before_s = time.process_time()
    time.sleep(IDLE_S)
    used_s = time.process_time() - before_s
    sink.close(output, drain=True)
    return report(output) | {"cpu_percent": 100 * used_s / IDLE_S}


def volume(sink: Sink) -> dict[str, Any]:
    """Half loudness for one level, full for the next, changed over 50 ms in between."""
    output = sink.open()
    output.ring.set_gain(0.5, 0.0)
    feed(output.ring, level(6000, 20000))
    wait(lambda: output.ring.fill_frames < 3000)
    output.ring.set_gain(1.0, 50.0)
    feed(output.ring, level(12000, 20000))
    sink.close(output, drain=True)
    return report(output)


def frozen_drain(sink: Sink) -> dict[str, Any]:
    """The sound server stands still in mid-utterance (its process id is in SERVER_PID), then close."""
    output = sink.open()
    say(output.ring, noise(8000, 1))
    os.kill(int(os.environ["SERVER_PID"]), signal.SIGSTOP)
    before_s = time.monotonic()
    failure = None
    try:
        sink.close(output, drain=True)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    return {"close_s": time.monotonic() - before_s, "failure": failure}


class Watched:
    """A keeper of one sink, and what it told."""

    def __init__(self, sink: Sink, idle_close_s: float = 0.0) -> None:
        self.changes: list[str] = []
        self.hangs = 0
        self.beats = 0
        self.keeper = Keeper(
            {"zone": sink},
            on_change=self._changed,
            on_hang=self._hung,
            beat=self._beat,
            idle_close_s=idle_close_s,
        )
        self.keeper.start()

    def _changed(self) -> None:
        self.changes.append(self.keeper.state("zone").phase.value)

    def _hung(self) -> None:
        self.hangs += 1

    def _beat(self) -> None:
        self.beats += 1

    def in_phase(self, phase: Phase) -> bool:
        return wait(lambda: self.keeper.state("zone").phase is phase)

    def speak(self, samples: Int16) -> bool:
        """Say something on the current output; True when its last frame was taken."""
        output = self.keeper.current("zone")
        if output is None:
            return False
        say(output.ring, samples)
        marks: list[int] = []

        def done() -> bool:
            marks.extend(mark.tag for mark in output.ring.taken())
            return LAST in marks

        return wait(done)

    def outcome(self) -> dict[str, Any]:
        self.keeper.stop()
        return {"changes": self.changes, "hangs": self.hangs, "beats": self.beats}


def keep_open(sink: Sink) -> dict[str, Any]:
    """Opens, speaks, closes."""
    watched = Watched(sink)
    known = watched.keeper.wait_known(LIMIT_S)
    spoke = watched.speak(noise(8000, 1))
    return {"known": known, "spoke": spoke, "state": str(watched.keeper.state("zone"))} | watched.outcome()


def keep_lost_and_found(sink: Sink) -> dict[str, Any]:
    """Follows the test by what is on standard input: one line per step."""
    watched = Watched(sink)
    watched.keeper.wait_known(LIMIT_S)
    said = [watched.keeper.state("zone").phase.value, watched.keeper.state("zone").reason]
    print("known", flush=True)
    input()
    opened = watched.in_phase(Phase.OPEN)
    first = watched.keeper.current("zone")
    spoke_first = watched.speak(noise(8000, 1))
    print("spoke", flush=True)
    input()
    lost = watched.in_phase(Phase.LOST)
    gone = watched.keeper.current("zone") is None
    print("lost", flush=True)
    input()
    found = watched.in_phase(Phase.OPEN)
    another = watched.keeper.current("zone") is not first
    spoke_second = watched.speak(noise(8000, 2))
    checks = [opened, spoke_first, lost, gone, found, another, spoke_second]
    return {"start": said, "checks": checks} | watched.outcome()


def keep_frozen(sink: Sink) -> dict[str, Any]:
    """The sound server stands still: the stall is seen, the hang is told, the keeper lives on."""
    watched = Watched(sink)
    watched.in_phase(Phase.OPEN)
    os.kill(int(os.environ["SERVER_PID"]), signal.SIGSTOP)
    told = wait(lambda: watched.hangs > 0)
    state = watched.keeper.state("zone")
    before = watched.beats
    alive = wait(lambda: watched.beats > before + 3)
    return {
        "told": told,
        "alive": alive,
        "phase": state.phase.value,
        "reason": state.reason,
    } | watched.outcome()


def keep_idle(sink: Sink) -> dict[str, Any]:
    """Released after half a second of silence, opened again on demand."""
    watched = Watched(sink, idle_close_s=0.5)
    watched.in_phase(Phase.OPEN)
    spoke_first = watched.speak(noise(4000, 1))
    released = watched.in_phase(Phase.CLOSED)
    watched.keeper.need("zone")
    opened = watched.in_phase(Phase.OPEN)
    spoke_second = watched.speak(noise(4000, 2))
    return {"checks": [spoke_first, released, opened, spoke_second]} | watched.outcome()
