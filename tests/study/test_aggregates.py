"""What a study makes of its rows, against a data frame and by hand; models on the same rows, or no test."""

from itertools import product

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
    frame = pl.DataFrame(results.rows(), infer_schema_length=None)
    for mean in results.means("risk"):
        values = frame.filter(model=mean.model)["value"]
        assert (mean.value, mean.deviation, mean.n_runs) == pytest.approx((values.mean(), values.std(), len(values)))
        if mean.model == "sure":
            assert (mean.test_error, mean.training_error) == pytest.approx((0.0, values.std() / np.sqrt(5.0)))


def test_runs_of_two_models_are_not_paired(tmp_path):
    """The numbers of the runs say nothing, so another order gives the same p-value."""
    rng, found = np.random.default_rng(0), []
    labels = rng.integers(0, 3, 600)
    right = {m: [rng.random(600) < q * e for e in (0.96, 0.8, 0.64)] for m, q in (("a", 0.8), ("b", 0.7))}
    for order in ((0, 1, 2), (2, 0, 1)):
        for model, run in product("ab", range(3)):
            said = np.where(right[model][run if model == "a" else order[run]], labels, (labels + 1) % 3)
            out = abstain.Outputs(labels=labels, predictions=said, confidence=np.linspace(0, 1, 600))
            study.add_outputs(tmp_path / str(order), out, model=model, run=f"seed{run}", set="test")
        results = study.evaluate(tmp_path / str(order), metrics="augrc", workers=1)
        found.append(results.p_value(*results.means("augrc")))
    assert found[0] == pytest.approx(found[1])


def test_kept_units_are_of_the_same_nan_policy(tmp_path):
    """Another rule for missing scores computes anew, and does not show what was kept of the first."""
    rng = np.random.default_rng(0)
    score, loss = np.where(np.arange(300) < 60, np.nan, rng.random(300)), (rng.random(300) < 0.3) * 1.0
    study.add_outputs(tmp_path, abstain.Outputs(loss=loss, scores={"a": score}), model="m", set="test")
    for policy in ("reject", "drop", "reject"):
        found = study.evaluate(tmp_path, "a", "augrc", nan_policy=policy, workers=1).means("augrc")[0].value
        assert found == pytest.approx(abstain.augrc(loss, score, nan_policy=policy))


N = 400


ROWS = np.arange(N)


def _on(rows, skill, seed, lack=()):
    """Return outputs on these rows of one test set, whose labels and ids are those of the rows."""
    labels, noise = np.random.default_rng(0).integers(0, 3, N), np.random.default_rng(seed).normal(size=(N, 3))
    logits = noise + skill * np.eye(3)[labels]
    if "labels" in lack:
        return Outputs(loss=(logits.argmax(axis=1) != labels)[rows] * 1.0, scores={"msp": logits.max(axis=1)[rows]})
    ids = None if "ids" in lack else np.array([f"row{k}" for k in rows])
    if "order" in lack and seed == 2:  # the same classes from the last to the first
        return Outputs(labels=2 - labels[rows], logits=logits[rows, ::-1], ids=ids, class_names=["c", "b", "a"])
    return Outputs(labels=labels[rows], logits=logits[rows], ids=ids, class_names=["a", "b", "c"])


@pytest.mark.parametrize(
    ("rows", "lack", "note"),
    [
        (ROWS, (), None),
        (ROWS, ("ids", "order"), None),
        (ROWS[: N // 2], (), "have different rows (400 and 200 rows), so they are not tested against each other"),
        (ROWS[::-1], (), "have different rows (other identifiers, or in another order), so they"),
        (np.roll(ROWS, 1), (), "have different rows (other identifiers, or in another order), so they"),
        (ROWS[::-1], ("ids",), "have different rows (other labels, or in another order), so they"),
        (
            ROWS,
            ("ids", "labels"),
            "test: no labels and no ids say whether a and b have the same rows; tests take",
        ),
    ],
)
def test_models_on_other_rows_are_not_tested_against_each_other(tmp_path, rows, lack, note):
    """The values stand; the verdict calls them a measurement, a note says why, and a ranking is refused."""
    study.add_outputs(tmp_path, _on(ROWS, 3.0, 1, lack), model="a", set="test")
    study.add_outputs(tmp_path, _on(rows, 1.0, 2, lack), model="b", set="test")
    results = study.evaluate(tmp_path, metrics=["augrc", "accuracy"])
    notes = [each for each in results.notes() if "rows" in each]
    assert all(note is not None and note in each for each in notes)
    assert len(notes) == (note is not None)
    one, other = results.means("augrc")
    assert results.same_rows(one, one)
    assert results.only(metric="augrc").same_rows(one, other) is results.same_rows(one, other)
    if note is None or "no ids" in note:
        assert results.same_rows(one, other)
        assert results.verdict.comparison.p < 0.001
    else:
        assert not results.same_rows(one, other)
        assert np.isnan(results.verdict.comparison.p)
        assert "not tested" in results.verdict.headline
        with pytest.raises(ValueError, match=r"differs in size|a and b have different rows .*; rank models on"):
            study.rank(tmp_path, "test", ["msp"], n_resamples=100)
