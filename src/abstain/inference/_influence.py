"""Third step: influence functions and standard errors, written once for every metric through its gradient.

The gradient of a metric with respect to the tie-block table holds two numbers per block. A sample with loss l in
block k has influence W (alpha_k + beta_k l); squares of influences sum to the variance. Three refinements:

strata    weights that were estimated per class (balanced, target prevalence), or a sample drawn class by class:
          the influence is centred within each stratum
clusters  dependent samples (patients, corrupted copies of one image): influences are summed per cluster first
local     a metric at a fixed coverage moves its threshold with the sample: the mean loss at the threshold enters
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from abstain._checks import Undefined, UnmetNeed, check_weight, refuse, same_length, to_numpy, vector
from abstain._typing import ArrayLike, FloatArray, IntArray
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.inference._columns import as_metric, on_columns, tables
from abstain.inference._resample import INDEPENDENT, Sampling
from abstain.metrics import Gradient, Metric

__all__ = ["covariance", "influence", "standard_error"]


def gradient(metric: Metric, blocks: TieBlocks) -> Gradient:
    """Return the gradient that inference needs: with the local term for a metric at a fixed coverage."""
    if metric.inference_kind == "quantile":
        return _at_coverage(metric, blocks)
    if metric.inference_kind in ("bootstrap", "none"):
        remedy = "use a bootstrap" if metric.inference_kind == "bootstrap" else "its bias does not vanish"
        raise UnmetNeed(f"{metric.name} has no standard error from its gradient; {remedy}")
    return metric.smooth.gradient_of(blocks)


def _at_coverage(metric: Metric, blocks: TieBlocks) -> Gradient:
    """Return the gradient at a fixed coverage c: influence [A (l - r) - c (theta - r)] / c for the selective risk.

    r is the mean loss near the threshold, over n^(2/3) neighbouring ranks; the derivative with the threshold held
    still misses it and covers 79 % instead of 95 %. A tie wider than that window holds the threshold by itself.
    """
    if metric.image is not None:
        return _at_coverage(metric.base, blocks).scaled(metric.image.factor)
    fact = metric.said(metric.accepted_loss)
    if fact is None or fact.coverage is None:
        raise UnmetNeed(f'{metric.name}: inference="quantile" without accepted_loss leaves the local term unknown')
    coverage = fact.coverage
    total, point = blocks.total_weight, RiskCoverageCurve(blocks).at(coverage=coverage)
    if point.n_accepted == 0 or coverage >= 1.0:
        return metric.gradient_of(blocks)
    j = int(np.searchsorted(-blocks.score, -point.threshold, side="left"))
    window = total * blocks.n ** (-1.0 / 3.0)
    if blocks.weight[j] >= window:
        return metric.gradient_of(blocks)
    low, high = coverage * total - 0.5 * window, coverage * total + 0.5 * window
    first, last = np.searchsorted(blocks.cumulative_weight, [low, high])
    inside = slice(int(first), int(last) + 1)
    ends, width = blocks.cumulative_weight[inside], blocks.weight[inside]
    near = np.maximum(np.minimum(ends, high) - np.maximum(ends - width, low), 0.0)
    local = float(near @ (blocks.loss[inside] / width)) / float(near.sum())
    share, factor = point.coverage, 1.0 if fact.per == "all" else 1.0 / point.coverage
    weight, loss = np.empty(len(blocks)), np.zeros(len(blocks))
    weight[: j + 1] = factor * (local * (share - 1.0) - point.generalized_risk) / total
    weight[j + 1 :] = factor * (local * share - point.generalized_risk) / total
    loss[: j + 1] = factor / total
    return Gradient(weight, loss)


def per_sample(derivative: Gradient, blocks: TieBlocks) -> FloatArray:
    """Return w_i (alpha + beta l_i) per sample in the caller's order; the values sum to 0."""
    samples = blocks._kept
    loss = to_numpy(samples.loss)
    plain = samples.sample_weight is samples.times is None
    own, per_loss = derivative.part(slice(None))
    if len(blocks) == loss.size and plain:  # no ties: the table is the sorted samples
        value = np.empty(loss.size)
        value[to_numpy(samples.order)] = own + per_loss * blocks.loss
    else:
        block = to_numpy(samples.block)
        value = np.take(own, block) + np.take(per_loss, block) * loss
    if derivative.oracle is not None:
        place = to_numpy(blocks.oracle._kept.block)
        value = value + derivative.oracle.weight[place] + derivative.oracle.loss[place] * loss
    return np.asarray(value if samples.sample_weight is None else value * to_numpy(samples.sample_weight))


