"""What a study makes of its rows, against a data frame and by hand; models on the same rows, or no test."""

import numpy as np
import polars as pl
import pytest

import abstain
from abstain import study
from abstain.outputs import Outputs


def _outputs(wrong, ids=None):
    """Return outputs of two classes whose predictions fail on these rows; the confidence is a fixed column."""
    score = np.linspace(0.5, 1.0, wrong.size)
    return abstain.Outputs(labels=wrong.astype(int), predictions=np.zeros(wrong.size, int), confidence=score, ids=ids)


def test_means_over_runs_are_those_of_a_data_frame(tmp_path):
    """Mean, deviation and, for runs without an error of their own, its standard error: deviation / root of runs."""
    for model, errors in (("sure", (0, 60, 0, 60, 60)), ("mixed", (5, 9, 20))):
        for seed, number in enumerate(errors):
            study.add_outputs(tmp_path, _outputs(np.arange(60) < number), model=model, run=f"seed{seed}", set="test")
    results = study.evaluate(tmp_path, metrics="risk")
    frame = pl.DataFrame(results.rows(), infer_schema_length=None).group_by("model")
    expected = {
        row["model"]: row
        for row in frame.agg(
            pl.col("value").mean().alias("mean"), pl.col("value").std(ddof=1).alias("deviation"), pl.len().alias("runs")
        ).to_dicts()
    }
    for mean in results.means("risk"):
        row = expected[mean.model]
        assert (mean.value, mean.deviation) == pytest.approx((row["mean"], row["deviation"]))
        assert mean.n_runs == row["runs"]
    sure = next(each for each in results.means("risk") if each.model == "sure")
    assert sure.test_error == 0.0
    assert sure.training_error == pytest.approx(expected["sure"]["deviation"] / np.sqrt(5.0))


def test_models_share_their_rows_set_by_set(tmp_path):
    """Two models on one order of rows in one set and on another order in a second: only the first is the same."""
    wrong, ids = np.arange(40) % 3 == 0, np.array([f"row{k}" for k in range(40)])
    for model in ("a", "b"):
        study.add_outputs(tmp_path, _outputs(wrong, ids), model=model, set="alike", role="test")
        order = np.arange(40) if model == "a" else np.arange(40)[::-1]
        study.add_outputs(tmp_path, _outputs(wrong[order], ids[order]), model=model, set="turned", role="test")
    results = study.evaluate(tmp_path, metrics="augrc")
    of = {(each.model, each.set): each for each in results.means("augrc")}
    assert results.same_rows(of["a", "alike"], of["b", "alike"])
    assert not results.same_rows(of["a", "turned"], of["b", "turned"])
    assert results.same_rows(of["a", "turned"], of["a", "turned"])


def test_chosen_settings_stand_in_their_row_and_column():
    """Families and scores are rows, data sets columns; what was not chosen there is a dash."""
    made = [("one", "dg", "res", "2"), ("two", "dg", "res", "6"), ("one", "ce", "msp", "9")]
    choices = [
        study.SettingChoice(data, family, score, "augrc", f"{family}-x={x}", {"x": x}, 0.1, 3)
        for data, family, score, x in made
    ]
    table = study.SettingSelection(tuple(choices)).table("augrc", "x")
    assert [column.title for column in table.columns] == ["", "one", "two"]
    assert [tuple(row) for row in table.rows] == [("dg res", "2", "6"), ("ce msp", "9", "—")]


def clustered():
    """Return losses, two scores and the clusters that both follow."""
    rng, who = np.random.default_rng(0), np.repeat(np.arange(40), 25)
    wrong = ((rng.random(40)[who] < 0.2) & (rng.random(1000) < 0.8)) * 1.0
    side = rng.normal(size=40)[who]
    return wrong, {"a": 1 - wrong + rng.normal(size=1000) + side, "b": 1 - wrong + rng.normal(size=1000) - side}, who


def test_a_ranking_knows_the_clusters(tmp_path):
    """Its standard error is that of the comparison with clusters."""
    wrong, scores, who = clustered()
    study.add_outputs(tmp_path, abstain.Outputs(loss=wrong, scores=scores, clusters=who), model="m", set="test")
    ranked = next(iter(study.rank(tmp_path, "test", ["a", "b"], ["augrc"]).rankings.values()))
    direct = abstain.compare(wrong, scores, "augrc", clusters=who).differences[0]
    assert ranked.differences[0].standard_error == pytest.approx(direct.standard_error)


