"""Scores of repeated passes are judged by the predictions of the passes, in every function and command."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import abstain


def dropout() -> abstain.Outputs:
    """Return a network whose passes predict otherwise than it does itself in about a tenth of the samples."""
    rng = np.random.default_rng(0)
    z = 2.0 * rng.normal(size=(500, 4))
    softmax = lambda q: np.exp(q) / np.exp(q).sum(axis=1, keepdims=True)  # noqa: E731
    labels = np.array([rng.choice(4, p=p) for p in softmax(z)])
    passes = np.stack([softmax(z + 1.5 * rng.normal(size=z.shape)) for _ in range(20)])
    return abstain.Outputs(labels=labels, logits=z, passes=passes)


OUTPUTS = dropout()
MEAN = np.mean(OUTPUTS.passes, axis=0)
WRONG = (MEAN.argmax(axis=1) != OUTPUTS.labels) * 1.0


def test_each_score_is_judged_by_its_own_predictions() -> None:
    """By hand: the argmax of the mean, and of the votes; the softmax probability by the network's."""
    votes = (abstain.scores.pass_predictions(OUTPUTS, "votes") != OUTPUTS.labels) * 1.0
    assert (OUTPUTS.error != WRONG).sum() > 10
    result = abstain.evaluate(OUTPUTS, ["msp", "pass_msp", "pass_vote_agreement"], ["accuracy", "augrc", "nll"])
    for score, loss in (("msp", OUTPUTS.error), ("pass_msp", WRONG), ("pass_vote_agreement", votes)):
        column = abstain.scores.compute(score, OUTPUTS)
        assert result.value("accuracy", score=score) == pytest.approx(1.0 - loss.mean(), rel=1e-12)
        assert result.value("augrc", score=score) == abstain.augrc(loss, column)
    assert result.value("nll", score="pass_msp") == pytest.approx(abstain.nll(OUTPUTS.labels, MEAN), rel=1e-12)
    assert sum("judged by the predictions of its passes" in note for note in result.notes()) == 2


def test_a_given_loss_stands() -> None:
    """A loss of the caller's own takes the place of every prediction."""
    loss = np.random.default_rng(1).random(500)
    result = abstain.evaluate(replace(OUTPUTS, loss=loss), "pass_msp", "risk")
    assert result.value("risk") == pytest.approx(loss.mean(), rel=1e-12)


@pytest.mark.parametrize("first", ["good", "bad"])
def test_the_difference_is_better_minus_worse(first: str) -> None:
    """Whichever was given first."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=4000)
    wrong, scores = (rng.random(4000) < 1 / (1 + np.exp(2 + 2 * z))) * 1.0, {"good": z, "bad": rng.normal(size=4000)}
    names = sorted(scores, key=lambda name: name != first)
    plan = abstain.plan_labels(scores[names[0]], 400, compare=scores[names[1]], seed=1)
    loss = np.where(plan.stage > 0, wrong, np.nan)
    found = abstain.compare(loss, {name: scores[name] for name in names}, "augrc", plan=plan).differences[0]
    assert (found.a, found.b) == ("good", "bad")
    assert found.high < 0.0
