"""One score on ID and OOD samples: against scikit-learn, against counting, in limits; the protocol and its tables."""

from functools import partial

import numpy as np
import polars
import pytest
import torch
from hypothesis import given
from sklearn import metrics as sklearn_metrics

import abstain
from abstain import joint
from tests.joint.references import joint_problems, random_problem
from tests.strategies import many

SCORES = many(200)


def stacked(columns):
    """Return is-ID and the confidence of all samples."""
    is_id = np.append(np.ones(columns.n_id), np.zeros(columns.n_ood))
    return is_id, np.append(columns.id_confidence, columns.ood_confidence)


def test_detection_agrees_with_scikit_learn():
    """AUROC, both AUPR by lines and by steps, on tied scores."""
    columns = random_problem(300, 200, decimals=1)
    is_id, score = stacked(columns)
    pair = columns.alone
    assert joint.auroc(**pair) == pytest.approx(sklearn_metrics.roc_auc_score(is_id, score), abs=1e-12)
    for found, positive, ranking in ((joint.aupr_in, is_id, score), (joint.aupr_out, 1 - is_id, -score)):
        precision, recall, _ = sklearn_metrics.precision_recall_curve(positive, ranking)
        assert found(**pair) == pytest.approx(sklearn_metrics.auc(recall, precision), abs=1e-12)
        step = sklearn_metrics.average_precision_score(positive, ranking)
        assert found(**pair, interpolation="step") == pytest.approx(step, abs=1e-12)


@SCORES
@given(joint_problems(min_ood=1))
def test_fpr_ccr_and_oscr_count(columns):
    """Trying every threshold, and every pair of an ID and an OOD sample."""
    loss, inside, _, outside, _ = columns
    pair = columns.alone
    thresholds = sorted({*inside.tolist(), *outside.tolist(), np.inf})
    rates = [(np.mean(inside >= t), np.mean(outside >= t), np.mean((inside >= t) & (loss == 0))) for t in thresholds]
    assert joint.fpr_at_id_recall(**pair) == min(fpr for recall, fpr, _ in rates if recall >= 0.95)
    rejected = [(np.mean(outside < t), np.mean(inside < t)) for t in thresholds]
    rejected.append((1.0, np.mean(inside <= outside.max())))
    assert joint.fpr_at_ood_recall(**pair) == pytest.approx(min(lost for caught, lost in rejected if caught >= 0.95))
    for fpr in (0.0, 0.3, 1.0):
        assert joint.ccr_at_fpr(loss, **pair, fpr=fpr) == max([0.0, *(ccr for _, f, ccr in rates if f <= fpr)])
    pairs = [(s > o) + 0.5 * (s == o) for s, wrong in zip(inside, loss, strict=True) if not wrong for o in outside]
    assert joint.oscr(loss, **pair) == pytest.approx(sum(pairs) / (columns.n_id * columns.n_ood))


@SCORES
@given(joint_problems())
def test_areas_over_all_samples_are_those_of_the_library(columns):
    """Coverage of all samples: OOD samples are failures like any others."""
    loss = np.append(columns.id_loss, np.ones(columns.n_ood))
    _, score = stacked(columns)
    arguments = {"id_loss": columns.id_loss, **columns.alone}
    found = joint.aurc(**arguments, coverage_of="all", operator="exact")
    assert found == pytest.approx(abstain.aurc(loss, score), abs=1e-13)
    assert joint.augrc(**arguments, coverage_of="all") == pytest.approx(abstain.augrc(loss, score), abs=1e-13)
    assert joint.scod_risk(**arguments) == pytest.approx(found / 2, abs=1e-13)
    assert joint.aurc(**arguments, coverage_of="all") <= found + 1e-15


def test_scod_risk_by_hand():
    """Four ID samples, one wrong, two OOD samples; half of the ID samples accepted."""
    arguments = {"id_loss": [0, 0, 1, 0], "id_score": [0.9, 0.8, 0.85, 0.5], "ood_score": [0.86, 0.2]}
    assert joint.scod_risk(**arguments, ood_cost=1.0, coverage=0.5) == pytest.approx(1 / 3)  # .9, .86, .85
    assert joint.scod_risk(**arguments, ood_cost=0.0, coverage=0.5) == pytest.approx(1 / 3)
    assert joint.scod_risk(**arguments, ood_cost=0.25, coverage=1.0) == pytest.approx((0.75 + 0.25) / 5)


@pytest.mark.parametrize("kind", ["tensor", "tensor with a gradient", "series"])
def test_one_score_in_any_container(kind):
    """Tensors and columns of data frames give what arrays give."""
    gradient = {} if kind == "series" else {"requires_grad": kind != "tensor"}
    convert = partial(polars.Series if kind == "series" else torch.tensor, **gradient)
    loss, three = random_problem(20, 20).id_loss, random_problem(20, 20).alone
    given = {name: convert(column) for name, column in three.items()}
    for function in (
        joint.f1,
        joint.aurc,
        joint.augrc,
        joint.scod_risk,
        joint.oscr,
        partial(joint.ccr_at_fpr, fpr=0.2),
    ):
        assert float(function(convert(loss), **given)) == float(function(loss, **three))
    for function in (joint.auroc, joint.aupr_in, joint.aupr_out, joint.fpr_at_id_recall, joint.fpr_at_ood_recall):
        assert function(**given) == function(**three)
    assert joint.aurc_optimum(convert(loss)) == joint.aurc_optimum(loss)
