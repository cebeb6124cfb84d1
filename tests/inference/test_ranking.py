"""The ranking study: ranks by brute force, letters, and the published procedure with its caution."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import abstain
from abstain.inference import kendall_tau, letter_groups, wilcoxon_over_resamples
from abstain.inference._multiple import FEWEST, _Draws


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    difficulty = rng.standard_normal(800)
    loss = (rng.random((3, 800)) < np.minimum(0.2 * np.exp(difficulty - 0.5), 1.0)).astype(float)
    spread = {"poor": 3.0, "good": 0.4, "fair": 0.5, "same": 0.4}
    scores = {name: -difficulty + sd * rng.standard_normal((3, 800)) for name, sd in spread.items()}
    scores["same"] = 2.0 * scores["good"]
    return loss, scores


@pytest.fixture(scope="module")
def study(data):
    return abstain.ranking_study(*data, n_resamples=200)


def test_rank_then_aggregate_by_brute_force(data, study):
    """From the replicates: average runs, rank each resample (ties: smallest rank), order by mean, then median rank."""
    for spec, ranking in study.rankings.items():
        drawn = study.replicates[spec]
        assert drawn.shape == (200, 4)
        ranks = np.array([stats.rankdata(row, method="min") for row in drawn])
        for name in ranking.names:
            k = study.names.index(name)
            row = ranking.of(name)
            assert row["mean_rank"] == pytest.approx(ranks[:, k].mean())
            assert row["median_rank"] == np.median(ranks[:, k])
            assert row["share_first"] == pytest.approx(np.mean(ranks[:, k] == 1))
            ends = np.sort(ranks[:, k])[[4, 5, 194, 195]]  # the 5th and the 195th of 200, up to rounding
            assert row["resampled_low"] in ends[:2]
            assert row["resampled_high"] in ends[2:]
            assert 1 <= row["set_low"] <= row["set_high"] <= 4
            estimate = np.mean([getattr(abstain, spec)(lo, s) for lo, s in zip(data[0], data[1][name], strict=True)])
            assert row["estimate"] == pytest.approx(estimate)
        assert list(ranking.mean_rank) == sorted(ranking.mean_rank)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9))
def test_kendalls_tau_b_is_scipys(pairs):
    one, other = np.array(pairs).T
    found, expected = kendall_tau(one, other), stats.kendalltau(one, other).statistic
    if len(set(one)) == len(set(other)) == 1:
        assert found == 1.0
    else:
        assert found == pytest.approx(expected, nan_ok=True)


def test_rounding_breaks_no_tie():
    """The mean of one real loss is the same in every order of the samples, up to rounding."""
    rng = np.random.default_rng(0)
    loss, scores = rng.exponential(0.3, 300), {name: rng.random(300) for name in "abc"}
    ranking = abstain.ranking_study(loss, scores, "risk", n_resamples=100).rankings["risk"]
    assert ranking.rank.tolist() == [1, 1, 1]
    assert ranking.share_first.tolist() == [1.0, 1.0, 1.0]
    assert [row["rank"] for row in abstain.compare(loss, scores, "risk").table] == [1, 1, 1]
    choice = abstain.select({name: (loss, score) for name, score in scores.items()}, "risk").choices["risk"]
    assert (choice.name, choice.tied) == ("a", ("b", "c"))


def test_too_many_undefined_resamples_are_no_ranking():
    loss = np.r_[1.0, 1.0, np.zeros(298)]
    with pytest.raises(ValueError, match=r"auroc_f is undefined in 1\d% of the resamples"):
        abstain.ranking_study(loss, {"a": range(300), "b": range(300, 0, -1)}, "auroc_f", n_resamples=100)


@pytest.mark.parametrize("digits", [12, 2, 1])
def test_wilcoxon_over_resamples_is_scipys(digits):
    drawn = np.random.default_rng(0).normal([0.1, 0.15, 0.2], 0.1, (60, 3)).round(digits)
    found = wilcoxon_over_resamples(drawn)
    for i, j in product(range(3), range(3)):
        if i != j:
            expected = stats.wilcoxon(drawn[:, i], drawn[:, j], alternative="less", method="approx").pvalue
            assert found[i, j] == pytest.approx(expected)
    assert np.diag(found).tolist() == [1.0, 1.0, 1.0]
    assert wilcoxon_over_resamples(-drawn, "higher") == pytest.approx(found)
    assert wilcoxon_over_resamples(np.ones((5, 2))).tolist() == [[1.0, 1.0], [1.0, 1.0]]


# ---------------------------------------------------------------------- letters: shared by what does not differ


@st.composite
def matrices(draw, max_size=9):
    size = draw(st.integers(0, max_size))
    matrix = np.zeros((size, size), dtype=bool)
    for i, j in combinations(range(size), 2):
        matrix[i, j] = matrix[j, i] = draw(st.booleans())
    return matrix


@given(matrices())
def test_letters_are_shared_exactly_without_significance_and_none_is_superfluous(matrix):
    letters, pairs = letter_groups(matrix), list(combinations(range(len(matrix)), 2))
    assert all(letters)
    assert all(matrix[i, j] == (not set(letters[i]) & set(letters[j])) for i, j in pairs)
    for letter in set("".join(letters)):
        rest = [set(text) - {letter} for text in letters]
        assert not all(rest) or any(not matrix[i, j] and not rest[i] & rest[j] for i, j in pairs)


def test_published_example():
    """Piepho 2004: a chain in which neighbours do not differ; and more groups than letters."""
    matrix = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) > 1
    assert letter_groups(matrix) == ["a", "ab", "bc", "cd", "d"]
    letters = letter_groups(1 - np.eye(60))
    assert (len(set(letters)), letters[52]) == (60, "(53)")


def test_a_tenth_of_the_draws_decides_only_far_from_the_quantile():
    """Within five standard errors of the level all draws are made; the answer is theirs."""
    first, pairs = _Draws(np.eye(3), FEWEST, np.random.default_rng(1)), [[0, 1], [1, 2]]
    first.exceeded(np.zeros(1), pairs, [1.0, 2.0], 0.9)
    drawn = first.drawn[0]
    largest = np.maximum(abs(drawn[0] - drawn[1]), abs(drawn[1] - drawn[2]) / 2.0)
    for errors, number in ((-8.0, 1), (-4.0, 2), (-1.0, 2), (4.0, 2), (8.0, 1)):
        draws = _Draws(np.eye(3), 3 * FEWEST, np.random.default_rng(1))
        size = np.quantile(largest, 0.9 + errors * np.sqrt(0.09 / FEWEST))
        assert draws.exceeded(np.array([size]), pairs, [1.0, 2.0], 0.9).tolist() == [errors > 0.0]
        assert [each.shape[1] for each in draws.drawn] == [FEWEST, 3 * FEWEST][:number]
