"""What looks like another quantity than it was given as is said, with the remedy, and refused where it was guessed."""

import warnings

import numpy as np
import pytest

import abstain
from tests.command import csv

RNG = np.random.default_rng(0)
N = 400
P = np.clip(RNG.beta(0.5, 0.5, N), 1e-3, 1.0 - 1e-3)
TRUTH = (RNG.random(N) < P).astype(int)
PREDICTED = (P > 0.5).astype(int)
SURE = np.maximum(P, 1.0 - P)
WRONG = (TRUTH != PREDICTED).astype(float)


def said(**columns):
    """Return what is said of these columns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        abstain.Outputs(**columns)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"labels": TRUTH, "predictions": PREDICTED, "confidence": P}, "looks like the probability of class 1"),
        ({"labels": TRUTH, "predictions": PREDICTED, "confidence": 1 - P}, "looks like the probability of class 0"),
        ({"labels": TRUTH, "predictions": PREDICTED, "scores": {"s": P}}, r"scores['s'] looks like the probability"),
        ({"labels": TRUTH, "predictions": PREDICTED, "confidence": 1 - SURE}, "of an uncertainty give the negative"),
        ({"loss": WRONG, "confidence": 1 - SURE}, "if the score is an uncertainty, give its negative"),
        ({"loss": 1 - WRONG, "confidence": SURE}, "if 1 stands for a right answer, it is no loss; give 1 - it"),
        ({"loss": SURE, "confidence": WRONG}, "are the two swapped?"),
        (
            {"labels": TRUTH, "probabilities": np.stack([P, 1 - P], axis=1), "class_names": ["no", "yes"]},
            "below chance for 2 classes: do the labels count the classes in the order of the columns?",
        ),
    ],
)
def test_what_looks_like_something_else_is_said(columns, message):
    """One note each, with the remedy."""
    notes = said(**columns)
    assert len(notes) == 1
    assert message in notes[0]


def test_nothing_is_said_of_what_is_right():
    """The same columns as they are meant, and scores that are merely bad."""
    assert said(labels=TRUTH, predictions=PREDICTED, confidence=SURE) == []
    assert said(loss=WRONG, confidence=SURE, scores={"noise": RNG.random(N)}) == []
    assert said(labels=TRUTH, probabilities=np.stack([1 - P, P], axis=1)) == []
    assert said(loss=RNG.random(N), confidence=SURE) == []
    assert said(labels=TRUTH[:20], predictions=PREDICTED[:20], confidence=P[:20]) == []  # chance is not ruled out


def test_a_function_notices_swapped_arguments():
    """The confidence in the place of the loss: a value came out before, without a word."""
    with pytest.warns(UserWarning, match="are the two swapped"):
        abstain.augrc(SURE, WRONG)
    abstain.augrc(RNG.random(N), SURE.round())  # one confidence for all: no 0/1 loss


def test_an_abstention_unit_is_no_class():
    """Deep Gamblers: the last of eleven outputs is taken off, the rest are the classes, and the unit is a score."""
    logits = RNG.normal(size=(500, 5)) * 2.0
    truth = RNG.integers(0, 4, 500)
    assert any("abstention_unit=True" in note for note in said(labels=truth, logits=logits))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outputs = abstain.Outputs(labels=truth, logits=logits, abstention_unit=True)
    same = abstain.Outputs(labels=truth, logits=logits[:, :4])
    np.testing.assert_array_equal(outputs.error, same.error)
    entropies = [abstain.scores.compute("neg_entropy", each) for each in (outputs, same)]
    np.testing.assert_array_equal(*entropies)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(outputs.scores["neg_reservation"], -p[:, 4], rtol=1e-12)
    assert not outputs.select([0, 1]).abstention_unit
    from_p = abstain.Outputs(labels=truth, probabilities=p, passes=p[None], abstention_unit=True)
    np.testing.assert_allclose(from_p.probabilities, np.exp(same.log_probabilities()), rtol=1e-12)
    np.testing.assert_allclose(from_p.passes[0], from_p.probabilities, rtol=1e-12)
    np.testing.assert_allclose(from_p.scores["pass_neg_reservation"], -p[:, 4], rtol=1e-12)
    head = (np.arange(10.0).reshape(5, 2), np.arange(5.0))
    kept = abstain.Outputs(labels=truth, logits=logits, head=head, abstention_unit=True).head
    assert kept is not None
    assert [part.tolist() for part in kept] == [part[:4].tolist() for part in head]
    with pytest.raises(ValueError, match="needs logits, probabilities or passes"):
        abstain.Outputs(loss=[0, 1], abstention_unit=True)


def test_a_probability_of_class_1_is_refused_where_its_column_was_guessed(tmp_path):
    """``score`` alone may be either; who names it as the confidence gets it, with a note."""
    file = csv(tmp_path / "val.csv", y_true=TRUTH, y_pred=PREDICTED, score=P)
    of_one = r"column 'score' .*probability of one class; give positive_probability='score', or conf"
    with pytest.raises(ValueError, match=of_one):
        abstain.read_outputs(file)
    with pytest.warns(UserWarning, match=r"val.csv: confidence looks like the probability of class 1"):
        abstain.read_outputs(file, confidence="score")
    file = csv(tmp_path / "doubt.csv", y_true=TRUTH, y_pred=PREDICTED, uncertainty=1 - SURE)
    with pytest.raises(ValueError, match="column 'uncertainty' is an uncertainty by its name and by its values"):
        abstain.read_outputs(file, confidence="uncertainty")


@pytest.mark.parametrize("name", ["is_correct", "correct", "Accuracy", "model_right", "acc"])
def test_correctness_is_no_loss(tmp_path, name):
    """A column whose name says that 1 is right is not read as the loss."""
    file = csv(tmp_path / "val.csv", conf=SURE, **{name: 1 - WRONG})
    with pytest.raises(ValueError, match=rf"column '{name}' says what is right.*; give correct='{name}'"):
        abstain.read_outputs(file, loss=name)


@pytest.mark.parametrize("delta", [0.95, 0.51])
def test_a_level_is_no_failure_probability(delta):
    """People write confidence 95 %; the guarantee would hold with probability .05 only."""
    with pytest.raises(ValueError, match=rf"delta = {delta:g} is the probability that the guarantee fails"):
        abstain.choose_threshold(WRONG, SURE, risk=0.3, delta=delta)
    with pytest.raises(ValueError, match="is the probability that the guarantee fails"):
        abstain.thresholds.certified_band(WRONG, SURE, delta=delta)
