"""Pages of comparisons, studies, joint evaluations and few labels answer the five questions, or name who does."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import abstain
from abstain._result import Status, Verdict
from abstain.cli import command
from abstain.report import build


def run(*arguments, codes=(0,)):
    """Run the command, which must end as expected, and return what it printed."""
    result = CliRunner().invoke(command, [*map(str, arguments)])
    assert result.exit_code in codes, result.output
    return result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with two models on the same rows, of which the first is better, in two sites."""
    path, rng = tmp_path_factory.mktemp("models"), np.random.default_rng(0)
    n = 3000
    hard, site = rng.random(n), rng.choice(["north", "south"], n)
    for name, worse in (("good", 0.2), ("bad model", 0.9)):
        wrong = rng.random(n) < worse * hard**2 + 0.2 * (site == "south") * hard
        lines = [f"r{k},{int(w)},{1 - h + 0.1 * e:.6f},{s}" for k, (w, h, e, s) in
                 enumerate(zip(wrong, hard, rng.random(n), site, strict=True))]  # fmt: skip
        (path / f"{name}.csv").write_text("\n".join(["case,failed,sure,site", *lines]) + "\n")
    return path


COLUMNS = ("--loss", "failed", "--confidence", "sure", "--ids", "case")


def _models(folder):
    read = {name: abstain.read_outputs(folder / f"{name}.csv", loss="failed", confidence="sure")
            for name in ("good", "bad model")}  # fmt: skip
    return abstain.compare({name: each.loss_per_sample() for name, each in read.items()},
                           {name: each.confidence for name, each in read.items()})  # fmt: skip


def test_the_table_beside_has_what_each_is_by_itself(folder):
    """Errors, AUROC of failures and coverage at a risk, each as the metric itself says."""
    result = _models(folder)
    text = " ".join(str(part) for section in build(result).sections for part in section.parts)
    assert "Answers, ranking and coverage of each" in text
    known = result.beside
    assert known is not None
    for name in ("good", "bad model"):
        outputs = abstain.read_outputs(folder / f"{name}.csv", loss="failed", confidence="sure")
        loss, score = outputs.loss_per_sample(), outputs.confidence
        for what, metric in (("ranking", "auroc_f"), ("coverage", "coverage_at_risk(risk=0.05)")):
            one, other = known.interval(what, name), abstain.confidence_interval(metric, loss, score)
            assert one is not None
            assert one.estimate == other.estimate
            assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_gains_that_so_few_permutations_cannot_test_have_no_p_value():
    """Both metrics are given; with ten permutations no p-value could show a gain, whatever its size."""
    from abstain.joint import with_gains

    row = {"set": "far", "score": "knn", "null_mean": 0.0005, "null_sd": 0.0002, "n_permutations": 10}
    gains = [
        {**row, "metric": "ds_f1", "gain": 0.0001, "p": 1.0},
        {**row, "metric": "ds_aurc", "gain": 0.001, "p": 1 / 11},
    ]
    found = with_gains(Verdict(Status.COMPARED), gains)
    assert found.headline.startswith(
        "On far, it is not shown that a second threshold on knn helps (gain in DS-F1 0.0001, "
    )
    assert found.headline.endswith("by chance 0.0005, p = 1.000).")
    (second,) = found.details
    assert second.endswith("(gain in DS-AURC 0.0010, by chance 0.0005, not tested, which takes 40 permutations).")
    tiny = with_gains(Verdict(Status.COMPARED), [{**gains[0], "gain": 0.00007025, "null_mean": -0.00001}]).headline
    assert "(gain in DS-F1 0.0001, by chance 0.0000, " in tiny  # as many decimals as a table of metrics has
    many = with_gains(Verdict(Status.COMPARED), [{**each, "n_permutations": 999, "p": 0.001} for each in gains])
    assert "it is shown that a second threshold on knn helps" in many.details[0]


def test_a_page_of_two_models_leads_with_the_better_one(folder):
    """Headline, chart and numbers are those of the comparison; the command names files and title."""
    out = folder / "models.html"
    run("compare", folder / "good.csv", folder / "bad model.csv", *COLUMNS, "--report", out)
    html = out.read_text("utf-8")
    assert "<p>Comparison: good.csv, bad model.csv</p>" in html
    better = _models(folder).verdict.comparison
    assert better is not None
    assert (better.best, better.significant) == ("good", True)
    assert re.search(r'<h1 id="answer">good is better than bad model: ', html)
    assert "Compared, no threshold chosen" in html


def test_a_page_from_few_labels_has_a_verdict(tmp_path):
    """How many labels by which plan, errors seen, intervals, what plain evaluation would need and more would buy."""
    rng = np.random.default_rng(0)
    score = rng.random(3000)
    wrong = (rng.random(3000) > score**0.3).astype(float)
    plan = abstain.plan_labels(score, 300, seed=1)
    loss = np.full(3000, np.nan)
    loss[plan.rows_to_label] = wrong[plan.rows_to_label]
    found = abstain.evaluate(loss=loss, confidence=score, plan=plan)
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
    pair = abstain.plan_labels(score, 300, compare=score + 0.1 * rng.random(3000), seed=1)
    assert pair.n == 3000
