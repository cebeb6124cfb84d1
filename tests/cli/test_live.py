"""``abstain live``: week by week, with audits."""

from pathlib import Path

import numpy as np
import polars as pl

import abstain
from tests.command import csv

LIVE = "live {}.csv --loss err --confidence conf --state live.json -o policy.json"


def made(k, n):
    """Return scores and errors, fewer where the score is high, and the generator for more."""
    rng = np.random.default_rng(k)
    score = rng.random(n)
    return score, (rng.random(n) < 0.3 * (1 - score) ** 1.5).astype(float), rng


def week(k, threshold=np.inf, **columns):
    """Write a week of rows, of which a fifth of the answers and all others are labelled; return the command on it."""
    score, wrong, rng = made(k, 1500)
    chance = np.where(score >= threshold, 0.2, 1.0)
    wrong[rng.random(1500) >= chance] = np.nan
    frame = pl.DataFrame({"conf": score, "chance": chance, "err": wrong}).with_columns(**columns)
    frame.fill_nan(None).write_csv(f"week{k}.csv")
    return LIVE.format(f"week{k}")


def state():
    """Return the certificate as it is saved."""
    return abstain.live.load_live("live.json")


def test_weeks_of_a_certificate(do):
    """The policy answers from what is certified then; an empty week changes none; a violated one answers nothing."""
    do(f"{week(1)} --risk 0.05 --delta 0.05 --audit 0.2 --restarts 1")
    do(week(2))
    threshold = state().threshold
    assert abstain.load_policy("policy.json").thresholds[""] == threshold < 1.0
    found = do(f"{week(3, threshold)} --label-probability chance --json").json
    assert found["verdict"]["status"] == "certified"
    assert state().result().groups[""].rows == 4500
    Path("none.csv").write_text("conf,chance,err\n")
    assert "  answer if conf >= " in do(LIVE.format("none")).out
    do(f"{LIVE.format('none')} --restart", 2)
    wrong = pl.Series(np.random.default_rng(0).random(1500) < 0.5).cast(int)
    said = do(week(4, err=wrong), 1).text
    assert "Stop answering by this policy" in said
    assert "It is violated, with 95 % confidence, first seen after" in said
    policy = abstain.load_policy("policy.json")
    assert (policy.guarantee, policy.thresholds[""]) == (None, np.inf)
    do(f"{week(5)} --restart")


def test_what_is_refused(do):
    """Without a limit, columns or chances nothing begins; what does not fit leaves the state as it was."""
    assert "needs a limit" in do(week(1), 2).err
    assert "chances" in do(f"{week(1)} --risk 0.05 --label-probability chances", 2).err
    pl.read_csv("week1.csv").rename({"chance": "label_probability"}).drop_nulls().write_csv("week1.csv")
    assert "give --label-probability label_probability" in do(f"{LIVE.format('week1')} --risk 0.05", 2).said
    assert not Path("live.json").exists()
    do(f"{week(1)} --risk 0.05")
    before = Path("live.json").read_bytes()
    assert "sent before" in do(week(1), 2).err
    assert "fixed at the start" in do(f"{week(2)} --risk 0.1", 2).err
    assert "smallest chance in force" in do(f"{week(3, 0.5)} --label-probability chance", 2).err
    assert Path("live.json").read_bytes() == before


def test_a_share_of_unseen_answers(do):
    """``--ood-share`` certifies a stricter limit, which is said and written into the policy."""
    score, wrong, _ = made(8, 9000)
    csv("rows.csv", conf=score, err=wrong)
    done = do(f"{LIVE.format('rows')} --risk 0.05 --delta 0.05 --ood-share 0.01")
    assert "It holds while at most 1 % of the answered cases" in done.out
    assert abstain.load_policy("policy.json").objective.ood_share == 0.01