def aggregated(terms: FloatArray, sampling: Sampling, sample_weight: FloatArray | None = None) -> FloatArray:
    """Centre the terms within strata and sum them per cluster; what is squared and summed is the variance.

    ``terms`` has shape (n_samples,) or (n_samples, n_columns) and holds w_i times the influence over W. A sample of
    weight 0 is no unit and has no term. Around the mean of u units (samples, or clusters) of a stratum the variance
    lacks u/(u - 1); a single one shows none at all.
    """
    terms = terms.reshape(len(terms), -1)
    if sampling.independent:
        return terms if sample_weight is None else terms[sample_weight > 0.0]
    weight = np.ones(len(terms)) if sample_weight is None else sample_weight
    kept = weight > 0.0
    terms, weight = terms[kept], weight[kept]
    stratum = np.zeros(len(terms), np.intp) if sampling.strata is None else _dense(sampling.strata[kept])
    cluster = None if sampling.clusters is None else _dense(sampling.clusters[kept])
    units = _units(stratum, cluster)
    if units.max() < 2:
        what = "sample" if cluster is None else "cluster"
        where = "clusters holds" if sampling.strata is None else "every stratum holds"
        raise ValueError(f"{where} a single {what}; at least two are needed for a standard error")
    stratum = _dense(np.where(units == 1, -1, np.arange(units.size))[stratum])  # single ones are taken together
    units = _units(stratum, cluster)
    mean = _sums(terms, stratum) / np.bincount(stratum, weights=weight)[:, None]
    factor = np.sqrt(units / np.maximum(units - 1.0, 1.0))
    terms = (terms - weight[:, None] * mean[stratum]) * factor[stratum, None]
    return terms if cluster is None else _sums(terms, cluster)


def _dense(group: IntArray) -> IntArray:
    """Number groups 0, 1, ... without gaps."""
    return np.asarray(np.unique(group, return_inverse=True)[1])


def _units(stratum: IntArray, cluster: IntArray | None) -> IntArray:
    """Return of each stratum how many samples, or clusters, lie in it."""
    if cluster is not None:
        number = int(cluster.max()) + 1
        stratum = np.unique(stratum * number + cluster) // number
    return np.bincount(stratum)


def _sums(terms: FloatArray, group: IntArray) -> FloatArray:
    """Sum the rows of each group."""
    return np.stack([np.bincount(group, weights=column) for column in terms.T], axis=1)


def influence_of(metric: Metric, blocks: TieBlocks) -> FloatArray:
    """Return the influence of each sample of a table that kept them; one table serves any number of metrics."""
    values = per_sample(gradient(metric, blocks), blocks)
    values *= blocks.total_weight
    if blocks._kept.sample_weight is None:
        return values
    weight = to_numpy(blocks._kept.sample_weight)
    return np.asarray(np.divide(values, weight, out=np.zeros_like(values), where=weight > 0.0))


@contextmanager
def refused(what: str) -> Iterator[None]:
    """Turn an undefined derivative into an error that says what it leaves without a number."""
    try:
        yield
    except Undefined as why:
        raise ValueError(f"{what}: {why}") from None


def terms_of(metric: Metric, blocks: TieBlocks, sampling: Sampling = INDEPENDENT) -> FloatArray:
    """Return the terms whose squares sum to the variance: one per sample, or per cluster."""
    return counted_terms(gradient(metric, blocks), blocks, sampling)[0]


def counted_terms(
    derivative: Gradient, blocks: TieBlocks, sampling: Sampling = INDEPENDENT
) -> tuple[FloatArray, FloatArray | None]:
    """Return the terms whose squares sum to the variance, and how many rows each stands for (None: one, or a cluster).

    Counted rows have no strata: an engine's rows were not drawn class by class as far as anybody says.
    """
    raw, samples = per_sample(derivative, blocks), blocks._kept
    weight = None if samples.sample_weight is None else to_numpy(samples.sample_weight)
    times = samples.times
    if times is None:
        return aggregated(raw, sampling, weight)[:, 0], None
    if sampling.independent:
        return (raw, times) if weight is None else (raw[weight > 0.0], times[weight > 0.0])
    return aggregated(raw * times, sampling, times if weight is None else times * weight)[:, 0], None


