"""What a threshold guarantees, in words."""

from __future__ import annotations

from abstain._result import percent


def errs(delta: float) -> dict[str, float]:
    """Return with what probability a certificate errs, and with what one of two at least.

    The second is looked at because the first did not pass, so whoever takes it relies on both.
    """
    return {"delta": delta, "both": min(1.0, 2.0 * delta)}


def each_errs(delta: float) -> str:
    """Return the same in words."""
    return f"each errs with {percent(delta)}; together {percent(errs(delta)['both'])}"
