"""What the governor goes by: thermal zones as boards name them, throttling, pressure, the RTF, the ladder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edged.health.counters import NS_PER_S, RtfMinute
from edged.health.pressure import cpu_pressure_percent
from edged.health.sensors import Sensors
from edged.types import Level
from edged.voice.ladder import Row, levels, write_rows
from edged.voice.manifest import Licence, Manifest

RASPBERRY = {"cpu-thermal": 61.3}
RK3588 = {
    "package-thermal": 55.0,
    "bigcore0-thermal": 57.0,
    "bigcore2-thermal": 58.5,
    "littlecore-thermal": 54.0,
    "center-thermal": 53.0,
    "gpu-thermal": 70.0,
    "npu-thermal": 71.0,
}
RK3588_VENDOR = {"soc-thermal": 66.0, "bigcore0-thermal": 64.0, "gpu-thermal": 80.0}
ORIN = {
    "cpu-thermal": 48.0,
    "gpu-thermal": 60.0,
    "soc0-thermal": 49.0,
    "cv0-thermal": 70.0,
    "tj-thermal": 52.0,
}
XAVIER = {"CPU-therm": 40.5, "GPU-therm": 43.0, "AO-therm": 45.0, "PMIC-Die": 100.0}


def put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize(
    ("zones", "temp_c"),
    [(RASPBERRY, 61.3), (RK3588, 58.5), (RK3588_VENDOR, 66.0), (ORIN, 52.0), (XAVIER, 40.5)],
)
def test_the_hottest_place_of_the_processor(tmp_path: Path, zones: dict[str, float], temp_c: float) -> None:
    for number, (name, celsius) in enumerate(zones.items()):
        zone = tmp_path / f"class/thermal/thermal_zone{number}"
        put(zone / "type", f"{name}\n")
        put(zone / "temp", f"{celsius * 1000:.0f}\n")
    assert Sensors(tmp_path).temp_c() == temp_c


@pytest.mark.parametrize(
    ("devices", "throttled"),
    [
        ({"cpufreq-cpu0": "0", "cpufreq-cpu4": "0"}, False),
        ({"cpufreq-cpu0": "0", "cpufreq-cpu4": "3"}, True),
        ({"thermal-cpufreq-0": "1", "pwm-fan": "0"}, True),
        ({"pwm-fan": "3", "Processor": "1"}, None),
    ],
)
def test_a_capped_frequency_is_throttling(
    tmp_path: Path, devices: dict[str, str], throttled: bool | None
) -> None:
    for number, (name, state) in enumerate(devices.items()):
        device = tmp_path / f"class/thermal/cooling_device{number}"
        put(device / "type", f"{name}\n")
        put(device / "cur_state", f"{state}\n")
    assert Sensors(tmp_path).throttled() is throttled
    put(tmp_path / "devices/platform/soc/soc:firmware/get_throttled", "0\n")
    assert Sensors(tmp_path).throttled() is False, "the firmware knows better"


@pytest.mark.parametrize(
    ("text", "percent"),
    [
        (
            "some avg10=12.34 avg60=2.01 avg300=2.30 total=5\nfull avg10=0.00 avg60=0 avg300=0 total=0\n",
            12.34,
        ),
        ("some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n", 0.0),
        ("", None),
        ("full avg10=50.00\n", None),
    ],
)
def test_pressure(tmp_path: Path, text: str, percent: float | None) -> None:
    put(tmp_path / "cpu", text)
    assert cpu_pressure_percent(tmp_path / "cpu") == percent
    assert cpu_pressure_percent(tmp_path / "none") is None


def test_the_rtf_of_the_last_seconds_and_of_another_way() -> None:
    rtf = RtfMinute()
    rtf.add(2.0, 1.0, 100 * NS_PER_S)
    rtf.add(0.5, 1.0, 140 * NS_PER_S)
    assert rtf.value(141 * NS_PER_S) == 1.25
    assert rtf.value(141 * NS_PER_S, 10) == 0.5
    assert rtf.value(151 * NS_PER_S, 10) is None
    rtf.restart()
    assert rtf.value(141 * NS_PER_S) is None
    rtf.add(0.1, 1.0, 142 * NS_PER_S)
    assert rtf.value(142 * NS_PER_S) == 0.1


TOY = Manifest(
    folder=Path("/nowhere/0123456789abcdef"),
    name="toy",
    version="0123456789abcdef",
    language="en-us",
    engine="vits",
    sample_rate_hz=22050,
    licence=Licence(),
    source_package="",
    source_version="",
    source_url="",
    source_files={},
    levels=("mixed", "fp32", "int8"),
    speakers=(),
    options={"levels": {"mixed": {}, "fp32": {}, "int8": {}}, "natural_db": 1.0},
    files=(),
)
FP32 = Row("fp32", 1, (16, 32), (30.0, 50.0, 200.0), 0.4, 4.0, 140.0, 60.0, 0.0)
NEARLY = replace(FP32, chunks=(32, 64), first_audio_ms=(31.0, 51.0, 201.0), rtf=0.39)
MIXED = replace(FP32, level="mixed", rtf=0.25, distance_db=1.5)
INT8 = replace(FP32, level="int8", rtf=0.1, distance_db=3.0)
THREADS = replace(FP32, level="mixed", threads=2, rtf=0.05, distance_db=1.5)


def test_the_ladder_goes_from_the_best_to_the_cheapest(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    write_rows(file, TOY, [INT8, NEARLY, THREADS, FP32, MIXED], {})
    chunks = (16, 32)
    assert levels(TOY, "auto", 1, file, (12, 24)) == (
        Level("fp32", 1, chunks, 12, 0.4),
        Level("mixed", 1, chunks, 24, 0.25),
        Level("int8", 1, chunks, 24, 0.1),
    )
    assert levels(TOY, "auto", 2, file, (24,))[-1] == Level("mixed", 2, chunks, 24, 0.05)
    assert levels(TOY, "mixed", 1, file, (6, 12, 24)) == tuple(
        Level("mixed", 1, chunks, period_ms, 0.25) for period_ms in (6, 12, 24)
    )


def test_without_figures_only_the_period_changes(tmp_path: Path) -> None:
    assert levels(TOY, "auto", 2, tmp_path / "none", (12, 24)) == (
        Level("mixed", 2, None, 12, None),
        Level("mixed", 2, None, 24, None),
    )
