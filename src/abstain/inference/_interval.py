"""Confidence intervals from influence functions, on each metric's own scale, with data-driven degrees of freedom."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from abstain._checks import Undefined, one_of
from abstain._typing import ArrayLike, FloatArray
from abstain.blocks import TieBlocks
from abstain.curve import SLACK, RiskCoverageCurve
from abstain.inference._binomial import check_level, clopper_pearson
from abstain.inference._columns import as_metric, on_columns
from abstain.inference._influence import is_plain, tables, terms_of
from abstain.inference._quantiles import t_quantile
from abstain.inference._trust import SINGLE, informative, joined, limit_of, warning_light
from abstain.metrics import Metric

__all__ = ["Interval", "confidence_interval"]


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


def on_scale(metric: Metric, estimate: float, error: float, quantile: float) -> tuple[float, float, str]:
    """Return the ends of an interval on the metric's scale, and the scale that could be used."""
    if metric.scale == "log" and estimate > 0.0:
        width = math.exp(min(quantile * error / estimate, 700.0))
        return estimate / width, estimate * width, "log-t"
    least, most = metric.range
    if metric.scale == "logit" and least < estimate < most:
        odds = (estimate - least) / (most - estimate)
        width = quantile * error * (1.0 / (estimate - least) + 1.0 / (most - estimate))
        low, high = (1.0 / (1.0 + math.exp(shift) / odds) for shift in (min(width, 700.0), max(-width, -700.0)))
        return least + (most - least) * low, least + (most - least) * high, "logit-t"
    return estimate - quantile * error, estimate + quantile * error, "t"


def possible(metric: Metric, blocks: TieBlocks, low: float, high: float) -> tuple[float, float]:
    """Return the ends inside the metric's range, which is stated for 0/1 losses."""
    if not blocks.binary:
        return low, high
    return max(low, metric.range[0]), min(high, metric.range[1])


def no_interval(estimate: float, error: float, level: float, why: str) -> Interval:
    """Return that there is no interval, and why."""
    return Interval(np.nan, np.nan, estimate, error, level, "none", 0.0, why)


def _entropy(p: float) -> float:
    return -p * math.log(p) - (1.0 - p) * math.log(1.0 - p)


#: Largest value that an error rate up to p allows: every error is ranked above every correct prediction.
WORST: dict[str, Callable[[float], float]] = {
    "risk": lambda p: p,
    "sele": lambda p: p,
    "aurc": lambda p: p * (1.0 - math.log(p)),
    "augrc": lambda p: p - p**2 / 2.0,
    "e_aurc": lambda p: _entropy(min(p, 0.5)),
    "e_augrc": lambda p: min(p, 0.5) * (1.0 - min(p, 0.5)),
}


def without_spread(metric: Metric, blocks: TieBlocks, estimate: float, level: float) -> Interval:
    """Return what can be said where the standard error is 0: a bound from the binomial, or an honest refusal."""
    if blocks.total_loss == 0.0 and is_plain(blocks) and metric.name in WORST:
        worst = WORST[metric.name]
        high = worst(clopper_pearson(0, blocks.n, level)[1])
        bound = worst(clopper_pearson(0, blocks.n, level, side="upper")[1])
        text = f"no error occurred: at most {bound:.4g} at level {level:g} (one-sided bound, under the worst ranking)"
        return Interval(0.0, high, estimate, 0.0, level, "binomial bound", 0.0, text)
    return no_interval(estimate, 0.0, level, "the standard error is 0: no sample moves the value, so no spread is seen")


def exact(metric: Metric, blocks: TieBlocks, level: float) -> Interval | None:
    """Return the exact binomial interval of a 0/1 risk at a fixed threshold, or None where it does not apply.

    Two-sided also without errors: a side that is chosen by the data would cover less than the level. A fixed coverage
    chooses the threshold by scores alone, so where nothing accepted is wrong, and no spread can be seen, it serves too.
    """
    of_all = metric.name in ("risk", "accuracy")
    at_point = metric.name in ("selective_risk", "selective_accuracy", "generalized_risk")
    if not (of_all or at_point) or not is_plain(blocks):
        return None
    options = metric.settings
    threshold, curve = -np.inf if of_all else options["threshold"], RiskCoverageCurve(blocks)
    point = curve.at(coverage=options["coverage"]) if threshold is None else curve.at(threshold=threshold)
    if point.n_accepted == 0:
        return None
    errors = round(point.selective_risk * point.n_accepted)
    if errors > 0 and threshold is None:
        return None
    n = blocks.n if metric.name == "generalized_risk" else point.n_accepted
    low, high = clopper_pearson(errors, n, level)
    risk, note = errors / n, None
    if errors == 0:
        bound = clopper_pearson(0, n, level, side="upper")[1]
        zero = f"no error among {point.n_accepted} accepted"
        note = f"{zero}: the risk is at most {bound:.4g} at level {level:g} (one-sided bound)"
    error = math.sqrt(risk * (1.0 - risk) / n)
    if metric.direction == "higher":
        low, high, risk = 1.0 - high, 1.0 - low, 1.0 - risk
    return Interval(low, high, risk, error, level, "Clopper-Pearson", float(n), note)


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
    return of_terms(metric, blocks, estimate, terms, limit.df, level, strata is not None, clusters is not None)


