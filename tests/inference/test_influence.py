"""Influence functions: derivatives in the weights, zero sums, clusters, strata; and what large tables do not keep."""

import numpy as np
import pytest

import abstain
from abstain import inference, metrics
from abstain.inference._influence import gradient, tables
from abstain.inference._spread import Scatter
from abstain.inference._unseen import Sizes, augmented
from tests.refusal import refused

SMOOTH = [
    "risk", "accuracy", "aurc", "aurc(estimator=interpolated)", "augrc", "sele", "e_aurc", "e_augrc", "naurc", "naugrc",
    "prediction_rejection_ratio", "f1_auc", "auroc_f", "average_precision_success", "average_precision_error",
    "selective_risk(threshold=0.5)", "selective_accuracy(threshold=0.5)", "generalized_risk(threshold=0.5)",
    "cwsa", "cwsa(denominator=all)", "cwsa_plus", "brier_confidence", "nll_confidence", "accuracy_rejection_area",
]  # fmt: skip
ANY_LOSS = ["risk", "aurc", "augrc", "sele", "e_aurc", "e_augrc", "naurc", "naugrc", "selective_risk(threshold=0.5)"]


def draw(seed, n=60, ties=False, real=False, weighted=False):
    """A problem in which confidence informs, with errors of both kinds."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(0.05, 0.95, n)
    score = np.round(score, 1) if ties else score
    loss = rng.exponential(1.0, n) * (1.2 - score) if real else (rng.random(n) > score).astype(float)
    loss[:2] = [0.0, 1.0]
    return loss, score, rng.gamma(2.0, 1.0, n) if weighted else None


@pytest.mark.parametrize(("spec", "real"), [*((spec, False) for spec in SMOOTH), *((spec, True) for spec in ANY_LOSS)])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_influence_is_the_derivative_in_each_weight(spec, real, ties, weighted):
    """Raising one sample's weight moves the value by influence / total weight, to 2e-7; so it is for real losses."""
    loss, score, weight = draw(3, ties=ties, real=real, weighted=weighted)
    metric = metrics.parse(spec)
    values = inference.influence(metric, loss, score, sample_weight=weight)
    base = np.ones(loss.size) if weight is None else weight
    for i in range(0, loss.size, 7):
        step = 1e-5 * (np.arange(loss.size) == i)
        moved = metric.of(loss, score, base + step) - metric.of(loss, score, base - step)
        numerical = moved / 2e-5 * base.sum()
        assert values[i] == pytest.approx(numerical, abs=2e-7 * max(1.0, abs(numerical)))
    assert base @ values == pytest.approx(0.0, abs=1e-9 * base.sum())


def test_rows_without_an_error_have_no_influence_on_an_excess():
    """Every ranking is the optimum, whatever a row weighs."""
    for spec in ("e_aurc", "e_augrc"):
        np.testing.assert_array_equal(inference.influence(spec, np.zeros(5), np.arange(5.0)), 0.0)


@pytest.mark.parametrize(("coverage", "accepted"), [(0.6, 75), (0.008, 1), (0.01, 2), (0.99, 124)])
def test_the_local_term_is_the_mean_loss_of_the_ranks_around_the_coverage(coverage, accepted):
    """Of 125 rows at 60 %: the ranks from 62.5 to 87.5, of which the first and the last count half."""
    rng, n = np.random.default_rng(2), np.arange(125)
    loss, score = rng.exponential(size=125) + 10.0 * (n > 75), -np.arange(125.0)
    near = np.maximum(np.minimum(n + 1.0, 125 * coverage + 12.5) - np.maximum(n, 125 * coverage - 12.5), 0.0)
    local, share = near @ loss / near.sum(), accepted / 125
    expected = (loss * (n < accepted) + local * (share - (n < accepted)) - loss[:accepted].sum() / 125.0) / share
    found = inference.influence(metrics.get("selective_risk", coverage=coverage), loss, score)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_covariance_of_differences_is_that_of_the_pair():
    """The variance of a difference follows from the matrix; identical scores covary fully."""
    loss, score, _ = draw(9, n=200)
    other = score + np.random.default_rng(1).normal(0, 0.2, 200)
    a, b = (inference.influence("augrc", loss, g) for g in (score, other))
    matrix = inference.covariance(a, b)
    assert np.sqrt(matrix[0, 0]) == pytest.approx(abstain.standard_error("augrc", loss, score), rel=1e-12)
    difference = matrix[0, 0] + matrix[1, 1] - 2 * matrix[0, 1]
    assert difference == pytest.approx(np.sum((a - b) ** 2) / 200**2, rel=1e-9)
    assert np.linalg.matrix_rank(inference.covariance(a, a), tol=1e-12) == 1


