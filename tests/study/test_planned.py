"""Pools with a plan in a study: the planned estimates in its tables, and two scores from the same labels."""

import json
import warnings

import numpy as np
import pytest

import abstain
from abstain import study
from tests.refusal import refused

N = 2000


def pool():
    """Return two scores of all rows, and their losses."""
    rng = np.random.default_rng(7)
    score = rng.random(N)
    loss = (rng.random(N) > score**0.3) * 1.0
    return score, score + 0.1 * rng.normal(size=N), loss


def some(plan, loss):
    """Return the losses of planned rows, NaN elsewhere."""
    return np.where(plan.stage > 0, loss, np.nan)


def test_numbers_of_evaluate(tmp_path):
    """Every number is that of evaluate with the plan; what few labels do not give is a row with its reason."""
    score, other, loss = pool()
    plan = abstain.plan_labels(score, n=300, seed=0)
    outputs = abstain.Outputs(scores={"sure": score, "other": other}, unlabelled=True)
    saved = study.add_outputs(tmp_path, outputs, model="ce", set="pool", plan=plan, loss=some(plan, loss))
    assert (saved.role, saved.n, saved.planned) == ("test", N, 300)
    results = study.evaluate(tmp_path, metrics=["augrc", "aurc", "auroc_f", "ece"])
    rows = {row["metric"]: row for row in results.rows()}
    assert {row["score"] for row in results.rows()} == {"sure"}
    found = abstain.evaluate(
        loss=some(plan, loss), confidence=score, plan=plan, metrics=["augrc", "aurc", "auroc_f"]
    ).measurements
    for each in found:
        row = rows[each.metric]
        assert (row["value"], row["low"], row["high"]) == (each.value, each.low, each.high)
        assert (row["n"], row["labelled"]) == (N, 300)
    assert "a few labels of a pool do not estimate it" in rows["ece"]["reason"]
    text = str(results)
    mean = results.means("augrc")[0]
    assert f"[{mean.low:.5f}, {mean.high:.5f}]" in text
    assert mean.labelled == 300
    plain = " ".join(text.split())
    assert f"300 of 2000 rows are labelled, by plan (uniform, {plan.digest[:8]})" in plain
    assert "was not made for other" in plain
    said = []
    study.evaluate(tmp_path, metrics=["augrc", "aurc", "auroc_f", "ece"], progress=said.append)
    assert said == ["1 units, all done before"]


def test_new_labels_are_a_new_unit(tmp_path):
    """A plan with one more stage and its labels give new numbers, not those that were kept."""
    score, _, loss = pool()
    plan = abstain.plan_labels(score, n=200, seed=0)
    outputs = abstain.Outputs(confidence=score, unlabelled=True)
    study.add_outputs(tmp_path, outputs, model="ce", set="pool", plan=plan, loss=some(plan, loss))
    first = study.evaluate(tmp_path, metrics="augrc").rows()[0]
    more = plan.extend(some(plan, loss), 200, seed=1)
    study.add_outputs(tmp_path, outputs, model="ce", set="pool", plan=more, loss=some(more, loss))
    second = study.evaluate(tmp_path, metrics="augrc").rows()[0]
    assert (first["labelled"], second["labelled"]) == (200, 400)
    assert second["standard_error"] < first["standard_error"]


