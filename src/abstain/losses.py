"""Per-sample losses: one number >= 0 per sample, which every metric of a reject option starts from.

Each function takes lists, NumPy arrays, pandas, polars or pyarrow columns, or tensors, and returns float64 on
the device of its first tensor.
"""

from __future__ import annotations

import numpy as np

from abstain._checks import LARGEST, check_loss, inside, namespace, not_negative, refuse, same_length, vector
from abstain._classes import chosen, class_labels, class_matrix, same_text
from abstain._classes import probabilities as matrix_of
from abstain._typing import Array, ArrayLike, Device, Namespace

__all__ = ["brier", "cost_matrix", "cross_entropy", "dice", "ood_cost", "zero_one"]

#: Smallest probability that ``cross_entropy`` takes as it is: the float64 machine epsilon.
CLIP = float(np.finfo(np.float64).eps)


def zero_one(labels: ArrayLike, predictions: ArrayLike) -> Array:
    r"""Return the 0/1 loss: 1 where the predicted class is wrong.

    .. math:: \ell_i = 1[\hat y_i \ne y_i]

    Parameters
    ----------
    labels, predictions : array-like of shape (n_samples,)
        Classes as whole numbers >= 0, or as text in both.

    Returns
    -------
    array of shape (n_samples,)
        0.0 or 1.0; lower is better.

    Raises
    ------
    ValueError
        Missing labels (NaN, None, -1), labels that are no whole numbers, different lengths.
    TypeError
        One column is text and the other numbers.

    Examples
    --------
    >>> from abstain import losses
    >>> losses.zero_one([0, 1, 2], [0, 2, 2])
    array([0., 1., 0.])
    >>> losses.zero_one(["cat", "dog"], ["cat", "cat"])
    array([0., 1.])
    """
    same = same_text(labels, predictions, ("labels", "predictions"))
    if same is not None:
        return (~same).astype(np.float64)
    xp, device = namespace(labels, predictions)
    true = class_labels(labels, "labels", xp, device)
    predicted = class_labels(predictions, "predictions", xp, device)
    same_length(labels=true, predictions=predicted)
    return xp.astype(true != predicted, xp.float64)


def cross_entropy(
    labels: ArrayLike,
    probabilities: ArrayLike | None = None,
    *,
    logits: ArrayLike | None = None,
    clip: float | None = None,
) -> Array:
    r"""Return the cross-entropy (negative log-likelihood) of the true class.

    .. math:: \ell_i = -\log p_{i,y_i} = \log \sum_k e^{z_{ik}} - z_{i,y_i}

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Class indices 0 .. n_classes - 1.
    probabilities : array-like of shape (n_samples, n_classes), optional
        Probabilities whose rows sum to 1 within 1e-3.
    logits : array-like of shape (n_samples, n_classes), optional
        Logits; give these where you have them: nothing underflows and losses near 0 keep their digits.
    clip : float in (0, 1), optional
        Probabilities of the true class below this count as this, so the loss is at most -log(clip).
        Default: 2.2e-16 (loss at most 36.04) for ``probabilities``, since a saved softmax holds exact zeros;
        no clipping for ``logits``.

    Returns
    -------
    array of shape (n_samples,)
        Range [0, inf), finite; lower is better.

    Raises
    ------
    ValueError
        Labels out of range or missing; probabilities outside [0, 1] or not summing to 1; values that are
        not finite; different lengths.
    TypeError
        Both or neither of ``probabilities`` and ``logits`` are given, or a column or ``clip`` is not numeric.

    Examples
    --------
    >>> from abstain import losses
    >>> losses.cross_entropy([0, 1], [[0.5, 0.5], [1.0, 0.0]]).round(4)
    array([ 0.6931, 36.0437])
    >>> losses.cross_entropy([0, 1], logits=[[60.0, 0.0], [1000.0, 0.0]])
    array([8.75651076e-27, 1.00000000e+03])
    """
    if (probabilities is None) == (logits is None):
        raise TypeError("cross_entropy needs probabilities or logits, exactly one of the two")
    clip = None if clip is None else inside(clip, "clip", 1e-7)
    xp, device = namespace(labels, probabilities, logits)
    if probabilities is not None:
        values = matrix_of(probabilities, "probabilities", xp, device)
        true = class_labels(labels, "labels", xp, device, values.shape[1])
        same_length(labels=true, probabilities=values)
        return 0.0 - xp.log(xp.clip(chosen(values, true, xp, device), CLIP if clip is None else clip, 1.0))

    scores = class_matrix(logits, "logits", xp, device)
    true = class_labels(labels, "labels", xp, device, scores.shape[1])
    same_length(labels=true, logits=scores)
    scores = scores - xp.max(scores, axis=1, keepdims=True)
    others = xp.where(_one_hot(xp.argmax(scores, axis=1), scores, xp, device), 0.0, xp.exp(scores))
    loss = xp.log1p(xp.sum(others, axis=1)) - chosen(scores, true, xp, device)
    return loss if clip is None else xp.clip(loss, None, -float(np.log(clip)))


