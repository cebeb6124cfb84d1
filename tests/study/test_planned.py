"""Pools with a plan in a study: the planned estimates in its tables, and two scores from the same labels."""

import numpy as np
import polars as pl
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
    metrics, said = ["augrc", "aurc", "auroc_f"], []
    results = study.evaluate(tmp_path, metrics=[*metrics, "ece"])
    rows = {row["metric"]: row for row in results.rows()}
    assert {row["score"] for row in results.rows()} == {"sure"}
    for each in abstain.evaluate(loss=some(plan, loss), confidence=score, plan=plan, metrics=metrics).measurements:
        found = [rows[each.metric][name] for name in ("value", "low", "high", "n", "labelled")]
        assert found == [each.value, each.low, each.high, N, 300]
    assert "a few labels of a pool do not estimate it" in rows["ece"]["reason"]
    mean = results.means("augrc")[0]
    plain = " ".join(str(results).split())
    assert f"[{mean.low:.5f}, {mean.high:.5f}]" in plain
    assert f"300 of 2000 rows are labelled, by plan (uniform, {plan.digest[:8]})" in plain
    assert "was not made for other" in plain
    study.evaluate(tmp_path, metrics=[*metrics, "ece"], progress=said.append)
    assert said == ["1 units, all done before"]
    more = plan.extend(some(plan, loss), 200, seed=1)  # new labels are a new unit
    study.add_outputs(tmp_path, outputs, model="ce", set="pool", plan=more, loss=some(more, loss))
    again = study.evaluate(tmp_path, metrics="augrc").means("augrc")[0]
    assert again.labelled == 500
    assert again.standard_error < mean.standard_error


def test_comparison_of_two_models(tmp_path):
    """Two models with one plan for both are ranked by compare with that plan, whatever the order of the rows."""
    score, other, loss = pool()
    rng = np.random.default_rng(1)
    a, b = np.zeros(N, dtype=int), (rng.random(N) < 0.1).astype(int)
    second = np.where(a == b, loss, 1.0 - loss)
    ids = np.array([f"r{k}" for k in range(N)])
    plan = abstain.plan_labels(score, n=400, compare=(other, a, b), ids=ids, seed=0)

    def add(model, column, losses, plan, order=slice(None)):
        outputs = abstain.Outputs(scores={"sure": column[order]}, ids=ids[order], unlabelled=True)
        study.add_outputs(tmp_path, outputs, model=model, set="pool", plan=plan, loss=some(plan, losses)[order])

    add("first", score, loss, plan, rng.permutation(N))
    add("second", other, second, plan, rng.permutation(N))
    found = study.rank(tmp_path, "pool", "sure", ["augrc", "aurc"])
    given = {"first sure": some(plan, loss), "second sure": some(plan, second)}
    for metric in ("augrc", "aurc"):
        alone = abstain.compare(given, {"first sure": score, "second sure": other}, metric, plan=plan)
        one = found.rankings[metric]
        for name in ("differences", "metric", "label", "direction"):
            assert getattr(one, name) == getattr(alone, name)
        assert list(one.names) == [row["name"] for row in alone.table]
        for name in ("estimate", "rank", "set_low"):
            assert getattr(one, name).tolist() == [row[name] for row in alone.table]
        assert one.better.tolist() == [[False, alone.differences[0].significant], [False, False]]
    plain = " ".join(str(found).split())
    assert "400 of 2000 rows are labelled, by plan (planned" in plain
    assert "Resampled" not in plain
    refused(ValueError, "without resamples", found.wilcoxon_over_resamples, "augrc")
    add("second", other, second, abstain.plan_labels(other, n=400, ids=ids, seed=1))
    refused(ValueError, "have no plan that was made for both", study.rank, tmp_path, "pool", "sure", "augrc")


def test_what_is_refused(tmp_path):
    """Each with its own sentence: no losses, another pool, a missing label, a foreign pool, one score, other tables."""
    score, other, loss = pool()
    plan = abstain.plan_labels(score, n=300, seed=0)
    outputs = abstain.Outputs(scores={"sure": score, "other": other}, unlabelled=True)
    about, known = {"model": "ce", "set": "pool"}, some(plan, loss)
    missing = np.where(np.arange(N) == plan.planned[0], np.nan, known)
    for words, options in (
        ("a plan comes with the labels", {"plan": plan}),
        ("belongs to plan=", {"loss": known}),
        ("needs no labels, so no plan", {"plan": plan, "loss": known, "role": "ood"}),
        ("the plan is for 2000 rows", {"plan": plan, "loss": known[:-1]}),
        ("1 of 300 planned rows have no label", {"plan": plan, "loss": missing}),
    ):
        refused(ValueError, words, study.add_outputs, tmp_path, outputs, **about, **options)
    assert not (tmp_path / "study.json").exists()
    study.add_outputs(tmp_path, outputs, **about, plan=plan, loss=known)
    refused(ValueError, "here are 1: sure", study.rank, tmp_path, "pool", ["sure", "other"])
    whole = study.read_study(tmp_path).outputs
    refused(ValueError, "pool of which a plan labelled 300 rows", whole, "ce", "seed0", "pool")
    study.add_outputs(tmp_path, abstain.Outputs(scores={"sure": score}, unlabelled=True), model="ce", set="far-ood")
    failed = study.evaluate(tmp_path, "sure", "augrc")
    assert [each.file for each in failed.failures] == ["ce/seed0/far-ood"]
    assert "labelled whole" in failed.failures[0].why
    assert len(failed.rows()) == 1


@pytest.mark.filterwarnings("ignore")  # the name says no role
def test_by_commands(tmp_path, do):
    """A pool added with --plan and one found by init beside its plan give the same numbers."""
    score, _, loss = pool()
    plan = abstain.plan_labels(score, n=300, seed=0)
    source, one, two = tmp_path / "files", tmp_path / "one", tmp_path / "two"
    source.mkdir()
    pl.DataFrame({"confidence": score, "loss": some(plan, loss)}).fill_nan(None).write_csv(source / "pool.csv")
    plan.save(source / "pool.plan.csv")
    files = "files/pool.csv --plan files/pool.plan.csv --set pool"
    assert "2000 rows, 300 labelled by its plan" in do(f"study add one {files} --model ce").out
    assert [each.planned for _, each in study.init_study(two, source)] == [300]
    assert len({study.evaluate(folder, metrics="augrc").rows()[0]["value"] for folder in (one, two)}) == 1
    assert study.read_study(one).runs[0].sets[0].planned == 300
    assert "in brackets: 95 % interval" in do("study evaluate one --metrics augrc,aurc").text
    do(f"study add one {files} --model x --unlabelled", 2)
