"""Start, reload and stop of the daemon, as a service manager and an administrator do it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.broker import Broker, Listener, free_port, until
from tests.daemon.harness import Daemon


def run_to_its_end(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "edged", "run", "-c", str(file)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)


def state(listen: Listener, base: str) -> dict[str, object]:
    heard = listen.on(f"{base}/state")
    return heard[-1].json if heard else {}


def test_sighup_applies_what_is_live_and_names_what_needs_a_restart(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    daemon = start()
    daemon.sections["audio"] |= {"volume": 0.5, "period_ms": 24}
    daemon.config_file.write_text(json.dumps(daemon.sections))  # JSON is YAML
    daemon.signal(signal.SIGHUP)
    until(lambda: state(listen, base).get("volume") == 0.5, 10, "the new volume")
    until(lambda: state(listen, base).get("restart_needed") == ["audio.period_ms"], 10, "what is pending")
    until(lambda: "RELOADING=1" in daemon.notified, 10, "RELOADING=1")
    assert any(line.startswith("MONOTONIC_USEC=") for line in daemon.notified)
    until(lambda: daemon.notified.count("READY=1") >= 2, 10, "READY=1 after the reload")


def test_a_changed_file_is_taken_over_and_a_bad_one_changes_nothing(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    daemon = start()
    daemon.sections["audio"] |= {"volume": 0.25}
    daemon.write_config()
    until(lambda: state(listen, base).get("volume") == 0.25, 10, "the new volume")
    daemon.config_file.write_text("audio: {volume: 7, volum: 1}\n")
    error = until(lambda: state(listen, base).get("config_error"), 10, "the refusal")
    assert "audio.volume" in str(error)
    assert "audio.volum:" in str(error)
    assert state(listen, base)["volume"] == 0.25
    until(lambda: any("refused" in line for line in daemon.notified), 10, "the STATUS line")
    until(lambda: "audio.volume" in daemon.log(), 10, "the log")
    listen.publish(f"{base}/say", '{"text":"Still here","id":"a"}')
    listen.wait_event(base, "finished", 20, id="a")
    daemon.write_config()
    until(lambda: state(listen, base).get("config_error") is None, 10, "the mend")


def test_volume_over_mqtt_survives_a_reload_that_does_not_name_it(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    daemon = start()
    listen.publish(f"{base}/volume/set", "0.4", qos=0)
    until(lambda: state(listen, base).get("volume") == 0.4, 10, "the new volume")
    daemon.sections["voice"] |= {"speed": 1.2}
    daemon.write_config()
    until(lambda: "voice.speed" in daemon.log(), 10, "the reload")
    listen.publish(f"{base}/say", '{"text":"Faster","id":"a"}')
    listen.wait_event(base, "finished", 20, id="a")
    assert state(listen, base)["volume"] == 0.4


def test_it_is_ready_before_there_is_a_broker_and_finds_it_later(
    tmp_path: Path, base: str, voices: object
) -> None:
    """C65."""
    broker = Broker(tmp_path / "late")
    with Daemon(tmp_path, broker.port, base, online=False) as daemon:
        until(lambda: "refused" in daemon.log(), 10, "the first refusal")
        broker.start()
        try:
            with Listener(broker.port, f"{base}/#") as listen:
                until(lambda: "connected to" in daemon.log(), 60, "the connection")
                listen.publish(f"{base}/say", '{"text":"At last","id":"a"}')
                listen.wait_event(base, "finished", 20, id="a")
        finally:
            broker.stop()


def test_the_broker_restarts_in_mid_sentence(
    tmp_path: Path, make_broker: Callable[..., Broker], base: str, voices: object
) -> None:
    broker = make_broker(persistent=True)
    with (
        Daemon(tmp_path, broker.port, base) as daemon,
        Listener(broker.port, f"{base}/#", kept=True) as listen,
    ):
        listen.publish(f"{base}/say", '{"text":"' + "Said through the restart. " * 3 + '","id":"a"}')
        listen.publish(f"{base}/say", '{"text":"Waiting","id":"b"}')
        listen.wait_event(base, "started", 20, id="a")
        broker.stop()
        broker.start()
        listen.wait_event(base, "finished", 40, id="a")
        listen.wait_event(base, "finished", 40, id="b")
        listen.publish(f"{base}/say", '{"text":"Last","id":"c"}')
        listen.wait_event(base, "finished", 40, id="c")
        until(lambda: state(listen, base).get("finished") == 3, 10, "the counts")
        assert state(listen, base)["started"] == 3, "nothing is said twice"
        assert daemon.stop() == 0


def test_it_lives_where_no_memory_may_become_executable(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    daemon = start(mdwe=True)
    listen.publish(f"{base}/say", '{"text":"Hardened, with an unknwrd wyrd.","id":"a"}')
    listen.wait_event(base, "finished", 20, id="a")
    assert daemon.stop() == 0


def test_the_watchdog_is_fed(start: Callable[..., Daemon]) -> None:
    daemon = start()
    until(lambda: daemon.notified.count("WATCHDOG=1") >= 3, 10, "WATCHDOG=1")
    assert any(line.startswith("STATUS=quiet, 0 waiting; voice heart") for line in daemon.notified)


def test_a_bad_configuration_is_told_in_lines_and_exits_with_78(tmp_path: Path) -> None:
    file = tmp_path / "edged.yaml"
    file.write_text("mqtt: {host: broker.lan, retian: ignore, password: sesame}\naudio: {period_ms: 13}\n")
    ended = run_to_its_end(file)
    assert ended.returncode == 78
    lines = ended.stderr.splitlines()
    assert len(lines) == 2
    assert "mqtt.retian" in lines[0]
    assert "audio.period_ms" in lines[1]
    assert "Traceback" not in ended.stderr
    assert "sesame" not in ended.stderr


def test_an_unknown_voice_is_told_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "edged.yaml"
    file.write_text(f"state_dir: {tmp_path}\nvoice: {{name: nobody}}\nmqtt: {{port: {free_port()}}}\n")
    ended = run_to_its_end(file)
    assert ended.returncode == 78
    assert "nobody" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr


def test_ctrl_c_ends_it_quietly(start: Callable[..., Daemon]) -> None:
    daemon = start()
    daemon.signal(signal.SIGINT)
    assert daemon.wait() == 0
    assert "Traceback" not in daemon.log()


def test_sighup_while_it_finishes_does_not_cut(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    daemon = start()
    listen.publish(f"{base}/say", '{"text":"This is said to its end, whatever comes.","id":"a"}')
    listen.wait_event(base, "started", 20, id="a")
    daemon.signal(signal.SIGTERM)
    until(lambda: "SIGTERM" in daemon.log(), 10, "the way down")
    daemon.signal(signal.SIGHUP)
    assert daemon.wait() == 0
    listen.wait_event(base, "finished", 5, id="a")


def test_a_stopped_and_continued_process_goes_on_where_it_was(
    start: Callable[..., Daemon], listen: Listener, base: str
) -> None:
    daemon = start()
    listen.publish(f"{base}/say", '{"text":"' + "This takes a while to say. " * 4 + '","id":"a"}')
    listen.wait_event(base, "started", 20, id="a")
    for _ in range(3):
        daemon.signal(signal.SIGSTOP)
        time.sleep(1.6)
        daemon.signal(signal.SIGCONT)
        time.sleep(0.4)
    listen.wait_event(base, "finished", 30, id="a")
    assert sum(event["event"] == "started" for event in listen.events(base)) == 1
    assert "lost" not in daemon.log()
