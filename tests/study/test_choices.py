"""Choices on validation applied to all shifts, rankings by paired tests, and metrics over passes."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import abstain
from abstain import study
from tests.refusal import refused
from tests.study.test_evaluate import outputs


def confident(n, seed, sharp, spoil):
    """Return outputs whose score is the better the sharper; ``spoil`` makes the surest rows wrong."""
    rng = np.random.default_rng(seed)
    loss = (rng.random(n) < 0.3).astype(float)
    score = rng.normal(size=n) - sharp * loss
    if spoil:
        score[np.flatnonzero(loss)[:spoil]] = score.max() + 1.0 + np.arange(spoil)
    return abstain.Outputs(loss=loss, scores={"s": score})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a family of three settings on two data sets: AURC and AUGRC choose different ones of them."""
    path = tmp_path_factory.mktemp("study")
    for data, (setting, sharp, spoil) in product(("a", "b"), ((1, 1.5, 8), (2, 1.0, 0), (3, 0.2, 0))):
        for name, run in product(("validation", "test", "corruption-1"), range(2)):
            made = confident(600, 7 * run + len(name), sharp, spoil)
            study.add_outputs(path, made, model=f"dg-reward={setting}-{data}", run=f"seed{run}", set=name,
                              data=data)  # fmt: skip
    return path


def test_each_metric_chooses_on_validation_once_for_all_shifts(folder):
    """The choice is the best mean on validation, and every set of the data set has the numbers of that model."""
    results = study.evaluate(folder, metrics=["augrc", "aurc"])
    chosen = study.select_settings(results, families=dict.fromkeys(results.values("model"), "dg"))
    for metric, data in product(("augrc", "aurc"), ("a", "b")):
        means = [each for each in results.means(metric) if each.data == data and each.set == "validation"]
        best = min(means, key=lambda each: each.value)
        choice = next(each for each in chosen.of(metric) if each.data == data)
        assert (choice.chosen, choice.value, choice.n_candidates) == (best.model, best.value, 3)
        applied = chosen.results(metric).only(data=data)
        expected = [row["value"] for row in results.only(model=best.model, data=data).rows()]
        assert [row["value"] for row in applied.rows()] == expected
        assert applied.values("model") == ["dg"]
        np.testing.assert_array_equal(applied.sums, results.only(model=best.model, data=data).sums)
    assert {each.chosen[:11] for each in chosen.of("augrc")} != {each.chosen[:11] for each in chosen.of("aurc")}
    grid = chosen.results("augrc").grid("augrc")
    assert [(head.group, head.title) for head in grid.heads] == [("a", "iid"), ("a", "cor"), ("b", "iid"), ("b", "cor")]
    assert "reward" in chosen.table("augrc", "reward").title
    assert str(chosen.table()) == str(chosen.table(chosen.choices[0].metric))
    assert chosen.results("augrc").means("augrc")[0].n_runs == 2


def test_names_say_what_a_family_is(folder, do):
    """Without families a name ends where its settings begin; by command the choices are printed."""
    said = do(f"study select {folder} --models dg-reward=1-a,dg-reward=2-a,dg-reward=3-a").out
    assert "Chosen by augrc on validation" in said
    results = study.evaluate(folder, metrics="augrc")
    assert {each.family for each in study.select_settings(results, ["augrc"]).choices} == {"dg"}
    for given, families, message in (
        (results.only(set="test"), None, "no set of role validation"),
        (results, {"dg-x": "dg"}, "families='dg-x' is not known"),
    ):
        refused(ValueError, message, study.select_settings, given, ["augrc"], families=families)


