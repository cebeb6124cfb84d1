"""``compare``: what it returns, what it refuses, and how it agrees with independent computations."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import abstain
from abstain._result import lines_of
from tests.refusal import refused


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    difficulty = rng.standard_normal(600)
    loss = (rng.random(600) < 0.2 * np.exp(difficulty - 0.5)).astype(float)
    spread = {"good": 0.3, "fair": 0.5, "poor": 3.0}
    return loss, {name: -difficulty + sd * rng.standard_normal(600) for name, sd in spread.items()}


def effective(loss):
    """Return how many samples carry the spread of the losses."""
    squares = np.square(loss - loss.mean())
    return float(squares.sum() ** 2 / np.square(squares).sum())


# ---------------------------------------------------------------------- agreement


@pytest.mark.parametrize("metric", ["augrc", "auroc_f", "e_augrc", "selective_risk(coverage=0.8)"])
def test_values_errors_and_intervals_are_those_of_the_single_functions(data, metric):
    """So they are unless fewer than ten errors decide; then a difference has room for one more."""
    loss, scores = data
    result = abstain.compare(loss, scores, metric)
    chosen = abstain.metrics.parse(metric)
    for row in result.table:
        single = abstain.confidence_interval(chosen, loss, scores[row["name"]])
        assert row["estimate"] == pytest.approx(single.estimate)
        assert (row["low"], row["high"]) == pytest.approx((single.low, single.high))
    influences = [abstain.inference.influence(chosen, loss, scores[name]) for name in ("good", "poor")]
    matrix = abstain.inference.covariance(*influences)
    found = result.difference("good", "poor")
    k = effective(loss) if metric == "auroc_f" else np.inf  # errors of which AUROC_f is a mean
    factor = 1.0 if np.isinf(k) else k / (k - 1.0)
    df = min(k, len(loss)) - 1.0
    assert found.standard_error == pytest.approx(factor * np.sqrt(matrix[0, 0] + matrix[1, 1] - 2 * matrix[0, 1]))
    z = found.difference / found.standard_error
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(z), df), rel=1e-6, abs=0.0)
    reach = stats.t.ppf(0.975, df) * found.standard_error
    assert (found.low, found.high) == pytest.approx((found.difference - reach, found.difference + reach))


def delong(loss, first, second):
    """DeLong's difference and standard error from placement values, pair by pair."""
    placements = []
    for score in (first, second):
        right, wrong = score[loss == 0], score[loss == 1]
        kernel = (right[:, None] > wrong) + 0.5 * (right[:, None] == wrong)
        placements.append((kernel.mean(axis=1), kernel.mean(axis=0)))
    (v_a, w_a), (v_b, w_b) = placements
    variance = np.var(v_a - v_b) / v_a.size + np.var(w_a - w_b) / w_a.size
    return float(v_a.mean() - v_b.mean()), float(np.sqrt(variance))


@pytest.mark.parametrize("digits", [6, 1, 0])
def test_auroc_comparison_is_delongs(data, digits):
    """With the error of a delete-one jackknife over k errors, k/(k - 1) times as large."""
    loss, scores = data
    scores = {name: np.round(score, digits) for name, score in scores.items()}
    found = abstain.compare(loss, scores, "auroc_f").difference("good", "poor")
    difference, error = delong(loss, scores["good"], scores["poor"])
    k = effective(loss)
    assert (found.difference, found.standard_error) == pytest.approx((difference, error * k / (k - 1.0)))


def test_clusters_of_copies_count_once(data):
    loss, scores = data
    once = abstain.compare(loss, scores, clusters=np.arange(600)).differences
    copies = {name: np.repeat(score, 15) for name, score in scores.items()}
    result = abstain.compare(np.repeat(loss, 15), copies, clusters=np.repeat([f"case {k}" for k in range(600)], 15))
    for one, many in zip(once, result.differences, strict=True):
        assert (many.standard_error, many.p_value) == pytest.approx((one.standard_error, one.p_value))
        assert many.df == 599


