"""What counts as the output that the page shows."""

from __future__ import annotations

import pytest

from tests.readme.shown import difference

SHOWN = """\
==> installing one two …
…
==> broker on port 40291
    sink         wav, /home/you/edged-try.wav
    first audio  16.4 ms
=== 254 passed, 4 deselected in 344.10s (0:05:44) ===
"""
PRINTED = """\
==> installing one two three
==> something
==> broker on port 1
    sink         wav, /root/edged/edged-try.wav
    first audio  7 ms
====== 3 passed, 40 deselected in 1.5s (1:05:44) ======
"""


def test_numbers_paths_and_left_out_lines_may_differ() -> None:
    assert difference(SHOWN, PRINTED) is None
    assert difference(SHOWN, PRINTED.replace("==> something\n", "")) is None


@pytest.mark.parametrize(
    ("was", "becomes", "told"),
    [
        ("one two", "two one", "shown: '==> installing one two …', printed: '==> installing two one three'"),
        ("port 1", "port x", "shown: '==> broker on port 40291', printed: '==> something'"),
        ("wav, /root", "alsa, /root", "printed: '    sink         alsa, /root/edged/edged-try.wav'"),
        (", 40 deselected", "", "printed: '====== 3 passed in 1.5s (1:05:44) ======'"),
        ("7 ms\n", "7 ms\nmore\n", "printed: 'more'"),
        ("1:05:44) ======\n", "1:05:44) ======\nmore\n", "not shown: 'more'"),
        ("====== 3 passed, 40 deselected in 1.5s (1:05:44) ======\n", "", "printed: 'the end'"),
    ],
)
def test_all_else_may_not(was: str, becomes: str, told: str) -> None:
    assert was in PRINTED
    found = difference(SHOWN, PRINTED.replace(was, becomes))
    assert found is not None
    assert told in found
