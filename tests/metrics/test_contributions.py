"""What each sample adds, and the weights of another population."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain
from abstain import UndefinedMetricWarning
from tests.metrics._problems import FEWER, families, problems_for, scale, table, values
from tests.metrics.references_values import CASES


@pytest.mark.parametrize("cases", families(case for case in CASES if case.attribution is not None))
@FEWER
@given(data=st.data())
def test_contributions_sum_to_the_value_in_the_callers_order(cases, data):
    """The sum is the metric; permuting the rows permutes the contributions; equal rows contribute equally."""
    problem = data.draw(problems_for(cases[0]))
    order = np.array(data.draw(st.permutations(range(len(problem.loss)))))
    again = problem.rows(order)
    for metric, value in zip(cases, values(cases, table(problem)).values(), strict=True):
        if np.isnan(value):
            with pytest.warns(UndefinedMetricWarning, match="nothing is accepted|is not reached"):
                found = abstain.contributions(metric, problem.loss, problem.confidence, sample_weight=problem.weight)
            assert np.isnan(found).all(), metric.spec
            continue
        found = abstain.contributions(metric, problem.loss, problem.confidence, sample_weight=problem.weight)
        assert found.sum() == pytest.approx(value, rel=1e-10, abs=1e-11 * scale(problem)), metric.spec
        permuted = abstain.contributions(metric, again.loss, again.confidence, sample_weight=again.weight)
        np.testing.assert_allclose(permuted, found[order], 1e-10, 1e-12 * scale(problem), err_msg=metric.spec)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("augrc", (20 - np.arange(1, 21) + 0.5) / 20**2),  # A.1.1 prints (N - t - 1)/N^2, negative at last
        ("aurc", np.cumsum(1.0 / np.arange(20, 0, -1))[::-1] / 20),  # (1/N) sum_{t >= p} 1/t, as A.1.1 prints it
    ],
)
def test_contribution_of_a_failure_at_each_position(name, wanted):
    """A failure at each place of a descending order adds what its area says; a NaN score is accepted last."""
    np.testing.assert_allclose(abstain.contributions(name, np.ones(20), -np.arange(20)), wanted, rtol=1e-12)
    found = abstain.contributions("augrc", [1, 1, 1], [0.2, np.nan, 0.9], nan_policy="reject")
    np.testing.assert_allclose(found, [1.5 / 9, 0.5 / 9, 2.5 / 9])


def test_prevalence_of_named_classes():
    """Strings work, shares are normalised, a class can be left out, and the weights sum to N."""
    labels = ["cat", "dog", "dog", "fox"]
    weight = abstain.prevalence_weights(labels, {"cat": 2.0, "dog": 6.0, "fox": 0.0, "owl": 0.0})
    np.testing.assert_allclose(weight, [1.0, 1.5, 1.5, 0.0])
    np.testing.assert_allclose(abstain.prevalence_weights(labels), [4 / 3, 2 / 3, 2 / 3, 4 / 3])