def influence(
    metric: str | Metric,
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> FloatArray:
    r"""Return the influence of each sample on a metric: how the value moves as the sample's weight grows.

    .. math:: \text{IF}_i = W\,(\alpha_{k(i)} + \beta_{k(i)}\,\ell_i),\qquad \sum_i w_i\,\text{IF}_i = 0

    Parameters
    ----------
    metric : str or Metric
        A metric with a gradient, a metric at a fixed coverage, or NLL or Brier score of the probability vector.
    loss, confidence : array-like of shape (n_samples,)
        As in :func:`confidence_interval`.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    ndarray of shape (n_samples,)
        In the caller's order.

    Raises
    ------
    UnmetNeed
        The metric has no gradient, or needs what the input does not hold.
    ValueError, TypeError
        Bad columns; an unknown metric, or one that is undefined here.

    Notes
    -----
    Tied samples with equal losses have equal influence. Rank-counting estimators (harmonic, log, unbiased) take
    the influence of the smooth form to which they are asymptotically equal.

    References
    ----------
    Efron (1982): the infinitesimal jackknife. For AUROC it is DeLong's.

    Examples
    --------
    >>> import abstain
    >>> abstain.inference.influence("risk", [0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6])
    array([-0.25,  0.75, -0.25, -0.25])
    """
    chosen, loss, confidence = on_columns(as_metric(metric), loss, confidence)
    blocks = tables(chosen, loss, confidence, sample_weight)
    with refused(f"{chosen.name} has no influence function"):
        return influence_of(chosen, blocks)


def standard_error(
    metric: str | Metric,
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
) -> float:
    r"""Return the standard error of a metric, in closed form.

    .. math:: \text{SE}^2 = \sum_i w_i^2\,(\alpha_{k(i)} + \beta_{k(i)}\,\ell_i)^2

    Parameters
    ----------
    metric : str or Metric
    loss, confidence : array-like of shape (n_samples,)
        As in :func:`confidence_interval`.
    sample_weight : array-like of shape (n_samples,), optional
        Fixed weights. A weight is no repetition here: four rows of weight 1 know more than one row of weight 4.
    strata : array-like of shape (n_samples,), optional
        Classes from which the weights were estimated, or within which the sample was drawn.
    clusters : array-like of shape (n_samples,), optional
        Groups of dependent samples.

    Returns
    -------
    float
        >= 0; the error of a bootstrap with infinitely many resamples, without its noise.

    Raises
    ------
    UnmetNeed
        The metric has no gradient: use a bootstrap.
    ValueError, TypeError
        Bad columns; an unknown metric; a single cluster, or one in every stratum; a metric that is undefined here.

    Notes
    -----
    Ties are exact. Samples (or clusters) are taken as independent; the variance over training runs is not in it.
    With clusters or strata the variance has the factor u/(u - 1) for u units (within each stratum); strata of a single
    unit are taken together.

    References
    ----------
    Efron (1982), infinitesimal jackknife.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.standard_error("augrc", [0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6]), 6)
    0.136216
    """
    chosen, loss, confidence = on_columns(as_metric(metric), loss, confidence)
    blocks = tables(chosen, loss, confidence, sample_weight)
    with refused(f"{chosen.name} has no standard error"):
        return float(np.sqrt(np.sum(terms_of(chosen, blocks, Sampling.of(len(confidence), strata, clusters)) ** 2)))


def covariance(
    *influences: ArrayLike,
    sample_weight: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
) -> FloatArray:
    r"""Return the covariance matrix of estimates on the same samples: any metrics, scores or models.

    .. math:: \text{Cov}(\theta_a, \theta_b) = \frac{1}{W^2}\sum_i w_i^2\,\text{IF}^a_i\,\text{IF}^b_i

    Parameters
    ----------
    *influences : array-like of shape (n_samples,)
        From :func:`influence`, all in the same order of samples.
    sample_weight, strata, clusters : array-like of shape (n_samples,), optional
        As in :func:`standard_error`.

    Returns
    -------
    ndarray of shape (k, k)

    Raises
    ------
    ValueError, TypeError
        Columns of different lengths; a single cluster.

    Examples
    --------
    >>> import abstain
    >>> a = abstain.inference.influence("risk", [0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6])
    >>> b = abstain.inference.influence("augrc", [0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6])
    >>> abstain.inference.covariance(a, b).round(4)
    array([[0.0469, 0.0273],
           [0.0273, 0.0186]])
    """
    if not influences:
        raise TypeError("covariance needs at least one column of influences")
    columns = {f"influences[{k}]": vector(column, f"influences[{k}]", np, None) for k, column in enumerate(influences)}
    for name, column in columns.items():
        refuse(~np.isfinite(column), column, name, "is not finite", "abstain.inference.influence gives numbers", np)
    weight = None if sample_weight is None else vector(sample_weight, "sample_weight", np, None)
    n = same_length(**columns, sample_weight=weight)
    if weight is not None:
        check_weight(weight, np)
    share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
    rows = np.stack(list(columns.values()), axis=1) * share[:, None]
    terms = aggregated(rows, Sampling.of(n, strata, clusters), weight)
    return np.asarray(terms.T @ terms)
