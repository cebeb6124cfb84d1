"""Few labels against printed tables, a general optimiser and known ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

import abstain
from abstain.pool._pool import fit
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
