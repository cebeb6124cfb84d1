"""Scorers for model selection, and a confusion matrix with a column for what is rejected."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import column_or_1d

from abstain import metrics
from abstain._checks import check_weight, same_length, vector
from abstain._typing import ArrayLike, BoolArray, FloatArray
from abstain.blocks import TieBlocks
from abstain.sklearn._classifier import Estimator, Scorer, SelectiveClassifier, confidence_of


def _unwrapped(estimator: Estimator, X: ArrayLike) -> tuple[Estimator, ArrayLike]:
    """Return the classifier behind pipelines and fitted searches, and what it is given."""
    if hasattr(estimator, "best_estimator_"):
        return _unwrapped(estimator.best_estimator_, X)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        return _unwrapped(estimator[-1], estimator[:-1].transform(X))
    return estimator, X


def _scored(
    metric: metrics.Metric,
    confidence_score: str | Scorer,
    estimator: Estimator,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> float:
    classifier, X = _unwrapped(estimator, X)
    if isinstance(classifier, SelectiveClassifier):
        confidence, labels = classifier.confidence(X), classifier.estimator_.predict(X)
    else:
        confidence, labels = confidence_of(classifier, X, confidence_score), classifier.predict(X)
    loss = (np.asarray(labels) != np.asarray(y)).astype(np.float64)
    value = metric(TieBlocks.from_samples(loss, confidence, sample_weight, oracle=True))
    return -value if metric.direction == "lower" else value


def selective_scorer(metric: str, *, confidence_score: str | Scorer = "msp", **options: Any) -> Callable[..., float]:
    """Return a scorer for ``cross_validate``, ``GridSearchCV``, …: a metric of the reject option, higher = better.

    Parameters
    ----------
    metric : str
        A metric of ``abstain.metrics``: ``"augrc"``, ``"aurc"``, ``"coverage_at_risk"``, …
    confidence_score : {"msp", "margin", "neg_entropy"} or callable
        Of the probabilities. A :class:`SelectiveClassifier`, also within a pipeline or a fitted search, uses its own
        score, and its labels without ``reject_value``.
    **options
        Of the metric, such as ``risk=0.05``.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``; metrics where lower is better get a minus sign.

    Raises
    ------
    ValueError, TypeError
        An unknown metric or option; a metric of class probabilities, such as ``"nll"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from abstain.sklearn import selective_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> bool((cross_val_score(tree, X, y, scoring=selective_scorer("augrc")) <= 0).all())
    True
    """
    found = metrics.get(metric, **options)
    if found.input != "blocks":
        raise ValueError(f"{metric} is no metric of a reject option: it needs class probabilities, not scores")
    return partial(_scored, found, confidence_score)  # unlike a closure it can be pickled


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
