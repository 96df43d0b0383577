"""edged beside what a user would pick instead: the same texts, interleaved, in one run on one machine.

`python3 -m tests.bench.peers` runs it. Each contender is a warm process of its own (`workers/`), peers in
virtual environments of their own; nothing of theirs is imported by edged.
"""
