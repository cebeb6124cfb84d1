"""Confidence intervals from influence functions, on each metric's own scale, with data-driven degrees of freedom."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from recuse._checks import Undefined, one_of
from recuse._typing import ArrayLike, FloatArray
from recuse.blocks import TieBlocks
from recuse.curve import RiskCoverageCurve
from recuse.inference._binomial import check_level, clopper_pearson
from recuse.inference._influence import as_metric, table_variance, tables, terms_of
from recuse.inference._quantiles import t_quantile
from recuse.metrics import Metric

__all__ = ["Interval", "confidence_interval"]

#: Below these degrees of freedom too few informative errors remain for any of these intervals.
FEW = 5.0
#: Fewer clusters than this estimate their variance badly.
FEW_CLUSTERS = 10


class Interval(NamedTuple):
    """A confidence interval and how it came about.

    ``low``, ``high``: its ends (NaN, with a warning text, where there is none); ``estimate``: the metric;
    ``standard_error``; ``level``; ``method``: such as ``"log-t"``; ``df``: degrees of freedom of the standard
    error; ``warning``: None, or what the reader must know.

    Examples
    --------
    >>> import recuse
    >>> loss, confidence = [0, 1, 0, 0, 1, 0] * 20, range(120)
    >>> low, high, *_ = recuse.confidence_interval("augrc", loss, confidence)
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


def degrees_of_freedom(terms: FloatArray) -> float:
    """Satterthwaite degrees of freedom of a sum of squares: 2n / (kurtosis - 1)."""
    squares = terms * terms
    square = float(np.sum(squares))
    if square == 0.0:
        return 0.0
    kurtosis = terms.size * float(np.sum(squares * squares)) / square**2
    return 2.0 * terms.size / (kurtosis - 1.0) if kurtosis > 1.0 else np.inf


def on_scale(metric: Metric, estimate: float, error: float, quantile: float) -> tuple[float, float, str]:
    """Return the ends of an interval on the metric's scale, and the scale that could be used."""
    if metric.scale == "log" and estimate > 0.0:
        width = float(np.exp(quantile * error / estimate))
        return estimate / width, estimate * width, "log-t"
    if metric.scale == "logit" and 0.0 < estimate < 1.0:
        centre, width = np.log(estimate / (1.0 - estimate)), quantile * error / (estimate * (1.0 - estimate))
        low, high = 1.0 / (1.0 + np.exp(-np.array([centre - width, centre + width])))
        return float(low), float(high), "logit-t"
    return estimate - quantile * error, estimate + quantile * error, "t"


def possible(metric: Metric, blocks: TieBlocks, low: float, high: float) -> tuple[float, float]:
    """Return the ends inside the metric's range, which is stated for 0/1 losses."""
    if not blocks.binary:
        return low, high
    return max(low, metric.range[0]), min(high, metric.range[1])


def from_terms(metric: Metric, estimate: float, terms: FloatArray, level: float, clustered: bool) -> Interval:
    """Return the interval of an estimate whose squared terms sum to its variance."""
    error, df = float(np.sqrt(np.sum(terms**2))), degrees_of_freedom(terms)
    if clustered:
        df = min(df, terms.size - 1.0)
    low, high, method = on_scale(metric, estimate, error, t_quantile(level, df))
    notes = []
    if df < FEW:
        notes.append(f"only {df:.1f} degrees of freedom: too few informative errors for a trustworthy interval")
    if clustered and terms.size < FEW_CLUSTERS:
        notes.append(f"only {terms.size} clusters: the interval is a rough guide")
    return Interval(low, high, estimate, error, level, method, df, "; ".join(notes) or None)


def without_spread(metric: Metric, blocks: TieBlocks, estimate: float, level: float) -> Interval:
    """Return what can be said where the standard error is 0: a bound from the binomial, or an honest refusal."""
    plain = blocks.binary and np.array_equal(blocks.weight, blocks.count)
    if plain and blocks.total_loss == 0.0:
        _, worst = clopper_pearson(0, blocks.n, level, side="upper")
        bound = {
            "risk": worst,
            "augrc": worst - worst**2 / 2.0,  # every error ranked above every correct prediction
            "e_augrc": worst - worst**2,
            "aurc": worst * (1.0 - np.log(worst)),
            "sele": worst,
        }.get(metric.name)
        if bound is not None:
            text = "no error occurred: one-sided bound from the binomial, with the worst ranking"
            return Interval(0.0, float(bound), estimate, 0.0, level, "binomial bound", 0.0, text)
    text = "the standard error is 0: no informative error occurred, so there is no interval"
    return Interval(np.nan, np.nan, estimate, 0.0, level, "none", 0.0, text)


