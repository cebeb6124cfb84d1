"""Precision and recall of the confidence score, with correct or with wrong predictions as positives."""

from __future__ import annotations

import numpy as np

from abstain._checks import Undefined
from abstain._typing import ArrayLike, FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.blocks._sums import inner
from abstain.metrics._area import from_below
from abstain.metrics._metric import METRICS, Gradient, Metric

__all__ = ["aupr_error", "aupr_success", "average_precision_error", "average_precision_success"]


def _recall_precision(positive: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Positives found per step and precision after it, going from the surest block down."""
    return positive, np.cumsum(positive) / np.cumsum(weight)


def _average_precision(positive: FloatArray, weight: FloatArray, zero_division: float) -> float:
    total = float(positive.sum())
    if total == 0.0:
        if np.isnan(zero_division):
            raise Undefined("there is no positive, so recall is 0/0 at every threshold")
        return zero_division
    found, precision = _recall_precision(positive, weight)
    return inner(found, precision) / total


def _average_precision_gradient(positive: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Derivatives with respect to the positive weight and to the whole weight of each block."""
    total = float(positive.sum())
    if total == 0.0:
        raise Undefined("there is no positive, so recall is 0/0 at every threshold")
    found, precision = _recall_precision(positive, weight)
    accepted = np.cumsum(weight)
    value = inner(found, precision) / total
    by_positive = (precision + from_below(found / accepted) - value) / total
    return by_positive, -from_below(found * precision / accepted) / total


def _ap_success(blocks: TieBlocks, zero_division: float = np.nan) -> float:
    return _average_precision(blocks.weight - blocks.loss, blocks.weight, zero_division)


def _ap_success_gradient(blocks: TieBlocks, zero_division: float = np.nan) -> Gradient:
    by_positive, by_weight = _average_precision_gradient(blocks.weight - blocks.loss, blocks.weight)
    return Gradient(by_positive + by_weight, -by_positive)


def average_precision_error_value(blocks: TieBlocks, zero_division: float = np.nan) -> float:
    """Average precision of failures of a table."""
    return _average_precision(blocks.loss[::-1], blocks.weight[::-1], zero_division)


def _ap_error_gradient(blocks: TieBlocks, zero_division: float = np.nan) -> Gradient:
    by_positive, by_weight = _average_precision_gradient(blocks.loss[::-1], blocks.weight[::-1])
    return Gradient(by_weight[::-1], by_positive[::-1])


def average_precision_success(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    zero_division: float = np.nan,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Average precision with correct predictions as positives, ranked by confidence.

    .. math:: \text{AP} = \sum_j (\text{recall}_j - \text{recall}_{j-1})\,\text{precision}_j

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        0/1 loss.
    confidence : array-like of shape (n_samples,)
        Confidence score, higher = surer.
    zero_division : float
        Returned if there is no correct prediction; scikit-learn returns 0 there.
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0, on both axes; default 1 each.
    nan_policy : {"raise", "reject", "drop"}
        What a NaN score means: an error, accepted last, or left out; see :class:`abstain.TieBlocks`.

    Returns
    -------
    float
        In [0, 1]; a useless score gives the accuracy; higher is better. NaN, with a warning, without positives.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns.

    Notes
    -----
    Tied samples enter together.

    References
    ----------
    Hendrycks & Gimpel (2017), ICLR ("AUPR-success").

    Examples
    --------
    >>> import abstain
    >>> round(abstain.average_precision_success([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]), 6)
    0.916667
    """
    return AVERAGE_PRECISION_SUCCESS.using(zero_division=zero_division).of(loss, confidence, sample_weight, nan_policy)


def average_precision_error(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    zero_division: float = np.nan,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Average precision with wrong predictions as positives, ranked by low confidence.

    .. math:: \text{AP} = \sum_j (\text{recall}_j - \text{recall}_{j-1})\,\text{precision}_j

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        0/1 loss.
    confidence : array-like of shape (n_samples,)
        Confidence score, higher = surer; the least confident come first.
    zero_division : float
        Returned if there is no failure; scikit-learn returns 0 there.
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0, on both axes; default 1 each.
    nan_policy : {"raise", "reject", "drop"}
        What a NaN score means: an error, accepted last, or left out; see :class:`abstain.TieBlocks`.

    Returns
    -------
    float
        In [0, 1]; a useless score gives the error rate; higher is better. NaN, with a warning, without failures.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns.

    Notes
    -----
    Tied samples enter together.

    References
    ----------
    Hendrycks & Gimpel (2017), ICLR ("AUPR-error").

    Examples
    --------
    >>> import abstain
    >>> abstain.average_precision_error([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    0.5
    """
    return AVERAGE_PRECISION_ERROR.using(zero_division=zero_division).of(loss, confidence, sample_weight, nan_policy)


def _pr_area(positive: FloatArray, weight: FloatArray) -> float:
    if not positive.any():
        raise Undefined("there is no positive, so recall is 0/0 at every threshold")
    found, precision = _recall_precision(positive, weight)
    return inner(found, precision + np.append(1.0, precision[:-1])) / (2.0 * float(positive.sum()))


def _aupr_success(blocks: TieBlocks) -> float:
    return _pr_area(blocks.weight - blocks.loss, blocks.weight)


def _aupr_error(blocks: TieBlocks) -> float:
    return _pr_area(blocks.loss[::-1], blocks.weight[::-1])


def aupr_success(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Area under the precision-recall curve by trapezoids, correct predictions as positives.

    .. math:: \sum_j (\text{recall}_j - \text{recall}_{j-1})\,(\text{precision}_j + \text{precision}_{j-1}) / 2,
              \qquad \text{precision}_0 = 1

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        0/1 loss.
    confidence : array-like of shape (n_samples,)
        Confidence score, higher = surer.
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0, on both axes; default 1 each.
    nan_policy : {"raise", "reject", "drop"}
        What a NaN score means: an error, accepted last, or left out; see :class:`abstain.TieBlocks`.

    Returns
    -------
    float
        In [0, 1]; higher is better. NaN, with a warning, without a correct prediction.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns.

    Notes
    -----
    Tied samples enter together. Straight lines between precision-recall points are optimistic; prefer
    :func:`average_precision_success`. It equals scikit-learn's ``auc`` of its ``precision_recall_curve``.

    References
    ----------
    Davis & Goadrich (2006), ICML, on the interpolation.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.aupr_success([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]), 6)
    0.902778
    """
    return AUPR_SUCCESS.of(loss, confidence, sample_weight, nan_policy)


def aupr_error(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Area under the precision-recall curve by trapezoids, wrong predictions as positives.

    .. math:: \sum_j (\text{recall}_j - \text{recall}_{j-1})\,(\text{precision}_j + \text{precision}_{j-1}) / 2,
              \qquad \text{precision}_0 = 1

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        0/1 loss.
    confidence : array-like of shape (n_samples,)
        Confidence score, higher = surer; the least confident come first.
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0, on both axes; default 1 each.
    nan_policy : {"raise", "reject", "drop"}
        What a NaN score means: an error, accepted last, or left out; see :class:`abstain.TieBlocks`.

    Returns
    -------
    float
        In [0, 1]; higher is better. NaN, with a warning, without a failure.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns.

    Notes
    -----
    Tied samples enter together. Prefer :func:`average_precision_error`, see :func:`aupr_success`.

    References
    ----------
    Davis & Goadrich (2006), ICML, on the interpolation.

    Examples
    --------
    >>> import abstain
    >>> abstain.aupr_error([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    0.25
    """
    return AUPR_ERROR.of(loss, confidence, sample_weight, nan_policy)


AVERAGE_PRECISION_SUCCESS = METRICS.register(
    Metric(
        name="average_precision_success",
        title="Average precision (success)",
        function=average_precision_success,
        value=_ap_success,
        gradient=_ap_success_gradient,
        direction="higher",
        range=(0.0, 1.0),
        needs=frozenset({"binary"}),
        scale="logit",
        multi_threshold=True,
        convention="step",
        source="Hendrycks & Gimpel 2017",
    )
)


AVERAGE_PRECISION_ERROR = METRICS.register(
    Metric(
        name="average_precision_error",
        title="Average precision (error)",
        function=average_precision_error,
        value=average_precision_error_value,
        gradient=_ap_error_gradient,
        direction="higher",
        range=(0.0, 1.0),
        needs=frozenset({"binary"}),
        scale="logit",
        multi_threshold=True,
        convention="step",
        source="Hendrycks & Gimpel 2017",
    )
)


AUPR_SUCCESS = METRICS.register(
    Metric(
        name="aupr_success",
        title="PR area (success)",
        function=aupr_success,
        value=_aupr_success,
        direction="higher",
        range=(0.0, 1.0),
        needs=frozenset({"binary"}),
        inference="bootstrap",
        scale="logit",
        multi_threshold=True,
        convention="trapezoid",
        source="Davis & Goadrich 2006",
    )
)


AUPR_ERROR = METRICS.register(
    Metric(
        name="aupr_error",
        title="PR area (error)",
        function=aupr_error,
        value=_aupr_error,
        direction="higher",
        range=(0.0, 1.0),
        needs=frozenset({"binary"}),
        inference="bootstrap",
        scale="logit",
        multi_threshold=True,
        convention="trapezoid",
        source="Davis & Goadrich 2006",
    )
)