def brier(labels: ArrayLike, probabilities: ArrayLike) -> Array:
    r"""Return the Brier loss, summed over the classes.

    .. math:: \ell_i = \sum_k (p_{ik} - 1[y_i = k])^2

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Class indices 0 .. n_classes - 1.
    probabilities : array-like of shape (n_samples, n_classes)
        Probabilities whose rows sum to 1 within 1e-3.

    Returns
    -------
    array of shape (n_samples,)
        Range [0, 2]; lower is better. The two-class Brier score of one column is half of this.

    Raises
    ------
    ValueError
        Labels out of range or missing; probabilities outside [0, 1] or not summing to 1; different lengths.
    TypeError
        A column is not numeric.

    References
    ----------
    Brier, G. W. (1950). Verification of forecasts expressed in terms of probability.

    Examples
    --------
    >>> from abstain import losses
    >>> losses.brier([0, 1], [[0.8, 0.2], [1.0, 0.0]]).round(2)
    array([0.08, 2.  ])
    """
    xp, device = namespace(labels, probabilities)
    values = matrix_of(probabilities, "probabilities", xp, device)
    true = class_labels(labels, "labels", xp, device, values.shape[1])
    same_length(labels=true, probabilities=values)
    target = xp.astype(_one_hot(true, values, xp, device), xp.float64)
    return xp.sum((values - target) ** 2, axis=1)


def dice(mask_true: ArrayLike, mask_pred: ArrayLike) -> Array:
    r"""Return one minus the Dice overlap of two masks, per sample.

    .. math:: \ell_i = 1 - \frac{2 |A_i \cap B_i|}{|A_i| + |B_i|}, \quad 0 \text{ where both are empty}

    Parameters
    ----------
    mask_true, mask_pred : array-like of shape (n_samples, ...)
        Masks of 0 and 1 (or booleans) of one class, with any trailing shape: images, volumes, …

    Returns
    -------
    array of shape (n_samples,)
        Range [0, 1]; lower is better. One mask empty and the other not: 1.

    Raises
    ------
    ValueError
        Values other than 0 and 1; shapes that differ.
    TypeError
        A mask is not numeric.

    Examples
    --------
    >>> from abstain import losses
    >>> losses.dice([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]]).round(4)
    array([0.3333, 0.    ])
    """
    xp, device = namespace(mask_true, mask_pred)
    true = _mask(mask_true, "mask_true", xp, device)
    predicted = _mask(mask_pred, "mask_pred", xp, device)
    if true.shape != predicted.shape:
        shapes = f"mask_true: {tuple(true.shape)}, mask_pred: {tuple(predicted.shape)}"
        raise ValueError(f"shapes differ ({shapes}); every sample needs a true and a predicted mask of one size")
    n = true.shape[0]
    true, predicted = xp.reshape(true, (n, -1)), xp.reshape(predicted, (n, -1))
    both = xp.astype(xp.count_nonzero(true & predicted, axis=1), xp.float64)
    size = xp.astype(xp.count_nonzero(true, axis=1) + xp.count_nonzero(predicted, axis=1), xp.float64)
    return xp.where(size == 0.0, 0.0, 1.0 - 2.0 * both / xp.where(size == 0.0, 1.0, size))


