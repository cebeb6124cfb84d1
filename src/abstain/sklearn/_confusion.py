"""A confusion matrix with one more column: what was rejected."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import column_or_1d

from abstain._checks import check_weight, same_length, vector
from abstain._typing import ArrayLike, BoolArray, FloatArray


def _mask(accept: ArrayLike) -> BoolArray:
    """Return a mask; a score or a word in its place would accept everything."""
    mask = column_or_1d(accept)
    wrong = np.flatnonzero(~np.isin(mask, (0, 1)))
    if wrong.size:
        raise ValueError(f"accept must hold True and False, but accept[{wrong[0]}] = {mask[wrong[0]]!r}; give a mask")
    return np.asarray(mask.astype(bool))


def confusion_matrix_with_reject(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    accept: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> FloatArray:
    """Return the confusion matrix of what is accepted, with one more column for what is rejected.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        ``y_pred`` counts where accepted only, so any value may stand for a rejected row.
    accept : array-like of bool of shape (n_samples,)
    labels : array-like of shape (n_classes,), optional
        Order of the classes; default sorted.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    ndarray of shape (n_classes, n_classes + 1)
        Rows: true classes. Columns: predicted classes, then rejected.

    Raises
    ------
    ValueError
        Lengths differ; a mask of other values; bad weights; a class twice or not at all among ``labels``.

    Examples
    --------
    >>> from abstain.sklearn import confusion_matrix_with_reject
    >>> confusion_matrix_with_reject([0, 0, 1, 1], [0, 1, 1, 0], [True, True, True, False])
    array([[1., 1., 0.],
           [0., 1., 1.]])
    """
    truth, predicted, mask = column_or_1d(y_true), column_or_1d(y_pred), _mask(accept)
    weight = np.ones(len(truth))
    if sample_weight is not None:
        weight = vector(sample_weight, "sample_weight", np, None)
        check_weight(weight, np)
    same_length(y_true=truth, y_pred=predicted, accept=mask, sample_weight=weight)
    answered = predicted[mask]
    known = list(
        np.unique(np.concatenate([truth, answered.astype(truth.dtype)])) if labels is None else np.asarray(labels)
    )
    place = {value: k for k, value in enumerate(known)}
    if len(place) < len(known):
        raise ValueError(f"labels holds a class twice: {known!r}; name each once")
    for value in {*truth.tolist(), *answered.tolist()} - place.keys():
        raise ValueError(f"class {value!r} occurs but is not in labels; give all classes")
    result = np.zeros((len(known), len(known) + 1))
    rows = np.array([place[value] for value in truth.tolist()], dtype=int)
    columns = np.full(len(truth), len(known))
    columns[mask] = [place[value] for value in answered.tolist()]
    np.add.at(result, (rows, columns), weight)
    return result
