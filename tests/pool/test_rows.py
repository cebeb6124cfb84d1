"""Plans of several pools, and rows that are found by names which files spell differently."""

import datetime as dt
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest

import abstain
from abstain.cli import run
from abstain.pool import load_plan

RNG = np.random.default_rng(8)
N = 400
SCORE = RNG.random(N)
LOSS = (RNG.random(N) < 0.4 * (1.0 - SCORE)).astype(float)


def test_one_seed_draws_independently_in_each_pool():
    """Sorted pools of two weeks, planned with the same seed, do not have their labels at the same ranks."""
    weeks = [np.linspace(0.0, 1.0, 500) ** power for power in (1.0, 1.1)]
    plans = [abstain.plan_labels(score, n=100, seed=0) for score in (*weeks, weeks[0])]
    assert np.array_equal(plans[0].stage, plans[2].stage)
    assert len(np.intersect1d(plans[0].planned, plans[1].planned)) < 40


def test_rows_without_a_score_are_ranked_last():
    """Where labels were drawn at random; refused unless it is asked for."""
    known, score = np.where(RNG.random(N) < 0.3, LOSS, np.nan), SCORE.copy()
    score[:40] = np.nan
    found = abstain.evaluate(loss=known, confidence=score, labelled="at random", nan_policy="reject")
    last = abstain.evaluate(loss=known, confidence=np.nan_to_num(score, nan=-1.0), labelled="at random")
    assert found.value("augrc") == last.value("augrc")
    with pytest.raises(ValueError, match="confidence is NaN in 40 of 400 rows"):
        abstain.evaluate(loss=known, confidence=score, labelled="at random")


def test_ids_are_the_same_numbers_however_a_file_or_frame_spells_them(tmp_path):
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


FEW = 40
DAYS = [dt.date(2026, 1, 30) + dt.timedelta(days=k) for k in range(FEW)]
HOURS = [dt.datetime(2026, 1, 1) + dt.timedelta(hours=k) for k in range(FEW)]
SAME = {
    "dates": DAYS,
    "dates of NumPy": np.array(DAYS, dtype="datetime64[D]"),
    "nanoseconds": np.array(HOURS, dtype="datetime64[ns]"),
    "times of pandas": pd.Series(pd.to_datetime(HOURS)),
    "times of polars": pl.Series(HOURS),
    "times with a zone": [each.replace(tzinfo=dt.UTC) for each in HOURS],
    "text and numbers": [str(k) if k % 2 else k for k in range(FEW)],
    "nullable whole numbers": pd.Series(range(FEW), dtype="Int64"),
    "categories of pandas": pd.Categorical([f"case {k}" for k in range(FEW)]),
    "categories of polars": pl.Series([f"case {k}" for k in range(FEW)], dtype=pl.Categorical),
    "whole floats": np.arange(FEW, dtype=float),
    "long floats": np.arange(FEW) * 1e14,
    "broken floats": np.arange(FEW) * 0.1,
    "long whole numbers": [2**60 + k for k in range(FEW)],
    "odd text": ["nan", "None", "null", "true", "1e5", "007", " x ", 'a,"b"\nc'] + [f"c{k}" for k in range(FEW - 8)],
}


def frames(ids, loss, score, folder):
    """Return a pool in another order: as frames of two libraries, and as files of theirs."""
    named = ids.to_pandas() if isinstance(ids, pl.Series) else pd.Series(ids)
    frame = pd.DataFrame({"id": named, "confidence": score, "loss": loss})[::-1]
    found = [frame]
    if not any(isinstance(each, str) for each in ids) or all(isinstance(each, str) for each in ids):
        found += [pl.from_pandas(frame), folder / "a.csv", folder / "a.parquet", folder / "b.csv", folder / "b.parquet"]
        frame.to_csv(found[2], index=False)
        frame.to_parquet(found[3])
        found[1].write_csv(found[4])
        found[1].write_parquet(found[5])
    return found


@pytest.mark.parametrize("case", SAME)
def test_ids_of_any_kind_are_found_again(case, tmp_path):
    """A plan with dates, categories or odd numbers as ids is the same from a file, for a pool of any library."""
    ids, score, loss = SAME[case], SCORE[:FEW], LOSS[:FEW]
    plan = abstain.plan_labels(score, n=12, seed=0, ids=ids)
    known = np.where(plan.stage > 0, loss, np.nan)
    expected = abstain.evaluate(loss=known, confidence=score, ids=ids, plan=plan).to_csv()
    for kind in ("csv", "parquet", "json"):
        file = tmp_path / f"plan.{kind}"
        plan.save(file)
        again = load_plan(file)
        assert again.digest == plan.digest
        assert abstain.evaluate(loss=known, confidence=score, ids=ids, plan=again).to_csv() == expected
    for pool in frames(ids, known, score, tmp_path):
        assert abstain.evaluate(pool, ids="id", plan=again).to_csv() == expected


NOT_FOUND = {
    "missing number": (pd.Series([None, *range(FEW - 1)], dtype="Int64"), "missing or blank in 1 of 40 rows"),
    "missing date": (np.array(["NaT", *DAYS[1:]], dtype="datetime64[D]"), "missing or blank in 1 of 40 rows"),
    "blank": (["c", " ", *range(FEW - 2)], r"first: row 2\); a label could not be matched with its row"),
    "truth values": ([True, False] * (FEW // 2), r"ids occur more than once \(2 such, first: False\)"),
    "a number and its text": ([1, "1", *range(2, FEW)], r"ids occur more than once \(1 such, first: 1\)"),
    "pairs": ([(1, k) for k in range(FEW)], r"one of them is \(1, 0\); give text or numbers"),
    "bytes": ([b"%d" % k for k in range(FEW)], "one of them is b'0'; give text or numbers"),
    "beyond 64 bits": ([2**64 + k for k in range(FEW)], "frames and files round; give such ids as text"),
}


@pytest.mark.parametrize("case", NOT_FOUND)
def test_ids_that_would_not_be_found_again_are_refused_before_any_label(case):
    """What a file or frame would not give back as it was is refused by the plan, not after the labels were paid."""
    ids, sentence = NOT_FOUND[case]
    with pytest.raises(ValueError, match=sentence):
        abstain.plan_labels(SCORE[:FEW], n=12, seed=0, ids=ids)


def test_ids_that_a_file_spells_otherwise_are_shown_in_both_spellings(tmp_path):
    """UUIDs are found as objects and as text; the bytes that Parquet makes of them are refused, and shown."""
    ids = [uuid.UUID(int=k + 1) for k in range(FEW)]
    plan = abstain.plan_labels(SCORE[:FEW], n=12, seed=0, ids=ids)
    known = np.where(plan.stage > 0, LOSS[:FEW], np.nan)
    frame = pd.DataFrame({"id": ids, "confidence": SCORE[:FEW], "loss": known})
    frame.to_csv(tmp_path / "a.csv", index=False)
    stored = frame if hasattr(pyarrow, "uuid") else frame.assign(id=[each.bytes for each in ids])
    stored.to_parquet(tmp_path / "a.parquet")
    expected = abstain.evaluate(loss=known, confidence=SCORE[:FEW], ids=ids, plan=plan).to_csv()
    assert abstain.evaluate(frame, plan=plan, ids="id").to_csv() == expected
    assert abstain.evaluate(tmp_path / "a.csv", plan=plan, ids="id").to_csv() == expected
    with pytest.raises(ValueError, match=r"first missing: 0{8}-\S+1, first new: '\\x00.*with ids spelt as there"):
        abstain.evaluate(tmp_path / "a.parquet", plan=plan, ids="id")
