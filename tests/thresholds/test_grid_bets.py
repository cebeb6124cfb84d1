"""Bets and the closed test of a live certificate against plain products, all subsets, and exact expectations."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain.thresholds import _grid_bets as bets

LIMIT = 0.2
#: Distances of the bets in standard deviations of a loss, and their weights.
BETS = ((0.24, 0.3), (0.12, 0.3), (0.06, 0.3), (0.02, 0.08), (0.006, 0.02))


def rates(smallest):
    """Return the parts of the limit against which the bets are best."""
    return [1.0 / (1.0 + step * math.sqrt((1.0 - smallest * LIMIT) / (smallest * LIMIT))) for step, _ in BETS]


def plain_evidence(rows, threshold, smallest):
    """Mean over the stakes of the product of 1 + stake * X, one factor after the other."""
    products = []
    for rate, (_, weight) in zip(rates(smallest), BETS, strict=True):
        product = 1.0
        for confidence, loss, chance in rows:
            gain = (LIMIT - loss) / chance if confidence >= threshold else 0.0
            product *= 1.0 + smallest * (1.0 - rate) / (1.0 - LIMIT) * gain
        products.append(weight * product)
    return sum(products)


CONFIDENCES, LOSSES, CHANCES = (0.1, 0.4, 0.5, 0.7, 0.95, np.nan), (0.0, 0.5, 1.0), (0.25, 1.0)  # some on the grid


@given(st.lists(st.tuples(*map(st.sampled_from, (CONFIDENCES, LOSSES, CHANCES))), max_size=30))
def test_evidence_is_the_mean_of_plain_products(rows):
    """Sums of logarithms by cell give at every threshold what one product over the accepted rows gives."""
    grid = np.array([0.9, 0.7, 0.4])
    confidence, loss, chance = np.array(rows, dtype=float).reshape(-1, 3).T
    cell = bets.cells(grid, confidence)
    logs = bets.log_factors((LIMIT - loss) / chance, LIMIT, 0.25)
    found = np.exp(bets.log_evidence(bets.by_cell(logs, cell, 3)))
    assert found == pytest.approx([plain_evidence(rows, t, 0.25) for t in grid], rel=1e-12)


def test_a_cluster_is_one_factor():
    """At every threshold the logarithm of a cluster is that of 1 + stake * (sum over its accepted rows) / size."""
    rng = np.random.default_rng(3)
    cluster, cell = rng.integers(0, 5, 40), rng.integers(0, 4, 40)
    gain = (LIMIT - (rng.random(40) < 0.3)) / 12
    found = np.cumsum(bets.by_cell(bets.cluster_logs(gain, cell, cluster, LIMIT, 1.0), cell, 3), axis=1)
    for j in range(3):
        sums = [gain[(cluster == k) & (cell <= j)].sum() for k in range(5)]
        wanted = [sum(math.log(1 + (1 - rate) / (1 - LIMIT) * one) for one in sums) for rate in rates(1.0)]
        assert found[:, j] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("chance", [Fraction(1), Fraction(1, 4)])
def test_expected_evidence_at_the_limit_is_one(chance):
    """Over all outcomes of three rows with a risk exactly at the limit the mean of the evidence is 1."""
    total = 0.0
    outcomes = [(True, 1.0), (True, 0.0), (False, 0.0)]
    for three in itertools.product(outcomes, repeat=3):
        weight, logs = 1.0, np.zeros((5, 1))
        for drawn, loss in three:
            wrong = LIMIT if loss else 1 - LIMIT
            weight *= float(chance) * wrong if drawn else 1 - float(chance)
            gain = np.array([(LIMIT - loss) / float(chance) if drawn else 0.0])
            logs += bets.log_factors(gain, LIMIT, float(chance))
        total += weight * float(np.exp(bets.log_evidence(logs))[0])
    assert total == pytest.approx(1.0, rel=1e-12)


@given(st.lists(st.floats(-4.0, 6.0), min_size=1, max_size=7), st.integers(0, 127))
def test_closed_test_searches_all_subsets(logs, before):
    """A threshold is certified if every set of open thresholds that holds it is rejected."""
    n, bar = len(logs), 20.0
    done = [bool(before >> j & 1) for j in range(n)]
    weight = [(j + 1 + 0.5 * n) ** -3 for j in range(n)]
    share = [each / sum(weight) for each in weight]

    def rejected(members):
        total = 0.0
        for start in range(n):
            first = next((j for j in members if j >= start), None)
            total += 0.0 if first is None else share[start] * math.exp(logs[first])
        return total >= bar

    while True:
        open_ = [j for j in range(n) if not done[j]]
        sets = [each for size in range(1, len(open_) + 1) for each in itertools.combinations(open_, size)]
        fresh = [j for j in open_ if all(rejected(each) for each in sets if j in each)]
        if not fresh:
            break
        for j in fresh:
            done[j] = True
    given_before = np.array([bool(before >> j & 1) for j in range(n)])
    assert bets.certify(np.array(logs), given_before, math.log(bar)).tolist() == done
