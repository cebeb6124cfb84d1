"""Numbers and names as sentences say them: shares, p-values, thresholds, counts, lists."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any

from abstain._result._words import clean

if TYPE_CHECKING:
    from abstain._typing import ArrayLike


#: So many names of a list are said.
MOST = 6


class _Words(string.Formatter):
    """Fields in words.

    ``%``: a share; ``points`` of per cent; ``rows``, ``errors``: a count; ``list``: names, the first six of them.
    """

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "%":
            return percent(value)
        if format_spec == "points":
            number = _digits(100.0 * value, 2)
            return f"{number} point{'s' * (number != '1')}"
        if format_spec in ("rows", "errors"):
            return f"{value:,} {format_spec[:-1]}{'s' * (value != 1)}"
        if format_spec == "list":
            return _listed(value)
        return clean(value) if isinstance(value, str) else format(value, format_spec)


def p_value(p: float) -> str:
    """Return a p-value as text has it."""
    if p != p:
        return "not tested"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def percent(value: float) -> str:
    """Return a share in per cent with up to three digits."""
    return f"{_digits(100.0 * value, 3)} %"


def _digits(value: float, most: int) -> str:
    """Return a number with so many digits; one that has more before the point in whole ones, never as a power."""
    text = f"{value:.{most}g}"
    return f"{value:.0f}" if "e+" in text else text


def about(count: int) -> str:
    """Return a count rounded up to two digits, as far as a plan can be known."""
    step = 10 ** max(len(str(count)) - 2, 0)
    return f"{-(-count // step) * step:,}"


def readable(value: float, below: float = -math.inf, above: float = -math.inf) -> str:
    """Return a threshold with at least six digits, and enough to differ from a round number; rounded down if possible.

    ``below``: the next lower score that is known, ``above``: the lowest that is accepted. The text stays between them,
    so that it accepts the same rows; it is rounded up only if that would not do.
    """
    if math.isinf(value):
        return "infinity" if value > 0.0 else "minus infinity"
    exact = Decimal(repr(value))
    near = 0.01 * abs(1.0 - value) or 1e-6  # close below 1 the distance from 1 is what counts
    for digits in (6, 9, 12, 15):
        for rounding in (ROUND_FLOOR, ROUND_CEILING):
            text = f"{float(Context(prec=digits, rounding=rounding).plus(exact)):.{digits}g}"
            said = float(text)
            alike = below < said <= max(value, above) and abs(value - said) <= near
            if alike and (value == round(value) or said != round(value)):
                return text
    return repr(value)


def among(value: float, scores: ArrayLike) -> str:
    """Return a threshold in digits that accept the same of these scores."""
    import numpy as np  # not with the command itself, whose help is printed without

    known = np.asarray(scores, dtype=np.float64)
    lower, upper = known[known < value], known[known >= value]
    return readable(value, float(lower.max(initial=-np.inf)), float(upper.min(initial=np.inf)) if upper.size else value)


def _listed(names: Iterable[str]) -> str:
    texts = [clean(name) for name in names]
    more = f" and {len(texts) - MOST} more" if len(texts) > MOST else ""
    return ", ".join(texts[:MOST]) + more


#: Fills the templates of the verdict.
SPOKEN = _Words()
