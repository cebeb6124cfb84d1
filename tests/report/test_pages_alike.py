"""What all pages say alike: boxes of what was decided, shares in per cent, options of the command, columns read."""

import json
import re
from pathlib import Path

import numpy as np

import abstain
from tests.command import csv


def test_the_status_of_a_comparison_chooses_no_threshold(do):
    """Which of two is better, that none is, and what a test with a margin showed; never a word of going live."""
    rng = np.random.default_rng(5)
    score, other = rng.random(3000), 0.001 * rng.random(3000)
    good, bad = ((rng.random(3000) < rate * (1 - score)).astype(int) for rate in (0.2, 0.6))
    for name, loss, moved in (("good", good, 0.0), ("bad", bad, 0.0), ("copy", good, other)):
        csv(f"{name}.csv", wrong=loss, sure=score + moved)
    for options, code, words in (
        ("good.csv copy.csv", 0, " is not significantly better than "),
        ("bad.csv good.csv", 0, "good is better than bad: "),
        ("good.csv bad.csv --margin 0.001", 0, "good is not worse than bad by 0.001 or more"),
        ("bad.csv good.csv --margin 0.001", 1, "good is better than bad by more than 0.001"),
    ):
        do(f"compare {options} --loss wrong --confidence sure --report a.json", code)
        lead = json.loads(Path("a.json").read_text())["lead"]
        assert (lead["tone"], lead["status"], lead["rule"]) == ("open", "Compared, no threshold chosen", "")
        assert words in lead["headline"]
    assert not json.loads(Path("a.json").read_text())["result"]["shown"]
    for page in ("b.md", "c.html"):
        do(f"compare {options} --loss wrong --confidence sure --report {page}", code)
    html = Path("c.html").read_text("utf-8")
    assert "<p>Comparison: bad.csv, good.csv</p>" in html
    assert re.search(r'<h1 id="answer">It is shown that good is better than bad', html)
    page = Path("b.md").read_text()
    parts = ["claim: bad not worse by the margin", "claim not shown", f"{good.sum()} errors, or right answers, of the"]
    assert [each for each in parts if each not in page] == []


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
