"""Tests of differences where two scores differ on few rows: an error there may not have been seen."""

import numpy as np
import pytest

import abstain
from abstain.inference._unseen_pair import _tie, unseen_pairs
from tests.tiers import repeated


def _apart(kind, n, rng, wrong=0.035):
    """Return two equal ones that differ on 2 % of the rows, which the second score puts first.

    Without an unseen error they were told apart: in clusters of five in 9 to 38 % of 60 samples, with graded losses in
    25 to 35 %, and two models with losses of their own in 17 to 25 %.
    """
    base = rng.random(n)
    clusters = None
    moves = (base < 0.5) & (rng.random(n) < 0.04)
    if kind == "clusters":
        clusters = np.repeat(np.arange(n // 5), 5)
        base = np.repeat(rng.random(n // 5), 5) * 0.7 + 0.3 * base
        moves = np.repeat((base[::5] < 0.5) & (rng.random(n // 5) < 0.04), 5)
    chance = 0.1 * (1.0 - base) ** 2 / np.mean((1.0 - base) ** 2)
    luck = np.repeat(rng.random(n // 5), 5) if kind == "clusters" else rng.random(n)
    scores = {"moved": np.where(moves, 1.0 + 0.01 * rng.random(n), base), "base": base}
    if kind == "models":  # right nearly always where it is sure
        first = np.where(moves, rng.random(n) < 0.05, luck < chance) * 1.0
        return {"moved": first, "base": (luck < chance) * 1.0}, scores, None
    loss = (luck < np.where(moves, wrong, chance)) * 1.0
    return loss * (0.1 + 0.9 * rng.random(n)) if kind == "graded" else loss, scores, clusters


@repeated(20, 60)
@pytest.mark.parametrize("kind", ["plain", "clusters", "graded", "models"])
def test_equal_ones_of_every_kind_differ_seldom(kind, repetitions):
    """Of 60 samples in clusters, with graded losses, and of two models at most 6 say that equal ones differ."""
    found = 0
    for seed in range(repetitions):
        loss, scores, clusters = _apart(kind, 1000, np.random.default_rng([seed, 8]))
        compared = abstain.compare(loss, scores, clusters=clusters, n_permutations=999)
        found += compared.differences[0].significant
    assert found <= {20: 3, 60: 6}[repetitions]


def test_a_score_at_the_margin_is_seldom_called_not_inferior():
    """Of 100 samples at the margin at most 10 claim; without room for an unseen error 26 did."""
    loss, scores, _ = _apart("plain", 500_000, np.random.default_rng(0), wrong=0.08)
    margin = abstain.augrc(loss, scores["moved"]) - abstain.augrc(loss, scores["base"])
    samples = [_apart("plain", 1000, np.random.default_rng([seed, 8]), wrong=0.08)[:2] for seed in range(100)]
    assert margin > 0.0
    assert sum(abstain.inference.non_inferiority(*each, margin=margin).shown for each in samples) <= 10


def test_a_difference_without_an_error_where_it_lies_warns():
    """Ten right rows promoted, no error among them, three times: sure of nothing, and it says why."""
    loss = np.repeat([0.0, 1.0], [990, 10])
    base = np.r_[np.linspace(1.0, 0.0, 990), np.linspace(0.6, 0.1, 10)]
    moved = base + (np.arange(1000) // 10 == 70)
    found = abstain.compare(np.tile(loss, 3), {"a": np.tile(base, 3), "b": np.tile(moved, 3)}).differences[0]
    assert not found.significant
    assert "too few samples on which the two differ" in found.warning


def _correlated(loss, unit):
    """Return how losses of a cluster hang together, pair by pair: beyond chance, of what the others could hold."""
    pairs = [(i, j) for i in range(unit.size) for j in range(unit.size) if i != j and unit[i] == unit[j]]
    possible = sum(loss[i] ** 2 for i, _ in pairs)
    if possible == 0.0:
        return 1.0
    chance = loss.mean() * loss.sum() / np.sum(loss**2)
    return min(max(0.0, (sum(loss[i] * loss[j] for i, j in pairs) / possible - chance) / (1.0 - chance)), 1.0)


@pytest.mark.parametrize("graded", [False, True])
def test_losses_in_a_cluster_are_correlated_as_their_pairs_say(graded):
    """Of what the others of an error could hold, the part that they do beyond chance; all where none has others."""
    rng = np.random.default_rng(6)
    unit = np.repeat(np.arange(60), rng.integers(1, 7, 60))
    loss = (rng.random(unit.size) < rng.beta(0.5, 2.0, 60)[unit]) * (rng.random(unit.size) if graded else 1.0)
    assert 0.0 < _correlated(loss, unit) < 1.0
    assert _tie(loss, unit) == pytest.approx(_correlated(loss, unit), rel=1e-9)
    assert _tie(0.0 * loss, unit) == 1.0


def _felt(rise, tie, rows, unit, size):
    """Return the mean square of what an error at each row does, row by row: with others of its cluster, at random."""
    found = []
    for r in rows:
        others = [] if unit is None else [rise[k] for k in rows if unit[k] == unit[r] and k != r]
        k = min(tie * (size[r] - 1.0), len(others)) if others else 0.0
        found.append((rise[r] + k * np.mean(others or [0.0])) ** 2 + k * np.var(others or [0.0]))
    return found


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("kind", ["errors", "graded", "models", "graded models"])
def test_room_for_an_error_anywhere_is_its_mean_over_rows(kind, clustered):
    """At a row drawn by its squared gap; of two models also by what either does alone, whichever is more."""
    for seed in range(3):
        rng = np.random.default_rng([seed, 4])
        n, graded = 60, "graded" in kind
        unit = np.repeat(np.arange(n), rng.integers(1, 6, n))[:n] if clustered else None
        losses = [np.where(rng.random(n) < 0.3, rng.uniform(0.1, 2.0, n) if graded else 1.0, 0.0) for _ in "ab"]
        rises, score = [rng.normal(0.01, 0.02, n), rng.normal(0.0, 0.02, n)], rng.random(n)
        size = np.ones(n) if unit is None else np.bincount(unit)[unit]
        judged = losses if "models" in kind else losses[:1]
        tables = [abstain.TieBlocks.from_samples(loss, score, keep_samples=True) for loss in judged]
        found = unseen_pairs(rises, tables, same_loss=len(judged) == 1, unit=unit)
        assert len(found) == (1 if graded else 2)
        for pairs, mine in zip(found, [judged, [1.0 - loss for loss in judged]], strict=False):
            square = max(float(loss @ loss**2 / loss.sum()) for loss in judged)
            tie = 0.0 if unit is None else max(_correlated(loss, unit) for loss in mine)
            mean = [0.5 * float(loss @ loss / loss.sum()) for loss in judged]
            rows = [r for r in range(n) if all(loss[r] < least for loss, least in zip(mine, mean, strict=True))]
            gap = rises[0] - rises[1]
            felt, weight = _felt(gap, tie, rows, unit, size), gap[rows] ** 2
            expected = square * float(weight @ felt / weight.sum())
            if len(judged) == 2:
                ways = [np.maximum(way * (mine[0] - mine[1]), 0.0) for way in (1.0, -1.0)]
                ties = [0.0 if unit is None else _correlated(way, unit) for way in ways]
                alone = np.max([_felt(*each, rows, unit, size) for each in zip(rises, ties, strict=True)], axis=0)
                either = np.maximum(*np.abs(rises))[rows] ** 2
                means = weight @ np.maximum(alone, felt) / weight.sum(), either @ alone / either.sum()
                expected = square * max(map(float, means))
            assert pairs._anywhere(0, 1) == pytest.approx(expected, rel=1e-9)
            assert pairs.of(0, 1) == max(pairs._anywhere(0, 1), pairs.directed(0, 1))
            most = max(1.0, float(mine[0].max())) if len(judged) == 1 else 1.0
            alike = len(judged) == 1
            rises_there = np.concatenate([rise[rows] for rise in rises]) if alike else np.ravel([*rises, 0 * rises[0]])
            assert pairs.largest(0, 1) == pytest.approx(most * size[rows].max() * np.ptp(rises_there))


@pytest.mark.parametrize("clusters", [None, np.arange(150) // 3])
def test_the_spread_of_a_difference_has_the_unseen_error_in_it(clusters):
    """By method="influence", if ten of them would change it: a gap is what a unit of loss at a row does to both."""
    rng = np.random.default_rng(2)
    loss, scores = (np.arange(150) % 30 == 0) * 1.0, {"a": rng.random(150), "b": rng.random(150)}
    scores["b"] = np.where(rng.random(150) < 0.9, scores["a"], scores["b"])
    found = abstain.compare(loss, scores, clusters=clusters, method="influence").differences[0]
    rows = [[abstain.augrc(loss + (np.arange(150) == r), each) for r in range(150)] for each in scores.values()]
    value = [abstain.augrc(loss, score) for score in scores.values()]
    gap = (np.array(rows[0]) - value[0]) - (np.array(rows[1]) - value[1])
    table = abstain.TieBlocks.from_samples(loss, scores["a"], keep_samples=True)
    unseen = max(each.of(0, 1) for each in unseen_pairs([gap, 0.0 * gap], [table], True, clusters))
    terms = np.subtract(*(abstain.inference.influence("augrc", loss, each) for each in scores.values())) / 150
    terms = terms if clusters is None else np.bincount(clusters, terms)
    test, df = float(terms @ terms) * terms.size / (terms.size - 1.0 if clusters is not None else terms.size), found.df
    assert unseen > test / 10.0
    assert found.standard_error == pytest.approx(np.sqrt(test + unseen), rel=1e-9)
    fourth = float(np.sum(terms**4)) / float(terms @ terms) ** 2
    own = min(terms.size - 1.0, 2.0 / (fourth - 1.0 / terms.size))
    assert df == pytest.approx((test + unseen) ** 2 / (test**2 / own + unseen**2 / 2.0), rel=1e-6)


@pytest.mark.parametrize("largest", [1.0, 0.4, 3.0])
def test_room_for_what_one_score_ranks_higher_is_its_formula(largest):
    """Fourth powers of gaps by third powers of squares, beyond chance; per cluster; by the largest loss, at least 1."""
    rng = np.random.default_rng(5)
    loss = np.where(np.arange(200) % 10 == 0, largest, 0.0)
    rises, unit = [rng.normal(0.01, 0.02, 200), rng.normal(0.0, 0.02, 200)], np.arange(200) // 4
    table = abstain.TieBlocks.from_samples(loss, rng.random(200), keep_samples=True)
    right = loss == 0.0
    gaps = {None: (rises[0] - rises[1])[right], 4: np.bincount(unit[right], (rises[0] - rises[1])[right])}
    for size, gap in gaps.items():
        pairs = unseen_pairs(rises, [table], same_loss=True, unit=None if size is None else unit)
        one_way = np.sum(gap * np.abs(gap)) ** 2 - 4.0 * np.sum(gap**4)
        expected = max(largest, 1.0) ** 2 * np.sum(gap**4) * one_way / np.sum(gap**2) ** 3
        assert one_way > 0.0
        assert pairs[0].directed(0, 1) == pytest.approx(expected, rel=1e-9)
        whole, number, share = pairs[0].moved(0, 1)
        gap = gap - (0.0 if size is None else (rises[0] - rises[1])[right].mean() * np.bincount(unit[right]))
        assert whole == pytest.approx(np.sum(gap**2), rel=1e-9)
        assert number == pytest.approx(np.sum(gap**2) ** 2 / np.sum(gap**4), rel=1e-9)
        assert share == pytest.approx(abs(np.sum(gap * np.abs(gap))) / np.sum(gap**2), rel=1e-9)
