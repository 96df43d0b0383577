"""The rooms of the package: who may import whom, and where each library enters.

A room is a folder of `edged`. It knows the shared types, errors and the configuration's model, and
its own files, nothing else; so each can be read, tested and replaced alone. The files beside the
rooms put them together, each only those named here, with the reason.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("audio", "config", "health", "mqtt", "queue", "text", "voice")
SHARED = ("edged.types", "edged.errors", "edged.config.model", "edged.__version__")
EVERYTHING = ("edged",)

CROSSING = {
    "__init__.py": (),
    "types.py": (),
    "errors.py": (),
    "__main__.py": ("edged.cli.main",),
    # It builds and stops every part.
    "daemon.py": EVERYTHING,
    # Commands and measurements put parts together in their own ways.
    "cli/": EVERYTHING,
    "bench/": EVERYTHING,
    # The main loop: reload, heartbeats, notification, and the commands that came over MQTT.
    "supervisor.py": ("edged.config", "edged.health", "edged.mqtt.codec"),
    # One utterance is a way through text, voice and sound; these files are that way.
    "synth.py": ("edged.audio", "edged.health", "edged.queue", "edged.speech", "edged.studio"),
    "speech.py": ("edged.audio", "edged.health", "edged.render", "edged.studio"),
    "studio.py": ("edged.audio", "edged.phrases", "edged.render", "edged.text.reading"),
    "prompts.py": (),
    "phrases.py": (),
    "render.py": ("edged.audio.pcm", "edged.phrases", "edged.text"),
    "voices.py": ("edged.config.identity", "edged.text", "edged.voice"),
    # The governor looks at every part that can be asked for less, and asks it.
    "governing.py": tuple(f"edged.{name}" for name in ("audio", "health", "studio", "synth", "voices")),
    # The state topic tells of every part, so it reads every part's counters.
    "state.py": tuple(f"edged.{name}" for name in (*ROOMS, "render", "supervisor", "synth", "voices")),
}
"""What a file (or a folder) may import beside SHARED, by the beginning of the module's name."""

LIBRARIES = {
    "cffi": ("audio/_rt/build.py",),
    "hibari": ("text/english.py", "voice/heart.py"),
    # English dictionaries lie in the voice's folder, the Chinese table in the package.
    "marisa_trie": ("text/tables.py", "text/zh/table.py"),
    "matplotlib": ("bench/canvas.py",),
    "numpy": (
        "audio/",
        "bench/",
        "cli/",
        "phrases.py",
        "render.py",
        "speech.py",
        "studio.py",
        "text/",
        "types.py",
        "voice/",
    ),
    # Splits a voice once when it is installed; the daemon never imports it.
    "onnx": (
        "bench/whole.py",
        "voice/decoder.py",
        "voice/dequantise.py",
        "voice/heart.py",
        "voice/importers/",
    ),
    # The importers use its quantiser, in a process of their own.
    "onnxruntime": ("voice/engines/_ort.py", "voice/importers/"),
    "paho": ("mqtt/",),
    "psutil": ("health/sensors.py",),
    "sdnotify": ("health/notify.py",),
    "setuptools": ("audio/_rt/build.py",),
    "sounddevice": ("audio/sinks/portaudio.py",),
    "soxr": ("audio/pcm.py",),
    # Reads the published networks of a voice once when it is installed.
    "tflite": ("voice/importers/",),
    "watchfiles": ("config/watch.py",),
    "yaml": ("config/load.py",),
}
"""Where each library enters. To use a new one, say here where."""

IN_ONE_FILE = (
    "paho",
    "matplotlib",
    "psutil",
    "sdnotify",
    "sounddevice",
    "soxr",
    "watchfiles",
    "yaml",
)

SHORT_LIVED = {
    "audio/sinks/base.py": "one call with a limit, then it ends",
    "cli/": "a command's own, gone with it",
    "bench/": "a measurement's own, gone with it",
}
"""Files that start threads which are not the daemon's and own nothing."""


def test_rooms_keep_to_themselves() -> None:
    assert problems_of_imports(sources()) == []


def test_libraries_enter_through_their_file() -> None:
    assert problems_of_libraries(sources()) == []


def test_threads_say_what_they_are() -> None:
    assert problems_of_threads(sources()) == []


