"""What cannot be told or is missing says why: an interval that is not enough, one that is not there, words."""

import numpy as np
import pytest

import abstain
from tests.command import csv
from tests.refusal import refused


def test_a_missing_interval_has_a_reason_with_its_remedy(do):
    """In clusters coverage at a risk takes a bootstrap: the note says so, and the option it names brings it."""
    rng = np.random.default_rng(0)
    scores = rng.random(300).round(4)
    csv("a.csv", loss=(rng.random(300) > scores) * 1, confidence=scores, patient=np.arange(300) // 3)
    asked = "evaluate a.csv --clusters patient --metrics 'coverage_at_risk(risk=0.3)'"
    said = do(asked).all
    assert "no interval of Coverage at risk 30 % of confidence: it takes a bootstrap; give --resamples (500" in said
    assert "no interval" not in do(f"{asked} --resamples 50").all


def test_decide_names_a_column_that_could_be_meant():
    """A missing class column is no other class column of the policy; text among numbers is named by its column."""
    frame = pytest.importorskip("pandas").DataFrame
    found = abstain.choose_threshold([0.0, 0.0], [0.5, 0.6], coverage=0.5)
    policy = found.policy(score="msp", probabilities=["p_normal", "p_malignant"])
    missing = "column 'p_normal' of the policy is missing; "
    for columns, message in (
        ({"p_norml": [0.5]}, f"{missing}did you mean 'p_norml'"),
        ({}, f"{missing}add it"),
        ({"p_normal": ["Basel"]}, "column 'p_normal' of the policy holds 'Basel', which is no number"),
    ):
        refused(ValueError, message, policy.decide, frame({"p_malignant": [0.5], **columns}))
