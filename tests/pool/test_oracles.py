"""Few labels against design formulas in rationals, printed tables, a general optimiser and known ends."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

import abstain
from abstain.pool import Sample
from abstain.pool._pool import Pool, fit
from tests.pool.test_estimate import evaluated


@pytest.mark.parametrize(("looks", "constant"), [(1, 1.960), (2, 1.977), (3, 2.004), (4, 2.024), (5, 2.040)])
def test_levels_are_those_of_the_printed_tables(looks: int, constant: float) -> None:
    """O'Brien and Fleming's constants at 5 %, as Jennison and Turnbull (2000, table 2.3) print them."""
    for look in range(1, looks + 1):
        bound = -norm.ppf(0.5 - 0.5 * abstain.pool.interim_level(look, looks))
        assert bound == pytest.approx(constant * np.sqrt(looks / look), abs=0.0006 * np.sqrt(looks / look))


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_the_risk_model_is_at_the_posterior_mode(share: float) -> None:
    """A general optimiser finds no better coefficients."""
    rng = np.random.default_rng(3)
    z = rng.standard_normal(60)
    x, loss = np.stack([np.ones(60), z, z * z - 1.0], axis=1), (rng.random(60) < share).astype(float)
    weight = rng.uniform(0.5, 2.0, 60)

    def minus_log_posterior(b: Any) -> float:
        p = 1.0 / (1.0 + np.exp(-x @ b))
        likelihood = weight / weight.mean() @ (loss * np.log(p) + (1.0 - loss) * np.log(1.0 - p))
        return float(0.5 * np.sum(((b - [-2.0, -0.8, 0.0]) / [3.0, 0.7, 0.25]) ** 2) - likelihood)

    best = minimize(minus_log_posterior, np.zeros(3), tol=1e-12).x
    assert fit(x, loss, weight) == pytest.approx(best, abs=1e-4)


@pytest.mark.filterwarnings("ignore:confidence is higher where the loss is higher")
@pytest.mark.parametrize(("first", "end"), [(True, 0.0), (False, 1.0)])
def test_a_perfect_or_perfectly_wrong_sample_leaves_room_for_the_end(first: bool, end: float) -> None:
    """Errors at one end of the labelled rows: the ranking of the pool may be perfect (AUROC 1), or wrong (0)."""
    score = np.linspace(0.0, 1.0, 500)
    loss = (score > 0.85 if first else score < 0.15).astype(float)
    found = evaluated(abstain.plan_labels(score, n=100, seed=0), "auroc_f", loss=loss, score=score).measurements[0]
    assert (found.low if first else found.high) == pytest.approx(end, abs=1e-9)
    assert found.low <= found.value <= found.high


def auroc_of_failures(right: Any, wrong: Any) -> float:
    """Return the chance that a right row has the higher score than a wrong one, a tie counting half, from counts.

    Counts are by descending score.
    """
    right, wrong = np.asarray(right, dtype=float), np.asarray(wrong, dtype=float)
    pairs = 0.0
    for k in range(len(wrong)):
        pairs += wrong[k] * (right[:k].sum() + 0.5 * right[k])
    return float(pairs / (right.sum() * wrong.sum()))


def test_a_tie_of_most_rows_leaves_room_for_what_no_label_lies_beside() -> None:
    """Few or no labels lie above and below the tie: errors there, as many as labels may miss, are in the interval."""
    score = np.repeat([0.9, 0.5, 0.1], [60, 3880, 60])
    loss = np.zeros(4000)
    loss[100:400] = 1.0
    tried = 0
    for seed in range(6):
        plan = abstain.plan_labels(score, n=100, seed=seed)
        seen = plan.stage > 0
        if seen[:60].sum() >= 5 or seen[-60:].sum() >= 5:
            continue
        tried += 1
        found = evaluated(plan, "auroc_f", loss, score).measurements[0]
        estimated = abstain.pool.sample_of(plan, np.where(seen, loss, np.nan)).estimated.loss
        missed = min(-np.log(0.025) * 4000 / 100, 60.0)
        for above in (0.0, missed):
            for below in (0.0, missed):
                wrong = np.array([above, estimated[1], below])
                value = auroc_of_failures(np.array([60.0, 3880.0, 60.0]) - wrong, wrong)
                assert found.low - 1e-9 <= value <= found.high + 1e-9
    assert tried >= 4


SCORES = [9, 7, 7, 6, 4, 4, 4, 1]
GUESS = [Fraction(k, 8) for k in (1, 2, 1, 3, 4, 2, 5, 6)]


def augrc_by_labels(rows: list[int], loss: list[int], stands_for: list[Fraction]) -> Fraction:
    """Return what rows add to AUGRC, guessed, and what labels correct: each for as many rows as it stands for."""
    adds = [sum(Fraction(2 * (other < one) + (other == one), 2) for other in SCORES) / 64 for one in SCORES]
    corrected = sum(
        rate * adds[row] * (known - GUESS[row]) for row, known, rate in zip(rows, loss, stands_for, strict=True)
    )
    return sum((a * b for a, b in zip(adds, GUESS, strict=True)), corrected)


@pytest.mark.parametrize("chances", [(Fraction(1, 2),) * 3, (Fraction(3, 4), Fraction(1, 2), Fraction(1, 4))])
def test_two_stages_are_the_design_formula_in_rationals(chances: tuple[Fraction, ...]) -> None:
    """Two rows of eight, then three of the six left: a stage weighs n/(M (M - n)), so even ones are one sample."""
    rows, loss = [1, 6, 0, 3, 4], [0, 1, 1, 0, 1]
    weights = Fraction(2, 8 * 6), Fraction(3, 6 * 3)
    first, second = (each / sum(weights) for each in weights)
    stands_for = [first / Fraction(2, 8) + second] * 2 + [second / chance for chance in chances]
    assert (set(stands_for) == {Fraction(8, 5)}) == (len(set(chances)) == 1)
    sample = Sample(
        Pool.of(np.array(SCORES, dtype=float)), np.array(rows), np.array(loss, dtype=float),
        np.array([0, 0, 1, 1, 1]), np.array([0.25, 0.25, *map(float, chances)]), np.ones(8, bool), (2, 3),
    )  # fmt: skip
    found = abstain.metrics.get("augrc")(sample.with_guess(np.array([float(each) for each in GUESS])))
    assert found == pytest.approx(float(augrc_by_labels(rows, loss, stands_for)), rel=1e-13)


def test_the_variance_of_an_even_sample_is_cochrans() -> None:
    """N^2 (1 - n/N) s^2 / n, with s^2 over n - 1, in rationals."""
    terms = [Fraction(k, 16) for k in (3, -2, 0, 7, -5)]
    mean = sum(terms) / 5
    expected = 64 * (1 - Fraction(5, 8)) * (sum((each - mean) ** 2 for each in terms) / 4) / 5
    sample = Sample(
        Pool.of(np.array(SCORES, dtype=float)), np.arange(5), np.zeros(5), np.zeros(5, int), np.full(5, 0.625),
        np.ones(8, bool), (5,),
    )  # fmt: skip
    assert sample.variance_of(np.array([float(each) for each in terms]), 0.0) == pytest.approx(float(expected))