def of_terms(
    metric: Metric,
    blocks: TieBlocks,
    estimate: float,
    terms: FloatArray,
    most_df: float,
    level: float,
    stratified: bool,
    clustered: bool,
) -> Interval:
    """Return the interval of an estimate whose squared terms sum to its variance."""
    binomial = None if stratified or clustered else exact(metric, blocks, level)
    if binomial is not None:
        return binomial
    error = math.sqrt(float(np.sum(terms**2)))
    if error <= 1e-12 * max(1.0, abs(estimate)):
        return without_spread(metric, blocks, estimate, level)
    df = informative(metric, terms, most_df)
    if df < 1.0:
        return no_interval(estimate, np.nan, level, SINGLE)
    low, high, method = on_scale(metric, estimate, error, t_quantile(level, df))
    low, high = possible(metric, blocks, low, high)
    light = warning_light(df, terms.size if clustered else None)
    return Interval(low, high, estimate, error, level, method, df, joined(light, edge_of_a_tie(metric, blocks)))


def jumps(metric: Metric, blocks: TieBlocks) -> bool:
    """Whether the threshold of a fixed coverage lies in a tie that is wider than two of its standard errors."""
    coverage = metric.settings.get("coverage", 1.0)
    if metric.inference_kind != "quantile" or coverage >= 1.0:
        return False
    ends = blocks.cumulative_weight / blocks.total_weight
    j = min(int(np.searchsorted(ends, coverage - SLACK)), len(ends) - 1)
    return float(blocks.weight[j] / blocks.total_weight) > 2.0 * math.sqrt(coverage * (1.0 - coverage) / blocks.n)


def edge_of_a_tie(metric: Metric, blocks: TieBlocks) -> str | None:
    """Warn where the asked coverage lies within two standard errors of the end of a wide tie."""
    if metric.inference_kind != "quantile":
        return None
    coverage = float(metric.settings["coverage"])
    share = blocks.weight / blocks.total_weight
    ends = blocks.cumulative_weight / blocks.total_weight
    reach = 2.0 * np.sqrt(coverage * (1.0 - coverage) / blocks.n)
    wide = share >= blocks.n ** (-1.0 / 3.0)
    near = (np.abs(ends - coverage) < reach) & (wide | np.append(wide[1:], False)) & (ends < 1.0)
    if not near.any():
        return None
    return f"coverage {coverage:g} is at the edge of a wide tie, where the threshold flips: fix a threshold instead"


def confidence_interval(
    metric: str | Metric,
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    level: float = 0.95,
    method: Literal["auto", "influence", "percentile", "bca"] = "auto",
    sample_weight: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
) -> Interval:
    r"""Return a confidence interval of a metric.

    Areas and other smooth metrics: influence-function standard error, Student's t with the Satterthwaite
    degrees of freedom of that standard error, on the metric's scale,

    .. math:: \theta\,\exp(\mp\, t_{\nu}\,\text{SE}/\theta),\qquad \nu = \frac{2n}{\kappa - 1}

    (log scale for risks and areas, logit for shares, plain for signed values). Metrics that are divided by what
    the losses allow (AUROC_f, normalised areas, prediction-rejection ratio) are, given k errors, like a mean of k
    values: error times k/(k - 1), at most k - 1 degrees of freedom. Risk or accuracy of a 0/1 loss at a fixed
    threshold, or at a coverage where nothing accepted is wrong: Clopper-Pearson. Coverage at a risk, FPR at 95 %,
    precision-recall areas: bootstrap.

    Parameters
    ----------
    metric : str or Metric
    loss : array-like of shape (n_samples,)
        For NLL and Brier score of the probability vector: the labels.
    confidence : array-like of shape (n_samples,)
        For these two: the class probabilities, of shape (n_samples, n_classes).
    level : float in (0, 1)
    method : {"auto", "influence", "percentile", "bca"}
        ``"auto"``: as above. ``"influence"``: the same without a bootstrap, and an error where one is needed.
    sample_weight, strata, clusters : array-like of shape (n_samples,), optional
        As in :func:`standard_error`.
    n_resamples, rng
        For the bootstrap; see :func:`bootstrap`.

    Returns
    -------
    Interval
        Never a silent NaN: ``warning`` says why there is no interval, or that too few errors inform it.

    Raises
    ------
    UnmetNeed
        The metric needs what the input does not hold.
    ValueError, TypeError
        Bad columns; a level outside (0, 1).

    Notes
    -----
    Ties are exact. Without errors the interval reaches to the two-sided binomial end, because a side chosen by the
    data would cover less than the level; ``warning`` gives the one-sided bound. Hull areas and ECE get no interval:
    their bias exceeds their spread at every sample size.

    References
    ----------
    Efron (1982), infinitesimal jackknife; Clopper & Pearson (1934).

    Examples
    --------
    >>> import abstain
    >>> interval = abstain.confidence_interval("risk", [0, 1, 0, 0] * 25, range(100))
    >>> interval.method, round(interval.low, 4), round(interval.high, 4)
    ('Clopper-Pearson', 0.1688, 0.3466)
    """
    check_level(level)
    one_of(method, ("auto", "influence", "percentile", "bca"), "method")
    chosen, loss, confidence = on_columns(as_metric(metric), loss, confidence)
    kind = chosen.inference_kind
    if method in ("percentile", "bca") or (method == "auto" and kind == "bootstrap"):
        from abstain.inference._bootstrap import bootstrap

        result = bootstrap(
            chosen, loss, confidence, sample_weight=sample_weight, strata=strata, clusters=clusters,
            n_resamples=n_resamples, rng=rng,
        )  # fmt: skip
        return result.interval(level, "bca" if method == "bca" else "percentile")
    blocks = tables(chosen, loss, confidence, sample_weight)
    if kind == "none" and method == "auto":
        estimate, reason = chosen.evaluate(blocks)
        why = reason or f"{chosen.name} gets no interval by default: its bias does not vanish beside its spread"
        return no_interval(estimate, np.nan, level, why)
    return of_samples(chosen, blocks, level, strata, clusters)
