"""Damaged and hostile input for everything that reads what others wrote; see `tests.fuzz.__main__`."""

from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
"""A folder for each target: written by hand, or reaching something of their own, or found."""
