"""One set of several models: the same rows in the same order, or no test between them."""

import numpy as np
import pytest

import abstain
from abstain import study
from abstain.outputs import Outputs

N = 400


def _outputs(rows, skill, seed, *, named=True):
    """Return outputs on these rows of one test set, whose labels and ids are those of the rows."""
    labels, noise = np.random.default_rng(0).integers(0, 3, N), np.random.default_rng(seed).normal(size=(N, 3))
    logits = noise + skill * np.eye(3)[labels]
    ids = np.array([f"row{k}" for k in range(N)])
    if not named:
        wrong = (logits.argmax(axis=1) != labels) * 1.0
        return Outputs(loss=wrong[rows], scores={"msp": logits.max(axis=1)[rows]})
    return Outputs(labels=labels[rows], logits=logits[rows], ids=ids[rows])


def _said(folder, other, *, named=True):
    study.add_outputs(folder, _outputs(np.arange(N), 3.0, 1, named=named), model="a", set="test")
    study.add_outputs(folder, _outputs(other, 1.0, 2, named=named), model="b", set="test")
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
        outputs = _outputs(rows, 2.0, 1)
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