def test_every_room_is_looked_at() -> None:
    found = {path.parent.name for path in (ROOT / "edged").glob("*/__init__.py")}
    assert found - {"cli", "bench"} == set(ROOMS)
    assert {name for name in sources() if "/" not in name} <= set(CROSSING)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("audio/ring.py", "import edged.queue.mailbox"),
        ("audio/ring.py", "from edged.queue import mailbox"),
        ("audio/ring.py", "from edged import queue"),
        ("audio/ring.py", "from ..queue import mailbox"),
        ("audio/sinks/wav.py", "from ...queue.mailbox import Mailbox"),
        ("audio/ring.py", "def f():\n    from edged.health.counters import Counters"),
        ("audio/ring.py", "from edged.config.load import load"),
        ("audio/ring.py", "from edged.config import load"),
        ("audio/ring.py", "from edged.daemon import run"),
        ("audio/ring.py", "from edged import *"),
        ("types.py", "from edged.audio import ring"),
        ("synth.py", "from edged.mqtt.client import MqttLink"),
        ("render.py", "from edged.audio.ring import Ring"),
        ("unheard_of.py", "from edged.audio.ring import Ring"),
    ],
)
def test_a_forbidden_import_is_found(name: str, text: str) -> None:
    assert len(problems_of_imports({name: ast.parse(text)})) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("audio/ring.py", "import os, edged.types"),
        ("audio/ring.py", "from edged.types import Int16"),
        ("audio/ring.py", "from edged import __version__"),
        ("audio/ring.py", "from edged.config.model import AudioConfig"),
        ("audio/ring.py", "from edged.config import model"),
        ("audio/sinks/wav.py", "from ..ring import Ring\nfrom . import base"),
        ("audio/__init__.py", "from .ring import Ring"),
        ("synth.py", "from edged.audio import ring"),
        ("cli/say.py", "from edged.mqtt.client import MqttLink"),
        ("supervisor.py", "from edged.mqtt.codec import Control"),
    ],
)
def test_an_allowed_import_is_let_pass(name: str, text: str) -> None:
    assert problems_of_imports({name: ast.parse(text)}) == []


def test_a_library_in_the_wrong_place_is_found() -> None:
    assert problems_of_libraries({"text/a.py": ast.parse("import yaml")}) == ["text/a.py imports yaml"]
    assert problems_of_libraries({"text/a.py": ast.parse("from requests import get")}) == [
        "text/a.py imports requests"
    ]
    both = {"mqtt/a.py": ast.parse("import paho.mqtt"), "mqtt/b.py": ast.parse("from paho import mqtt")}
    assert problems_of_libraries(both) == ["paho enters through mqtt/a.py, mqtt/b.py"]
    assert problems_of_libraries({"config/load.py": ast.parse("import yaml, os.path")}) == []


def test_a_thread_without_its_contract_is_found() -> None:
    start = "import threading\nthreading.Thread(target=print).start()"
    derived = "from threading import Thread\nclass A(Thread):\n    pass"
    contract = '"""The x thread: does y.\n\nMain talks to it.\nIt alone writes z.\n"""\n'
    for text in (
        start,
        derived,
        f'"""Short."""\n{start}',
        f'"""The x thread.\n\nIt is.\nGood.\n"""\n{start}',
    ):
        assert len(problems_of_threads({"audio/a.py": ast.parse(text)})) == 1
    assert problems_of_threads({"audio/a.py": ast.parse(contract + start)}) == []
    assert problems_of_threads({"audio/a.py": ast.parse(contract + derived)}) == []
    assert problems_of_threads({"audio/a.py": ast.parse("import threading\nthreading.Lock()")}) == []


def sources() -> dict[str, ast.Module]:
    """Every Python file of the package, by its path inside it."""
    package = ROOT / "edged"
    return {
        path.relative_to(package).as_posix(): ast.parse(path.read_text(), str(path))
        for path in sorted(package.rglob("*.py"))
    }


def problems_of_imports(files: dict[str, ast.Module]) -> list[str]:
    return [
        f"edged/{name} imports {module}"
        for name, tree in files.items()
        for module in sorted(set(imported(name, tree)))
        if module.startswith("edged.") and not _begins(module, (*SHARED, *allowed(name)))
    ]


def problems_of_libraries(files: dict[str, ast.Module]) -> list[str]:
    users: defaultdict[str, list[str]] = defaultdict(list)
    for name, tree in files.items():
        for library in {module.partition(".")[0] for module in imported(name, tree)}:
            if library != "edged" and library not in sys.stdlib_module_names:
                users[library].append(name)
    found = [
        f"{name} imports {library}"
        for library, names in sorted(users.items())
        for name in names
        if not name.startswith(LIBRARIES.get(library, ("nowhere",)))
    ]
    found += [
        f"{name} enters through {', '.join(users[name])}" for name in IN_ONE_FILE if len(users[name]) > 1
    ]
    return found


def problems_of_threads(files: dict[str, ast.Module]) -> list[str]:
    """A file that starts a thread opens with its job, its neighbours and what it alone writes."""
    found = []
    for name, tree in files.items():
        if name.startswith(tuple(SHORT_LIVED)) or not _starts_thread(tree):
            continue
        text = (ast.get_docstring(tree) or "").lower()
        if "thread" not in text or "alone" not in text or len(text.splitlines()) < 4:
            found.append(f"edged/{name}: say what the thread does, who talks to it, what it alone writes")
    return found


def allowed(name: str) -> tuple[str, ...]:
    """What may be imported by a file, beside SHARED."""
    room, _, inside = name.partition("/")
    if inside and room in ROOMS:
        return (f"edged.{room}",)
    return CROSSING.get(f"{room}/" if inside else room, ())


def imported(name: str, tree: ast.Module) -> Iterator[str]:
    """Dotted names of all that a file imports, anywhere in it: `from a import b` is a.b."""
    package = ["edged", *name.split("/")[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            prefix = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{prefix}.{alias.name}" for alias in node.names)


def _begins(module: str, prefixes: tuple[str, ...]) -> bool:
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes)


def _starts_thread(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        for use in (called, *bases):
            if getattr(use, "attr", getattr(use, "id", None)) == "Thread":
                return True
    return False
