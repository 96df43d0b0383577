"""The user's lexicon in a running daemon: the next announcement is read by what was just saved."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.broker import Listener, until
from tests.daemon.harness import Daemon
from tests.daemon.test_life import run_to_its_end, state

SHORT, LONG = "en:\n  nginx: box\n", "en:\n  nginx: the box beside the kitchen door\n"


@pytest.fixture
def daemon(start: Callable[..., Daemon], tmp_path: Path) -> Daemon:
    (tmp_path / "words.yaml").write_text(SHORT)
    return start(text={"lexicon": "words.yaml"})


def spoken_s(listen: Listener, base: str, id: str) -> float:
    """Seconds that the word takes; the second time it comes out of the cache."""
    listen.publish(f"{base}/say", json.dumps({"text": "nginx", "id": id}))
    seconds: float = listen.wait_event(base, "finished", 20, id=id)["audio_s"]
    return seconds


def test_an_edit_changes_the_next_announcement(daemon: Daemon, listen: Listener, base: str) -> None:
    before_s = spoken_s(listen, base, "a")
    assert spoken_s(listen, base, "b") == before_s
    words = daemon.folder / "words.yaml"
    words.write_text(LONG)
    until(lambda: "applied: text.lexicon" in daemon.log(), 10, "the reload")
    assert spoken_s(listen, base, "c") > 2 * before_s
    words.write_text(SHORT)
    until(lambda: daemon.log().count("applied: text.lexicon") == 2, 10, "the second reload")
    assert spoken_s(listen, base, "d") == before_s
    assert state(listen, base)["restart_needed"] == []


def test_a_broken_edit_is_refused_and_the_old_one_stays(daemon: Daemon, listen: Listener, base: str) -> None:
    words = daemon.folder / "words.yaml"
    words.write_text(LONG + "  GIF: {phonemes: /x/}\n")
    error = str(until(lambda: state(listen, base).get("config_error"), 10, "the refusal"))
    assert f"text.lexicon: {words}: line 3: en.GIF: phonemes must be" in error
    assert f"text.lexicon: {words}: line 3: en.GIF: phonemes must be" in daemon.log()
    before_s = spoken_s(listen, base, "a")
    words.write_text(LONG)
    until(lambda: state(listen, base).get("config_error") is None, 10, "the mend")
    assert spoken_s(listen, base, "c") > 2 * before_s


def test_one_that_was_refused_and_comes_later_is_taken_over(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    daemon = start()
    daemon.sections["text"] = {"lexicon": "late/words.yaml"}
    daemon.write_config()
    error = str(until(lambda: state(listen, base).get("config_error"), 10, "the refusal"))
    assert "words.yaml: cannot be read" in error
    words = daemon.folder / "late" / "words.yaml"
    words.parent.mkdir()
    words.write_text(LONG)
    until(lambda: state(listen, base).get("config_error", "?") is None, 15, "the mend")
    assert "applied: text.lexicon" in daemon.log()


def test_a_start_with_a_broken_one_is_exit_78(tmp_path: Path) -> None:
    (tmp_path / "words.yaml").write_text("en:\n  a:\n")
    file = tmp_path / "edged.yaml"
    file.write_text("text: {lexicon: words.yaml}\n")
    ended = run_to_its_end(file)
    assert ended.returncode == 78
    assert ended.stderr.startswith(
        f"{file}: line 1: text.lexicon: {tmp_path / 'words.yaml'}: line 2: en.a: is empty"
    )
