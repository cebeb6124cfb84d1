"""Two models or two scores from the labels of a few rows: exact with all labels, covered and cheaper with a few."""

import numpy as np
import polars as pl
import pytest

import abstain
from abstain.pool import load_plan

RNG = np.random.default_rng(4)
N = 2000
EASE = RNG.random(N)
FIRST = (RNG.random(N) < 0.6 * (1.0 - EASE)).astype(float)
SECOND = np.where(RNG.random(N) < 0.1, 1.0 - FIRST, FIRST)
SCORE_A, SCORE_B = EASE + 0.2 * RNG.normal(size=N), EASE + 0.4 * RNG.normal(size=N)
GUESS_A, GUESS_B = np.zeros(N), np.where(FIRST != SECOND, 1, 0)
SCORES = {"a": SCORE_A, "b": SCORE_B}


def losses(plan, one):
    """Return what the plan asked for: one loss of two scores, or one of each of two models."""
    known = plan.stage > 0
    if one:
        return np.where(known, FIRST, np.nan)
    return {"a": np.where(known, FIRST, np.nan), "b": np.where(known, SECOND, np.nan)}


def planned(n, one, metric, seed):
    """Plan n labels for the two scores, or the two models."""
    other = SCORE_B if one else (SCORE_B, GUESS_A, GUESS_B)
    return abstain.plan_labels(SCORE_A, n=n, compare=other, metric=metric, seed=seed)


@pytest.mark.parametrize("one", [True, False], ids=["scores", "models"])
@pytest.mark.parametrize("metric", ["augrc", "aurc", "selective_risk(coverage=0.7)"])
def test_all_rows_labelled_give_what_compare_gives(one, metric):
    """With every label the difference is that of the pool."""
    found = abstain.compare(losses(plan := planned(N, one, metric, 0), one), SCORES, metric, plan=plan)
    plain = abstain.compare(losses(plan, one), SCORES, metric)
    assert found.difference("a", "b").difference == pytest.approx(plain.difference("a", "b").difference, abs=1e-12)
    assert found.difference("a", "b").standard_error == 0.0
    assert [row["name"] for row in found.table] == [row["name"] for row in plain.table]


@pytest.mark.parametrize("one", [True, False], ids=["scores", "models"])
def test_a_planned_comparison_covers_with_fewer_labels(one):
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
    assert np.mean((values - truth) ** 2) < 0.9 * np.mean((np.array(plain) - truth) ** 2)


def test_the_command_plans_and_compares(do):
    """Two files of predictions, a plan for both, labels in its rows alone, and the comparison of the library."""
    ids, first, second = [f"r{k}" for k in range(300)], FIRST[:300].astype(int), SECOND[:300].astype(int)
    frames = {"a": pl.DataFrame({"id": ids, "pred": first, "conf": SCORE_A[:300]}),
              "b": pl.DataFrame({"id": ids, "pred": second, "conf": SCORE_B[:300]}).reverse()}  # fmt: skip
    for name, frame in frames.items():
        frame.write_csv(f"{name}.csv")
    planned = do("plan a.csv --compare b.csv --labels 80 --seed 1 -o plan.csv").out
    assert "Label 80 of 300 rows to estimate AUGRC of two scores (design: planned)" in planned
    made = load_plan("plan.csv")
    assert np.array_equal(made.differs, first != second)
    label = dict(zip(ids, [0 if s else None for s in made.stage], strict=True))
    for name, frame in frames.items():
        frame.with_columns(label=pl.Series([label[key] for key in frame["id"]])).write_csv(f"{name}.csv")
    loss = {name: np.where(made.stage > 0, wrong, np.nan) for name, wrong in (("a", first), ("b", second))}
    expected = abstain.compare(loss, {"a": SCORE_A[:300], "b": SCORE_B[:300]}, plan=made)
    assert expected.tables()[0].to_text().splitlines()[2] in do("compare a.csv b.csv --plan plan.csv").out
    for line, said in (
        ("plan a.csv --extend plan.csv --labels 9 --metric aurc -o more.csv", "leave --metric out"),
        ("compare a.csv --plan plan.csv", "--plan compares two models"),
    ):
        assert said in do(line, 2).err


def test_few_rows_that_move_a_difference_are_named():
    """Fewer than ten are too few for its interval."""
    plan = abstain.plan_labels(SCORE_A, n=120, compare=SCORE_B, seed=0)
    for errors in (9, 10):
        known = np.where(plan.stage > 0, 0.0, np.nan)
        known[plan.planned[:errors]] = 1.0
        said = abstain.compare(known, SCORES, plan=plan).difference("a", "b").warning
        assert (said is None) == (errors == 10)
