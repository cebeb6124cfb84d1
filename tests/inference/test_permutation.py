"""The permutation test against brute force, and its size on tiny samples."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

import abstain
from abstain.inference import permutation_test
from tests.inference.populations import exchangeable


def brute_force(loss_a, score_a, loss_b, score_b, metric):
    """Every one of the 2^n swaps, metric by metric."""
    function = getattr(abstain, metric)
    alike, most = set(score_a) & set(score_b), max(len(set(score_a)), len(set(score_b)))
    a, b = (score_a, score_b) if 2 * len(alike) >= most else (rankdata(score_a), rankdata(score_b))
    observed = function(loss_a, a) - function(loss_b, b)
    values = []
    for swap in product([False, True], repeat=len(a)):
        first = function(np.where(swap, loss_b, loss_a), np.where(swap, b, a))
        values.append(first - function(np.where(swap, loss_a, loss_b), np.where(swap, a, b)))
    return float(np.mean(np.abs(values) >= abs(observed) - 1e-12))


@st.composite
def problems(draw):
    n = draw(st.integers(1, 6))
    few = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    loss = st.lists(st.sampled_from([0.0, 1.0, 0.5]), min_size=n, max_size=n)
    shared = draw(st.booleans())
    first = draw(loss)
    return [np.array(c) for c in (first, draw(few), first if shared else draw(loss), draw(few))], shared


@pytest.mark.parametrize("metric", ["augrc", "aurc"])
@given(problem=problems())
def test_it_is_the_enumeration(problem, metric):
    (loss_a, score_a, loss_b, score_b), shared = problem
    found = permutation_test(loss_a if shared else (loss_a, loss_b), score_a, score_b, metric)
    assert found.exact
    assert found.p_value == pytest.approx(brute_force(loss_a, score_a, loss_b, score_b, metric))


def test_the_unit_of_the_losses_does_not_matter():
    """Differences are compared as closely in losses that are a millionth of a millionth."""
    loss, a, b = np.random.default_rng(0).random((3, 9))
    found, small = (permutation_test(unit * loss, a, b) for unit in (1.0, 1e-12))
    assert small.p_value == found.p_value < 0.5


@pytest.mark.parametrize("name", ["selective_risk", "generalized_risk"])
def test_a_threshold_is_one_of_the_scores_themselves(name):
    losses, (a, b) = exchangeable(12, np.random.default_rng(5), error=0.5)
    expected = [getattr(abstain, name)(losses[0], score, threshold=-0.1) for score in (a, b)]
    result = permutation_test(losses[0], a, b, f"{name}(threshold=-0.1)")
    assert result.difference == pytest.approx(expected[0] - expected[1])
    assert result.difference != 0.0


def test_clusters_swap_together():
    losses, (a, b) = exchangeable(8, np.random.default_rng(2), error=0.5)
    copies = [np.repeat(column, 3) for column in (losses[0], a, b)]
    clustered = permutation_test(*copies, clusters=np.repeat(np.arange(8), 3))
    single = permutation_test(losses[0], a, b)
    assert clustered.n_permutations == single.n_permutations
    assert clustered.p_value == pytest.approx(single.p_value)


def test_many_movable_samples_are_drawn_not_counted():
    """Above 1,024 samples that differ their 2^n swaps are no number for a float: random swaps, as for any large n."""
    rng = np.random.default_rng(0)
    loss = (rng.random(1500) < 0.1) * 1.0
    found = permutation_test(loss, rng.random(1500), rng.random(1500), n_permutations=19)
    assert (found.exact, found.n_permutations) == (False, 19)
    few = permutation_test([0, 1, 0, 1], [4, 3, 2, 1], [1, 2, 3, 4], n_permutations=8)
    assert (few.exact, few.n_permutations) == (True, 8)
    assert not permutation_test([0, 1, 0, 1], [4, 3, 2, 1], [1, 2, 3, 4], n_permutations=7).exact
