"""What looks like another quantity than it was given as is said, with the remedy, and refused where it was guessed."""

import warnings

import numpy as np
import pytest

import abstain
from tests.command import csv
from tests.refusal import refused

RNG = np.random.default_rng(0)
N = 400
P = np.clip(RNG.beta(0.5, 0.5, N), 1e-3, 1.0 - 1e-3)
TRUTH = (RNG.random(N) < P).astype(int)
PREDICTED = (P > 0.5).astype(int)
SURE = np.maximum(P, 1.0 - P)
WRONG = (TRUTH != PREDICTED).astype(float)
TURNED = {"labels": TRUTH, "probabilities": np.stack([P, 1 - P], axis=1), "class_names": ["no", "yes"]}
TOLD = {"labels": TRUTH, "predictions": PREDICTED}


def said(**columns):
    """Return what is said of these columns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        abstain.Outputs(**columns)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (TOLD | {"scores": {"s": P}}, r"scores['s'] looks like the probability"),
        (TOLD | {"confidence": 1 - SURE}, "of an uncertainty give the negative"),
        ({"loss": WRONG, "confidence": 1 - SURE}, "if the score is an uncertainty, give its negative"),
        ({"loss": 1 - WRONG, "confidence": SURE}, "if 1 stands for a right answer, it is no loss; give 1 - it"),
        (TURNED, "below chance for 2 classes: do the labels count the classes in the order of the columns?"),
    ],
)
def test_what_looks_like_something_else_is_said(columns, message):
    """One note each, with the remedy."""
    (note,) = said(**columns)
    assert message in note


def test_an_abstention_unit_is_no_class(tmp_path):
    """Deep Gamblers: the last of eleven outputs is taken off, the rest are the classes, and the unit is a score."""
    logits, truth = RNG.normal(size=(500, 5)) * 2.0, RNG.integers(0, 4, 500)
    assert any("abstention_unit=True" in note for note in said(labels=truth, logits=logits))
    head = (np.arange(10.0).reshape(5, 2), np.arange(5.0))
    given = {"labels": truth, "logits": logits, "head": head, "abstention_unit": True}
    assert said(**given) == []
    outputs, same = abstain.Outputs(**given), abstain.Outputs(labels=truth, logits=logits[:, :4])
    np.testing.assert_array_equal(outputs.logits, same.logits)
    assert [part.tolist() for part in outputs.head] == [part[:4].tolist() for part in head]
    moved = {"logits": logits, "head_weight": head[0], "head_bias": head[1]}
    moved = {name: np.roll(part, 1, axis=-1 if name == "logits" else 0) for name, part in moved.items()}
    np.savez(tmp_path / "first.npz", labels=np.array(list("abcd"))[truth], class_names=list("uabcd"), **moved)
    last = abstain.read_outputs(tmp_path / "first.npz", abstain_class="u")  # the unit is the first output there
    assert [part.tolist() for part in last.head] == [part.tolist() for part in outputs.head]
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(outputs.scores["neg_reservation"], -p[:, 4], rtol=1e-12)
    assert not outputs.select([0, 1]).abstention_unit
    from_p = abstain.Outputs(labels=truth, probabilities=p, passes=p[None], abstention_unit=True)
    for found in (from_p.probabilities, from_p.passes[0]):
        np.testing.assert_allclose(found, np.exp(same.log_probabilities()), rtol=1e-12)
    np.testing.assert_allclose(from_p.scores["pass_neg_reservation"], -p[:, 4], rtol=1e-12)
    with pytest.raises(ValueError, match="needs logits, probabilities or passes"):
        abstain.Outputs(loss=[0, 1], abstention_unit=True)


@pytest.mark.parametrize(
    ("name", "column", "role", "message"),
    [
        ("score", P, None, "probability of one class; give positive_probability='score', or conf"),
        ("uncertainty", 1 - SURE, "confidence", "is an uncertainty by its name and by its values"),
        *(
            (name, 1 - WRONG, "loss", f"says what is right.*; give correct='{name}'")
            for name in ("is_correct", "Accuracy", "model_right", "acc")
        ),
    ],
)
def test_a_column_that_is_another_quantity_is_refused(tmp_path, name, column, role, message):
    """Who names a probability of one class as the confidence gets it, with a note."""
    file = csv(tmp_path / "val.csv", **{"y_true": TRUTH, "y_pred": PREDICTED, name: column})
    refused(ValueError, rf"column '{name}' .*{message}", abstain.read_outputs, file, **({role: name} if role else {}))
    if role is None:
        with pytest.warns(UserWarning, match=r"val.csv: confidence looks like the probability of class 1"):
            abstain.read_outputs(file, confidence=name)