# ---------------------------------------------------------------------- shape of the result


def test_scores_of_the_same_ranking_are_equal(data):
    loss, scores = data
    same = {"one": scores["good"], "same": np.exp(scores["good"])}
    result = abstain.compare(loss, same | {"other": scores["poor"]})
    found = result.difference("one", "same")
    assert (found.difference, found.standard_error, found.low) == (0.0, 0.0, -found.high)
    assert found.high == pytest.approx(-np.log(0.025) / 600, rel=0.05)  # AUGRC: a wrong row from the end to the top
    assert (found.p_value, found.p_adjusted, found.significant) == (1.0, 1.0, False)
    assert result.letters == {"one": "a", "same": "a", "other": "b"}
    assert [row["rank"] for row in result.table] == [1, 1, 3]
    assert abstain.compare(loss, same, adjust="max-t").differences[0].p_adjusted == 1.0
    runs = abstain.compare(loss, {name: [score] * 2 for name, score in same.items()}).differences[0]
    assert (runs.p_value, runs.warning) == (1.0, "the two are equal on every sample: no interval")
    for names, message in ((("god", "other"), "god"), (("one", "one"), "with itself")):
        refused(KeyError, message, result.difference, *names)


def test_frames_pairs_tensors_and_lists_are_taken(data):
    pandas, polars, torch = (pytest.importorskip(name) for name in ("pandas", "polars", "torch"))
    loss, scores = data
    expected = abstain.compare(loss, scores).to_dict()
    tensors = {name: torch.tensor(score) for name, score in scores.items()}
    for each in (pandas.DataFrame(scores), polars.DataFrame(scores), list(scores.items()), tensors):
        assert abstain.compare(loss, each).to_dict() == expected


# ---------------------------------------------------------------------- several tests at once


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12))
def test_holm_is_the_sequential_procedure(p):
    adjusted, order = abstain.inference.holm(p), sorted(range(len(p)), key=p.__getitem__)
    for alpha in (0.01, 0.05, 0.2, *adjusted.tolist()):
        tests = [min(p[k] * (len(p) - step), 1.0) <= alpha for step, k in enumerate(order)]
        rejected = order[: tests.index(False)] if False in tests else order
        assert set(rejected) == {k for k, value in enumerate(adjusted) if value <= alpha}


# ---------------------------------------------------------------------- few errors, and bad input


LOSS, A, B = [0, 1, 0, 1, 0, 0], [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5]


def test_a_difference_in_coverage_ends_where_its_two_coverages_end():
    """A score that knows beside one that does not: never more than 100 points apart, nor more than the two allow."""
    rng = np.random.default_rng(5)
    loss = (rng.random(400) < 0.03).astype(float)
    scores = {"knows": -loss + 0.3 * rng.standard_normal(400), "noise": rng.standard_normal(400)}
    result = abstain.compare(loss, scores, "coverage_at_risk(risk=0.02)", n_resamples=200)
    (pair,), (one, other) = result.differences, result.table
    assert (pair.a, pair.b) == (one["name"], other["name"]) == ("knows", "noise")
    assert pair.difference + pair.standard_error * 2.0 > one["high"] - other["low"]  # so there was something to mend
    assert -1.0 <= pair.low <= pair.difference <= pair.high <= one["high"] - other["low"] <= 1.0
    assert pair.swapped().low == -pair.high


def test_a_hundred_points_are_written_as_a_number():
    """Nearly all beside nearly nothing: no power of ten, and no more than a hundred."""
    rng = np.random.default_rng(0)
    loss = (np.arange(1000) < 12).astype(float)
    scores = {"knows": -loss + 0.1 * rng.random(1000), "wrong": loss + 0.1 * rng.random(1000)}
    line = next(each for each in lines_of(abstain.compare(loss, scores).verdict, 200) if "coverage at" in each)
    assert re.search(r"99\.\d % against 0 % \(\d\d\.\d \[-?\d[\d.]*, 100\.0\]\)", line)


