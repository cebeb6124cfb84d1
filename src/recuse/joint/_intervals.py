"""Intervals: ID and OOD samples are resampled separately, and all metrics see the same resamples."""

from __future__ import annotations

import numpy as np

from recuse._typing import ArrayLike, FloatArray
from recuse.inference import Interval
from recuse.joint._null import METRICS, alone, together
from recuse.joint._problem import Problem, problem

SINGLE = {"ds_f1": "f1", "ds_aurc": "aurc", "ds_augrc": "augrc"}


def confidence_intervals(
    id_loss: ArrayLike,
    id_confidence: ArrayLike,
    id_ood_score: ArrayLike,
    ood_confidence: ArrayLike,
    ood_score: ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = 200,
    prevalence: float | None = None,
    rng: int | np.random.Generator | None = 0,
) -> dict[str, Interval]:
    """Bootstrap intervals of the metrics of both scores, of the confidence alone, and of the gain between them.

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.
    id_confidence, id_ood_score : array-like of shape (n_id,)
        The two scores of these samples, higher = accept.
    ood_confidence, ood_score : array-like of shape (n_ood,)
        The two scores of the out-of-distribution samples; may be empty.
    level : float in (0, 1)
        Nominal coverage of the intervals.
    n_resamples : int
        Bootstrap samples.
    prevalence : float in [0, 1), optional
        Share of OOD samples in the target population; default: as in the data.
    rng : int, numpy.random.Generator or None
        Seed of the resampling.

    Returns
    -------
    dict of str to Interval
        ``"ds_f1"``, ``"f1"``, ``"ds_f1 - f1"`` and so on; gains are positive where two scores are better.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns or options.

    See Also
    --------
    null_gain : a gain is never negative, so that its interval does not answer whether it is real.
    recuse.confidence_interval : analytic, for AUROC and for areas over the coverage of all samples.

    Notes
    -----
    Paired, stratified by ID and OOD, so that the mix stays fixed. Choosing thresholds on the sample is optimistic, and
    on a resample of it once more so: the centre is the estimate minus that second optimism, the mean of the resamples
    minus the estimate. ``warning`` says how much that was. Around it a quantile of Student's distribution times the
    standard deviation of the resamples. Areas: "at least", 100 thresholds per score.

    On 300 ID and 300 OOD samples nominal 95 % intervals hold the truth in 80 % (DS-AURC) to 88 % (DS-F1) of simulated
    samples: the correction takes back half of the optimism. Read them as lower bounds of the uncertainty.

    Examples
    --------
    >>> import numpy as np, recuse
    >>> rng = np.random.default_rng(0)
    >>> wrong = rng.random(300) < 0.2
    >>> inside, outside = rng.normal(2.0 - wrong, 1.0, (2, 300)), rng.normal(0.0, 1.0, (2, 300))
    >>> found = recuse.joint.confidence_intervals(wrong, *inside, *outside, n_resamples=50)
    >>> found["ds_f1 - f1"].low > 0.0
    True
    """
    data = problem(id_loss, id_confidence, id_ood_score, ood_confidence, ood_score, prevalence)
    return of_problem(data, level, n_resamples, np.random.default_rng(rng))


def of_problem(data: Problem, level: float, n_resamples: int, rng: np.random.Generator) -> dict[str, Interval]:
    """Return the intervals for a checked problem."""
    from recuse.inference._binomial import check_level
    from recuse.inference._quantiles import t_quantile

    check_level(level)
    if n_resamples < 2:
        raise ValueError(f"n_resamples must be at least 2, got {n_resamples!r}")
    estimates = _all(data)
    drawn = np.array(
        [_all(data.rows(_resample(data.n_id, rng), _resample(data.n_ood, rng))) for _ in range(n_resamples)]
    )
    errors, optimism = drawn.std(axis=0, ddof=1), drawn.mean(axis=0) - estimates
    quantile = t_quantile(level, n_resamples - 1.0)
    method = f"bootstrap-t, {n_resamples} resamples, ID and OOD apart"
    found = {}
    columns = (estimates.tolist(), errors.tolist(), optimism.tolist())
    for name, value, error, shift in zip(_names(), *columns, strict=True):
        low, high = value - shift - quantile * error, value - shift + quantile * error
        if " - " not in name:
            low, high = max(low, 0.0), min(high, 1.0)
        warning = f"the interval is moved by {-shift:+.2g} for the optimism of chosen thresholds"
        found[name] = Interval(low, high, value, error, level, method, n_resamples - 1.0, warning)
    return found


def _names() -> list[str]:
    return [name for metric in METRICS for name in (metric, SINGLE[metric], f"{metric} - {SINGLE[metric]}")]


def _all(data: Problem) -> FloatArray:
    values = []
    for metric in METRICS:
        double, single = together(data, metric), alone(data, metric)
        values += [double, single, double - single if metric == "ds_f1" else single - double]
    return np.array(values)


def _resample(n: int, rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return rng.integers(0, n, n, dtype=np.intp) if n else np.zeros(0, dtype=np.intp)
