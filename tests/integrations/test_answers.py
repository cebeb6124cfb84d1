"""Aggregations of lm-evaluation-harness without the harness: by counting answers."""

import math
from itertools import pairwise

import numpy as np
import pytest

from abstain.integrations import lm_eval as ours

#: Right and wrong answers, the surest first; the last but one has no confidence, in the last the model abstained.
ITEMS = [ours.answered(loss, confidence) for loss, confidence in ((0, 0.9), (1, 0.8), (0, 0.7), (1, math.nan))]
ITEMS = [ITEMS[2], ITEMS[0], ITEMS[3], ITEMS[1], ours.answered(None)]


def test_areas_and_coverages_of_answers():
    """Risks 0, 1/2, 1/3, 1/2 of 1 to 4 answers; generalized: errors so far among all four."""
    assert ours.aurc([each["aurc"] for each in ITEMS]) == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    errors = np.array([0, 0, 1, 1, 2]) / 4
    area = sum((a + b) / 2 for a, b in pairwise(errors)) / 4
    assert ours.augrc([each["augrc"] for each in ITEMS]) == pytest.approx(area)
    items = [each["coverage_at_risk"] for each in ITEMS]
    assert [ours.coverage_at_risk(items, risk) for risk in (0.3, 0.34)] == [0.25, 0.75]
    assert ours.coverage_at_risk(items) == ours.coverage_at_risk(items, 0.05) == 0.25
    assert math.isnan(ours.aurc([None, None]))
    assert [each["answered"] for each in ITEMS] == [1.0, 1.0, 1.0, 1.0, 0.0]


def test_the_chosen_answer_of_several():
    """Its probability among the choices, whatever their common level, and whether it is right."""
    results = [(math.log(p) - 700.0, False) for p in (0.02, 0.05, 0.03)]
    for gold in (0, 1):
        found = ours.chosen(results, gold)
        assert (found["acc"], found["aurc"][0], found["answered"]) == (float(gold), 1.0 - gold, 1.0)
        assert found["aurc"][1] == found["augrc"][1] == found["coverage_at_risk"][1] == pytest.approx(0.5)
