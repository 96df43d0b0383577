"""Where the time to the first sample and the memory at rest go: `python3 -m tests.bench.stages`."""