def test_scores_are_chosen_by_detection(tmp_path):
    """Of the settings of a score the one with the largest AUROC of validation against OOD data, mean over runs."""
    values = {"odin-T=1": [], "odin-T=10": []}
    for seed in range(2):
        inside, rng = outputs(seed, 200), np.random.default_rng(seed)
        ood = replace(outputs(seed + 50, 150), labels=None, unlabelled=True)
        scores = [
            {name: k * gain + rng.normal(size=each.n) for name, gain in zip(values, (0.2, 2.0), strict=True)}
            for k, each in ((1.0, inside), (0.0, ood))
        ]
        for name, each, made in (("validation", inside, scores[0]), ("ood-val", ood, scores[1])):
            study.add_outputs(tmp_path, replace(each, scores=made), model="ce", run=f"seed{seed}", set=name)
        for name in values:
            values[name].append(abstain.joint.auroc(id_score=scores[0][name], ood_score=scores[1][name]))
    odin, gen = study.select_scores(tmp_path, [*values, "gen(gamma=0.1)", "gen(gamma=0.9)"], "ood-val").choices
    assert (odin.family, odin.chosen, odin.settings) == ("odin", "odin-T=10", {"T": "10"})
    assert odin.value == pytest.approx(np.mean(values["odin-T=10"]))
    assert (gen.n_candidates, list(gen.settings)) == (2, ["gamma"])
    refused(ValueError, "no model has the sets", study.select_scores, tmp_path, ["msp"], "far")


def test_rankings_are_those_of_the_columns(tmp_path, do):
    """Runs are paired, scores of passes have their own losses, sizes must agree; also by command."""
    for model, seed in product(("ce", "mc"), range(2)):
        made = outputs(seed + 10 * (model == "mc"), 200, passes=model == "mc")
        study.add_outputs(tmp_path, made, model=model, run=f"seed{seed}", set="test")
    found = study.rank(tmp_path, "test", ["one", "pass_msp"], "augrc", n_resamples=100)
    assert sorted(found.names) == ["ce one", "mc one", "mc pass_msp"]
    saved = {
        model: [study.read_study(tmp_path).outputs(model, f"seed{k}", "test") for k in (0, 1)] for model in ("ce", "mc")
    }
    values = [abstain.evaluate(each, "pass_msp", "augrc", level=None).value("augrc") for each in saved["mc"]]
    assert found.rankings["augrc"].of("mc pass_msp")["estimate"] == pytest.approx(np.mean(values))
    one = study.rank(tmp_path, "test", ["one", "two"], "augrc", models=["ce"], n_resamples=100)
    columns = {name: np.stack([each.scores[name] for each in saved["ce"]]) for name in ("one", "two")}
    loss = dict.fromkeys(columns, np.stack([each.error for each in saved["ce"]]))
    same = abstain.ranking_study(loss, columns, "augrc", n_resamples=100, paired_runs=True)
    assert one.rankings["augrc"].differences == same.rankings["augrc"].differences
    said = do("study rank . --scores one,two --models ce --resamples 100").out
    assert "better than: how many others" in said
    refused(ValueError, "set='tset' is not known; did you mean 'test'", study.rank, tmp_path, "tset", "one")
    study.add_outputs(tmp_path, outputs(3, 150), model="ce", run="seed0", set="test")
    refused(ValueError, "differs in size", study.rank, tmp_path, "test", "one")


def test_metrics_over_passes():
    """Each pass has its own predictions; a metric of probabilities works, too; what is missing is said."""
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet([1, 1, 1], size=(5, 80)), rng.integers(0, 3, 80)
    made = abstain.Outputs(labels=y, passes=p)
    found = study.over_passes(made, "augrc", "neg_entropy")
    members = [abstain.Outputs(labels=y, probabilities=member) for member in p]
    values = [abstain.augrc(one.error, abstain.scores.compute("neg_entropy", one)) for one in members]
    assert (found.mean, found.deviation) == pytest.approx((np.mean(values), np.std(values, ddof=1)))
    brier = study.over_passes(made, "brier_score")
    assert brier.of_mean < brier.mean  # the mean of the passes is better than they are
    for lacks, what in (({"labels": [0], "predictions": [0]}, "passes"), ({"loss": [0.0] * 80, "passes": p}, "labels")):
        refused(abstain.UnmetNeed, f"have no {what}", study.over_passes, abstain.Outputs(**lacks))
