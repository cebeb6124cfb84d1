"""Precision and recall of the confidence score, with correct or with wrong predictions as positives."""

from __future__ import annotations

import numpy as np

from abstain._checks import Undefined, real
from abstain._sums import inner
from abstain._typing import ArrayLike, FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.metrics._area import from_below
from abstain.metrics._declare import register
from abstain.metrics._facts import Relative
from abstain.metrics._gradient import Gradient

__all__ = ["aupr_error", "aupr_success", "average_precision_error", "average_precision_success"]


def _success(blocks: TieBlocks) -> tuple[FloatArray, FloatArray]:
    """Right weight and weight of each block, the most confident first."""
    return blocks.weight - blocks.loss, blocks.weight


def _error(blocks: TieBlocks) -> tuple[FloatArray, FloatArray]:
    """Wrong weight and weight of each block, the least confident first."""
    return blocks.loss[::-1], blocks.weight[::-1]


def _no_positive() -> Undefined:
    return Undefined("there is no positive, so recall is 0/0 at every threshold")


def _average_precision(positive: FloatArray, weight: FloatArray, zero_division: float) -> float:
    total = float(positive.sum())
    zero_division = real(zero_division, "zero_division", "or NaN")
    if total == 0.0:
        if np.isnan(zero_division):
            raise _no_positive()
        return zero_division
    return inner(positive, np.cumsum(positive) / np.cumsum(weight)) / total


def _average_precision_gradient(positive: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Derivatives with respect to the positive weight and to the whole weight of each block."""
    total = float(positive.sum())
    if total == 0.0:
        raise _no_positive()
    accepted = np.cumsum(weight)
    precision = np.cumsum(positive) / accepted
    value = inner(positive, precision) / total
    by_positive = (precision + from_below(positive / accepted) - value) / total
    return by_positive, -from_below(positive * precision / accepted) / total


def _ap_success_gradient(blocks: TieBlocks, zero_division: float = np.nan) -> Gradient:
    by_positive, by_weight = _average_precision_gradient(*_success(blocks))
    return Gradient(by_positive + by_weight, -by_positive)


def average_precision_error_value(blocks: TieBlocks, zero_division: float = np.nan) -> float:
    """Average precision of failures of a table."""
    return _average_precision(*_error(blocks), zero_division)


def _ap_error_gradient(blocks: TieBlocks, zero_division: float = np.nan) -> Gradient:
    by_positive, by_weight = _average_precision_gradient(*_error(blocks))
    return Gradient(by_weight[::-1], by_positive[::-1])


@register(
    title="Average precision (success)",
    value=lambda blocks, zero_division=np.nan: _average_precision(*_success(blocks), zero_division),
    gradient=_ap_success_gradient,
    direction="higher",
    needs={"binary"},
    scale="logit",
    multi_threshold=True,
    convention="step",
    source="Hendrycks & Gimpel 2017",
)
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
    zero_division : float
        Returned if there is no correct prediction; scikit-learn returns 0 there.

    Returns
    -------
    float
        In [0, 1]; a useless score gives the accuracy; higher is better. NaN, with a warning, without positives.

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


@register(
    title="Average precision (error)",
    value=average_precision_error_value,
    few_errors=Relative(),
    gradient=_ap_error_gradient,
    direction="higher",
    needs={"binary"},
    scale="logit",
    multi_threshold=True,
    convention="step",
    source="Hendrycks & Gimpel 2017",
)
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
    confidence : array-like of shape (n_samples,)
        Confidence score, higher = more confident; the least confident come first.
    zero_division : float
        Returned if there is no failure; scikit-learn returns 0 there.

    Returns
    -------
    float
        In [0, 1]; a useless score gives the error rate; higher is better. NaN, with a warning, without failures.

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


def _pr_area(positive: FloatArray, weight: FloatArray) -> float:
    if not positive.any():
        raise _no_positive()
    precision = np.cumsum(positive) / np.cumsum(weight)
    return inner(positive, precision + np.append(1.0, precision[:-1])) / (2.0 * float(positive.sum()))


@register(
    title="PR area (success)",
    value=lambda blocks: _pr_area(*_success(blocks)),
    direction="higher",
    needs={"binary"},
    inference="bootstrap",
    scale="logit",
    multi_threshold=True,
    convention="trapezoid",
    source="Davis & Goadrich 2006",
)
def aupr_success(
    loss: ArrayLike, confidence: ArrayLike, *, sample_weight: ArrayLike | None = None, nan_policy: NanPolicy = "raise"
) -> float:
    r"""Area under the precision-recall curve by trapezoids, correct predictions as positives.

    .. math:: \sum_j (\text{recall}_j - \text{recall}_{j-1})\,(\text{precision}_j + \text{precision}_{j-1}) / 2,
              \qquad \text{precision}_0 = 1

    Returns
    -------
    float
        In [0, 1]; higher is better. NaN, with a warning, without a correct prediction.

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


@register(
    title="PR area (error)",
    value=lambda blocks: _pr_area(*_error(blocks)),
    direction="higher",
    needs={"binary"},
    inference="bootstrap",
    scale="logit",
    multi_threshold=True,
    convention="trapezoid",
    source="Davis & Goadrich 2006",
)
def aupr_error(
    loss: ArrayLike, confidence: ArrayLike, *, sample_weight: ArrayLike | None = None, nan_policy: NanPolicy = "raise"
) -> float:
    r"""Area under the precision-recall curve by trapezoids, wrong predictions as positives.

    .. math:: \sum_j (\text{recall}_j - \text{recall}_{j-1})\,(\text{precision}_j + \text{precision}_{j-1}) / 2,
              \qquad \text{precision}_0 = 1

    Parameters
    ----------
    confidence : array-like of shape (n_samples,)
        Confidence score, higher = more confident; the least confident come first.

    Returns
    -------
    float
        In [0, 1]; higher is better. NaN, with a warning, without a failure.

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
