"""Plans of several pools, and rows that are found by names which files spell differently."""

import datetime as dt
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pytest

import abstain
from abstain.cli import run
from abstain.pool import load_plan
from tests.refusal import refused

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
    known, score = np.where(RNG.random(N) < 0.3, LOSS, np.nan), np.where(np.arange(N) < 40, np.nan, SCORE)
    given = {"loss": known, "labelled": "at random"}
    found = abstain.evaluate(confidence=score, nan_policy="reject", **given)
    assert found.value("augrc") == abstain.evaluate(confidence=np.nan_to_num(score, nan=-1.0), **given).value("augrc")
    refused(ValueError, "confidence is NaN in 40 of 400 rows", abstain.evaluate, confidence=score, **given)


def test_ids_are_the_same_numbers_however_a_file_or_frame_spells_them(tmp_path):
    """0007 in a plan is found where the pool has 7 or 7.0, and a CSV keeps its zeros; 7 beside 07 is two rows."""
    padded = np.array([f"{k:04d}" for k in range(N)])
    plan = abstain.plan_labels(SCORE, n=60, seed=0, ids=padded)
    known = np.where(plan.stage > 0, LOSS, np.nan)
    expected = abstain.evaluate(loss=known, confidence=SCORE, ids=padded, plan=plan).to_csv()
    for ids in (np.arange(N), np.arange(N).astype(float), np.arange(N).astype(str)):
        assert abstain.evaluate(loss=known[::-1], confidence=SCORE[::-1], ids=ids[::-1], plan=plan).to_csv() == expected
    file = str(tmp_path / "pool.csv")
    pl.DataFrame({"id": padded, "confidence": SCORE, "wrong": known}).write_csv(file)
    assert run(["plan", file, "--labels", "60", "--seed", "0", "-o", str(tmp_path / "plan.csv")]) == 0
    assert load_plan(tmp_path / "plan.csv").digest == plan.digest
    twice = np.where(padded == "0008", "7", padded)
    said = "the ids are not those of the plan: 1 of its 400 rows are missing"
    refused(ValueError, said, abstain.evaluate, loss=known, confidence=SCORE, ids=twice, plan=plan)


FEW = 40
DAYS = [dt.date(2026, 1, 30) + dt.timedelta(days=k) for k in range(FEW)]
HOURS = [dt.datetime(2026, 1, 1) + dt.timedelta(hours=k) for k in range(FEW)]
SAME = [
    DAYS,
    np.array(DAYS, dtype="datetime64[D]"),
    np.array(HOURS, dtype="datetime64[ns]"),
    pd.Series(pd.to_datetime(HOURS)),
    pl.Series(HOURS),
    [each.replace(tzinfo=dt.UTC) for each in HOURS],
    [str(k) if k % 2 else k for k in range(FEW)],
    pd.Series(range(FEW), dtype="Int64"),
    pd.Categorical([f"case {k}" for k in range(FEW)]),
    pl.Series([f"case {k}" for k in range(FEW)], dtype=pl.Categorical),
    np.arange(FEW, dtype=float),
    np.arange(FEW) * 1e14,
    np.arange(FEW) * 0.1,
    [2**63 - FEW + k for k in range(FEW)],
    ["nan", "None", "null", "true", "1e5", "007", " x ", 'a,"b"\nc'] + [f"c{k}" for k in range(FEW - 8)],
]


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


@pytest.mark.parametrize("ids", SAME)
def test_ids_of_any_kind_are_found_again(ids, tmp_path):
    """A plan with dates, categories or odd numbers as ids is the same from a file, for a pool of any library."""
    score, loss = SCORE[:FEW], LOSS[:FEW]
    plan = abstain.plan_labels(score, n=12, seed=0, ids=ids)
    known, given = np.where(plan.stage > 0, loss, np.nan), {"metrics": "augrc"}
    expected = abstain.evaluate(loss=known, confidence=score, ids=ids, plan=plan, **given).to_csv()
    for kind in ("csv", "parquet", "json"):
        file = tmp_path / f"plan.{kind}"
        plan.save(file)
        again = load_plan(file)
        assert again.digest == plan.digest
        assert abstain.evaluate(loss=known, confidence=score, ids=ids, plan=again, **given).to_csv() == expected
    for pool in frames(ids, known, score, tmp_path):
        assert abstain.evaluate(pool, ids="id", plan=again, **given).to_csv() == expected


NOT_FOUND = [
    (pd.Series([None, *range(FEW - 1)], dtype="Int64"), "missing or blank in 1 of 40 rows"),
    (np.array(["NaT", *DAYS[1:]], dtype="datetime64[D]"), "missing or blank in 1 of 40 rows"),
    (["c", " ", *range(FEW - 2)], r"first: row 2\); a label could not be matched with its row"),
    ([True, False] * (FEW // 2), r"ids occur more than once \(2 such, first: False\)"),
    ([1, "1", *range(2, FEW)], r"ids occur more than once \(1 such, first: 1\)"),
    ([(1, k) for k in range(FEW)], r"one of them is \(1, 0\); give text or numbers"),
    ([b"%d" % k for k in range(FEW)], "one of them is b'0'; give text or numbers"),
    ([2**63 + k for k in range(FEW)], "frames and files round; give such ids as text"),
]


@pytest.mark.parametrize(("ids", "sentence"), NOT_FOUND)
def test_ids_that_would_not_be_found_again_are_refused_before_any_label(ids, sentence):
    """What a file or frame would not give back as it was is refused by the plan, not after the labels were paid."""
    refused(ValueError, sentence, abstain.plan_labels, SCORE[:FEW], n=12, seed=0, ids=ids)


def test_ids_that_a_file_spells_otherwise_are_shown_in_both_spellings():
    """UUIDs are found as objects and as text; the bytes that Parquet makes of them are refused, and shown."""
    ids = [uuid.UUID(int=k + 1) for k in range(FEW)]
    plan = abstain.plan_labels(SCORE[:FEW], n=12, seed=0, ids=ids)
    given = {"loss": np.where(plan.stage > 0, LOSS[:FEW], np.nan), "confidence": SCORE[:FEW], "plan": plan}
    abstain.evaluate(ids=[str(each) for each in ids], **given)
    said = r"first missing: 0{8}-\S+1, first new: '\\x00.*with ids spelt as there"
    refused(ValueError, said, abstain.evaluate, ids=[each.bytes.decode("latin1") for each in ids], **given)
