"""How a policy's score is read: which column, which kind of inputs, and what is said where there is neither."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain.policy import SecondScore, score_reading

LOGITS = np.array([[2.0, 0.0, 1.0], [0.5, 1.5, 0.0], [0.0, 0.3, 0.1], [3.0, 0.0, 0.0]])
LABELS = np.array([0, 1, 2, 0])


def test_without_a_name_the_score_of_logits_is_their_largest_probability() -> None:
    """Softmax by hand; the policy keeps that logits are its inputs."""
    outputs = abstain.read_outputs({"labels": LABELS, "logits": LOGITS})
    how = score_reading(outputs)
    powers = np.exp(LOGITS)
    assert (how.score, how.inputs) == ("msp", {"logits": ["logits"]})
    assert how.confidence(outputs) == pytest.approx(powers.max(axis=1) / powers.sum(axis=1), rel=1e-12)


@pytest.mark.parametrize("name", [None, "msp"])
def test_without_logits_the_inputs_are_probabilities(name: str | None) -> None:
    """There is nothing else that they could be."""
    powers = np.exp(LOGITS)
    outputs = abstain.read_outputs({"labels": LABELS, "probabilities": powers / powers.sum(axis=1, keepdims=True)})
    how = score_reading(outputs, name)
    assert (how.score, how.inputs) == ("msp", {"probabilities": ["probabilities"]})


@pytest.mark.parametrize(
    ("score", "temperature", "message"),
    [
        ("confidense", None, "no score that is computed is called 'confidense'"),
        ("gen(gamma=0.5, top=10)", None, r"'gen\(gamma=0.5, top=10\)' is computed from logits or prob"),
        (None, 2.0, "'msp' is computed from logits or probabilities, which the file does not hold"),
        ("neg_entropy", 2.0, "'neg_entropy' is computed from logits or probabilities, which the file does not hold"),
    ],
)
def test_a_score_that_nothing_gives(score: str | None, temperature: float | None, message: str) -> None:
    """The message tells an unknown name from a known one whose inputs lack; parameters of a score do not matter."""
    outputs = abstain.read_outputs({"loss": [0.0, 1.0, 0.0], "confidence": [0.9, 0.5, 0.7]})
    with pytest.raises(ValueError, match=message):
        score_reading(outputs, score, temperature)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, {"loss": "wrong"}),
        ({"labels": "y", "predictions": "said"}, {"labels": "y", "predictions": "said"}),
        ({"labels": "y"}, {"labels": "y"}),
        ({"groups": "region"}, {"groups": "region", "loss": "wrong"}),
        ({"correct": "right"}, {"correct": "right"}),
    ],
)
def test_labelled_rows_are_read_as_at_calibration_but_for_what_is_given(
    given: dict[str, str], kept: dict[str, str]
) -> None:
    """One statement of what is right takes the place of another; other columns leave it as it was."""
    outputs = abstain.read_outputs({"wrong": [0, 1, 0], "entropy": [0.1, 0.6, 0.2]}, loss="wrong")
    how = score_reading(outputs)
    found = abstain.choose_threshold(outputs.loss_per_sample(), how.confidence(outputs), coverage=0.5)
    columns = found.policy(**how.arguments()).columns(**given)
    assert columns == {"uncertainty": "entropy", **kept}


@pytest.mark.parametrize("weighted", [False, True])
def test_the_statement_names_the_weighted_population(weighted: bool) -> None:
    """A certificate with weights is about the population that the weights describe, and says so."""
    rng = np.random.default_rng(0)
    loss, confidence = (rng.random(2000) < 0.02).astype(float), rng.random(2000)
    weights = {"sample_weight": np.tile([0.5, 1.5], 1000), "max_weight": 1.5} if weighted else {}
    found = abstain.choose_threshold(loss, confidence, risk=0.1, delta=0.05, **weights)
    guarantee = found.guarantee()
    assert guarantee is not None
    assert ("in the weighted population" in guarantee.statement) == weighted


@pytest.mark.parametrize("name", ["score", "inputs", "temperature", "uncertainty", "threshold"])
def test_a_second_score_that_lacks_a_part_is_refused(name: str, tmp_path: Path) -> None:
    """Also if whoever left it out wrote a digest that fits."""
    path = tmp_path / "policy.json"
    found = abstain.choose_threshold([0.0, 1.0, 0.0], [0.9, 0.5, 0.7], coverage=0.5)
    second = SecondScore("t", None, None, uncertainty=False, threshold=0.5)
    dataclasses.replace(found.policy(score="s"), second=second).save(path)
    content = json.loads(path.read_text())
    assert abstain.load_policy(path).second == second
    del content["second"][name]
    rest = {key: value for key, value in content.items() if key not in ("format", "digest")}
    content["digest"] = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"second = .* is not valid; it needs score, inputs"):
        abstain.load_policy(path)
