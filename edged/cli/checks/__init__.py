"""The checks of `edged doctor`, one file per part of the system."""