def test_runs_of_two_models_are_not_paired(tmp_path):
    """The numbers of the runs say nothing, so another order gives the same p-value."""
    rng = np.random.default_rng(0)
    labels, orders = rng.integers(0, 3, 600), ((0, 1, 2), (2, 0, 1))
    right = {m: [rng.random(600) < q * e for e in (0.96, 0.8, 0.64)] for m, q in (("a", 0.8), ("b", 0.7))}
    found = []
    for k, order in enumerate(orders):
        for model in "ab":
            for run, which in enumerate((0, 1, 2) if model == "a" else order):
                said = np.where(right[model][which], labels, (labels + 1) % 3)
                out = abstain.Outputs(labels=labels, predictions=said, confidence=np.linspace(0, 1, 600))
                study.add_outputs(tmp_path / str(k), out, model=model, run=f"seed{run}", set="test")
        results = study.evaluate(tmp_path / str(k), metrics="augrc", workers=1)
        found.append(results.p_value(*results.means("augrc")))
    assert found[0] == pytest.approx(found[1])


def test_kept_units_are_of_the_same_nan_policy(tmp_path):
    """Another rule for missing scores computes anew."""
    rng = np.random.default_rng(0)
    score, loss = rng.random(300), (rng.random(300) < 0.3) * 1.0
    score[:60] = np.nan
    study.add_outputs(tmp_path, abstain.Outputs(loss=loss, scores={"a": score}), model="m", set="test")
    found = []
    for policy in ("reject", "drop", "reject"):  # the second must not show what was kept of the first
        found.append(study.evaluate(tmp_path, "a", "augrc", nan_policy=policy, workers=1).means("augrc")[0].value)
    assert found[0] == found[2] == pytest.approx(abstain.augrc(loss, score, nan_policy="reject"))
    assert found[1] == pytest.approx(abstain.augrc(loss, score, nan_policy="drop"))


N = 400


def _on(rows, skill, seed, *, named=True):
    """Return outputs on these rows of one test set, whose labels and ids are those of the rows."""
    labels, noise = np.random.default_rng(0).integers(0, 3, N), np.random.default_rng(seed).normal(size=(N, 3))
    logits = noise + skill * np.eye(3)[labels]
    ids = np.array([f"row{k}" for k in range(N)])
    if not named:
        wrong = (logits.argmax(axis=1) != labels) * 1.0
        return Outputs(loss=wrong[rows], scores={"msp": logits.max(axis=1)[rows]})
    return Outputs(labels=labels[rows], logits=logits[rows], ids=ids[rows])


def _said(folder, other, *, named=True):
    study.add_outputs(folder, _on(np.arange(N), 3.0, 1, named=named), model="a", set="test")
    study.add_outputs(folder, _on(other, 1.0, 2, named=named), model="b", set="test")
    return study.evaluate(folder, metrics=["augrc", "accuracy"])


def _better(results):
    found = results.verdict.comparison
    assert found is not None
    return found


def test_models_on_the_same_rows_are_tested(tmp_path):
    """Nothing is noted, and the difference has a p-value."""
    results = _said(tmp_path, np.arange(N))
    assert not any("rows" in note for note in results.notes())
    assert (_better(results).next, _better(results).p < 0.001) == ("b msp", True)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (np.arange(N // 2), "400 and 200 rows"),
        (np.arange(N)[::-1], "other identifiers, or in another order"),
        (np.roll(np.arange(N), 1), "other identifiers, or in another order"),
    ],
)
def test_models_on_other_rows_are_not(tmp_path, rows, why):
    """The values stand; the verdict calls them a measurement, a note says why, and a ranking is refused."""
    results = _said(tmp_path, rows)
    note = f"test: a and b have different rows ({why}), so they are not tested against each other"
    assert note in results.notes()
    assert np.isnan(_better(results).p)
    assert "not tested" in results.verdict.headline
    with pytest.raises(ValueError, match=r"differs in size|a and b have different rows .*; rank models on the same"):
        study.rank(tmp_path, "test", ["msp"], n_resamples=100)


def test_labels_tell_where_ids_are_missing(tmp_path):
    """Another order of the labels is another order of the rows; words and numbers of classes are not compared."""
    for model, rows in (("a", np.arange(N)), ("b", np.arange(N)[::-1])):
        outputs = _on(rows, 2.0, 1)
        study.add_outputs(tmp_path, Outputs(labels=outputs.labels, logits=outputs.logits), model=model, set="test")
    notes = study.evaluate(tmp_path, metrics="augrc").notes()
    assert any("other labels, or in another order" in note for note in notes)


def test_what_cannot_be_told_is_said(tmp_path):
    """Losses and scores alone name no row."""
    results = _said(tmp_path, np.arange(N), named=False)
    note = "test: no labels and no ids say whether a and b have the same rows; tests take it so"
    assert note in results.notes()
    assert _better(results).p < 0.05


def test_a_set_of_few_rows_is_named(tmp_path):
    """One right answer each is no perfect model."""
    for model in ("a", "b"):
        study.add_outputs(tmp_path, abstain.Outputs(labels=[0], logits=[[2.0, 0.0]]), model=model, set="test")
    verdict = study.evaluate(tmp_path, metrics=["augrc", "accuracy"]).verdict
    assert "Only 1 row in test: all numbers are uncertain." in [each.text for each in verdict.caveats]
