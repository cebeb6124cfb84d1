"""``confidence_interval``: all five steps for one metric, or a bootstrap where they do not serve."""

from __future__ import annotations

from typing import Literal

import numpy as np

from abstain._checks import generator, one_of, whole
from abstain._typing import ArrayLike
from abstain.inference._binomial import check_level
from abstain.inference._bootstrap import bootstrap
from abstain.inference._columns import as_metric, on_columns, tables
from abstain.inference._coverage import of_coverage
from abstain.inference._interval import Interval, no_interval, of_samples
from abstain.inference._resample import Sampling
from abstain.metrics import Metric

__all__ = ["confidence_interval"]


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
    threshold, or at a coverage where nothing accepted is wrong: Clopper-Pearson. Coverage at a risk of a 0/1 loss: an
    exact walk, with weights one of effective counts. FPR at 95 % and precision-recall areas: bootstrap.

    The end towards the worse reserves room for one error that the sample lacks, at a random row: where the quantile of
    a gamma (log scale) or beta distribution (logit scale), with the mean and the variance of the sample with one more
    error, lies further out, it is the end. Where most rows are confident and nearly flawless this decides.

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
    level = check_level(level)
    one_of(method, ("auto", "influence", "percentile", "bca"), "method")
    n_resamples, rng = whole(n_resamples, "n_resamples", 2, usual=1000), generator(rng)
    chosen, loss, confidence = on_columns(as_metric(metric), loss, confidence)
    kind = chosen.inference_kind
    if method == "auto" and chosen.tolerated is not None and strata is None and clusters is None:
        interval = of_coverage(chosen, tables(chosen, loss, confidence, sample_weight), level)
        if interval is not None:
            return interval
    if method in ("percentile", "bca") or (method == "auto" and kind == "bootstrap"):
        result = bootstrap(
            chosen,
            loss,
            confidence,
            sample_weight=sample_weight,
            strata=strata,
            clusters=clusters,
            n_resamples=n_resamples,
            rng=rng,
        )
        return result.interval(level, "bca" if method == "bca" else "percentile")
    blocks = tables(chosen, loss, confidence, sample_weight)
    if kind == "none" and method == "auto":
        estimate, reason = chosen.evaluate(blocks)
        why = reason or f"{chosen.name} gets no interval by default: its bias does not vanish compared with its spread"
        return no_interval(estimate, np.nan, level, why)
    return of_samples(chosen, blocks, level, Sampling.of(len(confidence), strata, clusters))
