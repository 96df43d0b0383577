from pathlib import Path

import pytest

from edged.health.sensors import Sensors


def put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def zone(sysfs: Path, number: int, name: str, millidegrees: str) -> None:
    put(sysfs / f"class/thermal/thermal_zone{number}/type", name + "\n")
    put(sysfs / f"class/thermal/thermal_zone{number}/temp", millidegrees + "\n")


def test_this_process_has_memory_and_an_empty_board_has_nothing(tmp_path):
    readings = Sensors(sysfs=tmp_path).read()
    assert readings.rss_mb is not None
    assert readings.private_dirty_mb is not None
    assert 1 < readings.private_dirty_mb < readings.rss_mb
    assert readings.temp_c is None
    assert readings.throttled is None


def test_the_hottest_processor_zone_counts(tmp_path):
    zone(tmp_path, 0, "gpu-thermal", "90000")
    zone(tmp_path, 1, "cpu-thermal", "61250")
    zone(tmp_path, 2, "soc-thermal", "64500")
    assert Sensors(sysfs=tmp_path).read().temp_c == 64.5


def test_without_a_processor_zone_the_hottest_of_all(tmp_path):
    zone(tmp_path, 0, "acpitz", "41000")
    zone(tmp_path, 1, "board", "38000")
    assert Sensors(sysfs=tmp_path).read().temp_c == 41.0


@pytest.mark.parametrize("broken", ["", "-274000", "2147483647", "hot"])
def test_zones_that_are_off_or_broken_are_left_out(tmp_path, broken):
    zone(tmp_path, 0, "cpu-thermal", broken)
    assert Sensors(sysfs=tmp_path).read().temp_c is None


@pytest.mark.parametrize(
    ("bits", "throttled"),
    [("0", False), ("50000", False), ("50005", True), ("0x4", True), ("8", True), ("", None), ("no", None)],
)
def test_get_throttled_now_but_not_since_boot(tmp_path, bits, throttled):
    put(tmp_path / "devices/platform/soc/soc:firmware/get_throttled", bits + "\n")
    assert Sensors(sysfs=tmp_path).read().throttled is throttled


def test_no_proc_is_no_reading(tmp_path):
    assert Sensors(sysfs=tmp_path, proc=tmp_path).read().private_dirty_mb is None
