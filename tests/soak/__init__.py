"""Announcements for minutes on end under faults; thousands of them for memory and latency.

`python3 -m tests.soak --seconds 480 --json soak.json` runs the first, `--long` the second.
"""
