"""Confidence scores: orientation, hand-computed values, order where the softmax saturates, needs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from abstain import datasets, scores
from abstain.outputs import Outputs
from tests.refusal import refused

LOGITS = np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 0.0], [5.0, -5.0, 0.0]])
PROBA = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
SORTED = np.sort(PROBA, axis=1)
EXPECTED = {"msp": SORTED[:, 2], "neg_log_error": -np.log(1 - SORTED[:, 2])}
EXPECTED |= {"neg_entropy": (PROBA * np.log(PROBA)).sum(axis=1), "softmax_margin": SORTED[:, 2] - SORTED[:, 1]}
EXPECTED |= {"neg_gini": (PROBA**2).sum(axis=1) - 1, "max_logit": LOGITS.max(axis=1)}
EXPECTED |= {"logit_margin": np.array([1.0, 0.0, 5.0]), "energy": np.log(np.exp(LOGITS).sum(axis=1))}
FROM_PROBABILITIES = ["msp", "neg_log_error", "neg_entropy", "softmax_margin", "neg_gini"]


def of_logits(logits):
    return Outputs(labels=np.zeros(len(logits), int), logits=logits)


def of_probabilities(proba):
    return Outputs(labels=np.zeros(len(proba), int), probabilities=proba)


@pytest.mark.parametrize("name", EXPECTED)
def test_values_from_logits(name):
    score = scores.compute(name, of_logits(LOGITS))
    assert score.dtype == np.float64
    np.testing.assert_allclose(score, EXPECTED[name], rtol=1e-12, atol=1e-15)


def test_neg_log_error_at_extreme_margins():
    score = scores.compute("neg_log_error", of_logits(np.array([[60.0, 0.0], [1e4, 0.0], [0.0, 0.0]])))
    np.testing.assert_allclose(score, [60.0, 1e4, np.log(2.0)], rtol=1e-14)


def test_neg_log_error_breaks_ties_of_saved_single_precision_softmaxes():
    outputs = datasets.load("cifar10_vgg16")
    msp, ours = scores.compute("msp", outputs), scores.compute("neg_log_error", outputs)
    assert len(np.unique(msp)) == 5648
    assert len(np.unique(ours)) > 9900
    assert np.diff(msp[np.argsort(ours)]).min() > -6e-7  # same order but for the rounding of the saved values


@given(arrays(np.float64, (4, 5), elements=st.floats(-1e6, 1e6)))
def test_never_nan_and_in_range(logits):
    outputs = of_logits(logits)
    from_probabilities = of_probabilities(np.exp(outputs.log_probabilities()))
    for given_outputs in (outputs, from_probabilities):
        value = {name: scores.compute(name, given_outputs) for name in scores.available(given_outputs)}
        assert not any(np.isnan(score).any() for score in value.values())
        assert ((value["msp"] >= 0.2 - 1e-12) & (value["msp"] <= 1)).all()
        assert ((value["neg_entropy"] >= -np.log(5) - 1e-12) & (value["neg_entropy"] <= 0)).all()
        assert ((value["neg_gini"] >= -0.8 - 1e-12) & (value["neg_gini"] <= 0)).all()
        assert ((value["softmax_margin"] >= 0) & (value["softmax_margin"] <= 1)).all()
        assert (value["neg_log_error"] >= -np.log(0.8) - 1e-12).all()


# ---------------------------------------------------------------------- names and needs


def test_available_and_default():
    assert scores.available(of_probabilities(PROBA)) == [*FROM_PROBABILITIES, "gen"]
    assert scores.available(of_logits(LOGITS)) == [*EXPECTED, "gen"]
    assert scores.default(of_logits(LOGITS)) == "msp"
    external = Outputs(labels=[0], logits=[[1.0, 0.0]], confidence=[0.3], scores={"votes": [5]})
    assert scores.default(external) == "confidence"
    np.testing.assert_array_equal(scores.compute("confidence", external), [0.3])
    np.testing.assert_array_equal(scores.compute("votes", external), [5.0])
    assert scores.available(external)[-1] == "votes"


def test_the_outputs_own_column_comes_first():
    outputs = Outputs(labels=[0], logits=[[1.0, 0.0]], scores={"energy": [-7.0]})
    np.testing.assert_array_equal(scores.compute("energy", outputs), [-7.0])
    assert scores.available(outputs).count("energy") == 1


HARD = of_probabilities(np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]))
CERTAIN = {"neg_entropy": [0.0, -np.log(2.0)], "neg_log_error": [np.inf, np.log(2.0)], "softmax_margin": [1.0, 0.0]}


def test_values_from_probabilities():
    """The same as from logits; certainty is no NaN and no negative zero."""
    for name in FROM_PROBABILITIES:
        found = scores.compute(name, of_probabilities(PROBA))
        np.testing.assert_allclose(found, EXPECTED[name], rtol=1e-12, atol=1e-15)
    for name, expected in (CERTAIN | {"neg_gini": [0.0, -0.5]}).items():
        np.testing.assert_array_equal(scores.compute(name, HARD), expected)
    assert not np.signbit(scores.compute("neg_gini", HARD)[0])


BARE = Outputs(labels=[0], predictions=[0], scores={"votes": [1]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scores.compute("msp", BARE), "msp needs logits or probabilities, which these outputs do not hold"),
        (lambda: scores.compute("max_logit", BARE), "max_logit needs logits, which"),
        (
            lambda: scores.compute("energy", HARD),
            "energy needs logits, but these outputs hold probabilities only.*sa",
        ),
        (lambda: scores.compute("confidence", BARE), "'confidence' needs an external confidence column"),
        (lambda: scores.compute("energi", BARE), "score 'energi' is not known; did you mean 'energy'"),
        (lambda: scores.get("nothing"), "score 'nothing' is not known"),
        (lambda: scores.default(Outputs(labels=[0], predictions=[0])), "these outputs have no confidence; give one"),
        (lambda: scores.default(BARE), "choose one of votes"),
        (lambda: scores.get("column", column="x").fit().score(BARE), "column='x', which is no external score of these"),
    ],
)
def test_unmet_needs_and_unknown_names(call, message):
    refused(ValueError, message, call)
