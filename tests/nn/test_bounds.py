"""Certified bounds of binned scores: never left by any order and ties inside the bins, and attained for 0/1 losses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import abstain
from abstain.nn import _histogram as histogram
from abstain.nn._bounds import Bins, certified


def weak_orders(losses):
    """All ways to rank the losses of one bin with ties, as lists of groups from the most confident down."""
    if not losses:
        return [[]]
    found = set()
    for order in set(itertools.permutations(losses)):
        for cuts in itertools.product([False, True], repeat=len(order) - 1):
            groups, start = [], 0
            for position, cut in enumerate(cuts, 1):
                if cut:
                    groups.append(tuple(sorted(order[start:position])))
                    start = position
            found.add((*groups, tuple(sorted(order[start:]))))
    return [list(each) for each in found]


def bins_of(parts):
    """The histogram of bins with these losses, in which nothing is known to tie."""
    count = np.array([len(part) for part in parts], float)
    loss = np.array([sum(part) for part in parts], float)
    largest = np.array([max(part) for part in parts], float)
    return Bins(count, loss, np.zeros(len(parts)), np.ones(len(parts)), largest)


def values(parts):
    """AURC and AUGRC of every possible ranking."""
    for orders in itertools.product(*(weak_orders(tuple(part)) for part in parts)):
        groups = [group for order in orders for group in order]
        loss = [each for group in groups for each in group]
        score = [-float(rank) for rank, group in enumerate(groups) for _ in group]
        yield abstain.aurc(loss, score), abstain.augrc(loss, score)


@given(parts=st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=4), min_size=1, max_size=2))
def test_bounds_of_0_1_losses_are_attained(parts):
    """Smallest and largest value over all rankings are the bounds themselves; the point lies between."""
    bins = bins_of(parts)
    aurc, augrc = (np.array(column) for column in zip(*values(parts), strict=True))
    for bounds, seen in [(bins.aurc(), aurc), (bins.augrc(), augrc)]:
        assert bounds.low == pytest.approx(seen.min(), abs=1e-12)
        assert bounds.high == pytest.approx(seen.max(), abs=1e-12)
        assert bounds.low - 1e-12 <= bounds.value <= bounds.high + 1e-12


@given(
    parts=st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0]), min_size=1, max_size=4), min_size=1, max_size=2
    )
)
def test_bounds_of_other_losses_hold(parts):
    """Real losses: no ranking leaves the bounds."""
    bins = bins_of(parts)
    for aurc, augrc in values(parts):
        assert bins.aurc().low - 1e-12 <= aurc <= bins.aurc().high + 1e-12
        assert bins.augrc().low - 1e-12 <= augrc <= bins.augrc().high + 1e-12


def test_bounds_hold_on_large_bins():
    """Random orders with ties of losses of every size, in bins that no enumeration reaches."""
    rng = np.random.default_rng(0)
    for turn in range(300):
        parts = [
            rng.exponential(1.0, rng.integers(1, 30)) * (rng.random() < 0.8) * 10.0 ** rng.integers(-2, 3)
            for _ in range(rng.integers(1, 6))
        ]
        bins = bins_of(parts)
        loss = np.concatenate(parts)
        score = np.concatenate(
            [rng.integers(0, 1 + turn % 40, len(part)) - 100.0 * rank for rank, part in enumerate(parts)]
        )
        for bounds, value in [(bins.aurc(), abstain.aurc(loss, score)), (bins.augrc(), abstain.augrc(loss, score))]:
            assert bounds.low * (1 - 1e-12) <= value <= bounds.high * (1 + 1e-12)


def test_a_bin_with_one_score_is_a_tie():
    """Equal lowest and highest score: the value is exact."""
    bins = Bins(np.array([3.0, 2.0]), np.array([1.0, 1.0]), np.array([0.9, 0.5]), np.array([0.9, 0.5]), np.ones(2))
    loss, score = [0, 0, 1, 1, 0], [0.9] * 3 + [0.5] * 2
    for name in ("aurc", "augrc", "e_augrc", "e_aurc", "auroc_f"):
        bounds = certified(bins, binary=True)[name]
        assert bounds.low == bounds.high == bounds.value
        metric = abstain.metrics.get(name)
        expected = metric(abstain.TieBlocks.from_samples(loss, score))
        assert bounds.value == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("bins", [256, 4096, 65536, 1 << 20])
@pytest.mark.parametrize("scale", ["probability", "real"])
def test_bins_keep_the_order_and_fit(scale, bins):
    """A higher score never has a higher bin, whatever the precision; every bin number is below ``bins``."""
    rng = np.random.default_rng(1)
    score = np.concatenate([1.0 - 10.0 ** -rng.uniform(0, 17, 5000), rng.uniform(0, 1, 5000), [0.0, 1.0, 5e-324]])
    if scale == "real":
        score = np.concatenate([score * 1e30, -score, score, [np.inf, -np.inf, 1.7e308, -1.7e308]])
    score = np.sort(score)[::-1].copy()
    index = histogram.bin_of(torch.tensor(score), bins, scale)
    assert bool((index[1:] >= index[:-1]).all())
    assert int(index.min()) >= 0
    assert int(index.max()) < bins
