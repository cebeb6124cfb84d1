"""Fifth step: the interval of an estimate with its spread, on the metric's own scale, or from the binomial."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from abstain._checks import Undefined
from abstain._typing import ArrayLike
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.inference._binomial import clopper_pearson
from abstain.inference._columns import is_plain
from abstain.inference._influence import terms_of
from abstain.inference._quantiles import t_quantile
from abstain.inference._spread import SINGLE, Spread, limit_of, spread_of
from abstain.metrics import Metric

__all__ = ["Interval"]


class Interval(NamedTuple):
    """A confidence interval and how it came about.

    ``low``, ``high``: its ends (NaN, with a warning text, where there is none); ``estimate``: the metric;
    ``standard_error``: the one behind the ends; ``level``; ``method``: such as ``"log-t"``; ``df``: degrees of freedom
    of the standard error; ``warning``: None, or what the reader must know.

    Examples
    --------
    >>> import abstain
    >>> loss, confidence = [0, 1, 0, 0, 1, 0] * 20, range(120)
    >>> low, high, *_ = abstain.confidence_interval("augrc", loss, confidence)
    >>> round(low, 3), round(high, 3)
    (0.124, 0.224)
    """

    low: float
    high: float
    estimate: float
    standard_error: float
    level: float
    method: str
    df: float
    warning: str | None = None


def no_interval(estimate: float, error: float, level: float, why: str) -> Interval:
    """Return that there is no interval, and why."""
    return Interval(np.nan, np.nan, estimate, error, level, "none", 0.0, why)


def of_spread(spread: Spread, level: float) -> Interval:
    """Return the interval of an estimate with its spread."""
    binomial = exact(spread.metric, spread.blocks, level) if spread.independent else None
    if binomial is not None:
        return binomial
    if spread.df < 1.0 and not spread.vanishes:
        return no_interval(spread.estimate, np.nan, level, SINGLE)
    return around(spread, level)


def around(spread: Spread, level: float) -> Interval:
    """Return the interval by Student's t, whatever the degrees of freedom."""
    metric, blocks, estimate, error, df, _, note = spread
    if spread.vanishes:
        return without_spread(metric, blocks, estimate, level)
    low, high, method = ends(metric, blocks, estimate, t_quantile(level, df) * error)
    return Interval(low, high, estimate, error, level, method, df, note)


def of_samples(
    metric: Metric,
    blocks: TieBlocks,
    level: float,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
) -> Interval:
    """Return the interval of a table that kept its samples."""
    estimate, reason = metric.evaluate(blocks)
    if reason is not None:
        return no_interval(estimate, np.nan, level, reason)
    limit = limit_of(metric, blocks)
    try:
        terms = limit.factor * terms_of(metric, blocks, strata, clusters)
    except Undefined as why:
        return no_interval(estimate, np.nan, level, str(why))
    grouped = strata is not None, clusters is not None
    return of_spread(spread_of(metric, blocks, estimate, terms, limit.df, grouped), level)


def ends(metric: Metric, blocks: TieBlocks, estimate: float, reach: float) -> tuple[float, float, str]:
    """Return the ends that lie ``reach`` around the estimate on the metric's scale, and the scale that could be used.

    They stay inside the metric's range, which is stated for 0/1 losses. An image has the image of its metric's ends.
    """
    if metric.image is not None:
        image = metric.image
        low, high, scale = ends(metric.base, blocks, image.back(estimate), reach / abs(image.factor))
        return *image.ends(low, high), scale
    least, most = metric.range
    low, high, scale = estimate - reach, estimate + reach, "t"
    if metric.scale == "log" and estimate > 0.0:
        width = math.exp(min(reach / estimate, 700.0))
        low, high, scale = estimate / width, estimate * width, "log-t"
    elif metric.scale == "logit" and least < estimate < most:
        odds = (estimate - least) / (most - estimate)
        width = reach * (1.0 / (estimate - least) + 1.0 / (most - estimate))
        shares = [1.0 / (1.0 + math.exp(shift) / odds) for shift in (min(width, 700.0), max(-width, -700.0))]
        low, high, scale = least + (most - least) * shares[0], least + (most - least) * shares[1], "logit-t"
    return (max(low, least), min(high, most), scale) if blocks.binary else (low, high, scale)


def without_spread(metric: Metric, blocks: TieBlocks, estimate: float, level: float) -> Interval:
    """Return what can be said where the standard error is 0: a bound from the binomial, or an honest refusal."""
    base = metric.base
    if blocks.total_loss != 0.0 or not is_plain(blocks) or base.worst is None:
        why = "the standard error is 0: no sample moves the value, so no spread is seen"
        return no_interval(estimate, 0.0, level, why)
    low, high = 0.0, base.worst(clopper_pearson(0, blocks.n, level)[1], **base.settings)
    bound, most = base.worst(clopper_pearson(0, blocks.n, level, side="upper")[1], **base.settings), "most"
    if metric.image is not None:
        low, high = metric.image.ends(low, high)
        bound, most = metric.image(bound), "most" if metric.image.factor > 0.0 else "least"
    text = f"no error occurred: at {most} {bound:.4g} at level {level:g} (one-sided bound, under the worst ranking)"
    return Interval(low, high, estimate, 0.0, level, "binomial bound", 0.0, text)


def exact(metric: Metric, blocks: TieBlocks, level: float) -> Interval | None:
    """Return the exact binomial interval of a 0/1 risk at a fixed threshold, or None where it does not apply.

    Two-sided also without errors: a side that is chosen by the data would cover less than the level. A fixed coverage
    chooses the threshold by scores alone, so where nothing accepted is wrong, and no spread can be seen, it serves too.
    """
    fact = metric.said(metric.accepted_loss)
    if fact is None or not is_plain(blocks):
        return None
    curve = RiskCoverageCurve(blocks)
    point = curve.at(coverage=fact.coverage) if fact.threshold is None else curve.at(threshold=fact.threshold)
    if point.n_accepted == 0:
        return None
    errors = round(point.selective_risk * point.n_accepted)
    if errors > 0 and fact.threshold is None:
        return None
    n = blocks.n if fact.per == "all" else point.n_accepted
    low, high = clopper_pearson(errors, n, level)
    risk, note = errors / n, None
    if errors == 0:
        bound = clopper_pearson(0, n, level, side="upper")[1]
        zero = f"no error among {point.n_accepted} accepted"
        note = f"{zero}: the risk is at most {bound:.4g} at level {level:g} (one-sided bound)"
    error = math.sqrt(risk * (1.0 - risk) / n)
    if metric.image is not None:
        (low, high), risk, error = metric.image.ends(low, high), metric.image(risk), abs(metric.image.factor) * error
    return Interval(low, high, risk, error, level, "Clopper-Pearson", float(n), note)
