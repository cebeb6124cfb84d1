"""Decomposition: what each sample adds to a metric, and the weights of another population."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Literal

import numpy as np

from abstain._checks import Undefined, UndefinedMetricWarning, UnmetNeed, not_negative, one_of, plain, to_numpy
from abstain._classes import UNLABELLED
from abstain._typing import ArrayLike, FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.metrics._declare import documented
from abstain.metrics._metric import METRICS, Metric

__all__ = ["contributions", "prevalence_weights"]


@documented
def contributions(
    metric: str | Metric,
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> FloatArray:
    r"""Return what each sample contributes to a metric; the contributions sum to its value.

    .. math:: \theta = \sum_i w_i\,(a_{k(i)} + b_{k(i)}\,\ell_i)

    For metrics that are linear in the losses :math:`a = 0` and :math:`b = \partial\theta/\partial s` (Figure 2a of
    the AUGRC paper); CWSA counts :math:`\phi(c_i)(1 - 2\ell_i)` per accepted sample.

    Parameters
    ----------
    metric : str or Metric
        A sum over samples: AURC, AUGRC, SELE, risks, CWSA, and what is one minus such a sum; also with options, as
        ``metrics.get("aurc", estimator="harmonic")``.
    nan_policy : {"raise", "reject"}
        "drop" is refused: every sample must keep its place.

    Returns
    -------
    ndarray of shape (n_samples,)
        In the caller's order. All NaN, with a warning, where the metric is undefined.

    Raises
    ------
    UnmetNeed
        The metric is no sum over samples.
    ValueError, TypeError
        Bad columns; an unknown metric.

    Notes
    -----
    Tied samples with equal losses contribute equally.

    References
    ----------
    Traub et al. (2024), NeurIPS: A.1.1. The contribution printed there for AUGRC, (N - t - 1)/N^2 at descending
    position t, is negative for the last position; the trapezoidal area gives (N - t + 1/2)/N^2.

    Examples
    --------
    >>> import abstain
    >>> abstain.contributions("augrc", [0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    array([0.     , 0.     , 0.09375, 0.     ])
    """
    if not isinstance(metric, str | Metric):
        raise TypeError(f"metric must be a name or a Metric, got {type(metric).__name__}")
    one_of(nan_policy, ("raise", "reject", "drop"), "nan_policy")
    chosen = METRICS[metric] if isinstance(metric, str) else metric
    if chosen.attribution is None:
        able = ", ".join(entry.name for entry in METRICS if entry.attribution is not None)
        raise UnmetNeed(f"{chosen.name} is no sum over samples; contributions exist for {able}")
    if nan_policy == "drop":
        raise ValueError('nan_policy="drop" would lose samples; use "reject", or remove them first')
    blocks = TieBlocks.from_samples(loss, confidence, sample_weight, nan_policy=nan_policy, keep_samples=True)
    chosen.require(blocks)
    samples = blocks._kept
    try:
        a, b = chosen.attribution_of(blocks)
    except Undefined as why:
        warnings.warn(f"{chosen.name} is undefined: {why}", UndefinedMetricWarning, stacklevel=2)
        return np.full(len(samples.loss), np.nan)
    block, losses = to_numpy(samples.block), to_numpy(samples.loss)
    weight = 1.0 if samples.sample_weight is None else to_numpy(samples.sample_weight)
    return np.asarray(weight * (a[block] + b[block] * losses))


def prevalence_weights(
    labels: ArrayLike, prevalence: Literal["balanced"] | Mapping[int, float] | Mapping[str, float] = "balanced"
) -> FloatArray:
    r"""Return sample weights that turn the empirical class shares into target shares, on both axes of a curve.

    .. math:: w_i = \pi_{y_i} \Big/ \frac{n_{y_i}}{N}

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Class labels, numbers or strings.
    prevalence : "balanced" or mapping of label to share
        Equal shares, or a target prior for every class; it is normalised to sum to 1.

    Returns
    -------
    ndarray of shape (n_samples,)
        Weights that sum to N; pass them as ``sample_weight``. Coverage is then that of the target population.

    Raises
    ------
    ValueError
        A class with a target share but no sample, or with samples but no target share; negative shares.

    Notes
    -----
    Weighting both axes keeps every identity: for a 0/1 loss AUGRC = (1 - AUROC_w) a (1 - a) + (1 - a)^2/2 with the
    balanced accuracy a, and an all-wrong classifier scores exactly 1/2. The weights are estimated from the sample:
    inference has to centre the influence within each class.

    Examples
    --------
    >>> import abstain
    >>> abstain.prevalence_weights([0, 0, 0, 1])
    array([0.66666667, 0.66666667, 0.66666667, 2.        ])
    """
    column = plain(labels, "labels", "one label per sample")
    if column.ndim != 1 or column.size == 0:
        raise ValueError(f"labels must hold one label per sample, got shape {column.shape}")
    unknown = np.array([each is None or each != each for each in column.tolist()]) | np.ma.getmaskarray(labels)
    if unknown.any():
        raise ValueError(f"labels[{int(np.argmax(unknown))}] is missing; {UNLABELLED}")
    if not isinstance(prevalence, Mapping) and prevalence != "balanced":
        raise ValueError(f'prevalence must be "balanced" or a mapping of label to share, got {prevalence!r:.99}')
    try:
        classes, index, counts = np.unique(column, return_inverse=True, return_counts=True)
    except TypeError:
        raise TypeError("labels mixes types that have no order; give all as numbers, or all as text") from None
    if isinstance(prevalence, str):
        target = np.ones(classes.size)
    else:
        present = set(classes.tolist())
        for label, share in prevalence.items():
            not_negative(share, f"prevalence[{label!r}]")
            if share > 0.0 and label not in present:
                raise ValueError(f"prevalence asks for class {label!r}, but no sample has it; drop it from the target")
        missing = present - set(prevalence)
        if missing:
            raise ValueError(f"prevalence names no share for class {min(missing, key=str)!r}; give 0 to leave it out")
        target = np.array([float(prevalence[label]) for label in classes.tolist()])
    if target.sum() == 0.0:
        raise ValueError("prevalence sums to 0; at least one class needs a positive share")
    return np.asarray((target / target.sum() * column.size / counts)[index])
