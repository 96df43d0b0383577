"""How edged grows: with the length of a text, with what waits, with zones, with work done beforehand.

`python3 -m tests.bench.growth` runs the real daemon beside a real broker and draws the curves in one picture.
"""
