"""What each sample adds, and the weights of another population."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain
from abstain import UndefinedMetricWarning, UnmetNeed
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


def test_augrc_contribution_of_each_position():
    """A failure at descending position t adds (N - t + 1/2)/N^2; A.1.1 prints (N - t - 1)/N^2, negative at last."""
    n = 20
    found = abstain.contributions("augrc", np.ones(n), -np.arange(n))
    np.testing.assert_allclose(found, (n - np.arange(1, n + 1) + 0.5) / n**2, rtol=1e-12)
    assert (n - n - 1) / n**2 < 0.0 < found[-1]


def test_aurc_contribution_of_each_position():
    """A failure at position p adds (1/N) sum_{t >= p} 1/t, as A.1.1 prints it."""
    n = 20
    found = abstain.contributions("aurc", np.ones(n), -np.arange(n))
    np.testing.assert_allclose(found, [sum(1 / t for t in range(p, n + 1)) / n for p in range(1, n + 1)], rtol=1e-12)


def test_samples_without_a_score_keep_their_place():
    """With nan_policy="reject" a NaN score is accepted last, and the array keeps the caller's length and order."""
    found = abstain.contributions("augrc", [1, 1, 1], [0.2, np.nan, 0.9], nan_policy="reject")
    np.testing.assert_allclose(found, [1.5 / 9, 0.5 / 9, 2.5 / 9])


def test_bad_arguments():
    """Each refusal names what is wrong and what exists instead."""
    for arguments, error, message in (
        ({"metric": "auroc_f"}, UnmetNeed, "auroc_f is no sum over samples; contributions exist for .*augrc, sele"),
        ({"metric": "augcr"}, ValueError, "did you mean 'augrc'"),
        ({"metric": "augrc", "nan_policy": "drop"}, ValueError, "would lose samples"),
        ({"metric": "cwsa", "loss": [0.0, 1.5]}, UnmetNeed, "largest is at least 1.5"),
    ):
        given_ = {"loss": [0, 1], "confidence": [0.9, 0.9]} | arguments
        with pytest.raises(error, match=message):
            abstain.contributions(**given_)


# ---------------------------------------------------------------------- prevalence


def test_bad_prevalence():
    """A target that the sample cannot represent is an error, never a silent share of 0."""
    for labels, target, message in (
        ([0, 1], {0: 0.5, 1: 0.3, 2: 0.2}, "asks for class 2, but no sample has it"),
        ([0, 1], {0: 1.0}, "names no share for class 1; give 0"),
        ([0, 1], {0: -0.5, 1: 1.5}, "must be a finite number >= 0"),
        ([0, 1], {0: 0.0, 1: 0.0}, "prevalence sums to 0"),
        ([0, 1], {0: float("nan"), 1: 1.0}, "must be a finite number >= 0"),
        ([0, 1], "balance", 'must be "balanced" or a mapping'),
        ([], "balanced", "one label per sample"),
        ([[0, 1]], "balanced", "one label per sample"),
    ):
        with pytest.raises(ValueError, match=message):
            abstain.prevalence_weights(labels, target)


def test_prevalence_of_named_classes():
    """Strings work, shares are normalised, a class can be left out, and the weights sum to N."""
    weight = abstain.prevalence_weights(["cat", "dog", "dog", "fox"], {"cat": 2.0, "dog": 6.0, "fox": 0.0})
    np.testing.assert_allclose(weight, [1.0, 1.5, 1.5, 0.0])


def test_class_balanced_weights_equal_scikit_learns():
    """prevalence_weights("balanced") is compute_sample_weight("balanced")."""
    from sklearn.utils.class_weight import compute_sample_weight

    labels = np.array(["b", "a", "a", "c", "a", "b"])
    np.testing.assert_allclose(abstain.prevalence_weights(labels), compute_sample_weight("balanced", labels))
