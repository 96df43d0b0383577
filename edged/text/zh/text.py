"""The marks of pauses: shared by the rules for numbers and those for readings."""

from __future__ import annotations

PAUSES = "，。！？；：、"
"""The marks that are left in normalized text; each is a pause."""
