"""Checks of options that are real numbers."""

from __future__ import annotations

from math import isfinite
from typing import Any

from abstain._checks import real


def positive(value: Any, name: str) -> float:
    """Return ``value`` as a finite float > 0."""
    number = real(value, name, "> 0")
    if not (isfinite(number) and number > 0.0):
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
    return number


def not_negative(value: Any, name: str) -> float:
    """Return ``value`` as a finite float >= 0."""
    number = real(value, name, ">= 0")
    if not (isfinite(number) and number >= 0.0):
        raise ValueError(f"{name} must be a finite number >= 0, got {value!r}")
    return number
