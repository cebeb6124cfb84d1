"""Scorers: metrics of the reject option for scikit-learn's model selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from abstain import metrics
from abstain._typing import ArrayLike
from abstain.blocks import TieBlocks
from abstain.sklearn._classifier import SelectiveClassifier, confidence_of


def _unwrapped(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the classifier behind pipelines and fitted searches, and what it is given."""
    if hasattr(estimator, "best_estimator_"):
        return _unwrapped(estimator.best_estimator_, X)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        return _unwrapped(estimator[-1], estimator[:-1].transform(X))
    return estimator, X


@dataclass(frozen=True)
class _Scorer:
    """A class, not a closure, so that a search that holds it can be pickled."""

    metric: metrics.Metric
    confidence_score: Any

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        classifier, X = _unwrapped(estimator, X)
        if isinstance(classifier, SelectiveClassifier):
            confidence, labels = classifier.confidence(X), classifier.estimator_.predict(X)
        else:
            confidence, labels = confidence_of(classifier, X, self.confidence_score), classifier.predict(X)
        loss = (np.asarray(labels) != np.asarray(y)).astype(np.float64)
        value = self.metric(TieBlocks.from_samples(loss, confidence, sample_weight, oracle=True))
        return -value if self.metric.direction == "lower" else value


def selective_scorer(metric: str, *, confidence_score: Any = "msp", **options: Any) -> Callable[..., float]:
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
        raise ValueError(
            f"{metric} is no metric of a reject option: it needs class probabilities, not scores and losses"
        )
    return _Scorer(found, confidence_score)
