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
    """The method arrives, and its default names the other one wherever it is read."""
    rng, wrong = np.random.default_rng(0), np.arange(300) % 10 == 0
    csv("a.csv", err=wrong * 1, **{name: rng.normal(size=300) - wrong for name in ("one", "two")})
    compare = "compare a.csv --loss err --scores one,two"
    texts = [do(compare).text, do(f"{compare} --method influence").text]
    do(f"{compare} --report a.html --json a.json")
    texts += [Path("a.html").read_text(encoding="utf-8"), " ".join(json.loads(Path("a.json").read_text())["notes"])]
    found = ["no important kind of error is missing" in each and "allows for one" in each for each in texts]
    assert found == [True, False, True, True]


def test_audits_and_states(do):
    """The interval is that of the level that was asked for; rows or policy as the state are refused."""
    rng = np.random.default_rng(0)
    conf = rng.random(800)
    csv("a.csv", conf=conf, err=(rng.random(800) < 0.3 * (1 - conf)).astype(int))
    abstain.choose_threshold([0, 1, 0] * 50, np.linspace(0.1, 0.9, 150), coverage=0.5).save("p.json", score="conf")
    found = [do(f"audit p.json a.csv --loss err --level {level} --json").json for level in (0.8, 0.99)]
    assert [each["level"] for each in found] == [0.8, 0.99]
    assert found[1]["risk_interval"][0] < found[0]["risk_interval"][0]
    abstain.choose_threshold([0.0] * 150, np.linspace(0.1, 0.9, 150), risk=0.1, delta=0.05).save("p.json", score="conf")
    for state in (Path("a.csv"), Path("p.json")):
        before = state.read_bytes()
        do(f"monitor p.json a.csv --loss err --state {state}", 2)
        assert state.read_bytes() == before
