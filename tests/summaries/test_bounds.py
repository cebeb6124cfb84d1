"""Certified bounds of binned scores: never left by any order and ties inside the bins, and attained for 0/1 losses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain
from abstain.summaries import Key, Summary


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
    """The summary of bins with these losses, whose scores differ within each bin."""
    summary = Summary(bits=8)
    for rank, part in enumerate(parts):
        uncertain = 2.0 ** (rank - 20) * (1.0 + 0.2 * np.arange(len(part)) / len(part))
        summary.update(part, 1.0 - uncertain)
    assert summary.n_bins == len(parts)
    return summary


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
    for bounds, seen in [(bins.bounds("aurc"), aurc), (bins.bounds("augrc"), augrc)]:
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
    bounds = bins.bounds("aurc"), bins.bounds("augrc")
    for aurc, augrc in values(parts):
        assert bounds[0].low - 1e-12 <= aurc <= bounds[0].high + 1e-12
        assert bounds[1].low - 1e-12 <= augrc <= bounds[1].high + 1e-12


@pytest.mark.parametrize("bits", [8, 12, 16, 20])
@pytest.mark.parametrize("scale", ["probability", "real"])
def test_bins_keep_the_order_and_fit(scale, bits):
    """A higher score never has a higher bin, whatever the precision; the last bin is for -inf."""
    rng = np.random.default_rng(1)
    score = np.concatenate([1.0 - 10.0 ** -rng.uniform(0, 17, 5000), rng.uniform(0, 1, 5000), [0.0, 1.0, 5e-324]])
    if scale == "real":
        score = np.concatenate([score * 1e30, -score, score, [np.inf, 1.7e308, -1.7e308, -0.0]])
    index = Key(scale, bits).of(np.append(np.sort(score)[::-1], -np.inf))
    assert (np.diff(index) >= 0).all()
    assert index[0] == 0
    assert index[-2] < index[-1] == 2**bits - 1


def test_a_bin_of_a_key_is_never_far_away():
    """Scores of one bin differ by less than 2^-steps of what the key looks at: 1 - p, or the score."""
    rng = np.random.default_rng(2)
    for scale, look in (("probability", lambda s: 1.0 - s), ("real", np.abs)):
        score = 10.0 ** -rng.uniform(0, 9, 20_000)
        score = 1.0 - score if scale == "probability" else score * rng.choice([-1.0, 1.0], len(score))
        key = Key(scale, 12)
        at = Summary(scale, 12).update(np.zeros(len(score)), score).columns()
        low, high = np.sort([look(at["lowest"]), look(at["highest"])], axis=0)
        assert (high - low < low * 2.0**-key.steps).all()
