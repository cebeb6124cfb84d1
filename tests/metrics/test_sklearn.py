"""The same numbers from scikit-learn, on random data with weights and ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from sklearn.metrics import (
    auc,
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
)

import abstain
from abstain import metrics
from tests.metrics._problems import problems_for
from tests.strategies import Problem

FINITE = problems_for(
    metrics.get("auroc_f"), scores=("untied", "tied", "heavily_tied", "constant"), min_size=2, max_size=30
)


def both_classes(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return correctness, score and weight without rows of weight zero; both classes must occur."""
    kept = np.ones(len(problem.loss), bool) if problem.weight is None else problem.weight > 0.0
    correct, score = 1.0 - problem.loss[kept], problem.confidence[kept]
    assume(np.isfinite(score).all() and 0.0 < correct.mean() < 1.0)
    return correct, score, None if problem.weight is None else problem.weight[kept]


def near(expected: float) -> Any:
    """Equality to rounding."""
    return pytest.approx(expected, rel=1e-11, abs=1e-13)


@given(problem=FINITE)
def test_auroc_and_average_precision(problem: Problem) -> None:
    """AUROC_f, both average precisions and both trapezoidal areas equal scikit-learn's."""
    correct, score, weight = both_classes(problem)
    loss = 1.0 - correct
    arguments: dict[str, Any] = {"sample_weight": weight}
    assert abstain.auroc_f(loss, score, **arguments) == near(roc_auc_score(correct, score, **arguments))
    found = abstain.average_precision_success(loss, score, **arguments)
    assert found == near(average_precision_score(correct, score, **arguments))
    found = abstain.average_precision_error(loss, score, **arguments)
    assert found == near(average_precision_score(loss, -score, **arguments))
    for function, positive, sign in ((abstain.aupr_success, correct, 1.0), (abstain.aupr_error, loss, -1.0)):
        precision, recall, _ = precision_recall_curve(positive, sign * score, **arguments)
        assert function(loss, score, **arguments) == near(auc(recall, precision))


def test_class_balanced_weights_equal_scikit_learns() -> None:
    """prevalence_weights("balanced") is compute_sample_weight("balanced")."""
    from sklearn.utils.class_weight import compute_sample_weight

    labels = np.array(["b", "a", "a", "c", "a", "b"])
    np.testing.assert_allclose(abstain.prevalence_weights(labels), compute_sample_weight("balanced", labels))