def test_a_wide_tie_holds_the_threshold():
    """Where one tie is wider than the window, the influence is that at a fixed threshold."""
    loss = np.tile([0.0, 1.0, 0.0, 0.0], 50)
    blocks = tables(metrics.get("selective_risk"), loss, np.repeat([0.9, 0.1], 100))
    at_coverage = gradient(metrics.get("selective_risk", coverage=0.4), blocks)
    at_threshold = gradient(metrics.get("selective_risk", threshold=0.9), blocks)
    np.testing.assert_allclose(at_coverage.weight, at_threshold.weight)
    np.testing.assert_allclose(at_coverage.loss, at_threshold.loss)


# ---------------------------------------------------------------------- memory


#: What is kept, and for how many rows.
KEPT = {
    "abstain.inference._unseen.MOST_KEPT": 0, "abstain.metrics._augrc.KEPT": 0,
    "abstain.inference._interval.MOST_KEPT": 0, "abstain.metrics._area.KEPT": 0, "abstain._sums.ROOM": 1000,
    "abstain.metrics._area.ROOM": 1000, "abstain._sums.PART": 700,
}  # fmt: skip


@pytest.mark.parametrize(("rows", "less"), [("0/1", 7), ("0/1", 2), ("real", 2), ("clusters", 2)])
@pytest.mark.parametrize("digits", [None, 2])
def test_an_evaluation_that_gives_memory_back_has_the_same_numbers(monkeypatch, digits, rows, less):
    """Large tables keep neither gradients nor sums; one with one more error keeps no columns. Small ones do the same.

    What is made part by part, or follows from the table before, is what is made of columns.
    """
    rng = np.random.default_rng(0)
    score = rng.random(3000) if digits is None else np.round(rng.random(3000), digits)
    score[:3] = 1.0 + 1e-13  # counts as 1
    loss = (rng.random(3000) > score) * (rng.random(3000) if rows == "real" else 1.0)
    given = {"clusters": np.arange(3000) // 3} if rows == "clusters" else {}

    def evaluated():
        found = abstain.evaluate(loss=loss, confidence=score, metrics="all", **given).measurements
        return np.array([[each.value, each.low, each.high, each.standard_error] for each in found], dtype=float)

    before = evaluated()
    for name, most in list(KEPT.items())[:less]:
        monkeypatch.setattr(name, most)
    np.testing.assert_allclose(evaluated(), before, rtol=1e-11)


@pytest.mark.parametrize("name", ["augrc", "e_augrc", "naugrc", "aurc", "e_aurc", "naurc"])
@pytest.mark.parametrize("size", [Sizes(1.0, 1.0, 1.0), Sizes(0.0, 0.0, 1.0), Sizes(0.4, 0.3, 2.0)])
def test_a_table_with_one_more_loss_is_that_of_its_columns(monkeypatch, name, size):
    """Where it is too large to keep them: its columns and sums, and the gradient that follows from the table before."""
    rng, metric = np.random.default_rng(1), metrics.get(name)
    score = np.round(rng.random(500), 2)
    blocks = abstain.TieBlocks.from_samples(rng.random(500) > score, score, keep_samples=True, oracle=True)
    monkeypatch.setattr("abstain.metrics._augrc.KEPT", 0)
    plain = augmented(blocks, size)[0]
    monkeypatch.setattr("abstain.inference._unseen.MOST_KEPT", 0)
    grown = augmented(blocks, size)[0]
    assert [type(each) is abstain.TieBlocks for each in (plain, grown, grown.merge(blocks))] == [True, False, True]
    for column in ("weight", "loss", "cumulative_weight", "cumulative_loss", "total_weight", "total_loss"):
        np.testing.assert_allclose(getattr(grown, column), getattr(plain, column), rtol=1e-12)
    refused(ValueError, "read-only", grown.loss.__setitem__, 0, 1.0)
    with metrics.keeping_one(blocks):
        found, expected = metric.gradient_of(grown), metric.gradient_of(plain)
        np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-10, atol=1e-15)
        np.testing.assert_allclose(found.loss, expected.loss, rtol=1e-10, atol=1e-15)
    assert metric(grown) == pytest.approx(metric(plain), rel=1e-12)


def test_sums_of_squares_are_those_of_the_rows():
    """From the scatter of two numbers per row; of no rows nothing."""
    often, one, two = np.random.default_rng(0).random((3, 50))
    found = Scatter.of(often.sum(), lambda part: (often[part], one[part], two[part]), 50)
    assert found.square(2.0, -3.0, 0.5) == pytest.approx(often @ (2.0 * one - 3.0 * two + 0.5) ** 2, rel=1e-12)
    assert Scatter.of(0.0, lambda part: (0.0 * often[part], one[part], two[part]), 50).square(2.0, -3.0, 0.5) == 0.0
