"""Pages of comparisons, studies, joint evaluations and few labels answer the five questions, or name who does."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain._result import Status, Verdict
from abstain.joint import with_gains
from abstain.report import build
from tests.command import csv
from tests.report import kinds


@pytest.fixture(scope="module")
def rows():
    """Return losses and scores of two models on the same rows, of which the first is better."""
    rng, n = np.random.default_rng(0), 3000
    hard, south = rng.random(n), rng.random(n) < 0.5
    wrong = {name: rng.random(n) < w * hard**2 + 0.2 * south * hard for name, w in (("good", 0.2), ("bad model", 0.9))}
    return {name: each * 1.0 for name, each in wrong.items()}, {name: 1 - hard + 0.1 * rng.random(n) for name in wrong}


def test_the_table_beside_has_what_each_is_by_itself(rows):
    """Errors, AUROC of failures and coverage at a risk, each as the metric itself says."""
    result = abstain.compare(*rows)
    text = " ".join(str(part) for section in build(result).sections for part in section.parts)
    assert "Answers, ranking and coverage of each" in text
    loss, score = rows
    for name in loss:
        for what, metric in (("ranking", "auroc_f"), ("coverage", "coverage_at_risk(risk=0.05)")):
            one = result.beside.interval(what, name)
            other = abstain.confidence_interval(metric, loss[name], score[name])
            assert one.estimate == other.estimate
            assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_gains_that_so_few_permutations_cannot_test_have_no_p_value():
    """Both metrics are given; with ten permutations no p-value could show a gain, whatever its size."""
    row = {"set": "far", "score": "knn", "null_mean": 0.0005, "null_sd": 0.0002, "n_permutations": 10}
    both = {"metric": "ds_f1", "gain": 0.0001, "p": 1.0}, {"metric": "ds_aurc", "gain": 0.001, "p": 1 / 11}
    gains = [row | each for each in both]
    found = with_gains(Verdict(Status.COMPARED), gains)
    said = "On far, it is not shown that a second threshold on knn helps (gain in DS-F1 0.0001, "
    assert found.headline.startswith(said)
    assert found.headline.endswith("by chance 0.0005, p = 1.000).")
    (second,) = found.details
    assert second.endswith("(gain in DS-AURC 0.0010, by chance 0.0005, not tested, which takes 40 permutations).")
    tiny = with_gains(Verdict(Status.COMPARED), [{**gains[0], "gain": 0.00007025, "null_mean": -0.00001}]).headline
    assert "(gain in DS-F1 0.0001, by chance 0.0000, " in tiny  # as many decimals as a table of metrics has
    many = with_gains(Verdict(Status.COMPARED), [{**each, "n_permutations": 999, "p": 0.001} for each in gains])
    assert "it is shown that a second threshold on knn helps" in many.details[0]


def test_a_page_of_two_models_leads_with_the_better_one(do, rows):
    """Headline, chart and numbers are those of the comparison; the command names files and title."""
    for name, loss in rows[0].items():
        csv(f"{name}.csv", case=[f"r{k}" for k in range(len(loss))], failed=loss.astype(int), sure=rows[1][name])
    do("compare good.csv 'bad model.csv' --loss failed --confidence sure --ids case --report models.html")
    html = Path("models.html").read_text("utf-8")
    assert "<p>Comparison: good.csv, bad model.csv</p>" in html
    better = abstain.compare(*rows).verdict.comparison
    assert (better.best, better.significant) == ("good", True)
    assert re.search(r'<h1 id="answer">good is better than bad model: ', html)
    assert "Compared, no threshold chosen" in html


def test_a_page_from_few_labels_has_a_verdict(tmp_path):
    """How many labels by which plan, errors seen, intervals, what plain evaluation would need and more would buy."""
    found, _ = kinds.few_labels()
    few, verdict = found.provenance["few_labels"], found.verdict
    (labels,) = [each for each in verdict.caveats if each.kind == "few_labels"]
    assert labels.values == {"labelled": 300, "n": 3000, "how": "by plan (uniform)", "errors": few["errors"]}
    assert (verdict.status, verdict.levels, verdict.n) == (Status.ESTIMATED, (), 3000)
    assert verdict.risk_interval is not None
    assert any("all rows of this pool, labelled or not" in note for note in found.notes())
    assert any(f"{few['plain_needs']['AUGRC']:,.0f} (AUGRC)" in note for note in found.notes())
    out = tmp_path / "few.html"
    found.report(out)
    text = out.read_text("utf-8")
    assert "No sentence is said" not in text
    assert "np.float64" not in text
    assert "Band:" not in text
    assert "Reliability" not in text
    found.report(tmp_path / "few.json")
    assert "np.float64" not in json.dumps(json.loads((tmp_path / "few.json").read_text("utf-8")))
    score = np.arange(3000) / 3000
    pair = abstain.plan_labels(score, 300, compare=score[::-1], seed=1)
    assert pair.n == 3000
