"""Every metric, with all its options, against its slow definition."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain
from abstain import UndefinedMetricWarning, metrics
from abstain.metrics import Predictions
from tests.metrics import references as rank
from tests.metrics._problems import MORE, families, problems_for, scale, table, values
from tests.metrics.references import Data
from tests.metrics.references_collaboration import macro_selective_risk
from tests.metrics.references_values import CASES, PREDICTION_REFERENCES, REFERENCES
from tests.strategies import weights

#: Rounding of the reference's quadratures and of sums of up to 14 weights between 1/64 and 64.
TOLERANCE = 2e-11


def same(found, expected, size=1.0):
    """Both NaN, or equal to rounding: one value, or those of several metrics by their names."""
    assert found == pytest.approx(expected, rel=1e-10, abs=TOLERANCE * size, nan_ok=True)


def test_every_metric_has_a_reference():
    """A metric that is registered without a reference here fails this test."""
    assert {*REFERENCES, *PREDICTION_REFERENCES} == set(metrics.names("blocks", "probabilities"))


def test_every_option_of_every_metric_is_tried():
    """Each option occurs in the cases with a value that is not its default (a trust function: see the CWSA tests)."""
    for name, (_, choices) in {**REFERENCES, **PREDICTION_REFERENCES}.items():
        tried = {key for options in choices for key in metrics.get(name, **options).options}
        assert tried == set(metrics.get(name).defaults) - {"trust"}


@pytest.mark.parametrize("cases", families(CASES))
@MORE
@given(data=st.data())
def test_value_equals_slow_definition(cases, data):
    """Random problems with ties, infinities, graded and unbounded losses and weights give the reference's value."""
    problem = data.draw(problems_for(cases[0]))
    rows = Data.of(*problem)
    expected = {metric.spec: REFERENCES[metric.name][0](rows, **metric.options) for metric in cases}
    same(values(cases, table(problem)), expected, scale(problem))


@pytest.mark.parametrize("name", list(PREDICTION_REFERENCES))
@given(data=st.data())
def test_prediction_metrics_equal_slow_definitions(name, data):
    """Metrics of probability vectors, weighted or not, give the reference's value."""
    reference, choices = PREDICTION_REFERENCES[name]
    options = data.draw(st.sampled_from(choices))
    binary = name in ("oc_auc_classifier", "auroc_accepted_area")
    n, k = data.draw(st.integers(1, 10)), 2 if binary else data.draw(st.integers(2, 4))
    parts = data.draw(st.lists(st.lists(st.integers(0, 6), min_size=k, max_size=k), min_size=n, max_size=n))
    probabilities = np.array([[(x + (sum(row) == 0)) / (sum(row) or k) for x in row] for row in parts])
    labels = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    weight = data.draw(weights(data.draw(st.sampled_from(["none", "frequencies"])), n))
    expected = reference(labels.tolist(), probabilities.tolist(), weight or [1.0] * n, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        same(getattr(abstain, name)(labels, probabilities, sample_weight=weight, **options), expected)
    bare = Predictions(labels, probabilities, None, None if weight is None else np.array(weight))
    same(metrics.get(name, **options)(bare), expected)


def test_infinite_confidences_are_tied_for_the_accepted_area():
    """Two confidences of +inf (or -inf) are accepted together, without a warning: the order of the rows is nothing."""
    labels, probabilities = [1, 0, 1, 0], [[0.5, 0.5], [0.4, 0.6], [0.1, 0.9], [0.2, 0.8]]
    for high, low in ((np.inf, 0.0), (1.0, -np.inf)):
        found = abstain.auroc_accepted_area(labels, probabilities, [high, high, low, low])
        same(found, abstain.auroc_accepted_area(labels, probabilities, [1.0, 1.0, 0.0, 0.0]))


@given(data=st.data())
def test_macro_selective_risk_equals_slow_definition(data):
    """Classes weigh equally, and a class with nothing accepted makes the value NaN."""
    problem = data.draw(problems_for(metrics.get("risk"), kinds=("none",)))
    labels = data.draw(st.lists(st.sampled_from("abc"), min_size=len(problem.loss), max_size=len(problem.loss)))
    threshold = data.draw(st.sampled_from([-np.inf, *problem.confidence]))
    expected = macro_selective_risk(*Data.of(problem.loss, problem.confidence)[:2], labels, threshold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = abstain.macro_selective_risk(problem.loss, problem.confidence, labels, threshold=threshold)
    same(found, expected, scale(problem))


# ---------------------------------------------------------------------- the references themselves


@pytest.mark.parametrize("estimator", ["harmonic", "log"])
def test_tie_reference_is_the_mean_over_all_orders(estimator):
    """The expectation over tie orders in the reference equals the mean over all permutations of six samples."""
    losses, scores = [1.0, 0.0, 0.25, 2.0, 0.0, 1.0], [0.5, 0.5, 0.5, 0.1, 0.9, 0.9]
    values = []
    for order in itertools.permutations(range(6)):
        distinct = sorted(range(6), key=lambda i: (-scores[i], order[i]))  # break ties by the permutation
        ranked = [losses[i] for i in distinct]
        if estimator == "harmonic":
            values.append(math.fsum(math.fsum(ranked[: k + 1]) / (k + 1) for k in range(6)) / 6)
        else:
            values.append(math.fsum(-math.log(1 - (6 - p) / 7) * loss for p, loss in enumerate(ranked)) / 6)
    expected = math.fsum(values) / len(values)
    assert rank.aurc(Data.of(losses, scores), estimator) == pytest.approx(expected, rel=1e-14)
    assert abstain.aurc(losses, scores, estimator=estimator) == pytest.approx(expected, rel=1e-14)
