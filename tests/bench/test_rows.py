"""Percentiles, and bars held against them."""

from __future__ import annotations

import pytest

from edged.bench.rows import BAKER_BARS, BARS, PIPER_BARS, PIPER_ROWS, ROWS, VOICE_ROWS, Figure, Row, verdicts


def row(name: str, case: str, p50: float | None, p95: float | None = None) -> Row:
    return Row(name, "heart", "mixed", case, 1, p50, p50 if p95 is None else p95, "ms")


def holds(name: str, case: str, which: str, rows: list[Row], fifo: bool = True) -> bool | None:
    found = [v for v in verdicts(rows, fifo) if (v.bar.name, v.bar.case, v.bar.which) == (name, case, which)]
    assert len(found) == 1
    return found[0].holds


def test_percentiles_are_nearest_rank_of_all_values() -> None:
    made = Figure("rtf", "cpu", [float(n) for n in range(300, 0, -1)], "").row("heart", "mixed")
    assert (made.n, made.p50, made.p95) == (300, 150.0, 285.0)


def test_figures_keep_four_digits() -> None:
    made = Figure("rtf", "cpu", [0.00812345], "").row("heart", "mixed")
    assert made.p50 == 0.008123


def test_a_missing_figure_is_a_row_without_values() -> None:
    made = Figure("capture_equal", "24ms", (), "bool", "no sound server").row("heart", "mixed")
    assert (made.n, made.p50, made.p95) == (0, None, None)


@pytest.mark.parametrize(("p95", "expected"), [(40.0, True), (40.1, False)])
def test_a_limit_holds_up_to_its_value(p95: float, expected: bool) -> None:
    rows = [row("publish_to_first_sample_ms", "30", 10.0, p95)]
    assert holds("publish_to_first_sample_ms", "30", "p95", rows) is expected


@pytest.mark.parametrize(("p50", "expected"), [(15.0, True), (15.1, False)])
def test_a_relative_limit_is_that_of_the_other_case(p50: float, expected: bool) -> None:
    rows = [row("publish_to_first_sample_ms", "30", 10.0), row("publish_to_first_sample_ms", "300", p50)]
    assert holds("publish_to_first_sample_ms", "300", "p50", rows) is expected


def test_a_relative_limit_without_its_other_case_does_not_hold() -> None:
    rows = [row("publish_to_first_sample_ms", "300", 1.0)]
    assert holds("publish_to_first_sample_ms", "300", "p50", rows) is False


@pytest.mark.parametrize(("value", "fifo", "expected"), [(0, True, True), (1, True, False), (1, False, None)])
def test_underfills_are_asked_under_real_time_scheduling_only(
    value: int, fifo: bool, expected: bool | None
) -> None:
    assert holds("underfills", "6ms-load", "p95", [row("underfills", "6ms-load", value)], fifo) is expected


@pytest.mark.parametrize(("value", "expected"), [(1, True), (0, False), (None, False)])
def test_what_must_be_equal_is_1_and_not_missing(value: int | None, expected: bool) -> None:
    assert holds("capture_equal", "24ms", "p50", [row("capture_equal", "24ms", value)]) is expected


def test_a_bar_of_a_level_is_asked_of_that_level_and_against_its_own_other_case() -> None:
    rows = [
        Row("logmel_distance_db", "joe", level, case, 1, db, db, "dB")
        for level, case, db in (
            ("mixed", "two-draws", 2.0),
            ("fp32", "two-draws", 9.0),
            ("mixed", "from-fp32", 2.1),
            ("fp32", "from-fp32", 0.0),
        )
    ]
    (found,) = verdicts(rows, False, PIPER_BARS)
    assert (found.level, found.limit, found.measured, found.holds) == ("mixed", 2.0, 2.1, False)


def test_a_bar_without_a_level_is_asked_of_every_one() -> None:
    rows = [
        Row("load_cpu_ms", "joe", level, "warm", 1, ms, ms, "ms") for level, ms in (("a", 1.0), ("b", 200.0))
    ]
    assert [(v.level, v.holds) for v in verdicts(rows, False, PIPER_BARS)] == [("a", True), ("b", False)]


def test_bars_are_about_rows_that_exist() -> None:
    assert {bar.name for bar in BARS} <= set(ROWS)
    assert {bar.name for bar in PIPER_BARS} <= set(VOICE_ROWS)
    assert {bar.name for bar in BAKER_BARS} <= set(VOICE_ROWS) - set(PIPER_ROWS)
