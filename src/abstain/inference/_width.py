"""How many samples an interval needs to become narrow enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from abstain._checks import real
from abstain._quantiles import t_quantile
from abstain._typing import ArrayLike
from abstain.inference._binomial import check_level
from abstain.inference._columns import as_metric, scored, tables
from abstain.inference._estimates import route_of
from abstain.inference._influence import gradient, per_sample
from abstain.inference._interval import ends, limited
from abstain.inference._planner import Plan, deviation_of, one_more_of
from abstain.inference._unseen import OneMore, worse_ends
from abstain.metrics import Metric

__all__ = ["samples_for_width"]


def samples_for_width(
    width: float,
    pilot: tuple[ArrayLike, ArrayLike],
    metric: str | Metric = "augrc",
    *,
    level: float = 0.95,
) -> Plan:
    r"""Return how many samples an interval of :func:`confidence_interval` needs to become so narrow.

    The smallest n at which the interval around the pilot's estimate, with error :math:`\sigma/\sqrt n`, degrees of
    freedom in proportion to n and room for one unseen error, is at most ``width`` wide.

    Parameters
    ----------
    width : float > 0
        Upper end minus lower end, in units of the metric.
    pilot : (loss, score)
        Arrays of shape (n_samples,).
    metric : str or Metric
        One with an influence function.
    level : float in (0, 1)

    Returns
    -------
    Plan
        ``n`` >= 2, with its range.

    Raises
    ------
    UnmetNeed
        The metric has no influence function.
    ValueError, TypeError
        Bad columns; a width that is not positive, or beyond the reach of any sample; a pilot with fewer than 5 degrees
        of freedom, where the spread is a guess.

    Notes
    -----
    A width is itself random: at the planned n about half of the samples give a narrower one. The range is as in
    :func:`samples_for_difference`.

    References
    ----------
    Satterthwaite (1946), for the degrees of freedom.

    Examples
    --------
    >>> import abstain
    >>> loss, score = [0, 1, 0, 0] * 50, [k * 77 % 200 for k in range(200)]
    >>> abstain.inference.samples_for_width(0.02, (loss, score))
    Plan(n=2400, low=2001, high=2977, df=85.7, rests_on=RestsOn(number=50.0, unit='errors'))
    """
    width = real(width, "width", "> 0", "give it in units of the metric")
    if not 0.0 < width < math.inf:
        raise ValueError(f"width must be positive and finite, got {width!r}; give it in units of the metric")
    level = check_level(level)
    try:
        loss, score = pilot
    except (TypeError, ValueError):
        raise TypeError("pilot must be a tuple (loss, score)") from None
    chosen = as_metric(metric)
    route_of(chosen, "influence")
    try:
        blocks = tables(chosen, loss, scored(score))
    except (TypeError, ValueError) as error:
        raise type(error)(f"pilot: {error}") from None
    estimate, reason = chosen.evaluate(blocks)
    if reason is not None:
        raise ValueError(f"pilot: {chosen.name} is undefined: {reason}")
    terms = per_sample(gradient(chosen, blocks), blocks)
    shown, unseen, shift = one_more_of(chosen, blocks)
    deviation = deviation_of([blocks], terms, shown, unseen)

    def at(spread: float, n: int) -> float:
        reach = t_quantile(level, min(deviation.df * n / blocks.n, n - 1.0)) * spread / math.sqrt(n)
        low, high, _ = ends(chosen, blocks, estimate, reach)
        variance = spread**2 / n + float(np.mean(unseen**2)) * (blocks.n / n) ** 2
        more = OneMore(estimate + shift * blocks.n / n, variance)
        found = [limited(chosen, blocks, end) for end in _beyond(chosen, more, level)]
        return max([high, *found]) - min([low, *found])

    n, least, most = (_smallest(partial(at, each), width) for each in (deviation.value, deviation.low, deviation.high))
    return Plan(n, least, most, round(deviation.df, 1), deviation.rests_on)


def _beyond(metric: Metric, more: OneMore, level: float) -> list[float]:
    """Return the end with room for one more error, on the scale of the metric that is asked for."""
    if metric.inference_kind != "smooth" or metric.base.scale == "identity":
        return []
    if metric.image is not None:
        more = OneMore(metric.image.back(more.estimate), more.variance / metric.image.factor**2)
    return list(worse_ends(metric, (more,), level))


def _smallest(width_at: Callable[[int], float], width: float) -> int:
    """Return the smallest n whose width is small enough; widths fall with n."""
    high = 2
    while width_at(high) > width:
        high *= 2
        if high > 10**15:
            raise ValueError(f"width={width!r} is out of reach of any sample; give a wider one")
    low = max(high // 2, 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if width_at(middle) > width else (low, middle)
    return high