def test_too_few_errors_are_no_difference(data):
    """None, or one: a jackknife that leaves it out has nothing left; no spread gives no p-value but by swaps."""
    _, scores = data
    result = abstain.compare(np.zeros(600), scores)
    assert all((each.p_value, each.standard_error) == (1.0, 0.0) for each in result.differences)
    assert set(result.letters.values()) == {"a"}
    undefined = "auroc_f of 'good' is undefined, so it cannot be compared: there is no"
    refused(ValueError, undefined, abstain.compare, np.zeros(600), scores, "auroc_f")
    for runs in (1, 3):
        tiled = {name: np.tile(score, (runs, 1)) for name, score in scores.items()}
        result = abstain.compare(np.tile(np.eye(600)[0], (runs, 1)), tiled, "auroc_f")
        for each in result.differences:
            assert np.isnan([each.low, each.high, each.standard_error, each.p_value, each.p_adjusted]).all()
            assert "a single error" in each.warning
        assert all(row["low"] < row["high"] == 1.0 and "a single error" in row["warning"] for row in result.table)
    given = {"right": np.zeros(9), "wrong": np.ones(9)}, {"right": range(9), "wrong": range(9)}, "risk"
    found = abstain.compare(*given).differences[0]
    assert (found.difference, found.significant, np.isnan(found.p_value)) == (-1.0, False, True)
    assert "permutation" in found.warning
    assert abstain.compare(*given, method="permutation").differences[0].p_value == 1 / 2**8


LOSS, A, B = [0, 1, 0, 1, 0, 0], [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5]


@pytest.mark.parametrize(
    ("loss", "scores", "message"),
    [
        (LOSS, {"a": A}, r"at least 2 scores by name, got 1 \('a'\); for a single one use abstain.confidence"),
        (LOSS, [A, B], "must be a dict of columns by name"),
        (LOSS, [("a", A), ("a", B)], "holds the name 'a' 2 times"),
        (LOSS, {"a": A, "b": B[:5]}, r"scores\['b'\]: 5.*every column needs one value per sample"),
        ({"a": LOSS}, {"a": A, "b": B}, "no loss for 'b'"),
        ({"a": LOSS, "b": LOSS, "bb": LOSS}, {"a": A, "b": B}, "a loss without a score for 'bb' .*'b'"),
        (LOSS, {"a": [*A[:5], np.nan], "b": B}, r"scores\['a'\] holds NaN, first at 5 \(without a score: a: 1\)"),
        ([LOSS, LOSS], {"a": A, "b": B}, r"loss holds 2 runs but scores\['a'\] holds 1"),
    ],
)
def test_bad_columns_are_named_with_their_remedy(loss, scores, message):
    refused((ValueError, TypeError), message, abstain.compare, loss, scores)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "agrc"}, "did you mean 'augrc'"),
        ({"level": 1.0}, "level must lie inside"),
        ({"adjust": "bonferroni"}, "adjust='bonferroni' is not known; known: holm"),
        ({"method": "t-test"}, "method='t-test' is not known"),
        ({"metric": "ece"}, "unit_score|confidence scores that are prob|no valid test"),
        ({"metric": "augrc_achievable"}, "no valid test"),
        ({"metric": "fpr95_error", "method": "influence"}, 'use method="bootstrap"'),
        ({"clusters": np.zeros(6)}, "single cluster"),
        ({"loss": [LOSS] * 2, "scores": {"a": [A] * 2, "b": [B] * 2}, "method": "permutation"}, "see training noise"),
        ({"scores": {"a": [A] * 2, "b": B}, "paired_runs": True}, "equally many runs"),
    ],
)
def test_bad_options_are_named_with_their_remedy(options, message):
    usual = {"loss": LOSS, "scores": {"a": A, "b": B}}
    refused((ValueError, TypeError), message, abstain.compare, **(usual | options))
