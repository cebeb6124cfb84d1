"""Tests of differences where two scores differ on few rows: an error there may not have been seen."""

from __future__ import annotations

import numpy as np
import pytest

import abstain
from abstain import inference
from abstain._typing import FloatArray

SIZE = 60_000


def _promoted(error: float, moved: float, wrong: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a score, the same with a share of rows promoted to its top, and each row's chance of an error."""
    rng = np.random.default_rng(3)
    base = rng.random(SIZE)
    chance = (1.0 - base) ** 2
    moves = (base < 0.5) & (rng.random(SIZE) < 2.0 * moved)
    score = np.where(moves, 1.0 + 0.01 * rng.random(SIZE), base)
    return base, score, np.where(moves, wrong, error * chance / chance.mean())


def _equal(error: float, moved: float, margin: float = 0.0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return such a population in which the promotion costs ``margin`` of AUGRC: by bisection."""
    low, high = 1e-6, 0.9
    for _ in range(40):
        middle = 0.5 * (low + high)
        base, score, chance = _promoted(error, moved, middle)
        low, high = (
            (middle, high) if abstain.augrc(chance, score) - abstain.augrc(chance, base) < margin else (low, middle)
        )
    return _promoted(error, moved, low)


def _samples(population: tuple[FloatArray, FloatArray, FloatArray], n: int, number: int):  # type: ignore[no-untyped-def]
    base, score, chance = population
    for seed in range(number):
        rng = np.random.default_rng([seed, 5])
        rows = rng.integers(0, SIZE, n)
        yield (rng.random(n) < chance[rows]) * 1.0, {"moved": score[rows], "base": base[rows]}


@pytest.mark.parametrize(("error", "moved", "n"), [(0.04, 0.02, 2500), (0.1, 0.02, 1000)])
def test_equal_scores_differ_seldom_however_few_rows_decide(error: float, moved: float, n: int) -> None:
    """Of 100 samples of equal scores at most 10 say that they differ; without room for an unseen error 30 did."""
    found = [
        abstain.compare(loss, scores).differences[0].significant
        for loss, scores in _samples(_equal(error, moved), n, 100)
    ]
    assert sum(found) <= 10


def test_a_score_at_the_margin_is_seldom_called_not_inferior() -> None:
    """Of 100 samples at the margin at most 10 claim; 15 did."""
    claimed = [
        inference.non_inferiority(loss, scores, margin=2e-4).shown
        for loss, scores in _samples(_equal(0.04, 0.02, 2e-4), 2500, 100)
    ]
    assert len(claimed) == 100
    assert sum(claimed) <= 10


def test_a_difference_without_an_error_where_it_lies_warns() -> None:
    """Ten right rows promoted, no error among them: sure of nothing, and it says why."""
    loss = np.r_[np.zeros(990), np.ones(10)]
    base = np.r_[np.linspace(1, 0, 990), np.linspace(0.6, 0.1, 10)]
    moved = base.copy()
    moved[700:710] += 1.0
    difference = abstain.compare(np.tile(loss, 3), {"a": np.tile(base, 3), "b": np.tile(moved, 3)}).differences[0]
    assert not difference.significant
    assert difference.warning is not None
    assert "too few samples on which the two differ" in difference.warning


def test_where_many_errors_decide_nothing_changes() -> None:
    """From ten deciding errors on the standard error is that of the influences."""
    rng = np.random.default_rng(0)
    ease = rng.random(2000)
    loss = (rng.random(2000) > ease).astype(float)
    scores = {"a": ease + rng.normal(0, 0.3, 2000), "b": ease + rng.normal(0, 0.3, 2000)}
    found = abstain.compare(loss, scores).differences[0]
    first, second = (inference.influence("augrc", loss, each) for each in scores.values())
    plain = float(np.sqrt(np.sum((first - second) ** 2))) / 2000
    assert found.standard_error == pytest.approx(plain, rel=1e-12)
