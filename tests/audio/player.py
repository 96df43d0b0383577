"""Runs one scenario in a process of its own: `python -m tests.audio.player NAME KEYS REPORT`.

KEYS is the audio configuration as JSON; the scenario's result goes to the file REPORT as JSON, with what
a null sink kept beside it as `heard.npy`. Descriptor 1 belongs to the sink.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path

import numpy as np

from edged.audio.sinks import NullSink, make_sink
from edged.config.model import AudioConfig, ProcessConfig
from tests.audio import scenarios

TAP_FRAMES = 1 << 18


def main(name: str, keys: str, report: Path) -> None:
    logging.basicConfig(level=logging.INFO)
    sink = make_sink(AudioConfig(**json.loads(keys)), ProcessConfig(), TAP_FRAMES)
    result = getattr(scenarios, name)(sink)
    if isinstance(sink, NullSink):
        np.save(report.with_name("heard.npy"), sink.played())
    report.write_text(json.dumps(result))
    # A hung sound system would hold the ordinary end of the process up.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
