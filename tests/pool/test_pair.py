"""Two models or two scores from the labels of a few rows: exact with all labels, covered and cheaper with a few."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import abstain

RNG = np.random.default_rng(4)
N = 2000
EASE = RNG.random(N)
FIRST = (RNG.random(N) < 0.6 * (1.0 - EASE)).astype(float)
SECOND = np.where(RNG.random(N) < 0.1, 1.0 - FIRST, FIRST)
SCORE_A, SCORE_B = EASE + 0.2 * RNG.normal(size=N), EASE + 0.4 * RNG.normal(size=N)
GUESS_A, GUESS_B = np.zeros(N), np.where(FIRST != SECOND, 1, 0)
SCORES = {"a": SCORE_A, "b": SCORE_B}


def losses(plan: Any, one: bool) -> Any:
    """Return what the plan asked for: one loss of two scores, or one of each of two models."""
    known = plan.stage > 0
    if one:
        return np.where(known, FIRST, np.nan)
    return {"a": np.where(known, FIRST, np.nan), "b": np.where(known, SECOND, np.nan)}


def planned(n: int, one: bool, metric: str, seed: int) -> Any:
    """Plan n labels for the two scores, or the two models."""
    other = SCORE_B if one else (SCORE_B, GUESS_A, GUESS_B)
    return abstain.plan_labels(SCORE_A, n=n, compare=other, metric=metric, seed=seed)


@pytest.mark.parametrize("one", [True, False], ids=["scores", "models"])
@pytest.mark.parametrize("metric", ["augrc", "aurc", "selective_risk(coverage=0.7)"])
def test_all_rows_labelled_give_what_compare_gives(one: bool, metric: str) -> None:
    """With every label the difference is that of the pool."""
    found = abstain.compare(losses(plan := planned(N, one, metric, 0), one), SCORES, metric, plan=plan)
    plain = abstain.compare(losses(plan, one), SCORES, metric)
    assert found.difference("a", "b").difference == pytest.approx(plain.difference("a", "b").difference, abs=1e-12)
    assert found.difference("a", "b").standard_error == 0.0
    assert [row["name"] for row in found.table] == [row["name"] for row in plain.table]


@pytest.mark.parametrize("one", [True, False], ids=["scores", "models"])
def test_a_planned_comparison_covers_with_fewer_labels(one: bool) -> None:
    """Intervals of the difference cover, without bias, and plain evaluation of as many rows errs much more."""
    whole = {"a": FIRST, "b": FIRST if one else SECOND}
    values = [abstain.augrc(whole[name], SCORES[name]) for name in SCORES]
    truth, found, plain, rng = values[0] - values[1], [], [], np.random.default_rng(0)
    for seed in range(100):
        plan = planned(120, one, "augrc", seed)
        test = abstain.compare(losses(plan, one), SCORES, plan=plan).difference("a", "b")
        found.append((test.difference, test.low, test.high))
        rows = rng.choice(N, 120, replace=False)
        drawn = [abstain.augrc(whole[name][rows], SCORES[name][rows]) for name in SCORES]
        plain.append(drawn[0] - drawn[1])
    values, low, high = np.array(found).T
    assert np.mean((low <= truth) & (truth <= high)) >= 0.9
    assert abs(values.mean() - truth) < 4.0 * values.std() / 10.0
    assert np.mean((values - truth) ** 2) < 0.75 * np.mean((np.array(plain) - truth) ** 2)


def test_equal_scores_do_not_differ() -> None:
    """Two scores that rank alike differ by nothing, whatever is labelled."""
    plan = abstain.plan_labels(SCORE_A, n=50, compare=2.0 * SCORE_A, seed=0)
    found = abstain.compare(losses(plan, True), {"a": SCORE_A, "twice": 2.0 * SCORE_A}, plan=plan)
    test = found.difference("a", "twice")
    assert (test.difference, test.p_value, test.significant) == (0.0, 1.0, False)
    assert "only 0 labelled rows move the difference" in str(test.warning)


def test_a_comparison_goes_on() -> None:
    """A second stage goes where the first one went, and the shorter interval still comes from both."""
    plan = planned(80, False, "augrc", 1)
    first = abstain.compare(losses(plan, False), SCORES, plan=plan).difference("a", "b")
    plan = plan.extend(losses(plan, False)["a"], n=200, seed=2)
    second = abstain.compare(losses(plan, False), SCORES, plan=plan).difference("a", "b")
    assert second.standard_error < 0.8 * first.standard_error
    assert plan.inclusion[GUESS_B > 0].mean() > 2.0 * plan.inclusion[(GUESS_B == 0) & (plan.stage != 1)].mean()