def cost_matrix(labels: ArrayLike, predictions: ArrayLike, cost: ArrayLike) -> Array:
    r"""Return the cost of each decision, looked up in a matrix.

    .. math:: \ell_i = C_{y_i, \hat y_i}

    Parameters
    ----------
    labels, predictions : array-like of shape (n_samples,)
        Class indices.
    cost : array-like of shape (n_classes, n_decisions)
        Cost of deciding for the column when the row is true; finite and >= 0. The diagonal need not be 0.

    Returns
    -------
    array of shape (n_samples,)
        Range [0, max of ``cost``]; lower is better.

    Raises
    ------
    ValueError
        Labels out of range of the matrix; costs that are negative or not finite; different lengths.
    TypeError
        A column is not numeric.

    Examples
    --------
    Missing an ill patient (class 1) costs five times as much as a false alarm:

    >>> from abstain import losses
    >>> losses.cost_matrix([0, 0, 1, 1], [0, 1, 0, 1], [[0, 1], [5, 0]])
    array([0., 1., 5., 0.])
    """
    xp, device = namespace(labels, predictions, cost)
    costs = class_matrix(cost, "cost", xp, device)
    if bool(xp.any(costs < 0.0)):
        raise ValueError(f"cost must be >= 0, but its smallest entry is {float(xp.min(costs))!r}; add a constant")
    true = class_labels(labels, "labels", xp, device, costs.shape[0])
    predicted = class_labels(predictions, "predictions", xp, device, costs.shape[1])
    same_length(labels=true, predictions=predicted)
    return xp.take(xp.reshape(costs, (-1,)), true * costs.shape[1] + predicted)


def ood_cost(loss: ArrayLike, is_ood: ArrayLike, cost: float = 1.0) -> Array:
    r"""Return the loss with a fixed cost for every out-of-distribution sample that would be accepted.

    .. math:: \ell'_i = \text{cost if sample } i \text{ is out of distribution, else } \ell_i

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        Loss of the in-distribution samples; entries of the others are not looked at and may be NaN.
    is_ood : array-like of shape (n_samples,)
        Whether a sample is out of distribution: booleans or 0 and 1.
    cost : float
        Finite and >= 0. 1 makes an accepted out-of-distribution sample count as one error.

    Returns
    -------
    array of shape (n_samples,)
        Lower is better.

    Raises
    ------
    ValueError
        A negative or infinite cost; a loss of an in-distribution sample that is NaN, infinite or negative;
        ``is_ood`` other than 0 and 1; different lengths.
    TypeError
        A column or the cost is not numeric.

    Examples
    --------
    >>> from abstain import losses
    >>> losses.ood_cost([0.0, 1.0, float("nan")], [False, False, True], cost=0.5)
    array([0. , 1. , 0.5])
    """
    number = not_negative(cost, "cost", "1 counts an accepted sample as one error")
    xp, device = namespace(loss, is_ood)
    values = vector(loss, "loss", xp, device)
    flags = vector(is_ood, "is_ood", xp, device)
    same_length(loss=values, is_ood=flags)
    refuse((flags != 0.0) & (flags != 1.0), flags, "is_ood", "is neither 0 nor 1", "give True or False", xp)
    if number > LARGEST:
        raise ValueError(f"cost must be at most {LARGEST:g}, where sums overflow, got {cost!r}")
    values = xp.where(flags == 1.0, number, values)
    check_loss(values, xp)
    return values


def _one_hot(index: Array, matrix: Array, xp: Namespace, device: Device) -> Array:
    """Return a boolean matrix of the shape of ``matrix`` that is true where each row's ``index`` is."""
    width = matrix.shape[1]
    classes = xp.arange(width, dtype=index.dtype) if xp is np else xp.arange(width, dtype=index.dtype, device=device)
    return index[:, None] == classes[None, :]


def _mask(mask: ArrayLike, name: str, xp: Namespace, device: Device) -> Array:
    try:
        array = np.asarray(mask) if xp is np else xp.asarray(mask, device=device)
    except ValueError:
        raise ValueError(f"{name} is ragged: its masks have different shapes; resize or pad them first") from None
    if array.ndim < 2 or 0 in array.shape:
        raise ValueError(f"{name} must have shape (n_samples, ...), got {tuple(array.shape)}; give one mask per sample")
    if array.dtype == xp.bool:
        return array
    if xp is np and array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numeric or boolean, got dtype {array.dtype}; give masks of 0 and 1")
    bad = xp.reshape((array != 0) & (array != 1), (-1,))
    remedy = "threshold it, e.g. mask > 0.5, and give label maps class by class"
    refuse(bad, xp.reshape(array, (-1,)), f"{name}.ravel()", "is neither 0 nor 1", remedy, xp)
    return array == 1
