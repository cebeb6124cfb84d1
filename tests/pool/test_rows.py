"""Plans of several pools, and rows that are found by names which files spell differently."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import abstain
from abstain.cli import run
from abstain.pool import load_plan

RNG = np.random.default_rng(8)
N = 400
SCORE = RNG.random(N)
LOSS = (RNG.random(N) < 0.4 * (1.0 - SCORE)).astype(float)


def test_one_seed_draws_independently_in_each_pool() -> None:
    """Sorted pools of two weeks, planned with the same seed, do not have their labels at the same ranks."""
    weeks = [np.linspace(0.0, 1.0, 500) ** power for power in (1.0, 1.1)]
    plans = [abstain.plan_labels(score, n=100, seed=0) for score in (*weeks, weeks[0])]
    assert np.array_equal(plans[0].stage, plans[2].stage)
    assert len(np.intersect1d(plans[0].planned, plans[1].planned)) < 40


def test_ids_are_the_same_numbers_however_a_file_or_frame_spells_them(tmp_path: Path) -> None:
    """0007 in a plan is found where the pool has 7 or 7.0, and a CSV keeps its zeros; 7 beside 07 is two rows."""
    padded = np.array([f"{k:04d}" for k in range(N)])
    plan = abstain.plan_labels(SCORE, n=60, seed=0, ids=padded)
    known = np.where(plan.stage > 0, LOSS, np.nan)
    expected = abstain.evaluate(loss=known, confidence=SCORE, ids=padded, plan=plan).to_csv()
    for ids in (np.arange(N), np.arange(N).astype(float), np.arange(N).astype(str)):
        assert abstain.evaluate(loss=known[::-1], confidence=SCORE[::-1], ids=ids[::-1], plan=plan).to_csv() == expected
    file = tmp_path / "pool.csv"
    pl.DataFrame({"id": padded, "confidence": SCORE, "wrong": known}).with_columns(
        pl.col("wrong").fill_nan(None)
    ).write_csv(file)
    assert abstain.evaluate(file, plan=plan, loss="wrong").to_csv() == expected
    assert run(["plan", str(file), "--labels", "60", "--seed", "0", "-o", str(tmp_path / "plan.csv")]) == 0
    assert load_plan(tmp_path / "plan.csv").digest == plan.digest
    twice = padded.copy()
    twice[8] = "7"
    with pytest.raises(ValueError, match="the ids are not those of the plan: 1 of its 400 rows are missing"):
        abstain.evaluate(loss=known, confidence=SCORE, ids=twice, plan=plan)
