"""What all pages say alike: boxes of what was decided, shares in per cent, options of the command, columns read."""

import json
import re
from pathlib import Path

import numpy as np

import abstain
from tests.command import csv


def lead(name):
    """Return the first screen of a page."""
    return json.loads(Path(name).read_text())["lead"]


def models(n=3000):
    """Return the losses of a good model and of one with more errors, and a score of both."""
    rng = np.random.default_rng(5)
    score = rng.random(n)
    return (rng.random(n) < 0.2 * (1 - score)).astype(int), (rng.random(n) < 0.6 * (1 - score)).astype(int), score


def test_the_status_of_a_comparison_chooses_no_threshold(do):
    """Which of two is better, that none is, and what a test with a margin showed; never a word of going live."""
    good, bad, score = models()
    rng = np.random.default_rng(6)
    for name, loss in (("good", good), ("bad", bad), ("copy", good)):
        moved = score + (0.001 * rng.random(len(score)) if name == "copy" else 0.0)
        csv(f"{name}.csv", wrong=loss, sure=moved, site=rng.choice(["n", "s"], len(score)))
    for options, code, words in (
        ("bad.csv good.csv", 0, "good is better than bad: "),
        ("good.csv copy.csv", 0, " is not significantly better than "),
        ("bad.csv good.csv --margin 0.001", 1, "good is better than bad by more than 0.001"),
        ("good.csv bad.csv --margin 0.001", 0, "good is not worse than bad by 0.001 or more"),
    ):
        do(f"compare {options} --loss wrong --confidence sure --report a.json", code)
        found = lead("a.json")
        assert (found["tone"], found["status"], found["rule"]) == ("open", "Compared, no threshold chosen", "")
        assert words in found["headline"]
    assert json.loads(Path("a.json").read_text())["result"]["shown"]
    do("compare bad.csv good.csv --loss wrong --confidence sure --margin 0.001 --report b.md", 1)
    page = Path("b.md").read_text()
    assert "claim: bad not worse by the margin" in page
    assert "claim not shown" in page
    assert f"{good.sum()} errors, or right answers, of the one that has fewer" in page


def test_a_page_by_a_plan_names_options_and_says_how_labels_were_read(do):
    """As the terminal does: --population, and not an argument; labels, prediction and loss of the labelled rows."""
    rng = np.random.default_rng(1)
    p = rng.random(2000)
    rows = {"id": [f"r{k}" for k in range(2000)], "p_no": 1 - p, "p_yes": p}
    csv("pool.csv", **rows)
    do("plan pool.csv --probabilities p_* --ids id --labels 300 -o plan.json")
    drawn = set(abstain.pool.load_plan("plan.json").rows_to_label.tolist())
    csv("part.csv", **rows, y=[int(rng.random() < p[k]) if k in drawn else None for k in range(2000)])
    do("evaluate part.csv --labels y --probabilities p_* --ids id --plan plan.json --report page.md")
    text = Path("page.md").read_text()
    assert "--population for what they were drawn from" in text
    assert "target=" not in text
    for part in ("labels", "prediction", "confidence", "loss"):
        assert re.search(rf"read as {part} +\|", text), part
    assert "numbers from 0 on in the order of the columns (2 classes: no, yes)" in text
