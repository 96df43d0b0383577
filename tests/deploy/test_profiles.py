"""The configurations for boards: accepted as they are, and a reason beside each value."""

import re
from pathlib import Path

import pytest

from edged.cli import main
from edged.config.load import load
from edged.config.model import Config

CONFIGS = Path(__file__).parents[2] / "configs"
PROFILES = sorted(file for file in CONFIGS.glob("*.yaml") if file.stem != "edged")


def test_there_is_one_for_each_board():
    assert [file.stem for file in PROFILES] == ["jetson", "rk3588", "rpi4", "rpi5"]


@pytest.mark.parametrize("file", PROFILES, ids=lambda file: file.stem)
def test_it_passes_the_check_without_a_warning_of_its_own(file, capsys):
    assert main(["check", str(file)]) == 0
    said = capsys.readouterr()
    warnings = [line for line in said.out.splitlines() if "warning" in line and "node" not in line]
    assert (warnings, said.err) == ([], "")
    assert load(file) != Config()


@pytest.mark.parametrize("file", PROFILES, ids=lambda file: file.stem)
def test_each_value_has_its_reason_above_it(file):
    lines = file.read_text().splitlines()
    values = [n for n, line in enumerate(lines) if re.match(r" +[a-z_]+: \S", line)]
    assert len(values) >= 6
    assert [lines[n] for n in values if not lines[n - 1].lstrip().startswith("# ")] == []


@pytest.mark.parametrize("file", [*PROFILES, CONFIGS / "edged.yaml"], ids=lambda file: file.stem)
def test_it_has_the_line_that_the_installation_fills_in(file):
    assert "#state_dir:" in file.read_text().splitlines()


@pytest.mark.parametrize("file", PROFILES, ids=lambda file: file.stem)
def test_the_governor_acts_before_the_hard_limit(file):
    governor = load(file).governor
    assert governor.soft_c < governor.hard_c
