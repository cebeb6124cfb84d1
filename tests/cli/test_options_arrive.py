"""Options of the command reach what it calls."""

import json
from pathlib import Path

import numpy as np
import pytest

import abstain
from tests.command import csv


def test_a_margin_knows_the_clusters(do):
    """The p-value of the command is that of the function with clusters."""
    rng, who = np.random.default_rng(0), np.repeat(np.arange(60), 50)
    side, wrong = rng.random(60)[who], (rng.random(3000) < 0.15).astype(int)
    scores = [1 - 0.5 * wrong - rng.random(3000) * (0.2 + each) for each in (side, 1 - side)]
    for k, score in enumerate(scores):
        csv(f"{k}.csv", id=np.arange(3000), err=wrong, conf=score, who=who)
    found = do("compare 0.csv 1.csv --loss err --confidence conf --clusters who --margin 0.005 --json -", 1).json
    named = dict(zip("01", scores, strict=True))
    same = abstain.inference.non_inferiority(wrong, named, margin=0.005, clusters=who)
    assert (found["n_clusters"], found["p_value"]) == (60, pytest.approx(same.p_value))


def test_comparisons_by_the_command_say_what_they_assume(do):
    """The method arrives, its default names the other one wherever it is read, and a margin has none."""
    rng, wrong = np.random.default_rng(0), np.arange(300) % 10 == 0
    scores = {name: rng.normal(size=300) - wrong for name in ("one", "two")}
    csv("a.csv", err=wrong * 1, **scores)
    compare = "compare a.csv --loss err --scores one,two"
    texts = [do(compare).text, do(f"{compare} --method influence").text]
    do(f"{compare} --report a.html --json a.json")
    texts += [Path("a.html").read_text(encoding="utf-8"), " ".join(json.loads(Path("a.json").read_text())["notes"])]
    found = ["no important kind of error is missing" in each and "allows for one" in each for each in texts]
    assert found == [True, False, True, True]
    do(f"{compare} --margin 0.1 --method influence", 2)


def test_live_ends_with_1_if_any_group_is_violated(do):
    """A job that runs every night stops for one group."""
    first = "--risk 0.05 --delta 0.05 -o p.json"
    for week, (bad, options) in enumerate(((False, first), (True, ""))):
        rng = np.random.default_rng(week)
        conf, site = rng.random(4000), rng.integers(0, 2, 4000)
        chance = np.where((site == 1) & bad, 0.6, 0.25 * (1 - conf) ** 2)
        wrong = (rng.random(4000) < chance).astype(int)
        csv("week.csv", conf=conf, err=wrong, site=np.array(["a", "b"])[site])
        do(f"live week.csv --state s.json --loss err --confidence conf --groups site {options}", int(bad))


def test_audit_takes_its_level(do):
    """The interval is that of the level that was asked for."""
    rng = np.random.default_rng(0)
    conf = rng.random(800)
    csv("a.csv", conf=conf, err=(rng.random(800) < 0.3 * (1 - conf)).astype(int))
    chosen = abstain.choose_threshold([0, 1, 0] * 50, np.linspace(0.1, 0.9, 150), coverage=0.5)
    chosen.policy(score="conf").save("p.json")
    found = [do(f"audit p.json a.csv --loss err --level {level} --json").json for level in (0.8, 0.99)]
    assert [each["level"] for each in found] == [0.8, 0.99]
    assert found[1]["risk_interval"][0] < found[0]["risk_interval"][0]


@pytest.mark.parametrize("state", ["a.csv", "p.json"])
def test_a_state_does_not_replace_the_rows(do, state):
    """The file of the rows, or the policy, as the state is refused."""
    csv("a.csv", conf=[0.9, 0.8, 0.7], err=[0, 1, 0])
    chosen = abstain.choose_threshold([0.0] * 150, np.linspace(0.1, 0.9, 150), risk=0.1, delta=0.05)
    chosen.policy(score="conf").save("p.json")
    before = Path(state).read_bytes()
    do(f"monitor p.json a.csv --loss err --state {state}", 2)
    assert Path(state).read_bytes() == before
