"""``abstain live``: week by week, with audits."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

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


def test_audits_from_a_policy_to_the_next_certificate(do):
    """``apply --audit`` draws by names; what comes back counts with its chance, and a row that comes twice does not."""
    csv("others.csv", conf=np.random.default_rng(3).random(1000))  # neither labels nor names
    back = f"{LIVE} --ids id --label-probability label_probability --drawn label_drawn"
    for k in range(3):
        score, wrong, _ = made(k, 2500)
        csv("week.csv", id=np.arange(2500) + 2500 * k, conf=score, err=wrong)
        if k == 0:
            do(f"{LIVE.format('week')} --ids id --risk 0.05 --audit 0.2 --grid others.csv")
            continue
        do("apply policy.json week.csv -o out.csv --audit 0.2 --ids id --seed s")
        told = pl.read_csv("out.csv")
        assert told.filter("accepted")["label_drawn"].mean() == pytest.approx(0.2, abs=0.05)
        assert told.filter(~pl.col("accepted"))["label_drawn"].all()
        told.with_columns(err=pl.when("label_drawn").then("err")).write_csv("back.csv")
        do(back.format("back"))
    assert (state().result().groups[""].rows, state().threshold < 1) == (7500, True)
    told.head(3).with_columns(err=1).write_csv("again.csv")
    assert "by their ids" in do(back.format("again"), 2).err


def test_groups_that_join_and_one_that_is_violated(do):
    """Groups are those of the first file; a later one joins by name; a job that runs every night stops for one."""
    do(f"{week(1, site=pl.lit('a'))} --risk 0.2 --groups site --reserve 0.5")
    second = f"{week(2, site=pl.lit('b'))} --groups site"
    assert "'b' is not known" in do(second, 2).err
    do(f"{second} --add-group b")
    assert set(abstain.load_policy("policy.json").thresholds) == {"a", "b"}
    wrong = pl.Series(np.random.default_rng(0).random(1500) < 0.5).cast(int)
    do(f"{week(3, site=pl.lit('b'), err=wrong)} --groups site", 1)


def test_a_share_of_unseen_answers(do):
    """``--ood-share`` certifies a stricter limit, once and week by week, and is written into the policy."""
    score, wrong, _ = made(8, 9000)
    csv("rows.csv", conf=score, err=wrong)
    options = "rows.csv --loss err --confidence conf --risk 0.05 --delta 0.05 --ood-share 0.01"
    do(f"threshold {options} -o once.json")
    assert "--second" in do(f"threshold {options} -o once.json --second err", 2).err
    done = do(f"live {options} --state live.json -o policy.json")
    assert "It holds while at most 1 % of the answered cases" in done.out
    for name in ("once.json", "policy.json"):
        assert abstain.load_policy(name).objective.ood_share == 0.01
