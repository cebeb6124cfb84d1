"""The version, on the ground, so that every result can carry it."""

__version__ = "0.3.0"
