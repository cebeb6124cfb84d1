"""Numbers and names as sentences say them: shares, p-values, thresholds, counts, lists."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any

from abstain._result._words import clean


class _Words(string.Formatter):
    """Fields in words: ``%`` a share, ``p`` a p-value, ``t`` a threshold, ``about`` a count; text is clean."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "%":
            return percent(value)
        if format_spec == "p":
            return "p < .001" if value < 0.001 else f"p = {value:.3f}".replace("0.", ".")
        if format_spec == "t":
            return readable(value)
        if format_spec == "about":
            return about(value)
        if format_spec == "list":
            return _listed(value)
        return clean(value) if isinstance(value, str) else format(value, format_spec)


def percent(value: float) -> str:
    """Return a share in per cent with up to three digits."""
    return f"{100.0 * value:.3g} %"


def about(count: int) -> str:
    """Return a count rounded up to two digits, as far as a plan can be known."""
    step = 10 ** max(len(str(count)) - 2, 0)
    return f"{-(-count // step) * step:,}"


def readable(value: float) -> str:
    """Return a threshold with as few digits, six at least, as tell it from a round number; never rounded up."""
    if math.isinf(value):
        return "infinity" if value > 0.0 else "minus infinity"
    exact = Decimal(repr(value))
    near = 0.01 * abs(1.0 - value) or 1e-6  # close below 1 the distance from 1 is what counts
    for digits in (6, 9, 12):
        text = f"{float(Context(prec=digits, rounding=ROUND_FLOOR).plus(exact)):.12g}"
        if value - float(text) <= near and (value == round(value) or float(text) != round(value)):
            return text
    return repr(value)


def _listed(names: Iterable[str], most: int = 6) -> str:
    texts = [clean(name) for name in names]
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


#: Fills the templates of the verdict.
SPOKEN = _Words()