def test_comparison_of_two_models(tmp_path):
    """Two models with one plan for both are ranked by compare with that plan, whatever the order of the rows."""
    score, other, loss = pool()
    rng = np.random.default_rng(1)
    a, b = np.zeros(N, dtype=int), (rng.random(N) < 0.1).astype(int)
    second = np.where(a == b, loss, 1.0 - loss)
    ids = np.array([f"r{k}" for k in range(N)])
    plan = abstain.plan_labels(score, n=400, compare=(other, a, b), ids=ids, seed=0)
    for model, column, losses in (("first", score, loss), ("second", other, second)):
        order = rng.permutation(N)
        outputs = abstain.Outputs(scores={"sure": column[order]}, ids=ids[order], unlabelled=True)
        study.add_outputs(tmp_path, outputs, model=model, set="pool", plan=plan, loss=some(plan, losses)[order])
    found = study.rank(tmp_path, "pool", "sure", ["augrc", "aurc"])
    given = {"first sure": some(plan, loss), "second sure": some(plan, second)}
    for metric in ("augrc", "aurc"):
        alone = abstain.compare(given, {"first sure": score, "second sure": other}, metric, plan=plan)
        assert found.rankings[metric].differences == alone.differences
        one = found.rankings[metric]
        assert (one.metric, one.label, one.direction) == (alone.metric, alone.label, alone.direction)
        assert list(one.names) == [row["name"] for row in alone.table]
        for column, name in ((one.estimate, "estimate"), (one.rank, "rank"), (one.set_low, "set_low")):
            assert column.tolist() == [row[name] for row in alone.table]
        assert one.better.tolist() == [[False, alone.differences[0].significant], [False, False]]
    plain = " ".join(str(found).split())
    assert "400 of 2000 rows are labelled, by plan (planned" in plain
    assert "AUGRC, " in plain
    assert "Resampled" not in plain
    assert {row["model"] for row in study.evaluate(tmp_path, metrics="augrc").rows()} == {"first", "second"}
    refused(ValueError, "without resamples", found.wilcoxon_over_resamples, "augrc")
    alone = abstain.plan_labels(other, n=400, ids=ids, seed=1)  # the second with a plan of its own
    outputs = abstain.Outputs(scores={"sure": other}, ids=ids, unlabelled=True)
    study.add_outputs(tmp_path, outputs, model="second", set="pool", plan=alone, loss=some(alone, second))
    refused(ValueError, "have no plan that was made for both", study.rank, tmp_path, "pool", "sure", "augrc")


def test_what_is_refused(tmp_path):
    """Each with its own sentence: no losses, another pool, a missing label, a foreign pool, one score, other tables."""
    score, other, loss = pool()
    plan = abstain.plan_labels(score, n=300, seed=0)
    outputs = abstain.Outputs(scores={"sure": score, "other": other}, unlabelled=True)
    about = {"model": "ce", "set": "pool"}
    known = some(plan, loss)
    for words, options in (
        ("a plan comes with the labels", {"plan": plan}),
        ("belongs to plan=", {"loss": known}),
        ("needs no labels, so no plan", {"plan": plan, "loss": known, "role": "ood"}),
        ("the plan is for 2000 rows", {"plan": plan, "loss": known[:-1]}),
        ("1 of 300 planned rows have no label", {
            "plan": plan, "loss": np.where(np.arange(N) == plan.planned[0], np.nan, known),
        }),
    ):  # fmt: skip
        refused(ValueError, words, study.add_outputs, tmp_path, outputs, **about, **options)
    assert not (tmp_path / "study.json").exists()
    study.add_outputs(tmp_path, outputs, **about, plan=plan, loss=known)
    refused(ValueError, "here are 1: sure", study.rank, tmp_path, "pool", ["sure", "other"])
    with pytest.raises(ValueError, match="pool of which a plan labelled 300 rows"):
        study.read_study(tmp_path).outputs("ce", "seed0", "pool")
    study.add_outputs(tmp_path, abstain.Outputs(scores={"sure": score}, unlabelled=True), model="ce", set="far-ood")
    failed = study.evaluate(tmp_path, "sure", "augrc")
    assert [each.file for each in failed.failures] == ["ce/seed0/far-ood"]
    assert "labelled whole" in failed.failures[0].why
    assert len(failed.rows()) == 1


def test_by_commands(tmp_path, do):
    """A pool added with --plan and one found by init beside its plan give the same numbers."""
    score, _, loss = pool()
    plan = abstain.plan_labels(score, n=300, seed=0)
    source, one, two = tmp_path / "files", tmp_path / "one", tmp_path / "two"
    source.mkdir()
    rows = [
        f"{sure},{'' if np.isnan(wrong) else int(wrong)}" for sure, wrong in zip(score, some(plan, loss), strict=True)
    ]
    (source / "pool.csv").write_text("\n".join(["confidence,loss", *rows]) + "\n")
    plan.save(source / "pool.plan.csv")
    files = "files/pool.csv --plan files/pool.plan.csv --set pool"
    assert "2000 rows, 300 labelled by its plan" in do(f"study add one {files} --model ce").out
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the name says no role
        assert [each.planned for _, each in study.init_study(two, source)] == [300]
    found = [study.evaluate(folder, metrics="augrc").rows()[0]["value"] for folder in (one, two)]
    assert found[0] == found[1]
    sets = json.loads((one / "study.json").read_text())["runs"][0]["sets"]
    assert sets[0]["planned"] == 300
    assert "in brackets: 95 % interval" in do("study evaluate one --metrics augrc,aurc").text
    do(f"study add one {files} --model x --unlabelled", 2)