def exact(metric: Metric, blocks: TieBlocks, level: float) -> Interval | None:
    """Return the exact binomial interval of a 0/1 risk at a fixed threshold, or None where it does not apply."""
    settings = metric.defaults | dict(metric.options)
    fixed = metric.name in ("risk", "accuracy") or (
        metric.name in ("selective_risk", "selective_accuracy") and settings.get("threshold") is not None
    )
    if not fixed or not blocks.binary or not np.array_equal(blocks.weight, blocks.count):
        return None
    threshold = settings.get("threshold")
    point = RiskCoverageCurve(blocks).at(threshold=-np.inf if threshold is None else threshold)
    if point.n_accepted == 0:
        return None
    errors = round(point.selective_risk * point.n_accepted)
    side: Literal["two-sided", "upper"] = "upper" if errors == 0 else "two-sided"
    low, high = clopper_pearson(errors, point.n_accepted, level, side=side)
    risk = errors / point.n_accepted
    error = float(np.sqrt(risk * (1.0 - risk) / point.n_accepted))
    note = "no error among the accepted: one-sided bound" if errors == 0 else None
    if metric.direction == "higher":
        low, high, risk = 1.0 - high, 1.0 - low, 1.0 - risk
    return Interval(low, high, risk, error, level, "Clopper-Pearson", float(point.n_accepted), note)


def of_table(metric: Metric, blocks: TieBlocks, level: float) -> Interval:
    """Return the interval from the table alone; normal quantiles where fourth moments are not at hand."""
    found = exact(metric, blocks, level)
    if found is not None:
        return found
    estimate, reason = metric.evaluate(blocks)
    if reason is not None:
        return Interval(np.nan, np.nan, estimate, np.nan, level, "none", 0.0, reason)
    error = float(np.sqrt(table_variance(metric, blocks)))
    if error <= 1e-12 * max(1.0, abs(estimate)):
        return without_spread(metric, blocks, estimate, level)
    low, high, method = on_scale(metric, estimate, error, t_quantile(level, np.inf))
    low, high = possible(metric, blocks, low, high)
    return Interval(low, high, estimate, error, level, method.replace("t", "normal", 1), np.inf)


def of_samples(
    metric: Metric,
    blocks: TieBlocks,
    level: float,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
) -> Interval:
    """Return the interval of a table that kept its samples."""
    if clusters is None and strata is None:
        found = exact(metric, blocks, level)
        if found is not None:
            return found
    estimate, reason = metric.evaluate(blocks)
    if reason is not None:
        return Interval(np.nan, np.nan, estimate, np.nan, level, "none", 0.0, reason)
    try:
        terms = terms_of(metric, blocks, strata, clusters)
    except Undefined as why:
        return Interval(np.nan, np.nan, estimate, np.nan, level, "none", 0.0, str(why))
    if float(np.sum(terms**2)) <= (1e-12 * max(1.0, abs(estimate))) ** 2:
        return without_spread(metric, blocks, estimate, level)
    found = from_terms(metric, estimate, terms, level, clusters is not None)
    low, high = possible(metric, blocks, found.low, found.high)
    found = found._replace(low=low, high=high)
    note = _at_the_edge_of_a_tie(metric, blocks)
    return found if note is None else found._replace(warning="; ".join(filter(None, (found.warning, note))))


def _at_the_edge_of_a_tie(metric: Metric, blocks: TieBlocks) -> str | None:
    """Warn where the asked coverage lies within two standard errors of the end of a wide tie."""
    if metric.inference_kind != "quantile":
        return None
    coverage = float((metric.defaults | dict(metric.options))["coverage"])
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

    (log scale for risks and areas, logit for shares, plain for signed values). Risk or accuracy of a 0/1 loss at
    a fixed threshold: Clopper-Pearson. Coverage at a risk, FPR at 95 %, precision-recall areas: bootstrap.

    Parameters
    ----------
    metric : str or Metric
    loss : array-like of shape (n_samples,)
    confidence : array-like of shape (n_samples,)
    level : float in (0, 1)
    method : {"auto", "influence", "percentile", "bca"}
        ``"auto"``: as above. A bootstrap may be forced.
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
    Ties are exact. Hull areas and ECE get none: their bias exceeds their spread at every sample size.

    References
    ----------
    Efron (1982), infinitesimal jackknife; Clopper & Pearson (1934).

    Examples
    --------
    >>> import recuse
    >>> interval = recuse.confidence_interval("risk", [0, 1, 0, 0] * 25, range(100))
    >>> interval.method, round(interval.low, 4), round(interval.high, 4)
    ('Clopper-Pearson', 0.1688, 0.3466)
    """
    check_level(level)
    one_of(method, ("auto", "influence", "percentile", "bca"), "method")
    chosen = as_metric(metric)
    kind = chosen.inference_kind
    if method in ("percentile", "bca") or (method == "auto" and kind == "bootstrap"):
        from recuse.inference._bootstrap import bootstrap

        result = bootstrap(
            chosen, loss, confidence, sample_weight=sample_weight, strata=strata, clusters=clusters,
            n_resamples=n_resamples, rng=rng,
        )  # fmt: skip
        return result.interval(level, "bca" if method == "bca" else "percentile")
    blocks = tables(chosen, loss, confidence, sample_weight)
    if kind == "none" and method == "auto":
        estimate, reason = chosen.evaluate(blocks)
        why = reason or f"{chosen.name} gets no interval by default: its bias does not vanish beside its spread"
        return Interval(np.nan, np.nan, estimate, np.nan, level, "none", 0.0, why)
    return of_samples(chosen, blocks, level, strata, clusters)
